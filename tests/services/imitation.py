"""A rule in place of a model, for the model server: grades by words, and reads no meaning."""

from __future__ import annotations

import json
import re

from tests.services.model_server import Messages

_BETWEEN = r"<{name} (\w+)>\n(.*?)\n</{name} \1>"


def imitate_judge(messages: Messages) -> str:
    """Answer a question of `llm.relevance`.

    The grade is 2 if the document has half of the narrative's words of five letters or more, 1 if
    it has any, else 0; the quote is its first line with such a word.
    """
    content = messages[0]["content"]
    wanted = _words(_between("narrative", content))
    document = _between("document", content)
    shared = wanted & _words(document)
    grade = 0 if not shared else 2 if len(shared) * 2 >= len(wanted) else 1
    lines = [line for line in document.splitlines() if _words(line) & shared]
    return json.dumps({"quote": lines[0] if lines else "", "grade": grade})


def _between(name: str, content: str) -> str:
    match = re.search(_BETWEEN.format(name=name), content, re.DOTALL)
    if match is None:
        raise AssertionError(f"the question has no {name}")
    return match[2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{5,}", text.lower()))
