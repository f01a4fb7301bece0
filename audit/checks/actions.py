"""Check claimed labels, and settle those on which two checkers differ.

As in `audit.reviews.actions`: keyword-only arguments, the actor is `by`, one transaction, and a
refusal comes with a sentence.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, Unpack

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotate.collection import text_versions
from annotate.judging.answer_rules import check_grade
from annotate.judgments.consensus import COUNT_MET, derive_relevance
from annotate.judgments.models import Verdict
from annotate.projects import access as assignments
from annotate.projects import hash_chain
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from audit.checks import check_chain
from audit.checks.models import Check, Question, Reply, Sample, SampleItem
from audit.checks.queue import answered, answered_or_led
from base.errors import Refused, refuse_invalid_characters, refuse_longer
from base.texts import tidy

MAX_WORDS = 10_000
REASON_READ = "You have read the reason, so your answer can no longer change."


class CheckAnswer(TypedDict, total=False):
    """An answer to a claimed label: exactly one of the first four, and `words`.

    `relevance`: the grade. `cannot_judge`: no grade can be given; needs `words`. `verdicts`: for a
    sample that asks for conditions, a `Verdict.Answer` by the key of each condition; the number met
    follows from them, and one "can't tell" means that the label cannot be judged. `questions`: for
    a sample that asks two questions, a `Reply` by `Question`; the grade follows in the same way.
    """

    relevance: int | None
    cannot_judge: bool
    verdicts: Mapping[int, str] | None
    questions: Mapping[str, str] | None
    words: str


class _CheckContent(NamedTuple):
    """The content of a check; two checks with equal content count as the same answer."""

    relevance: int | None
    cannot_judge: bool
    verdicts: dict[str, str]
    on_topic: str
    meets_constraint: str
    words: str

    @property
    def questions(self) -> dict[str, str]:
        """Answers to the two questions, without those left unanswered."""
        return {one.value: reply for one in Question if (reply := getattr(self, one.column))}


def check(
    *,
    item: SampleItem,
    by: Membership,
    uuid: uuids.UUID | None = None,
    text: int | None = None,
    now: datetime | None = None,
    **given: Unpack[CheckAnswer],
) -> Check:
    """Record a check of a claimed label by `by`, blind to the claim and to the other checker.

    An answer supersedes their previous check until the item is settled. Sending the same UUID again
    changes nothing, nor does the same answer without a UUID. Refused: two others have checked it, a
    grade the project does not have, a condition without an answer, already settled; for a lead,
    also once both have answered, because leads see both answers. Stale: the document has a newer
    text than `text`, the version on the screen (`collection.text_versions.lock_read_version`).
    """
    answer = _parse_answer(given)
    now = now or timezone.now()
    with transaction.atomic():
        _lock_item(item, by)
        if (sent := _find_sent(uuid, item, answer, by)) is not None:
            return sent
        read = text_versions.lock_read_version(item.candidate.document_id, text)
        current = _current_checks(item)
        answer = _validate_answer(answer, item, by)
        _refuse_second_look(item, answered_or_led([by]))
        mine = next((one for one in current if one.checker_id == by.pk), None)
        if mine is not None:
            _refuse_if_fixed(mine, current, by)
            if uuid is None and _content_of(mine) == answer:
                return mine
            _supersede(mine, by, now)
            place = mine.place
        else:
            free = {1, 2} - {one.place for one in current}
            if not free:
                raise Refused("Two people have checked this one already. Here is the next.")
            place = min(free)
        return _insert_check(item, place, answer, read, uuid, by, now)


def settle(
    *,
    item: SampleItem,
    by: Membership,
    uuid: uuids.UUID | None = None,
    text: int | None = None,
    now: datetime | None = None,
    **given: Unpack[CheckAnswer],
) -> Check:
    """Settle, as a third person, a label on which two checkers differ or that they could not judge.

    The same UUID changes nothing, nor does the same answer without a UUID. Refused: `by` is one of
    the two, fewer than two have checked it, nothing to settle, settled by somebody else, a grade
    the project does not have. Stale: as for `check`.
    """
    answer = _parse_answer(given)
    now = now or timezone.now()
    with transaction.atomic():
        _lock_item(item, by)
        if (sent := _find_sent(uuid, item, answer, by)) is not None:
            return sent
        read = text_versions.lock_read_version(item.candidate.document_id, text)
        current = _current_checks(item)
        answer = _validate_answer(answer, item, by)
        first_two = [one for one in current if one.place != Check.SETTLES]
        if any(one.checker_id == by.pk for one in first_two):
            raise Refused("You are one of the two who checked this. A third person settles it.")
        if not by.leads:
            _refuse_second_look(item, answered([by]))
        if len(first_two) < 2:
            raise Refused("Two people have to check this one before it can be settled.")
        if is_agreed(*first_two):
            raise Refused("The two agree, so there is nothing to settle.")
        settlement = next((one for one in current if one.place == Check.SETTLES), None)
        if settlement is not None:
            if settlement.checker_id != by.pk:
                raise Refused("Somebody else has settled this one.")
            if uuid is None and _content_of(settlement) == answer:
                return settlement
            _refuse_if_reason_read(settlement)
            _supersede(settlement, by, now)
        made = _insert_check(item, Check.SETTLES, answer, read, uuid, by, now)
        _record_settlement("label.settled", made, by, now)
    return made


def withdraw_check(
    *,
    item: SampleItem,
    by: Membership,
    uuid: uuids.UUID | None = None,
    now: datetime | None = None,
) -> Check | None:
    """Withdraw the current check of `by` on an item and return it, or None if there is none.

    Refused: settled by somebody else since, or `by` has read the reason; for a lead, also once both
    have answered. With a UUID, withdraw only the check that has it; refused if it is not there, or
    if there is a newer one.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _lock_item(item, by)
        current = _current_checks(item)
        mine = next((one for one in current if one.checker_id == by.pk), None)
        if uuid is not None and (mine is None or mine.uuid != uuid):
            ended = Check.objects.filter(uuid=uuid, item=item, checker=by, ended_at__isnull=False)
            if not ended.exists():
                raise Refused("This answer is not there, so it cannot be undone. Reload the page.")
            if mine is not None:
                raise Refused("You have given a newer answer to this label. The newer one counts.")
        if mine is None:
            return None
        if mine.place == Check.SETTLES:
            _refuse_if_reason_read(mine)
        else:
            _refuse_if_fixed(mine, current, by)
        mine.withdrawn_at = now
        _supersede(mine, by, now)
        if mine.place == Check.SETTLES:
            _record_settlement("label.unsettled", mine, by, now)
    return mine


def read_reason(*, item: SampleItem, by: Membership, now: datetime | None = None) -> Check:
    """Record that `by` reads why the document violates its instruction, and return their check.

    Their answer can no longer change. Refused: the sample does not show reasons, or `by` has not
    answered yet.
    """
    with transaction.atomic():
        _lock_item(item, by)
        if not item.sample.shows_reason:
            raise Refused("This sample does not show why a document violates.")
        mine = next((one for one in _current_checks(item) if one.checker_id == by.pk), None)
        if mine is None:
            raise Refused("Answer first; then you can read why the document violates.")
        if mine.reason_read_at is None:
            mine.reason_read_at = now or timezone.now()
            mine.save(update_fields=["reason_read_at"])
    return mine


def _record_settlement(what: str, settled: Check, by: Membership, now: datetime) -> None:
    """Write an audit event for a settlement by a lead; other members are not logged."""
    if not by.leads:
        return
    item = settled.item
    named = f"{item.narrative.pair} · {item.narrative} · {item.candidate.document}"
    record(project=by.project, what=what, about=settled, named=named, by=by, now=now)


def _supersede(old: Check, by: Membership, now: datetime) -> None:
    old.ended_at = now
    old.save(update_fields=["ended_at", "withdrawn_at"])
    rows = Check.objects.filter(pk=old.pk)
    hash_chain.append_ended(check_chain.CHECK, by.project_id, rows)


def _insert_check(
    item: SampleItem,
    place: int,
    answer: _CheckContent,
    read: dict[str, Any],
    uuid: uuids.UUID | None,
    by: Membership,
    now: datetime,
) -> Check:
    made = Check.objects.create(
        uuid=uuid or uuids.uuid4(),
        item=item,
        checker=by,
        place=place,
        at=now,
        **answer._asdict(),
        **read,
    )
    rows = Check.objects.filter(pk=made.pk)
    hash_chain.append_new(check_chain.CHECK, by.project_id, rows)
    return made


def _parse_answer(given: CheckAnswer) -> _CheckContent:
    """Return an answer as it is stored: with the number of conditions met, or "cannot judge",
    derived from verdicts.
    """
    cannot_judge, words = bool(given.get("cannot_judge")), _validate_words(given.get("words", ""))
    # "Cannot judge" discards the answers that were given before it.
    verdicts_given = {} if cannot_judge else given.get("verdicts") or {}
    verdicts = {str(key): answer for key, answer in sorted(verdicts_given.items())}
    replies = {} if cannot_judge else given.get("questions") or {}
    topic, constraint = (replies.get(one.value, "") for one in Question)
    cannot_judge |= Reply.CANT_TELL in (topic, constraint)
    if not verdicts:
        return _CheckContent(given.get("relevance"), cannot_judge, {}, topic, constraint, words)
    met = derive_relevance(COUNT_MET, list(verdicts.values()), range(len(verdicts) + 1))
    return _CheckContent(met, met is None, verdicts, topic, constraint, words)


def _validate_answer(answer: _CheckContent, item: SampleItem, by: Membership) -> _CheckContent:
    """Return the answer if it is of the form that the item's sample asks for, or refuse it."""
    if item.sample.asks == Sample.Asks.COUNT and (answer.verdicts or not answer.cannot_judge):
        known = item.narrative.conditions.order_by("number").values_list("pk", flat=True)
        if {int(key) for key in answer.verdicts} != set(known):
            raise Refused("Answer all conditions first; the count follows from them.")
        if not set(Verdict.Answer.values).issuperset(answer.verdicts.values()):
            raise Refused("The answer to a condition must be met, not met, or can't tell.")
        return answer
    asks_questions = item.sample.asks == Sample.Asks.QUESTIONS
    if answer.verdicts:
        if asks_questions:
            raise Refused("This sample asks two questions instead of conditions.")
        raise Refused("This sample asks for a grade, not for conditions.")
    if asks_questions and (answer.questions or not answer.cannot_judge):
        return _derive_grade(answer, by)
    if answer.questions:
        raise Refused("This sample does not ask the two questions.")
    if answer.cannot_judge:
        if answer.relevance is not None:
            raise Refused("Give a grade, or say that you cannot judge it: not both.")
        if not answer.words:
            raise Refused("Say in a few words why you cannot judge it.")
        return answer
    if answer.relevance is None:
        raise Refused("Choose one of the grades.")
    check_grade(by, answer.relevance)
    return answer


def _derive_grade(answer: _CheckContent, by: Membership) -> _CheckContent:
    """Return answers to both questions with the grade derived from them, or refuse them."""
    if answer.relevance is not None:
        raise Refused("This sample asks two questions; the grade follows from the answers.")
    given = answer.questions
    if set(given) != set(Question.values):
        raise Refused(
            "Answer both questions: whether it is on topic, and whether it meets the constraint."
        )
    if not set(Reply.values).issuperset(given.values()):
        raise Refused("The answer to a question must be yes, no, or can't tell.")
    if answer.cannot_judge:
        return answer
    grades = sorted(by.project.grades.values_list("value", flat=True))
    lowest = by.project.relevant_from
    complies = all(reply == Reply.YES for reply in given.values())
    relevant = min((grade for grade in grades if grade >= lowest), default=lowest)
    return answer._replace(relevance=relevant if complies else grades[0])


def _content_of(row: Check) -> _CheckContent:
    return _CheckContent(*(getattr(row, name) for name in _CheckContent._fields))


def is_agreed(one: Check, other: Check) -> bool:
    """Return whether two checkers gave the same answer; two who could not judge do not agree."""
    return one.relevance == other.relevance is not None and one.questions() == other.questions()


def _lock_item(item: SampleItem, by: Membership) -> None:
    """Lock an item, so that simultaneous checks wait. Refused: `by` may not check it."""
    assignments.refuse_if_archived(by.project)
    sample = Sample.objects.get(pk=item.sample_id)
    if by.project_id != sample.project_id or by.is_machine or by.left_at is not None:
        raise Refused("Only people of this project can check its labels.")
    SampleItem.objects.select_for_update().get(pk=item.pk)


def _refuse_second_look(item: SampleItem, is_known: Q) -> None:
    """Refuse if the item is one of a second look, and somebody who checks it knows it."""
    if item.sample.is_second_look and SampleItem.objects.filter(is_known, pk=item.pk).exists():
        raise Refused(
            "This label is for people who have not answered the document before and have not led "
            "the project."
        )


def _current_checks(item: SampleItem) -> list[Check]:
    """Return the current checks of an item, ordered by place."""
    return list(Check.objects.current().filter(item=item).order_by("place"))


def _find_sent(
    uuid: uuids.UUID | None, item: SampleItem, answer: _CheckContent, by: Membership
) -> Check | None:
    """Return the check that was sent under this UUID; refuse if its content was different."""
    sent = Check.objects.filter(uuid=uuid).first() if uuid is not None else None
    if sent is None:
        return None
    content = _content_of(sent)
    if answer.questions:
        # The grade is derived from the answers, and is not sent.
        content = content._replace(relevance=answer.relevance)
    if (sent.item_id, sent.checker_id, content) != (item.pk, by.pk, answer):
        raise Refused("This was already sent with a different answer. Reload the page.")
    return sent


def why_fixed(mine: Check, current: Sequence[Check], by: Membership) -> str:
    """Return why `by` can no longer change their check, one of the first two, or ""."""
    if mine.reason_read_at is not None:
        return REASON_READ
    if any(one.place == Check.SETTLES for one in current):
        return "This label is settled, so your answer can no longer change."
    if by.leads and len(current) > 1:
        return "Both have answered, and leads see the answers, so yours can no longer change."
    return ""


def _refuse_if_fixed(mine: Check, current: Sequence[Check], by: Membership) -> None:
    if fixed := why_fixed(mine, current, by):
        raise Refused(fixed)


def _refuse_if_reason_read(mine: Check) -> None:
    if mine.reason_read_at is not None:
        raise Refused(REASON_READ)


def _validate_words(words: str) -> str:
    words = tidy(words)
    refuse_longer(words, MAX_WORDS, "You wrote %(length)s characters; at most %(most)s are kept.")
    refuse_invalid_characters(words)
    return words
