"""A pair's task has at most k assignments, each held by one person, and one for each person."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.judgments.completion import open_assignments
from annotate.judgments.open_pairs import is_any_open
from annotate.models import Assignment, Judgment, Membership, Narrative, Project, User
from annotate.pairs.models import LEASE
from annotate.rewriting import actions as rewriting
from base.errors import Refused
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE, REWRITE, REVIEW = Assignment.Task.JUDGE, Assignment.Task.REWRITE, Assignment.Task.REVIEW
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def tides(db):
    return factories.project(overlap_judge=2)


def take_next(task: str, by: Membership, **more) -> Assignment:
    """Take the next assignment for `by`; there must be one."""
    assignment = assignments.take_next(task=task, by=by, **more)
    assert assignment is not None
    return assignment


def pairs(project: Project, *query_ids: str, **fields):
    made = []
    for query_id in query_ids:
        query = factories.query(project, query_id)
        factories.candidate(query)
        made.append(factories.pair(query, **fields))
    return made


def test_the_next_open_assignment_is_given(tides):
    (pair,) = pairs(tides, "301")
    ada = factories.member(tides, "ada")

    assignment = take_next(JUDGE, ada)

    assert (assignment.pair, assignment.seat, assignment.member) == (pair, 1, ada)


def test_asking_twice_takes_one_assignment(tides):
    pairs(tides, "301", "302")
    ada = factories.member(tides, "ada")

    first = assignments.take_next(task=JUDGE, by=ada)
    second = assignments.take_next(task=JUDGE, by=ada)

    assert first == second
    assert Assignment.objects.count() == 1


def test_a_pair_that_others_began_comes_first(tides):
    _, second = pairs(tides, "301", "302")
    ada, ben = factories.member(tides, "ada"), factories.member(tides, "ben")
    assignments.take(pair=second, task=JUDGE, by=ada)

    assert take_next(JUDGE, ben).pair == second


def test_nobody_gets_an_assignment_beyond_the_overlap(tides):
    pairs(tides, "301")
    people = [factories.member(tides, name) for name in ("ada", "ben", "dan")]

    taken = [assignments.take_next(task=JUDGE, by=person) for person in people]

    assert [assignment and assignment.seat for assignment in taken] == [1, 2, None]


def test_taking_a_full_pair_is_refused_with_a_sentence(tides):
    (pair,) = pairs(tides, "301")
    for name in ("ada", "ben"):
        assignments.take(pair=pair, task=JUDGE, by=factories.member(tides, name))

    with pytest.raises(Refused, match="Every task"):
        assignments.take(pair=pair, task=JUDGE, by=factories.member(tides, "dan"))

    assert Assignment.objects.count() == 2


def test_an_untouched_assignment_is_given_back_after_the_lease(tides):
    pairs(tides, "301")
    people = [factories.member(tides, name) for name in ("ada", "ben", "dan")]
    assignments.take_next(task=JUDGE, by=people[0], now=NOON)
    assignments.take_next(task=JUDGE, by=people[1], now=NOON)

    later = take_next(JUDGE, people[2], now=NOON + LEASE + timedelta(seconds=1))

    assert later.seat == 1
    assert list(Assignment.objects.values_list("member__name", flat=True)) == ["dan"]


def test_a_task_whose_lease_has_ended_is_offered_to_others(tides):
    pairs(tides, "301")
    people = [factories.member(tides, name) for name in ("ada", "ben", "dan")]
    for person in people[:2]:
        assignments.take_next(task=JUDGE, by=person, now=NOON)

    assert is_any_open(task=JUDGE, by=people[2])


def leave(member):
    Membership.objects.filter(pk=member.pk).update(left_at=member.joined_at)


def close_account(member):
    User.objects.filter(pk=member.user_id).update(is_active=False)


@pytest.mark.parametrize("go", [leave, close_account])
def test_an_unfinished_task_of_somebody_who_is_gone_is_given_to_others(tides, go):
    (pair,) = pairs(tides, "301")
    factories.candidate(pair.query)
    ada, ben, dan = (factories.member(tides, name) for name in ("ada", "ben", "dan"))
    for person in (ada, ben):
        assignments.take_next(task=JUDGE, by=person)
    judging.judge(
        narrative=factories.altered(pair),
        candidate=pair.query.candidates.first(),
        relevance=1,
        by=ada,
    )
    assert not is_any_open(task=JUDGE, by=dan)

    go(ada)

    assert is_any_open(task=JUDGE, by=dan)
    assert take_next(JUDGE, dan).seat == 1
    assert set(pair.assignments.values_list("member__name", flat=True)) == {"ben", "dan"}
    assert Judgment.objects.current().filter(annotator=ada).exists()


def test_finished_work_of_somebody_who_has_left_is_not_offered_again(tides):
    (pair,) = pairs(tides, "301")
    ada, ben, dan = (factories.member(tides, name) for name in ("ada", "ben", "dan"))
    for person in (ada, ben):
        assignments.take_next(task=JUDGE, by=person)
        judging.judge(
            narrative=factories.altered(pair),
            candidate=pair.query.candidates.get(),
            relevance=1,
            by=person,
        )

    leave(ada)

    assert not is_any_open(task=JUDGE, by=dan)
    assert assignments.take_next(task=JUDGE, by=dan) is None


def test_an_assignment_in_which_work_was_done_is_never_given_back(tides):
    (pair,) = pairs(tides, "301")
    ada, dan = factories.member(tides, "ada"), factories.member(tides, "dan")
    assignments.take_next(task=JUDGE, by=ada, now=NOON)
    judging.judge(
        narrative=factories.altered(pair),
        candidate=pair.query.candidates.get(),
        relevance=1,
        by=ada,
    )

    assignments.take_next(task=JUDGE, by=dan, now=NOON + 10 * LEASE)

    assert set(Assignment.objects.values_list("member__name", flat=True)) == {"ada", "dan"}


def test_a_begun_assignment_cannot_be_given_back(tides):
    (pair,) = pairs(tides, "301")
    ada = factories.member(tides, "ada")
    assignment = take_next(JUDGE, ada)
    judging.judge(
        narrative=factories.altered(pair),
        candidate=pair.query.candidates.get(),
        relevance=1,
        by=ada,
    )

    with pytest.raises(Refused, match="cannot be released"):
        assignments.give_back(assignment=assignment, by=ada)


def test_only_its_holder_or_a_lead_gives_an_assignment_back(tides):
    pairs(tides, "301")
    ada, ben, carla = (
        factories.member(tides, "ada"),
        factories.member(tides, "ben"),
        factories.lead(tides),
    )
    assignment = take_next(JUDGE, ada)

    with pytest.raises(Refused, match="holder or a lead"):
        assignments.give_back(assignment=assignment, by=ben)
    assignments.give_back(assignment=assignment, by=carla)

    assert not Assignment.objects.exists()


def test_there_is_nothing_to_judge_before_the_narrative_is_rewritten(tides):
    pairs(tides, "301", altered=None)
    ada = factories.member(tides, "ada")

    assert assignments.take_next(task=JUDGE, by=ada) is None
    assert assignments.take_next(task=REWRITE, by=ada) is not None


def test_a_collection_judged_as_a_pool_needs_no_rewriting(db):
    project = factories.project(judge_scope=Project.Scope.POOL)
    pairs(project, "301", altered=None)

    assert assignments.take_next(task=JUDGE, by=factories.member(project, "ada")) is not None


def test_a_written_narrative_is_not_given_out_for_rewriting(tides):
    pairs(tides, "301")

    assert assignments.take_next(task=REWRITE, by=factories.member(tides, "ada")) is None


def test_a_narrative_sent_back_is_written_again_by_its_author(tides):
    (pair,) = pairs(tides, "301", altered=None)
    ada, carla = factories.member(tides, "ada"), factories.lead(tides)
    assignments.take_next(task=REWRITE, by=ada)
    rewriting.rewrite_narrative(pair=pair, text="At sea only.", by=ada, based_on=0)

    rewriting.send_back(pair=pair, by=carla)

    assert [assignment.pair for assignment in open_assignments(ada)] == [pair]
    assert assignments.take_next(task=JUDGE, by=ada) is None


def test_nobody_reviews_their_own_narrative(tides):
    (pair,) = pairs(tides, "301", altered=None)
    ada, dan = factories.member(tides, "ada"), factories.member(tides, "dan")
    Narrative.objects.create(pair=pair, side="altered", text="At sea only.", author=ada)

    assert assignments.take_next(task=REVIEW, by=ada) is None
    assert take_next(REVIEW, dan).pair == pair


def test_a_removed_pair_is_given_to_nobody(tides):
    (pair,) = pairs(tides, "301")
    rewriting.remove(pair=pair, by=factories.lead(tides))

    assert assignments.take_next(task=JUDGE, by=factories.member(tides, "ada")) is None


def test_the_database_itself_refuses_two_people_on_one_assignment(tides):
    (pair,) = pairs(tides, "301")
    ada, ben = factories.member(tides, "ada"), factories.member(tides, "ben")
    Assignment.objects.create(pair=pair, task=JUDGE, seat=1, member=ada)

    with pytest.raises(IntegrityError):
        Assignment.objects.create(pair=pair, task=JUDGE, seat=1, member=ben)


def test_the_database_itself_refuses_one_person_on_two_assignments(tides):
    (pair,) = pairs(tides, "301")
    ada = factories.member(tides, "ada")
    Assignment.objects.create(pair=pair, task=JUDGE, seat=1, member=ada)

    with pytest.raises(IntegrityError):
        Assignment.objects.create(pair=pair, task=JUDGE, seat=2, member=ada)


@pytest.mark.django_db(transaction=True)
def test_fifty_people_at_once_share_the_assignments_exactly():
    project = factories.project(overlap_judge=3)
    pairs(project, *(str(number) for number in range(301, 311)))
    people = [factories.member(project, f"person{number}") for number in range(50)]
    start = threading.Barrier(50)
    got: list[Assignment | None] = []
    errors: list[Exception] = []

    def ask(person: Membership) -> None:
        try:
            start.wait()
            got.append(assignments.take_next(task=JUDGE, by=Membership.objects.get(pk=person.pk)))
        except Exception as error:  # noqa: BLE001 (shown below, in the test's own thread)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert sum(assignment is not None for assignment in got) == 30
    taken = list(Assignment.objects.values_list("pair", "seat"))
    assert len(taken) == len(set(taken)) == 30
    assert {assignment for _, assignment in taken} == {1, 2, 3}
