"""The time of a judgment is between 1970 and a day from now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from formats.fields import time_problem
from tests.formats.files import read, refusal

JUDGMENT = '"query_id": "1", "doc_id": "a", "annotator": "ada", "relevance": 1'


@pytest.mark.parametrize("name", ["at", "made_at", "superseded_at", "withdrawn_at"])
@pytest.mark.parametrize(
    ("moment", "problem"),
    [
        ("9998-01-01T00:00:00Z", "is in the future"),
        ("1969-12-31T23:59:59Z", "is before 1970"),
        ("0001-01-02T00:00:00", "is before 1970"),
    ],
)
def test_a_judgment_with_an_impossible_time_is_refused(name, moment, problem):
    error = refusal("judgments-jsonl", f'{{{JUDGMENT}, "{name}": "{moment}"}}\n')

    assert (error.line, error.message) == (1, f"{name} '{moment}' {problem}")


def test_a_table_of_judgments_has_the_same_bounds():
    header = "query_id,doc_id,annotator,relevance,made_at\n"

    assert len(read("judgments-csv", f"{header}1,a,ada,1,1970-01-01\n")) == 1
    assert "is in the future" in refusal("judgments-csv", f"{header}1,a,ada,1,9998-01-01\n").message


def test_a_clock_may_be_a_day_ahead():
    now = datetime.now(UTC)

    assert time_problem(now + timedelta(hours=23)) is None
    assert time_problem(now + timedelta(hours=25)) == "is in the future"
