"""The matrix of claimed and counted numbers of conditions, and the conditions that are broken."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from annotate.models import Judgment, Verdict
from audit.checks import actions
from audit.checks.claims import ClaimSelection
from audit.checks.condition_counts import ConditionCountRow, broken_conditions
from audit.checks.figures import figures
from audit.checks.queue import filter_labels
from audit.models import Sample, SampleItem
from tests.checks.checking import claimed_scene, draw
from tests.programs import Program

pytestmark = pytest.mark.both_databases

# Verdicts on three conditions by the machine, and by ada, ben and dan.
CLAIMED = {"A": "++-", "B": "+++", "C": "+--", "D": "++-"}
SIGNS = {
    "A": {"ada": "++-", "ben": "++-"},
    "B": {"ada": "+++", "ben": "++-", "dan": "-+-"},
    "C": {"ada": "+--", "ben": "--+"},
}
ANSWERS = {"+": "met", "-": "not_met"}


class Scene:
    """Four documents under three conditions: A and C counted as claimed, B wrong, D unchecked."""

    def __init__(self) -> None:
        counts = {doc_id: signs.count("+") for doc_id, signs in CLAIMED.items()}
        made = claimed_scene({"C1": counts})
        self.carla, self.ada = made.carla, made.ada
        self.people = {name: getattr(made, name) for name in ("ada", "ben", "dan")}
        made.project.grades.create(value=3, name="Three")
        self.conditions = [
            made.narratives["C1"].conditions.create(number=number, text=f"Condition {number}.")
            for number in (1, 2, 3)
        ]
        for doc_id, signs in CLAIMED.items():
            judgment = Judgment.objects.get(candidate=made.candidates[doc_id])
            for key, answer in self.verdicts(signs).items():
                Verdict.objects.create(statement=judgment, condition_id=key, answer=answer)
        self._made = made
        self.sample = self.draw()

    def draw(self, **choices: Any) -> Sample:
        asks = Sample.Asks.COUNT
        selection = ClaimSelection(Sample.Source.MACHINE, self._made.model, asks=asks)
        usual = {"selection": selection, "stratify": Sample.Stratify.NONE, "size": 4}
        return draw(self._made, **usual | choices)

    def verdicts(self, signs: str) -> dict[int, str]:
        return {
            condition.pk: ANSWERS[sign]
            for condition, sign in zip(self.conditions, signs, strict=True)
        }

    def item(self, doc_id: str):
        items = SampleItem.objects.filter(sample=self.sample.pk)
        return items.get(candidate__document__doc_id=doc_id)

    def check_all(self) -> None:
        for doc_id, signs_by_name in SIGNS.items():
            for place, (name, signs) in enumerate(signs_by_name.items()):
                do = actions.settle if place == 2 else actions.check
                do(item=self.item(doc_id), verdicts=self.verdicts(signs), by=self.people[name])


@pytest.fixture
def scene(db) -> Scene:
    made = Scene()
    made.check_all()
    return made


def test_the_matrix_counts_checked_labels_by_both_numbers(scene):
    matrix = figures(scene.sample).matrix

    assert matrix is not None
    assert matrix.numbers == [0, 1, 2, 3]
    assert matrix.rows == [
        ConditionCountRow(0, [0, 0, 0, 0], 0, 0),
        # C claims one condition, and one is counted.
        ConditionCountRow(1, [0, 1, 0, 0], 1, 0),
        # A claims two; D claims two as well and is not checked.
        ConditionCountRow(2, [0, 0, 1, 0], 1, 0),
        # B claims three; a third person counts one.
        ConditionCountRow(3, [0, 1, 0, 0], 1, 1),
    ]


def test_a_sample_of_grades_has_no_matrix(db):
    assert figures(draw(claimed_scene(), size=1)).matrix is None


def test_the_conditions_that_a_document_breaks_are_named_as_claimed_and_as_checked(scene):
    items = list(filter_labels(scene.sample, "all"))
    found = broken_conditions(scene.sample, items)

    by_name = {item.candidate.document.doc_id: found[item.pk] for item in items if item.pk in found}
    # D is not checked, so its claim stays hidden from checkers.
    assert set(by_name) == {"A", "B", "C"}
    assert by_name["A"] == ([3], [3])
    assert by_name["B"] == ([], [1, 3])
    # The two count one each, but not the same condition.
    assert by_name["C"] == ([2, 3], None)


def claimed_breaks(scene, client, doc_id: str, name: str) -> list[int] | None:
    """Return the conditions that the page and a program tell a person to be claimed as broken."""
    item = scene.item(doc_id)
    client.force_login(scene.people[name].user)
    view = "settlement" if name == "dan" else "check"
    page = client.get(reverse(f"audit:{view}", args=[item.pk])).content.decode()
    breaks: list[int] | None
    breaks = Program(name).get(f"labels/{item.pk}/").json()["claimed_breaks"]
    assert ('id="claimed-broken"' in page) == bool(breaks)
    return breaks


def test_a_checker_reads_what_is_claimed_once_a_third_has_settled_the_label(scene, client):
    of_third_condition = Verdict.objects.filter(condition=scene.conditions[2], answer="met")
    of_third_condition.filter(statement__candidate=scene.item("B").candidate).update(
        answer="not_met"
    )

    assert claimed_breaks(scene, client, "B", "ada") == [3]
    # Who settled can still change the decision.
    assert claimed_breaks(scene, client, "B", "dan") is None

    actions.withdraw_check(item=scene.item("B"), by=scene.people["dan"])

    assert claimed_breaks(scene, client, "B", "ada") is None


def test_a_checker_who_agreed_cannot_follow_the_claim(scene, client):
    # Both agree, and each can still change their answer.
    assert claimed_breaks(scene, client, "A", "ada") is None

    Sample.objects.update(shows_reason=True)
    actions.read_reason(item=scene.item("A"), by=scene.people["ada"])

    assert claimed_breaks(scene, client, "A", "ada") == [3]
    assert claimed_breaks(scene, client, "A", "ben") is None
    actions.withdraw_check(item=scene.item("A"), by=scene.people["ben"])
    assert claimed_breaks(scene, client, "A", "ada") is None


def test_a_checker_cannot_follow_a_claim_in_another_label_of_the_document(scene, client):
    Sample.objects.update(shows_reason=True)
    actions.read_reason(item=scene.item("A"), by=scene.people["ada"])
    assert claimed_breaks(scene, client, "A", "ada") == [3]

    scene.draw(name="Again")

    assert claimed_breaks(scene, client, "A", "ada") is None


def test_a_checker_who_may_see_the_claims_sees_all_of_a_checked_label(scene, client):
    Sample.objects.update(shows_claim=True)

    assert claimed_breaks(scene, client, "A", "ada") == [3]


def test_the_page_and_a_program_show_the_matrix_and_the_broken_conditions(scene, client):
    client.force_login(scene.carla.user)
    page = client.get(scene.sample.get_absolute_url()).content.decode()
    assert 'id="matrix"' in page
    assert "breaks 1, 3" in page

    program = Program("carla", "lead")
    matrix = program.get(f"samples/{scene.sample.pk}/figures/").json()["matrix"]
    assert matrix["rows"][3] == {"claimed": 3, "counts": [0, 1, 0, 0], "checked": 1, "wrong": 1}
    labels = program.get(f"samples/{scene.sample.pk}/labels/").json()["results"]
    breaks = {one["doc_id"]: (one["claimed_breaks"], one["checked_breaks"]) for one in labels}
    assert breaks == {"A": ([3], [3]), "B": ([], [1, 3]), "C": ([2, 3], None), "D": (None, None)}


def test_the_table_has_a_line_for_each_label(scene, client):
    client.force_login(scene.carla.user)
    answer = client.get(reverse("audit:sample_labels", args=[scene.sample.pk]))
    lines = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))

    columns = ("claimed", "first", "second", "outcome", "wrong", "claimed_breaks", "checked_breaks")
    assert {line["doc_id"]: [line[name] for name in columns] for line in lines} == {
        "A": ["2", "2", "2", "2", "0", "3", "3"],
        "B": ["3", "3", "2", "1", "1", "none", "1 3"],
        "C": ["1", "1", "1", "1", "0", "2 3", ""],
        # Not checked: hidden, because leads check too.
        "D": ["", "", "", "", "", "", ""],
    }
    assert {line["conditions"] for line in lines} == {"3"}
