"""A document written for one instruction is judged, counted and exported only under it.

The lead chooses whether people judge it at all.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judging.judging_session import judging_order
from annotate.judgments import assignments, completion
from annotate.judgments.rule_report import rule_report_in
from annotate.models import Assignment, Candidate, Judgment
from annotate.overview.progress import task_progress
from annotate.pairs import pool
from annotate.projects.actions import change_rules
from annotate.projects.kinds import KindGrade
from base.errors import Refused
from exporters.exports.selection import selection
from exporters.releases import preview
from tests import factories
from tests.collection.arriving import folder, jsonl, load
from tests.programs import Program

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE


class Scene:
    """A query with two instructions, the tables A and B, and G, which was written for the first."""

    def __init__(self, scope: str = "pool", people: int = 1) -> None:
        self.project = factories.project(
            grades=(0, 1), kind="followtable", judge_scope=scope, overlap_judge=people
        )
        self.query = factories.query(self.project)
        self.first, self.second = (
            factories.pair(self.query, pair_id=f"301_{n}", altered=f"Only ports of kind {n}.")
            for n in (0, 1)
        )
        self.a, self.b = (factories.candidate(self.query, name, prior=1) for name in "AB")
        self.g = factories.candidate(self.query, "G", prior=None)
        self.g.made_for = self.first
        self.g.save()
        self.ada = factories.member(self.project, "ada")
        self.carla = factories.lead(self.project)

    def pools(self) -> list[str]:
        """Return the ids of the documents judged under the first and the second instruction."""
        return [
            "".join(
                sorted(pool.candidates_to_judge(pair).values_list("document__doc_id", flat=True))
            )
            for pair in (self.first, self.second)
        ]

    def sizes(self) -> list[int]:
        """Return how many documents the progress counts for each instruction."""
        found = completion.judging_by_pair(self.project)
        return [found[pair.pk].documents if pair.pk in found else 0 for pair in self.pairs]

    @property
    def pairs(self):
        return [self.first, self.second]

    def take(self, pair, by=None):
        return assignments.take(pair=pair, task=JUDGE, by=by or self.ada)

    def judge(self, pair, of, relevance=1, by=None):
        narrative = factories.altered(pair)
        return judging.judge(
            narrative=narrative, candidate=of, relevance=relevance, by=by or self.ada
        )


@pytest.fixture
def scene(db):
    return Scene()


def rules(scene: Scene, **changes: Any) -> None:
    grades = [KindGrade(0, "Not relevant", ""), KindGrade(1, "Relevant", "")]
    change_rules(changes=changes, grades=grades, by=scene.carla)
    scene.project.refresh_from_db()


def test_a_generated_document_is_only_in_the_pool_of_its_instruction(scene):
    assert scene.pools() == ["ABG", "AB"]
    assert scene.sizes() == [3, 2]


@pytest.mark.parametrize(
    ("scope", "pools"),
    [("pool", ["ABG", "AB"]), ("existing", ["AB", "AB"]), ("relevant", ["AB"] * 2)],
)
def test_the_lead_chooses_whether_people_judge_it(db, scope, pools):
    scene = Scene()

    rules(scene, judge_scope=scope)

    for pair in scene.pairs:
        pair.refresh_from_db()
    assert scene.pools() == pools
    assert scene.sizes() == [len(one) for one in pools]


def test_judges_see_a_generated_document_only_under_its_instruction(scene):
    met = [len(judging_order(pair=pair, by=scene.ada)) for pair in scene.pairs]

    assert met == [3, 2]


def test_a_generated_document_cannot_be_judged_under_another_instruction(scene):
    scene.take(scene.second)

    with pytest.raises(Refused, match="not among those to be judged"):
        scene.judge(scene.second, scene.g)

    assert not Judgment.objects.exists()


def test_a_task_is_done_without_the_tables_of_other_instructions(scene):
    for pair in scene.pairs:
        scene.take(pair)
    for of in (scene.a, scene.b):
        scene.judge(scene.first, of)
        scene.judge(scene.second, of)

    found = completion.judging(scene.project)

    assert (found.answered, found.wanted) == (4, 5)
    assert {one.task: one.done for one in task_progress(scene.carla, found)}[JUDGE] == 1
    assert Assignment.objects.get(pair=scene.second).done_at is not None
    assert Assignment.objects.get(pair=scene.first).done_at is None


def test_judgments_of_generated_documents_do_not_count_if_people_do_not_judge_them(scene):
    scene.take(scene.first)
    scene.judge(scene.first, scene.g)
    assert completion.judging(scene.project).answered == 1

    rules(scene, judge_scope="existing")

    found = completion.judging(scene.project)
    assert (found.answered, found.wanted) == (0, 4)
    assert Judgment.objects.current().count() == 1


def test_projects_of_different_scopes_are_counted_together(scene, client):
    other = factories.project("lakes", judge_scope="existing", overlap_judge=1)
    query = factories.query(other)
    pair = factories.pair(query)
    factories.candidate(query, "A", prior=None)
    Candidate.objects.create(
        query=query, document=factories.document(other, "G"), origin="listed", made_for=pair
    )

    found = completion.judging_of([scene.project, other])

    assert (found[scene.project.pk].wanted, found[other.pk].wanted) == (5, 1)


def test_the_rules_of_the_kind_count_a_generated_document_for_its_instruction(scene):
    model = factories.machine(scene.project, "claims")
    factories.judgment(factories.altered(scene.first), scene.g, model, 0)

    found = {one.pair.pair_id: one.counts for one in rule_report_in(scene.project, None).pairs}

    # It has no earlier relevance and is claimed not relevant, so it violates the instruction.
    assert (found["301_0"].violating, found["301_0"].unjudged) == (1, 2)
    assert "301_1" not in found


def test_a_release_does_not_expect_judgments_of_it_under_other_instructions(scene):
    for of in (scene.a, scene.b, scene.g):
        factories.judgment(factories.altered(scene.first), of, scene.ada, 1)
    factories.judgment(factories.altered(scene.second), scene.a, scene.ada, 1)
    written = selection.pairs(scene.project)

    assert preview.count_unjudged(scene.project, written) == 1


def test_judges_cannot_see_that_a_document_was_generated(scene, client):
    for pair in scene.pairs:
        scene.take(pair)
    client.force_login(scene.ada.user)
    judge = reverse("annotate:judge", args=[scene.first.pk, scene.g.pk])
    query = reverse("annotate:query", args=["tides", scene.query.pk])
    pages = [judge, query, f"/api/v1/projects/tides/queries/{scene.query.pk}/candidates/"]

    shown = {}
    for made_for in (scene.first, None):
        Candidate.objects.filter(pk=scene.g.pk).update(made_for=made_for)
        shown[made_for] = [without_tokens(client.get(page).content.decode()) for page in pages]

    assert shown[scene.first] == shown[None]


def without_tokens(page: str) -> str:
    """Remove the parts of a page that differ each time."""
    return re.sub(r'"x-csrftoken": "\w+"|name="(csrfmiddlewaretoken|uuid)" value="[^"]+"', "", page)


def test_leads_see_for_which_instruction_a_document_was_generated(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(reverse("annotate:query", args=["tides", scene.query.pk])).content.decode()
    listed = Program("carla", "lead").get(f"projects/tides/queries/{scene.query.pk}/candidates/")

    assert page.count("generated for 301_0") == 1
    assert [one["made_for"] for one in listed.json()["results"]] == [None, None, scene.first.pk]


def test_leads_see_that_people_do_not_judge_a_generated_document(scene, client):
    rules(scene, judge_scope="existing")
    client.force_login(scene.carla.user)

    page = client.get(reverse("annotate:query", args=["tides", scene.query.pk])).content.decode()

    assert page.count("not judged by people") == 1


def test_a_generated_document_is_not_found_under_other_instructions(scene, client):
    scene.take(scene.second)
    client.force_login(scene.ada.user)

    page = client.get(reverse("annotate:judge", args=[scene.second.pk, scene.g.pk]))

    assert page.status_code == 404


# --- loading ------------------------------------------------------------------------------------


def generated(pair_id: str, doc_id: str) -> dict[str, Any]:
    return {"type": "generated", "pair_id": pair_id, "doc_id": doc_id}


def claim(pair_id: str, doc_id: str) -> dict[str, Any]:
    return {
        "type": "claim",
        "pair_id": pair_id,
        "doc_id": doc_id,
        "relevance": 1,
        "rater": "a-model",
    }


PAIRS = (
    {"query_id": "1", "pair_id": "1_0", "altered": "Only sea harbours."},
    {"query_id": "1", "pair_id": "1_1", "altered": "Only large ones."},
)


@pytest.fixture
def empty(db):
    return factories.project(grades=(0, 1))


def made_for(project) -> dict[str, str | None]:
    rows = Candidate.objects.filter(query__project=project)
    return dict(rows.values_list("document__doc_id", "made_for__pair_id"))


def test_a_file_of_pairs_can_name_generated_documents(empty):
    lines = jsonl(*PAIRS, generated("1_0", "G"), claim("1_0", "G"), claim("1_0", "A"))

    report = load(empty, "pairs-jsonl", lines)

    assert not report.refused, report.problems
    assert made_for(empty) == {"G": "1_0", "A": None}
    assert Candidate.objects.get(document__doc_id="G").prior_relevance is None
    again = load(empty, "pairs-jsonl", lines)
    assert (again.new, again.changed) == (0, 0)


def test_a_table_listed_by_only_one_instruction_was_generated_for_it(empty):
    def instruction_entry(*tables):
        names = [f"{name}.txt" for name in tables]
        return {
            "instruction": f"Only {tables[-1]}.",
            "instruction_type": "1.1",
            "query_positive": ["1.txt"],
            "instruction_positive": names[-1:],
            "all_tables": names,
        }

    entry = {
        "query": "harbours",
        "query_positive": ["1.txt"],
        "outs": [instruction_entry(1, 2, 3), instruction_entry(1, 2)],
    }
    files = {f"tables__{n}_txt": f"table {n}" for n in (1, 2, 3)}

    report = load(
        empty,
        "followtable",
        folder(query_instruction_json=json.dumps([entry]), **files),
        "followtable.zip",
    )

    assert not report.refused, report.problems
    assert made_for(empty) == {"1": None, "2": None, "3": "0_0"}


def test_a_document_is_generated_for_at_most_one_instruction(empty):
    report = load(empty, "pairs-jsonl", jsonl(*PAIRS, generated("1_0", "G"), generated("1_1", "G")))

    assert [str(one) for one in report.problems] == [
        (
            "file.txt:4: document G was generated for instruction 1_0, so it cannot be generated "
            "for 1_1"
        )
    ]
    assert not Candidate.objects.exists()


def test_an_instruction_must_be_known(empty):
    report = load(empty, "pairs-jsonl", jsonl(*PAIRS, generated("1_9", "G")))

    assert "there is no instruction pair 1_9" in str(report.problems[0])


def test_a_label_under_another_instruction_is_refused(empty):
    report = load(empty, "pairs-jsonl", jsonl(*PAIRS, generated("1_0", "G"), claim("1_1", "G")))

    assert [str(one) for one in report.problems] == [
        "file.txt:4: document G was generated for instruction 1_0, so it has no label under 1_1"
    ]


def test_a_document_with_labels_under_another_instruction_stays_in_all_pools(empty):
    load(empty, "pairs-jsonl", jsonl(*PAIRS, claim("1_0", "G"), claim("1_1", "G")))

    report = load(empty, "pairs-jsonl", jsonl(generated("1_0", "G")))

    assert [str(one) for one in report.problems] == [
        (
            "file.txt:1: document G has labels or answers under instruction 1_1, so it cannot be a "
            "document of 1_0 alone"
        )
    ]
    assert made_for(empty) == {"G": None}


def test_a_preview_refuses_the_same_labels_and_writes_nothing(empty):
    lines = jsonl(*PAIRS, generated("1_0", "G"), claim("1_1", "G"))

    assert load(empty, "pairs-jsonl", lines, dry_run=True).refused == 1
    assert load(empty, "pairs-jsonl", jsonl(*PAIRS, generated("1_0", "G")), dry_run=True).new == 3
    assert not Candidate.objects.exists()
