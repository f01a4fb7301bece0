"""An imitation of a model server, to try everything without one: `python -m llm.imitation PORT`.

It grades, checks conditions, writes and criticises by words, and reads no meaning. It listens on
this machine only, and is called `imitation-1`, so that everything it answers says so.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "imitation-1"
_BETWEEN = r"<{name} (\w+)>\n(.*?)\n</{name} \1>"
_MAX_REQUEST = 4 * 1024 * 1024


def imitate(body: Mapping[str, Any]) -> str:
    """Answer a request with a question of a `ModelTask`.

    Raise ValueError or LookupError for another one.
    """
    content = str(body["messages"][0]["content"])
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    if "grade" in fields:
        answer: Any = imitate_judge(content, sorted(fields["grade"]["enum"]))
    elif all("violates" in field.get("properties", ()) for field in fields.values()):
        answer = imitate_trapper(content, list(fields))
    elif any(name.startswith("condition_") for name in fields):
        answer = imitate_checker(content, list(fields))
    elif "instruction" in fields:
        is_reversal = "reversed instruction" in content
        answer = {"instruction": (imitate_reversal if is_reversal else imitate_author)(content)}
    else:
        answer = imitate_critic(content, fields)
    return json.dumps(answer)


def imitate_judge(content: str, grades: Sequence[int]) -> dict[str, Any]:
    """Grade a document.

    The grade is the highest if the document has half of the narrative's words of five letters or
    more, the middle one if it has any, else the lowest; the quote is its first line with such a
    word.
    """
    narrative, document = _between("narrative", content), _between("document", content)
    wanted = _words(narrative)
    shared = wanted & _words(document)
    place = 0 if not shared else -1 if len(shared) * 2 >= len(wanted) else len(grades) // 2
    lines = [line for line in document.splitlines() if _words(line) & shared]
    return {"quote": lines[0] if lines else "", "grade": grades[place]}


def imitate_checker(content: str, fields: Sequence[str]) -> dict[str, Any]:
    """Say of each condition whether the document has one of its words of five letters or more, with
    the first line that has one; the document is related if it has one of the narrative's.
    """
    document = _between("document", content)
    conditions = dict(
        line.split(". ", 1) for line in _between("conditions", content).splitlines() if ". " in line
    )
    answers: dict[str, Any] = {}
    for name in fields:
        if name == "related":
            answers[name] = bool(_words(_between("narrative", content)) & _words(document))
            continue
        wanted = _words(conditions[name.removeprefix("condition_")])
        lines = [line for line in document.splitlines() if _words(line) & wanted]
        answers[name] = {"quote": lines[0] if lines else "", "met": bool(lines)}
    return answers


def imitate_trapper(content: str, fields: Sequence[str]) -> dict[str, Any]:
    """Write a document for each condition, or one, that repeats the query and adds a number."""
    query = _between("query", content)
    return {
        name: {
            "violates": f"It breaks {name.replace('_', ' ')}.",
            "text": f"{query}. Part {place}.",
        }
        for place, name in enumerate(fields, 1)
    }


def imitate_author(content: str) -> str:
    """Write an instruction: a poor one if the query has an odd number of characters, and a better
    one once it was criticised.
    """
    query = _between("query", content)
    is_poor = len(query) % 2 == 1 and "<criticism " not in content
    words = sorted(_words(query), key=lambda word: (-len(word), word)) or ["this"]
    rule = "It should be informative." if is_poor else "A single example is not enough."
    return f"Only what compares kinds of {words[0]}. {rule}"


def imitate_reversal(content: str) -> str:
    """Reverse an instruction."""
    return f"Everything but this: {_between('instruction', content)}"


def imitate_critic(content: str, criteria: Mapping[str, Any]) -> dict[str, Any]:
    """Give each criterion the first level, but the first one the last level if the instruction asks
    for something informative.
    """
    is_poor = "informative" in _between("instruction", content)
    words = "“Informative” rules nothing out." if is_poor else "It is clear."
    answers = {}
    for place, (key, answer) in enumerate(criteria.items()):
        levels = answer["properties"]["level"]["enum"]
        answers[key] = {"words": words, "level": levels[-1 if is_poor and not place else 0]}
    return answers


def _between(name: str, content: str) -> str:
    match = re.search(_BETWEEN.format(name=name), content, re.DOTALL)
    if match is None:
        raise ValueError(f"the question has no {name}")
    return match[2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{5,}", text.lower()))


class _Handler(BaseHTTPRequestHandler):
    """Answers each question by its rule."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        if length > _MAX_REQUEST:
            self.send_error(413)
            return
        try:
            body = json.loads(self.rfile.read(length))
            text = imitate(body)
        except (ValueError, LookupError, TypeError) as error:
            self._send(400, {"error": {"message": str(error)}})
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        # A token is about four characters.
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
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
