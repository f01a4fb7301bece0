"""The writer sees the outcome for the documents once re-judging is done, and not earlier."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.judgments.blindness import may_see
from annotate.models import Adjudication, Assignment, Membership
from annotate.pairs.clauses import clauses
from annotate.pairs.pool import candidates_to_judge
from annotate.rewriting.kept_and_dropped import outcome
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXT = "Any plant counts, but only if it is at sea. Plans are not relevant."
AT_SEA, PLANS = clauses(TEXT)[1:]


@pytest.fixture
def pair(db):
    project = factories.project(overlap_judge=2)
    query = factories.query(project)
    for doc_id in "ABCD":
        factories.candidate(query, doc_id, prior=1)
    factories.candidate(query, "E", prior=0)
    return factories.pair(query, altered=TEXT)


@pytest.fixture
def ada(pair) -> Membership:
    """The narrative's writer; her assignment is done, because the pair was rewritten once."""
    person = factories.member(pair.project, "ada")
    Assignment.objects.create(
        pair=pair, task="rewrite", seat=1, member=person, touched_at=NOON, done_at=NOON
    )
    return person


@pytest.fixture
def judges(pair) -> list[Membership]:
    """ben and dan, each with an assignment to judge."""
    people = [factories.member(pair.project, name) for name in ("ben", "dan")]
    for person in people:
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=person)
    return people


def judge(pair, by, doc_id, relevance, *marked):
    """Create one judgment with the clauses that were marked for it."""
    return factories.judgment(
        factories.altered(pair),
        pair.query.candidates.get(document__doc_id=doc_id),
        by,
        relevance,
        clauses=[{"start": span.start, "end": span.end} for span in marked],
    )


def finish_judging(pair, *names: str) -> None:
    """Let these judges, or all, judge every document that they have not judged yet."""
    under = factories.altered(pair)
    for assignment in pair.assignments.filter(task="judge"):
        if not names or assignment.member.name in names:
            judgments = under.statements.filter(annotator=assignment.member).values("candidate")
            for candidate in candidates_to_judge(pair).exclude(pk__in=judgments):
                factories.judgment(under, candidate, assignment.member)


def get_lead(pair) -> Membership:
    """Return a lead without an assignment, who may see every id."""
    known = pair.project.memberships.filter(name="carla").first()
    return known or factories.lead(pair.project)


def outcome_for_lead(pair):
    return outcome(pair, factories.altered(pair), get_lead(pair))


def counts(pair) -> tuple[int, ...]:
    it = outcome_for_lead(pair)
    return it.kept, it.dropped, it.grew, it.disputed, it.unjudged


def page(client, pair):
    return client.get(reverse("annotate:rewrite", args=[pair.pk])).content.decode()


# --- the outcome ----------------------------------------------------------------------------------


def test_there_is_no_outcome_without_a_judgment(pair, judges):
    assert outcome_for_lead(pair) is None


def test_documents_that_people_agree_on_are_kept_or_dropped_and_the_rest_is_open(pair, judges):
    ben, dan = judges
    for doc_id, bens, dans in [("A", 1, 1), ("B", 0, 0), ("C", 1, 0)]:
        judge(pair, ben, doc_id, bens)
        judge(pair, dan, doc_id, dans)

    assert counts(pair) == (1, 1, 0, 1, 1)


def test_a_settling_decision_decides_the_outcome(pair, judges):
    carla = factories.lead(pair.project)
    judge(pair, judges[0], "A", 1)
    Adjudication.objects.create(
        narrative=factories.altered(pair),
        candidate=pair.query.candidates.get(document__doc_id="A"),
        relevance=0,
        reason="In a river.",
        cause="edge",
        by=carla,
    )

    assert counts(pair) == (0, 1, 0, 0, 3)


def test_judgments_of_machines_and_superseded_ones_do_not_count(pair, judges):
    judge(pair, factories.machine(pair.project), "A", 0)
    taken_back = judge(pair, judges[0], "B", 0)
    taken_back.ended_at = NOON
    taken_back.save()

    assert outcome_for_lead(pair) is None


def test_judgments_under_an_older_version_do_not_count(pair, judges):
    judge(pair, judges[0], "A", 0)
    factories.narrative(pair, text="At sea.", version=2)

    assert outcome_for_lead(pair) is None


def test_documents_that_stay_irrelevant_are_left_out(pair, judges):
    pair.project.judge_scope = "pool"
    pair.project.save()
    judge(pair, judges[0], "E", 0)

    assert counts(pair) == (0, 0, 0, 0, 4)


@pytest.mark.parametrize(
    ("grades", "promise", "sentence"),
    [
        ({"A": 0, "B": 1, "C": 1, "D": 1}, "kept", "at least one changed."),
        ({"A": 1, "B": 1, "C": 1, "D": 1}, "unchanged", "No document dropped out"),
        ({"A": 0}, "so_far", "at least one changed; 3 are still open."),
        ({"A": 1}, "not_yet", "No document has dropped out yet; 3 are still open."),
        ({"A": 0, "E": 1}, "broken", "1 document is relevant now that was not before"),
    ],
)
def test_the_promise_that_the_relevant_set_only_shrinks(
    pair, judges, client, grades, promise, sentence
):
    pair.project.judge_scope = "pool" if "E" in grades else "relevant"
    pair.project.save()
    for doc_id, relevance in grades.items():
        judge(pair, judges[0], doc_id, relevance)
    client.force_login(factories.lead(pair.project).user)

    assert outcome_for_lead(pair).promise == promise
    assert shows(page(client, pair), sentence)


# --- clauses --------------------------------------------------------------------------------------


def test_each_clause_shows_the_documents_it_removed(pair, judges, client):
    ben, dan = judges
    judge(pair, ben, "A", 0, AT_SEA)
    judge(pair, dan, "A", 0, PLANS)
    judge(pair, ben, "B", 0, PLANS)
    judge(pair, ben, "C", 0)

    removed = outcome_for_lead(pair)

    assert [
        (one.text, one.count, [label for _, label in one.documents]) for one in removed.clauses
    ] == [
        ("but only if it is at sea.", 1, ["A"]),
        ("Plans are not relevant.", 2, ["A", "B"]),
    ]
    assert removed.unexplained == 1


def test_clauses_marked_for_a_relevant_document_removed_nothing(pair, judges):
    judge(pair, judges[0], "A", 1, AT_SEA)
    judge(pair, judges[0], "B", 0, PLANS)

    assert [one.text for one in outcome_for_lead(pair).clauses] == ["Plans are not relevant."]


def test_ten_of_many_documents_are_named_and_all_are_counted(pair, judges):
    for number in range(12):
        factories.candidate(pair.query, f"M{number}", prior=1)
        judge(pair, judges[0], f"M{number}", 0, PLANS)

    (removed,) = outcome_for_lead(pair).clauses

    assert (removed.count, len(removed.documents)) == (12, 10)


def test_the_outcome_takes_five_queries_however_many_documents(
    pair, judges, django_assert_num_queries
):
    for number in range(30):
        factories.candidate(pair.query, f"M{number}", prior=1)
        judge(pair, judges[0], f"M{number}", number % 2, AT_SEA)
    narrative = factories.altered(pair)

    lead = get_lead(pair)
    with django_assert_num_queries(5):
        outcome(pair, narrative, lead)


# --- who may see it -------------------------------------------------------------------------------


def test_the_writer_sees_the_outcome_when_every_judge_is_done(pair, ada, judges, client):
    judge(pair, judges[0], "A", 0)
    client.force_login(ada.user)

    before = page(client, pair)
    finish_judging(pair)
    after = page(client, pair)

    assert "What became of it" not in before
    assert "What became of it" in after


def test_the_writer_sees_nothing_while_an_assignment_is_free(pair, ada, judges):
    judge(pair, judges[0], "A", 0)
    pair.assignments.filter(member=judges[1]).delete()
    finish_judging(pair)

    assert not may_see(ada, pair)


def test_a_writer_who_judges_sees_nothing_before_all_are_done(pair, ada):
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    ben = factories.member(pair.project, "ben")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ben)
    finish_judging(pair, "ben")

    assert not may_see(ada, pair)
    finish_judging(pair)
    assert may_see(ada, pair)


def test_a_judge_who_did_not_write_the_narrative_never_sees_the_outcome(pair, ada, judges):
    finish_judging(pair)

    assert not may_see(judges[0], pair)


def test_a_lead_sees_the_outcome_at_once_unless_they_still_judge(pair, ada):
    carla = factories.lead(pair.project)

    assert may_see(carla, pair)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=carla, become_blind=True)
    assert not may_see(carla, pair)


def test_a_new_version_hides_the_outcome_again(pair, ada, judges, client):
    judge(pair, judges[0], "A", 0)
    finish_judging(pair)
    client.force_login(ada.user)

    written = {"text": "At sea.", "based_on": 1, "confirmed": "8 judgments"}
    client.post(reverse("annotate:rewrite", args=[pair.pk]), written)

    assert "What became of it" not in page(client, pair)
    assert not may_see(ada, pair)


def test_no_outcome_is_shown_for_the_reversed_narrative(pair, judges, client):
    judge(pair, judges[0], "A", 0)
    client.force_login(factories.lead(pair.project).user)
    address = reverse("annotate:rewrite", args=[pair.pk]) + "?side=reversed"

    assert "What became of it" not in client.get(address).content.decode()
