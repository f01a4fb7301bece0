"""In some kinds, more than half of the auditors must reject an instruction, instead of one."""

from __future__ import annotations

import pytest

from annotate.models import Membership
from audit.models import Rating, Review
from audit.reviews.criteria import FOLLOWTABLE, Verdict, verdict
from audit.reviews.decisions import decide, decide_many
from audit.reviews.passes import narratives_to_decide, passes_of, verdict_of
from audit.reviews.rejected import rejected
from base.errors import InvalidField
from tests import factories

pytestmark = pytest.mark.both_databases

GOOD, _CARE, POOR = FOLLOWTABLE.levels


@pytest.mark.parametrize(
    ("against", "of", "expected"),
    [
        (1, 4, Verdict.PASSED),
        (2, 4, Verdict.PASSED),
        (3, 4, Verdict.REJECTED),
        # Three of four reject it, whatever the fourth review is.
        (3, 3, Verdict.REJECTED),
        (2, 3, Verdict.INCOMPLETE),
        # More reviews than wanted.
        (3, 6, Verdict.PASSED),
        (4, 6, Verdict.REJECTED),
    ],
)
def test_more_than_half_of_four_auditors_reject(against, of, expected):
    reviews = [[GOOD, POOR]] * against + [[GOOD, GOOD]] * (of - against)

    assert verdict(reviews, 4, by_majority=True) == expected


class Scene:
    """An instruction that wants four reviews, some of them rejecting."""

    def __init__(self, kind: str = "multiconir") -> None:
        self.project = factories.project(kind=kind, overlap_review=4)
        self.carla = factories.lead(self.project)
        pair = factories.pair(factories.query(self.project), origin="llm")
        self.narrative = factories.altered(pair)

    def review(self, *, against: int, of: int) -> None:
        criterion = FOLLOWTABLE.criteria[0].key
        for number in range(of):
            auditor = Membership.objects.create(project=self.project, name=f"rater {number}")
            review = Review.objects.create(
                narrative=self.narrative,
                auditor=auditor,
                rubric=FOLLOWTABLE.name,
                submitted_at="2026-03-01T09:00Z",
            )
            level = POOR if number < against else GOOD
            Rating.objects.create(
                review=review,
                criterion=criterion,
                level=level.value,
                place=2 if level is POOR else 0,
                rejects=level.rejects,
                words="Unlikely." if level.rejects else "",
            )

    @property
    def verdict(self) -> Verdict:
        return verdict_of(passes_of([self.narrative])[self.narrative.pk], self.project)

    def waits(self) -> list[bool]:
        """Return whether a lead has to decide, and whether `rejected --undecided` lists it."""
        back = rejected(self.project, undecided=True)
        return [narratives_to_decide(self.carla).exists(), back.exists()]


@pytest.mark.parametrize(
    ("kind", "against", "of", "found", "waits"),
    [
        ("multiconir", 1, 2, Verdict.INCOMPLETE, [False, False]),
        ("multiconir", 2, 4, Verdict.PASSED, [True, False]),
        ("multiconir", 3, 3, Verdict.REJECTED, [True, True]),
        ("multiconir", 3, 6, Verdict.PASSED, [True, False]),
        ("followtable", 1, 2, Verdict.REJECTED, [True, True]),
    ],
)
def test_pages_and_lists_follow_the_rule_of_the_kind(db, kind, against, of, found, waits):
    scene = Scene(kind)

    scene.review(against=against, of=of)

    assert scene.verdict is found
    assert scene.waits() == waits


def test_accepting_against_a_minority_needs_no_reason(db):
    scene = Scene()
    scene.review(against=2, of=4)

    [made] = decide_many(narratives=[scene.narrative], outcome="accepted", by=scene.carla)

    assert made.outcome == "accepted"


def test_accepting_against_a_majority_needs_a_reason(db):
    scene = Scene()
    scene.review(against=3, of=4)

    with pytest.raises(InvalidField, match=r"Most auditors reject it\. Give the reason"):
        decide(narrative=scene.narrative, outcome="accepted", by=scene.carla)
