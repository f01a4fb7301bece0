"""Have a model grade one document. Needs the extra `llm`."""

from __future__ import annotations

import httpx2

from llm.completion import Answer, complete
from llm.endpoint import Endpoint
from llm.relevance import GradeQuestion, Grading


def judge(
    endpoint: Endpoint, question: GradeQuestion, *, pool: httpx2.BaseTransport | None = None
) -> tuple[Grading | None, Answer]:
    """Return the grade with its quote, and the answer it is read from.

    There is no grade if the answer is a failure. `pool` is that of `complete`.
    """
    answer = complete(endpoint, question.messages, question.schema, pool=pool)
    return (None if answer.failure else question.read(answer.value)), answer
