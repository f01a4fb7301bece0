"""Results are written as CSV, Markdown and LaTeX, with formulas and commands escaped."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from exporters.evaluations.tables import TABLES, interval_text, render_table
from exporters.evaluations.views import value_rows
from tests import factories
from tests.evaluations.evaluating import make_evaluation, scene

HOSTILE = pd.DataFrame({"system": [r"=1+1 & \input{x}_|%"], "value": [0.5]})


@pytest.fixture
def results(db):
    """Results with one disputed document."""
    made = scene()
    ben = factories.member(made.project, "ben")
    factories.judgment(made.narrative, made.pool["c"], ben, 1)
    return make_evaluation(made).results


def test_every_table_is_rendered_in_every_kind(results):
    for name, make in TABLES.items():
        frame = make(results)
        rows = list(csv.reader(io.StringIO(render_table(frame, "csv"))))
        assert rows[0] == list(frame.columns)
        assert len(rows) == len(frame) + 1
        # Nothing is estimated without a machine.
        assert len(frame) > 0 or name == "estimates"
        assert render_table(frame, "md").count("\n") == len(frame) + 2
        latex = render_table(frame, "tex")
        assert latex.count(r"\\") == len(frame) + 1
        assert latex.startswith(r"\begin{tabular}{" + "l")


def test_the_table_of_systems_has_effect_and_interval_before_p(results):
    names = list(TABLES["systems"](results).columns)

    assert names.index("difference") < names.index("difference_low") < names.index("p")
    assert names[-1] == "p_holm"


def test_documents_have_both_ranks(results):
    found = TABLES["documents"](results).to_dict("records")

    assert found[0] == {
        "topic": "q_1",
        "document": "a",
        "system": "good",
        "original_rank": 1,
        "changed_rank": 4,
        "p_mrr": 0.75,
    }


def test_the_collection_says_what_dropped(results):
    [row] = TABLES["collection"](results).to_dict("records")

    assert (row["relevant_before"], row["relevant_after"], row["share_dropped"]) == (2, 1, 0.5)


def test_a_missing_value_is_an_empty_cell(results):
    frame = TABLES["systems"](results)

    assert "nan" not in render_table(frame, "md") + render_table(frame, "csv")


def test_formulas_and_commands_are_escaped():
    assert render_table(HOSTILE, "csv").splitlines()[1].startswith("'=1+1")
    assert r"\|%" in render_table(HOSTILE, "md")
    latex = render_table(HOSTILE, "tex")
    assert r"\& \textbackslash input\{x\}\_|\%" in latex


def test_names_of_systems_are_escaped_in_the_head_of_a_table():
    summary = pd.DataFrame({"Measure": ["AP"], '=HYPERLINK("x")|y': ["0.5"]})

    head = next(csv.reader(io.StringIO(render_table(summary, "csv"))))

    assert head == ["Measure", '\'=HYPERLINK("x")|y']
    assert r'=HYPERLINK("x")\|y' in render_table(summary, "md")


def test_an_id_of_digits_keeps_its_zeros_in_markdown():
    frame = pd.DataFrame({"document": ["0012", "1.50"], "value": [0.5, 1.0]})

    lines = render_table(frame, "md").splitlines()

    assert [line.split("|")[1].strip() for line in lines[2:]] == ["0012", "1.50"]
    assert lines[2].split("|")[2].strip() == "0.5000"


def test_a_count_is_an_integer_even_if_other_rows_have_none():
    found = {"before": {"a": {"b": 0.25}}, "documents": 3}
    by_measure = {"x": {**found, "judgments": 2}, "y": {**found, "judgments": None}}
    measures = [{"key": key, "name": key, "lower": False} for key in by_measure]

    frame = TABLES["places"]({"measures": measures, "places": {"by_measure": by_measure}})

    assert render_table(frame, "csv").splitlines()[1:] == ["x,a,b,0.25,2,3", "y,a,b,0.25,,3"]
    assert render_table(frame, "md").splitlines()[2].split("|")[5].strip() == "2"


def test_counts_of_the_collection_are_integers_beside_shares(results):
    frame = TABLES["totals"](results)

    assert "topics,1" in render_table(frame, "csv").splitlines()
    of_markdown = [line.split("|") for line in render_table(frame, "md").splitlines()]
    values = {row[1].strip(): row[2].strip() for row in of_markdown}
    assert (values["topics"], values["share that dropped, all pairs together"]) == ("1", "0.5")
    assert r"topics & 1 \\" in render_table(frame, "tex")


def test_grades_are_listed_in_the_order_of_numbers(results):
    grades = {"after": {"0": 4, "10": 1, "2": 3}, "before": {"1": 8}}
    about = {**results["collection"], "grades": grades}

    rows = TABLES["totals"]({**results, "collection": about}).itertuples(index=False, name=None)

    assert [row for row in rows if row[0].startswith("grade")] == [
        ("grade 1 before, documents", 8),
        ("grade 0 after, documents", 4),
        ("grade 2 after, documents", 3),
        ("grade 10 after, documents", 1),
    ]


def test_the_measures_of_the_papers_are_in_the_first_table():
    keys = ("m-wise", "mdcr", "robustness", "nDCG@10 after", "AP after")
    results = {"measures": [{"key": key, "name": key} for key in keys], "systems": []}

    first, others = (value_rows(results, first=first)["measures"] for first in (True, False))

    assert [measure["key"] for measure in first] == list(keys[:4])
    assert [measure["key"] for measure in others] == ["AP after"]


def test_an_interval_without_width_says_that_it_cannot_show_the_uncertainty():
    note = "95% bootstrap; the resamples do not differ, so the interval cannot show the uncertainty"
    value = {"value": 1.0, "low": 1.0, "high": 1.0, "note": note}

    assert interval_text(value) == "1.000 [1.000, 1.000], cannot show the uncertainty"
    assert interval_text({**value, "note": ""}) == "1.000 [1.000, 1.000]"


def test_a_page_has_the_remark_on_an_interval_apart_from_it():
    note = "95% bootstrap; the resamples do not differ, so the interval cannot show the uncertainty"
    value = {"value": 1.0, "low": 1.0, "high": 1.0, "note": note}
    results = {
        "measures": [{"key": "x", "name": "X"}],
        "systems": [{"name": "bm25", "values": {"x": value}}],
    }

    (row,) = value_rows(results, first=False)["rows"]

    assert row["cells"][0]["interval"] == "[1.000, 1.000]"
    assert row["cells"][0]["remark"] == "cannot show the uncertainty"
