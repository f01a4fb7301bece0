"""The imitation of a model server answers as a model would, and says that it is an imitation."""

from __future__ import annotations

import threading

import pytest

from audit.model_runs.tasks.base import Item
from audit.model_runs.tasks.grade import ShownDocument, grade_question, read_grade
from llm.answers import FailureKind
from llm.completion import complete
from llm.endpoint import Endpoint
from llm.imitation import MODEL, imitation_server
from tests.llm.conftest import QUESTION, SCHEMA

GRADES = {0: "Not relevant", 1: "Relevant", 2: "Highly relevant"}


@pytest.fixture
def imitation():
    with imitation_server(0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield Endpoint(base_url=address, model=MODEL, retries=0)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("document", "grade", "quote"),
    [
        ("A river.", 0, ""),
        ("Some boats.\nSails are red.", 1, "Some boats."),
        ("Boats with white sails on lakes.", 2, "Boats with white sails on lakes."),
    ],
)
def test_it_grades_by_the_words_that_the_document_shares(imitation, document, grade, quote):
    # Its words of five letters or more: boats, under, white, clouds.
    shown = ShownDocument.of(document)
    question = grade_question(Item(1, 1), "Boats under white clouds.", shown, GRADES)

    answer = complete(imitation, question.messages, question.schema)

    reading = read_grade(shown, answer.value)
    spans = [document[span["start"] : span["end"]] for span in reading.evidence]
    assert (reading.outcome, spans) == (str(grade), [quote] if quote else [])
    assert answer.model == "imitation-1"
    assert answer.prompt_tokens is not None
    assert answer.prompt_tokens > 50


def test_it_refuses_other_questions(imitation):
    answer = complete(imitation, QUESTION, SCHEMA)

    assert answer.failure is not None
    assert answer.failure.kind == FailureKind.REFUSED
