"""A candidate taken out of its pool is not judged and in no qrels, until it is brought back."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.judging.actions import judge
from annotate.judging.judging_session import judging_order
from annotate.judgments import completion
from annotate.judgments.in_force import judgments_in_force
from annotate.models import Assignment, AuditEvent, Candidate, Judgment, Narrative, Project
from annotate.pools.removal import named, remove_candidates, restore_candidates
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Reader
from audit.settling.queue_filters import Kind, Wanted
from base.errors import Refused
from exporters.exports import selection
from tests import factories
from tests.pools.pooling import add_run, make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Two:
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
        remove_candidates(project=self.project, candidates=keys, reason=reason, by=self.carla)

    def restore(self, *candidates: Candidate) -> None:
        keys = [one.pk for one in candidates]
        restore_candidates(project=self.project, candidates=keys, by=self.carla)


@pytest.fixture
def two(db) -> Two:
    return Two()


def test_nobody_is_asked_to_judge_it(two):
    two.remove(two.b)

    assert judging_order(pair=two.pair, by=two.ada) == [two.a.pk]
    found = completion.judging(two.project)
    assert (found.wanted, found.answered) == (2, 2)


def test_what_people_said_of_it_is_kept_and_counts_nowhere(two):
    two.remove(two.a)

    assert Judgment.objects.current().count() == 2
    assert not judgments_in_force(two.project).exists()
    assert completion.judging(two.project).answered == 0


def test_what_people_differ_on_there_waits_for_nobody(two):
    def differing() -> int:
        return source(Kind.JUDGMENT, Reader(two.carla), Wanted()).rows.count()

    assert differing() == 1
    two.remove(two.a)
    assert differing() == 0


def test_it_is_in_no_qrels(two):
    two.remove(two.a)

    pairs = selection.pairs(two.project)
    standings = selection.standings(two.project, pairs, Narrative.Side.ALTERED)
    assert [one.doc_id for _pair, pool in standings for one in pool] == ["B"]
    prior = selection.prior_qrels(selection.queries(two.project))
    assert [line.doc_id for line in prior] == ["B"]


def test_brought_back_it_is_work_again_and_what_was_said_counts(two):
    assignment = Assignment.objects.create(
        pair=two.pair,
        task="judge",
        member=two.ada,
        seat=1,
        touched_at=timezone.now(),
        done_at=timezone.now(),
    )
    two.remove(two.a)
    two.restore(two.a)

    assert judgments_in_force(two.project).count() == 2
    assert two.pair.query.candidates.count() == 2
    assignment.refresh_from_db()
    assert assignment.done_at is None


def test_what_is_said_of_it_meanwhile_is_kept(two):
    factories.assignment(two.pair, two.ada)
    two.remove(two.b)

    judge(narrative=two.narrative, candidate=two.b, relevance=1, by=two.ada)

    assert Judgment.objects.current().filter(candidate=two.b).count() == 1
    two.restore(two.b)
    assert judgments_in_force(two.project).filter(candidate=two.b).count() == 1


def test_a_later_pool_leaves_it_out(two):
    add_run(two.project, "one.run", {"301": ["A", "B", "C"]})
    two.remove(two.a)

    pool = make(two.project, runs=["one.run"], depth=3)

    # B counts as judged because of its earlier relevance.
    assert pool.counts is not None
    assert [pool.counts[state] for state in ("new", "judged", "removed")] == [1, 1, 1]
    assert set(two.query.candidates.values_list("document__doc_id", flat=True)) == {"B", "C"}


def test_when_by_whom_and_why_stands_in_the_row_and_in_the_audit_log(two):
    two.remove(two.a, two.b)

    row = Candidate.with_removed.get(pk=two.a.pk)
    assert (row.removed_by, row.removed_reason) == (two.carla, "A duplicate.")
    [event] = AuditEvent.objects.filter(what="candidates.removed")
    assert (event.about, event.words) == ("2 documents · 301", "A duplicate.")


def test_one_that_is_out_keeps_its_first_reason(two):
    two.remove(two.a)
    two.remove(two.a, two.b, reason="Broken text.")

    assert Candidate.with_removed.get(pk=two.a.pk).removed_reason == "A duplicate."
    assert Candidate.with_removed.get(pk=two.b.pk).removed_reason == "Broken text."


def test_candidates_are_found_by_their_ids(two):
    assert named(two.project, [("301", "B"), ("301", "A")]) == [two.b.pk, two.a.pk]
    with pytest.raises(Refused, match="Document C is not a candidate of query 301"):
        named(two.project, [("301", "A"), ("301", "C")])


@pytest.mark.parametrize(("reason", "sentence"), [("  ", "Say why"), ("x" * 501, "at most 500")])
def test_without_a_fitting_reason_nothing_is_taken_out(two, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        two.remove(two.a, reason=reason)

    assert Candidate.objects.count() == 2


def test_what_is_of_another_project_is_refused(two):
    other = factories.candidate(factories.query(factories.project("other")))

    with pytest.raises(Refused, match="does not belong to this project"):
        two.remove(two.a, other)

    assert Candidate.objects.count() == 3


@pytest.mark.parametrize(
    "fields", [{"removed_reason": "Why"}, {"removed_at": timezone.now()}, {"removed_by_id": 1}]
)
def test_the_database_takes_no_half_of_it(two, fields):
    if "removed_by_id" in fields:
        fields = {"removed_by_id": two.carla.pk}
    with pytest.raises(IntegrityError), transaction.atomic():
        Candidate.objects.filter(pk=two.a.pk).update(**fields)
