"""The project with 10,000 disagreements, for `benchmarks.queue`."""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING, Any

from benchmarks.serving import set_up

if TYPE_CHECKING:
    from annotate.models import Judgment, Membership
    from benchmarks.world import Pool


QUERIES, POOL, PEOPLE, WORDS = 50, 100, 10, 400
# The number of disagreements of each kind; the rest of the 10,000 are on judgments.
VERDICTS, REVIEWS, CHECKS = 500, 50, 50


def fill(options: argparse.Namespace) -> dict[str, Any]:
    """Make the project; return its lead's session and the number of rows of each kind."""
    set_up(migrate=True)
    from django.db import transaction

    from annotate.models import Judgment, Membership, Verdict
    from audit.settling.queue import read_page
    from audit.settling.queue_filters import QueueFilter
    from benchmarks import world

    rng = random.Random(7)
    words = world.vocabulary(rng, 5_000)
    n_queries = max(1, round(QUERIES * options.share))
    n_verdicts, n_reviews, n_checks = (
        max(1, round(many * options.share)) for many in (VERDICTS, REVIEWS, CHECKS)
    )
    n_reviews = min(n_reviews, n_queries)
    with transaction.atomic():
        project = world.add_project("bench", "Bench", overlap=PEOPLE)
        user = world.add_user("carla")
        lead = Membership.objects.create(project=project, user=user, name="carla", role="lead")
        people = [
            Membership.objects.create(project=project, user=world.add_user(name), name=name)
            for name in (f"judge{number}" for number in range(PEOPLE))
        ]
        pools = world.add_pools(
            project,
            pools=n_queries,
            size=POOL,
            words=words,
            rng=rng,
            text=lambda: " ".join(rng.choices(words, k=WORDS)),
            prior=lambda number: number % 2,
        )
        judgments = _judgments(pools, people, n_verdicts + n_reviews + n_checks, rng)
        Judgment.objects.bulk_create(judgments, batch_size=2000)
        _add_verdicts(pools, people, words, n_verdicts)
        _add_reviews(pools[:n_reviews], people)
        _add_checks(pools, people, lead, n_checks)
        session = world.sign_in(user)
    world.analyze()
    made = 2 * n_queries * POOL
    deep = read_page(lead, QueueFilter(), size=max(1, made - 200)).after
    return {
        "session": session,
        "people": [one.pk for one in people],
        "deep": str(deep).replace("+", "%2B"),
        "rows": {
            "candidates": n_queries * POOL,
            "judgments": len(judgments),
            "people": len(people),
            "verdicts": Verdict.objects.count(),
            "disagreements": made,
        },
    }


def _judgments(
    pools: list[Pool], people: list[Membership], agreeing: int, rng: random.Random
) -> list[Judgment]:
    """Return judgments by everyone under both narratives; all agree on `agreeing` documents."""
    from datetime import UTC, datetime, timedelta

    from annotate.models import Assignment, Judgment

    at = datetime(2026, 1, 1, tzinfo=UTC)

    Assignment.objects.bulk_create(
        Assignment(
            pair=pool.pair,
            task="judge",
            seat=seat,
            member=person,
            touched_at=at,
            done_at=at + timedelta(days=1),
        )
        for pool in pools
        for seat, person in enumerate(people, start=1)
    )
    judgments: list[Judgment] = []
    under = [(pool.original, one) for pool in pools for one in pool.candidates]
    under += [(pool.altered, one) for pool in pools for one in pool.candidates]
    for place, (narrative, candidate) in enumerate(under):
        alike = place < agreeing
        grades = [1] * PEOPLE if alike else [rng.randrange(3) for _ in people]
        if not alike and len(set(grades)) == 1:
            grades[0] = (grades[0] + 1) % 3
        for person, grade in zip(people, grades, strict=True):
            at += timedelta(seconds=1)
            judgments.append(
                Judgment(
                    narrative=narrative,
                    candidate=candidate,
                    annotator=person,
                    relevance=grade,
                    at=at,
                    active_ms=4_000,
                    note="A word on why." if grade == 2 else "",
                )
            )
    # As in practice: the judgments of one document by several people are far apart.
    rng.shuffle(judgments)
    return judgments


def _add_verdicts(
    pools: list[Pool], people: list[Membership], words: list[str], differing: int
) -> None:
    """Add two conditions to each altered narrative, answered by two people for each document."""
    from annotate.models import Condition, Judgment, Verdict

    conditions = {
        pool.altered.pk: Condition.objects.bulk_create(
            Condition(narrative=pool.altered, number=number, text=f"Is {word}.")
            for number, word in enumerate(words[n : n + 2], start=1)
        )
        for n, pool in enumerate(pools)
    }
    apart = {one.pk for one in [one for pool in pools for one in pool.candidates][:differing]}
    of_two = Judgment.objects.filter(
        narrative__side="altered", annotator__in=people[:2]
    ).values_list("pk", "candidate", "annotator", "narrative")
    Verdict.objects.bulk_create(
        [
            Verdict(
                statement_id=judgment,
                condition=condition,
                answer="not_met"
                if condition.number == 1 and candidate in apart and who == people[0].pk
                else "met",
            )
            for judgment, candidate, who, narrative in of_two
            for condition in conditions[narrative]
        ],
        batch_size=2000,
    )


def _add_reviews(pools: list[Pool], people: list[Membership]) -> None:
    """Add two reviews of each altered narrative, of which one rejects it."""
    from datetime import UTC, datetime

    from audit.models import Rating, Review
    from audit.reviews.criteria import FOLLOWTABLE

    for pool in pools:
        for person, level in ((people[2], "poor"), (people[3], "excellent")):
            review = Review.objects.create(
                narrative=pool.altered,
                auditor=person,
                rubric=FOLLOWTABLE.name,
                submitted_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
            Rating.objects.bulk_create(
                Rating(
                    review=review,
                    criterion=criterion.key,
                    level=level if place == 0 else "excellent",
                    place=2 if place == 0 and level == "poor" else 0,
                    rejects=place == 0 and level == "poor",
                    words="Weak." if place == 0 and level == "poor" else "",
                )
                for place, criterion in enumerate(FOLLOWTABLE.criteria)
            )


def _add_checks(
    pools: list[Pool], people: list[Membership], lead: Membership, differing: int
) -> None:
    """Add claimed labels that two people checked; they disagree on the first `differing`."""
    from audit.models import Check, Sample, SampleItem

    sample = Sample.objects.create(
        project=lead.project, name="Checks", source="prior", seed=1, size=1, created_by=lead
    )
    labels = [(pool.altered, one) for pool in pools for one in pool.candidates][: 4 * differing]
    items = SampleItem.objects.bulk_create(
        SampleItem(sample=sample, narrative=narrative, candidate=candidate, claimed=1)
        for narrative, candidate in labels
    )
    Check.objects.bulk_create(
        Check(
            item=item,
            checker=people[place],
            place=place,
            relevance=place % 2 if n < differing else 1,
        )
        for n, item in enumerate(items)
        for place in (1, 2)
    )
