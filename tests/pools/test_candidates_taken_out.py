"""A candidate taken out of its pool is not judged and in no qrels, until it is brought back."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.judging.actions import judge
from annotate.judging.judging_session import judging_order
from annotate.judgments import completion
from annotate.judgments.in_force import judgments_in_force
from annotate.models import Assignment, AuditEvent, Candidate, Judgment, Narrative, Project
from annotate.pools.removal import DOCUMENTS
from audit.settling.kinds import build_source
from audit.settling.queue_filters import Kind, QueueFilter, Reader
from base.errors import Refused
from exporters.exports.selection import selection
from tests import factories
from tests.pools.pooling import add_run, make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Scene:
    """A query with documents A and B, which ada and ben judged differently."""

    def __init__(self) -> None:
        self.project = factories.project(judge_scope=Project.Scope.POOL, overlap_judge=2)
        self.carla = factories.lead(self.project)
        self.ada, self.ben = (factories.member(self.project, name) for name in ("ada", "ben"))
        self.query = factories.query(self.project)
        self.a, self.b = (factories.candidate(self.query, doc_id) for doc_id in "AB")
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        for person, grade in ((self.ada, 0), (self.ben, 1)):
            factories.judgment(self.narrative, self.a, person, grade)

    def remove(self, *candidates: Candidate, reason: str = "A duplicate.") -> None:
        keys = [one.pk for one in candidates]
        DOCUMENTS.remove(project=self.project, keys=keys, reason=reason, by=self.carla)

    def restore(self, *candidates: Candidate) -> None:
        keys = [one.pk for one in candidates]
        DOCUMENTS.restore(project=self.project, keys=keys, by=self.carla)


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def test_a_removed_candidate_is_not_judged(scene):
    scene.remove(scene.b)

    assert judging_order(pair=scene.pair, by=scene.ada) == [scene.a.pk]
    found = completion.judging(scene.project)
    assert (found.wanted, found.answered) == (2, 2)


def test_judgments_of_a_removed_candidate_are_kept_and_not_counted(scene):
    scene.remove(scene.a)

    assert Judgment.objects.current().count() == 2
    assert not judgments_in_force(scene.project).exists()
    assert completion.judging(scene.project).answered == 0


def test_a_removed_candidate_has_no_open_disagreement(scene):
    def differing() -> int:
        return build_source(Kind.JUDGMENT, Reader(scene.carla), QueueFilter()).rows.count()

    assert differing() == 1
    scene.remove(scene.a)
    assert differing() == 0


def test_a_removed_candidate_is_in_no_qrels(scene):
    scene.remove(scene.a)

    pairs = selection.pairs(scene.project)
    standings = selection.pooled_documents(scene.project, pairs, Narrative.Side.ALTERED)
    assert [one.doc_id for _pair, pool in standings for one in pool] == ["B"]
    prior = selection.prior_qrels(selection.queries(scene.project))
    assert [line.doc_id for line in prior] == ["B"]


def test_a_restored_candidate_reopens_work_and_its_judgments_count(scene):
    assignment = Assignment.objects.create(
        pair=scene.pair,
        task="judge",
        member=scene.ada,
        seat=1,
        touched_at=timezone.now(),
        done_at=timezone.now(),
    )
    scene.remove(scene.a)
    scene.restore(scene.a)

    assert judgments_in_force(scene.project).count() == 2
    assert scene.pair.query.candidates.count() == 2
    assignment.refresh_from_db()
    assert assignment.done_at is None


def test_a_judgment_of_a_removed_candidate_is_kept(scene):
    factories.assignment(scene.pair, scene.ada)
    scene.remove(scene.b)

    judge(narrative=scene.narrative, candidate=scene.b, relevance=1, by=scene.ada)

    assert Judgment.objects.current().filter(candidate=scene.b).count() == 1
    scene.restore(scene.b)
    assert judgments_in_force(scene.project).filter(candidate=scene.b).count() == 1


def test_a_later_pool_skips_removed_candidates(scene):
    add_run(scene.project, "one.run", {"301": ["A", "B", "C"]})
    scene.remove(scene.a)

    pool = make(scene.project, runs=["one.run"], depth=3)

    # B counts as judged because of its earlier relevance.
    assert pool.counts is not None
    assert [pool.counts[state] for state in ("new", "judged", "removed")] == [1, 1, 1]
    assert set(scene.query.candidates.values_list("document__doc_id", flat=True)) == {"B", "C"}


def test_a_removal_is_recorded_in_the_row_and_in_the_audit_log(scene):
    scene.remove(scene.a, scene.b)

    row = Candidate.with_removed.get(pk=scene.a.pk)
    assert (row.removed_by, row.removed_reason) == (scene.carla, "A duplicate.")
    [event] = AuditEvent.objects.filter(what="candidates.removed")
    assert (event.about, event.words) == ("2 documents · 301", "A duplicate.")


def test_a_removed_candidate_keeps_its_first_reason(scene):
    scene.remove(scene.a)
    scene.remove(scene.a, scene.b, reason="Broken text.")

    assert Candidate.with_removed.get(pk=scene.a.pk).removed_reason == "A duplicate."
    assert Candidate.with_removed.get(pk=scene.b.pk).removed_reason == "Broken text."


def test_candidates_are_found_by_their_ids(scene):
    keys = DOCUMENTS.keys_of(scene.project, [("301", "B"), ("301", "A")])

    assert keys == [scene.b.pk, scene.a.pk]
    with pytest.raises(Refused, match="Document C is not a candidate of query 301"):
        DOCUMENTS.keys_of(scene.project, [("301", "A"), ("301", "C")])


@pytest.mark.parametrize(("reason", "sentence"), [("  ", "Say why"), ("x" * 501, "at most 500")])
def test_an_invalid_reason_takes_nothing_out(scene, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        scene.remove(scene.a, reason=reason)

    assert Candidate.objects.count() == 2


def test_a_candidate_of_another_project_is_refused(scene):
    other = factories.candidate(factories.query(factories.project("other")))

    with pytest.raises(Refused, match="does not belong to this project"):
        scene.remove(scene.a, other)

    assert Candidate.objects.count() == 3


@pytest.mark.parametrize(
    "fields", [{"removed_reason": "Why"}, {"removed_at": timezone.now()}, {"removed_by_id": 1}]
)
def test_the_database_refuses_an_incomplete_removal(scene, fields):
    if "removed_by_id" in fields:
        fields = {"removed_by_id": scene.carla.pk}
    with pytest.raises(IntegrityError), transaction.atomic():
        Candidate.objects.filter(pk=scene.a.pk).update(**fields)


def test_the_command_takes_out_the_candidates_of_a_file(scene, tmp_path):
    file = tmp_path / "candidates.tsv"
    file.write_text("301\tA\r\n301\tB\n")
    out = StringIO()

    call_command("candidates", "tides", "remove", file=str(file), reason="A duplicate.", stdout=out)

    assert out.getvalue() == "2 taken out, 0 unchanged\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"301\tA\n\n", "Line 2 of {file} has no TAB. Write query id, TAB, document id."),
        (b"301\t\xff\n", "{file} is not text in UTF-8."),
        (None, "There is no {file}, or no folder for it. Check the path, or make the folder."),
    ],
)
def test_a_file_that_is_no_list_of_candidates_is_refused(scene, tmp_path, content, sentence):
    file = tmp_path / "candidates.tsv"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(CommandError) as caught:
        call_command("candidates", "tides", "remove", file=str(file), reason="A duplicate.")

    assert str(caught.value) == sentence.format(file=file)
