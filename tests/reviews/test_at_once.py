"""Simultaneous actions: one decision wins, one report is made, no answer is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from annotate.models import Adjudication, Assignment, Membership, Narrative
from annotate.rewriting import actions as rewriting
from audit.models import AgreementReport, Decision, Rating, Review
from audit.reports.actions import request_agreement
from audit.reviews.actions import save_rating, save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from audit.reviews.decisions import decide
from audit.settling.access import disagreement_of
from audit.settling.adjudication import adjudicate
from audit.settling.queue_filters import DisagreementKey, Kind
from base.errors import Refused, Stale
from tests import factories
from tests.second_pass import levels, make_scene

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgresql,
    pytest.mark.both_databases,
]


@pytest.fixture
def scene(transactional_db):
    return make_scene()


def ignore_delivery(name: str, pk: int) -> None:
    """Replace the broker."""


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run all calls simultaneously, each on its own connection; return results or exceptions."""
    start = threading.Barrier(len(calls))
    outcomes: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            start.wait()
            outcomes[place] = call()
        except Exception as error:  # noqa: BLE001 (the test looks at it)
            outcomes[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def fresh(member: Membership) -> Membership:
    return Membership.objects.select_related("project").get(pk=member.pk)


def test_one_of_two_leads_who_settle_at_once_is_refused(disputed):
    other = factories.lead(disputed.project, "carol")

    outcomes = at_once(
        *(
            lambda lead=lead, grade=grade: adjudicate(
                narrative=disputed.narrative,
                candidate=disputed.first,
                relevance=grade,
                reason="So.",
                cause="edge",
                by=fresh(lead),
            )
            for lead, grade in ((disputed.carla, 0), (other, 2))
        )
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Adjudication", "Refused"]
    assert Adjudication.objects.count() == 1


def test_a_decision_that_replaces_another_counts_once_if_it_is_sent_twice_at_once(disputed):
    answer = {"cause": "edge", "reason": "So.", "adopt": None}
    key = DisagreementKey(Kind.JUDGMENT, disputed.narrative.pk, disputed.first.pk, 0)
    old, new = uuid4(), uuid4()

    def send(relevance: int, sent: UUID, instead_of: UUID | None) -> Any:
        item = disagreement_of(disputed.carla.user, key)
        return item.save_decision({**answer, "relevance": relevance, "uuid": sent}, instead_of)

    send(0, old, None)
    outcomes = at_once(*[lambda: send(2, new, old)] * 4)

    assert {getattr(outcome, "uuid", outcome) for outcome in outcomes} == {new}
    assert Adjudication.objects.count() == 2
    assert Adjudication.objects.current().get().relevance == 2


def test_one_of_two_leads_who_decide_at_once_is_refused(assigned):
    answers = {**levels(), "query_dependency": ("poor", "Weak.")}
    save_ratings(narrative=assigned.narrative, answers=answers, by=assigned.dan)
    submit_review(narrative=assigned.narrative, by=assigned.dan)
    other = factories.lead(assigned.project, "carol")

    outcomes = at_once(
        *(
            lambda lead=lead, outcome=outcome: decide(
                narrative=assigned.narrative, outcome=outcome, reason="So.", by=fresh(lead)
            )
            for lead, outcome in ((assigned.carla, "revise"), (other, "removed"))
        )
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Decision", "Refused"]
    made = Decision.objects.get()
    assigned.pair.refresh_from_db()
    assigned.narrative.refresh_from_db()
    assert (assigned.pair.removed_at is not None) == (made.outcome == "removed")
    assert (assigned.narrative.sent_back_at is not None) == (made.outcome == "revise")


def test_simultaneous_answers_from_several_tabs_are_saved_in_one_review(assigned):
    outcomes = at_once(
        *(
            lambda key=key: save_rating(
                narrative=assigned.narrative,
                criterion=key,
                level="acceptable",
                by=fresh(assigned.dan),
            )
            for key in FOLLOWTABLE.keys
        )
    )

    assert {type(outcome) for outcome in outcomes} == {Review}
    assert Review.objects.count() == 1
    assert Rating.objects.filter(level="acceptable").count() == 6


def test_a_review_submitted_during_a_rewrite_counts_or_is_stale(assigned):
    save_ratings(narrative=assigned.narrative, answers=levels(), by=assigned.dan)

    handed_in, rewritten = at_once(
        lambda: submit_review(narrative=assigned.narrative, by=fresh(assigned.dan)),
        lambda: rewriting.rewrite_narrative(
            pair=assigned.pair, text="Only fences count.", based_on=1, by=fresh(assigned.carla)
        ),
    )

    assert isinstance(rewritten, Narrative)
    assert isinstance(handed_in, Review | Stale)
    # In both cases the auditor has the new version to review.
    assert Assignment.objects.get(member=assigned.dan).done_at is None


def test_simultaneous_requests_for_agreement_make_one_report(disputed, settings):
    settings.JOBS_DELIVER = f"{__name__}.ignore_delivery"

    outcomes = at_once(
        *[lambda: request_agreement(project=disputed.project, by=fresh(disputed.carla))] * 4
    )

    assert not any(isinstance(outcome, Refused) for outcome in outcomes)
    assert AgreementReport.objects.count() == 1
