"""An imitation of a model server, to try everything without one: `python -m llm.imitation PORT`.

It grades by words and reads no meaning. It listens on this machine only, and is called
`imitation-1`, so that everything it answers says so.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "imitation-1"
_BETWEEN = r"<{name} (\w+)>\n(.*?)\n</{name} \1>"
_MAX_REQUEST = 4 * 1024 * 1024


def imitate_judge(messages: Sequence[Mapping[str, object]]) -> str:
    """Answer a question of `llm.relevance`.

    The grade is the highest if the document has half of the narrative's words of five letters or
    more, the middle one if it has any, else the lowest; the quote is its first line with such a
    word. Raise ValueError for another question.
    """
    content = str(messages[0]["content"])
    narrative, document = _between("narrative", content), _between("document", content)
    wanted = _words(narrative)
    around = content.replace(document, "").replace(narrative, "")
    grades = sorted(int(grade) for grade in re.findall(r"^(-?\d+): ", around, re.MULTILINE))
    if not grades:
        raise ValueError("the question has no grades")
    shared = wanted & _words(document)
    place = 0 if not shared else -1 if len(shared) * 2 >= len(wanted) else len(grades) // 2
    lines = [line for line in document.splitlines() if _words(line) & shared]
    return json.dumps({"quote": lines[0] if lines else "", "grade": grades[place]})


def _between(name: str, content: str) -> str:
    match = re.search(_BETWEEN.format(name=name), content, re.DOTALL)
    if match is None:
        raise ValueError(f"the question has no {name}")
    return match[2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{5,}", text.lower()))


class _Handler(BaseHTTPRequestHandler):
    """Answers each question as the judge."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        if length > _MAX_REQUEST:
            self.send_error(413)
            return
        try:
            messages = json.loads(self.rfile.read(length))["messages"]
            text = imitate_judge(messages)
        except (ValueError, LookupError, TypeError) as error:
            self._send(400, {"error": {"message": str(error)}})
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        # A token is about four characters.
        prompt = sum(len(message["content"]) for message in messages) // 4
        usage = {"prompt_tokens": prompt, "completion_tokens": len(text) // 4}
        choices = [{**choice, "finish_reason": "stop"}]
        self._send(200, {"model": MODEL, "choices": choices, "usage": usage})

    def _send(self, status: int, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


def imitation_server(port: int) -> ThreadingHTTPServer:
    """Return a server that listens on this machine; its `serve_forever` answers."""
    return ThreadingHTTPServer(("127.0.0.1", port), _Handler)


if __name__ == "__main__":
    with imitation_server(int(sys.argv[1])) as server:
        server.serve_forever()
