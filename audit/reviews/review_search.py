"""Filter the list of reviewed instructions by state, words, category and people."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.reviews import rejected
from audit.reviews.models import Decision, Rating, Review
from audit.reviews.passes import narratives_to_decide, owes_no_review
from audit.reviews.review_page import under_review

TO_DECIDE, SENT_BACK, DRAWN = "to-decide", "sent-back", "drawn"
# What leads can list, with its name on the page; the outcomes are those of current decisions.
STATES = {
    TO_DECIDE: "To decide",
    SENT_BACK: "Sent back",
    Decision.Outcome.ACCEPTED.value: "Accepted",
    Decision.Outcome.REMOVED.value: "Removed",
    DRAWN: "Drawn",
}
# The same value selects pairs without a category in the matrix of documents.
NO_CATEGORY = "-"


class ReviewFilter(NamedTuple):
    """Filters of the list of instructions; all by default. The last three are for leads."""

    state: str = ""
    search: str = ""
    category: str = ""
    #: Keys of members: who wrote the instruction, who submitted a review of it.
    author: int | None = None
    auditor: int | None = None
    #: The key of a criterion on which an auditor rejects.
    criterion: str = ""


def filter_reviews(member: Membership, filters: ReviewFilter) -> QuerySet[Narrative]:
    """Return the current altered narratives that match the filters.

    Filters by outcome, auditor or criterion return only narratives whose reviews this reader may
    see. For anybody except a lead, only words and category count.
    """
    rows = under_review(member)
    if filters.search:
        rows = rows.filter(
            Q(text__icontains=filters.search)
            | Q(pair__pair_id__icontains=filters.search)
            | Q(pair__query__title__icontains=filters.search)
        )
    if filters.category:
        key = "" if filters.category == NO_CATEGORY else filters.category
        rows = rows.filter(pair__category=key)
    if not member.leads:
        return rows
    if filters.state == TO_DECIDE:
        rows = rows.filter(pk__in=narratives_to_decide(member).values("pk"))
    elif filters.state == SENT_BACK:
        sent_back = rejected.rejected(member.project, by=member, everyone=True)
        rows = rows.filter(pk__in=sent_back.values("pk"))
    elif filters.state == DRAWN:
        rows = rows.filter(is_drawn=True)
    elif filters.state:
        decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
        rows = rows.filter(owes_no_review(member), Exists(decided.filter(outcome=filters.state)))
    if filters.author is not None:
        rows = rows.filter(author=filters.author)
    if filters.auditor is not None or filters.criterion:
        rows = rows.filter(owes_no_review(member))
    if filters.auditor is not None:
        submitted = Review.objects.submitted().filter(narrative=OuterRef("pk"))
        rows = rows.filter(Exists(submitted.filter(auditor=filters.auditor)))
    if filters.criterion:
        against = Rating.objects.of_people().filter(
            review__narrative=OuterRef("pk"),
            review__submitted_at__isnull=False,
            rejects=True,
            criterion=filters.criterion,
        )
        rows = rows.filter(Exists(against))
    return rows
