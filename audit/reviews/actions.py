"""Actions on reviews: take, rate and submit. Pages, API and journal use these functions.

Keyword-only arguments, the actor is `by`, one transaction, and a refusal comes with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.completion import open_assignments
from annotate.pairs.models import Assignment, Narrative
from annotate.projects import access as projects_access
from annotate.projects import hash_chain
from annotate.projects.models import Membership
from audit.reviews import review_chain, rubrics
from audit.reviews.criteria import Criterion, Rubric
from audit.reviews.models import Rating, Review
from audit.reviews.passes import Pass, pass_of, summary_digest
from audit.reviews.texts_at_hand import check_texts, store_texts
from base.errors import Refused, Stale, Unconfirmed, refuse_longer

MAX_WORDS = 10_000

RATED_AGAIN = "You have rated this criterion again. The newer answer counts."
_CHANGED = "The narrative changed while you were reading. Read it again, then rate it."


def take_review(
    *, by: Membership, become_blind: bool = False, now: datetime | None = None
) -> Assignment | None:
    """Return the assignment that `by` reviews next, or None if there is none.

    Assignments they have begun come first, including those with a new version; then the next open
    one, which a lead confirms with `become_blind` (`assignments.take_next`).
    """
    begun = [
        assignment
        for assignment in open_assignments(by, Assignment.Task.REVIEW)
        if assignment.touched_at is not None
    ]
    if begun:
        return min(begun, key=lambda assignment: (assignment.taken_at, assignment.pk))
    return assignments.take_next(
        task=Assignment.Task.REVIEW, by=by, become_blind=become_blind, now=now
    )


class SentAnswer(NamedTuple):
    """The identity of an answer that a page sends, perhaps late or again.

    `made_at`: when it was given, by the sender's clock. `instead_of`: the UUID of the answer that
    the sender saw, or None.
    """

    uuid: UUID
    made_at: datetime
    instead_of: UUID | None


def save_rating(
    *,
    narrative: Narrative,
    criterion: str,
    by: Membership,
    level: str | None = None,
    words: str | None = None,
    sent: SentAnswer | None = None,
    now: datetime | None = None,
) -> Review:
    """Save one answer in the draft of `by`; see `save_ratings`.

    An answer that was `sent` before changes nothing. Refused: a newer answer stands, which the
    sender did not see.
    """
    answers = {criterion: (level, words)}
    if sent is None:
        return save_ratings(narrative=narrative, answers=answers, by=by, now=now)
    rows = Rating.objects.select_related("review").filter(
        review__narrative=narrative, review__auditor=by, criterion=criterion
    )
    with transaction.atomic():
        before = rows.first()
        if before is not None and str(sent.uuid) in before.answered:
            return before.review
        _lock_assignment(narrative, by)
        before = rows.first()
        if before is not None and sent.made_at < before.made_at and sent.instead_of != before.uuid:
            raise Refused(RATED_AGAIN)
        review = save_ratings(narrative=narrative, answers=answers, by=by, now=now)
        answered = [*(before.answered if before is not None else []), str(sent.uuid)]
        rows.update(uuid=sent.uuid, made_at=sent.made_at, answered=answered)
    return review


def save_ratings(
    *,
    narrative: Narrative,
    answers: Mapping[str, tuple[str | None, str | None]],
    by: Membership,
    now: datetime | None = None,
) -> Review:
    """Save answers in the draft of `by`, started if there is none yet, and return it: a level and
    words by criterion key.

    None leaves a value unchanged, but a different level drops the words given for the one before.
    The level "" takes the level back.
    A rejecting level without words is saved; only submitting requires words.
    Refused, as a whole: no review assignment, `by` is the author, a new review of what is sent back
    or removed, an unknown criterion or level, too many words, a submitted review. Stale: there is a
    newer version.
    """
    now = now or timezone.now()
    with transaction.atomic():
        assignment = _lock_assignment(narrative, by)
        review = _get_or_start(narrative, by, now)
        rubric = rubrics.get_rubric(by.project_id, review.rubric)
        for criterion, (level, words) in answers.items():
            _refuse_unknown(rubric, criterion, level, words)
        if review.submitted_at is not None:
            raise Refused("You have submitted this review, so it can no longer change.")
        levels = dict(review.ratings.exclude(level="").values_list("criterion", "level"))
        for criterion, (level, words) in answers.items():
            is_replaced = level is not None and levels.get(criterion, level) != level
            columns = _rating_columns(rubric, level, "" if is_replaced and words is None else words)
            if any(columns.values()):
                columns |= {"uuid": uuid4(), "made_at": now}
                Rating.objects.update_or_create(
                    review=review, criterion=criterion, defaults=columns
                )
            elif columns:
                # The words were cleared; update a row if there is one, but do not create it.
                Rating.objects.filter(review=review, criterion=criterion).update(**columns)
        assignments.touch(assignment, done=False, now=now)
    return review


def submit_review(
    *,
    narrative: Narrative,
    by: Membership,
    confirmed: str | None = None,
    texts: str | None = None,
    now: datetime | None = None,
) -> Review:
    """Submit the review of `by`: from now on it counts, and they see the others'.

    A page shows a summary first and sends its digest (`audit.reviews.passes.summary_digest`) as
    `confirmed`; Unconfirmed if the draft differs from that summary. None requires no confirmation.
    `texts`: the text versions of the documents at hand that the page showed
    (`texts_at_hand.texts_of`); None takes the newest. They are stored with the review.
    Calling twice changes nothing. Refused: a criterion without a level, a rejecting level without
    words, no assignment. Stale: there is a newer version, and the draft stays with the old one; or
    the texts at hand have changed.
    """
    now = now or timezone.now()
    with transaction.atomic():
        assignment = _lock_assignment(narrative, by)
        draft = pass_of(narrative, by)
        if draft is None:
            raise Refused("Nothing is rated yet. Rate each criterion, then submit.")
        review = draft.review
        if review.submitted_at is None:
            _refuse_incomplete(draft)
            documents = check_texts(narrative, texts)
            if confirmed is not None and confirmed != summary_digest(draft):
                raise Unconfirmed("Read what you are about to submit, then submit it.")
            store_texts(review, documents)
            review.submitted_at = now
            review.save(update_fields=["submitted_at"])
            rows = Review.objects.filter(pk=review.pk)
            hash_chain.append_new(review_chain.REVIEW, by.project_id, rows)
        assignments.touch(assignment, done=True, now=now)
    return review


def _refuse_unknown(rubric: Rubric, criterion: str, level: str | None, words: str | None) -> None:
    if criterion not in rubric.keys:
        raise Refused(f"“{criterion}” is not one of the criteria.")
    if level and rubric.level(level) is None:
        raise Refused(
            f"“{level}” is not a level. Choose one of: "
            f"{', '.join(level.name.lower() for level in rubric.levels)}."
        )
    too_long = "You wrote %(length)s characters; at most %(most)s are kept."
    refuse_longer(words or "", MAX_WORDS, too_long)


def _rating_columns(rubric: Rubric, level: str | None, words: str | None) -> dict[str, Any]:
    """Return the columns of a rating that an answer sets; None leaves a column unchanged."""
    columns: dict[str, Any] = {} if words is None else {"words": words}
    if level == "":
        return columns | {"level": "", "place": None, "rejects": None}
    chosen = None if level is None else rubric.level(level)
    if chosen is not None:
        columns |= {
            "level": chosen.value,
            "place": rubric.place(chosen),
            "rejects": chosen.rejects,
        }
    return columns


def _lock_assignment(narrative: Narrative, by: Membership) -> Assignment:
    """Return the review assignment, locked, so that one auditor's two tabs do not interfere."""
    projects_access.refuse_if_archived(by.project)
    assignment = assignments.lock(pair=narrative.pair, task=Assignment.Task.REVIEW, by=by)
    if narrative.side != Narrative.Side.ALTERED:
        raise Refused("Only the altered narrative is reviewed.")
    refuse_if_superseded(narrative, _CHANGED)
    if narrative.is_by(by):
        raise Refused("You wrote this narrative, so somebody else reviews it.")
    return assignment


def _get_or_start(narrative: Narrative, by: Membership, now: datetime) -> Review:
    begun = Review.objects.filter(narrative=narrative, auditor=by).first()
    if begun is not None:
        return begun
    refuse_if_out_of_review(Narrative.objects.select_related("pair").get(pk=narrative.pk))
    rubric = rubrics.rubric_for(narrative, by.project_id)
    return Review.objects.create(
        narrative=narrative, auditor=by, rubric=rubric.name, started_at=now
    )


def refuse_if_out_of_review(narrative: Narrative) -> None:
    """Refuse to begin a review of what was removed or sent back."""
    if narrative.pair.removed_at is not None:
        raise Refused("This instruction was removed, so there is nothing to review.")
    if narrative.sent_back_at is not None:
        raise Refused("This instruction was sent back. Review its next version.")


def refuse_if_superseded(narrative: Narrative, sentence: str) -> None:
    """Raise Stale with `sentence` if the narrative is not the current version."""
    versions = Narrative.objects.in_use().filter(pair=narrative.pair_id, side=narrative.side)
    if versions.order_by("-version").values_list("pk", flat=True).first() != narrative.pk:
        raise Stale(str(sentence))


def _refuse_incomplete(draft: Pass) -> None:
    if draft.unrated:
        raise Refused(f"Not rated yet: {_criterion_names(draft.unrated)}.")
    if draft.unexplained:
        raise Refused(f"Say in words why it fails on: {_criterion_names(draft.unexplained)}.")


def _criterion_names(criteria: list[Criterion]) -> str:
    return ", ".join(criterion.name.lower() for criterion in criteria)
