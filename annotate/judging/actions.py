"""Judging: give a document a grade or a flag, and withdraw it.

One person's statements about a document under one narrative version form a chain. Each new one
supersedes the current one (`replaces`), which ends at its time (`ended_at` equals the `at` of the
next). Withdrawing a statement links its neighbours. So any statement can be withdrawn at any time,
and the one it had superseded becomes current again, unless there is a newer one.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotate.collection import text_versions
from annotate.collection.marking import Span
from annotate.collection.models import Candidate
from annotate.judging.answer_rules import check_grade_statement, clean_statement
from annotate.judging.lookup import INSTANT, NO_TEXT, UNKNOWN_PREVIOUS, JudgingState, look_up
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.evidence import ANY_LENGTH, merge_stored_spans
from annotate.judgments.models import Judgment, Statement, Verdict
from annotate.judgments.repeats import unmask
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import candidates_to_judge, judged_narrative
from annotate.projects import hash_chain
from annotate.projects.access import refuse_if_archived
from annotate.projects.models import Membership
from base.errors import Refused

Task = Assignment.Task
UUID_CONFLICT = "This was already sent with other content. Reload the page and judge again."
TAKEN_OUT = (
    "A lead has taken this out of the project, so it is not judged any more. Your answers are "
    "kept; go on with another task."
)
# The columns of a statement that its sender chooses. Verdicts are rows of their own.
SENT = {"uuid", "made_at", "text_version", "flag", *Statement.CONTENT} - {"verdicts"}


class Recorded(NamedTuple):
    """The recorded row, and a warning to show although it was recorded; "" for none."""

    row: Statement
    warning: str = ""
    # Whether the document has a newer text, which is still to be judged.
    is_of_older_text: bool = False


def narrative_for(member: Membership, pair: InstructionPair) -> Narrative:
    """Return the current narrative to judge under; refuse unless `member` holds an assignment, and
    if the pair is taken out.
    """
    if not assignments.holds(pair=pair, task=Task.JUDGE, by=member):
        raise Refused(assignments.NOT_YOURS)
    _refuse_if_taken_out(pair)
    narrative = judged_narrative(pair)
    if narrative is None:
        raise Refused("There is no narrative to judge under yet.")
    return narrative


def _refuse_if_taken_out(pair: InstructionPair) -> None:
    if pair.removed_at is not None:
        raise Refused(TAKEN_OUT)


def judged_earlier_version(member: Membership, narrative: Narrative) -> Narrative | None:
    """Return the newest earlier version that a member judged documents under, if any: one query,
    none for a first version.
    """
    if narrative.version == 1:
        return None
    judged = Judgment.objects.not_superseded().filter(narrative=OuterRef("pk"), annotator=member)
    earlier = Narrative.objects.filter(
        Exists(judged),
        pair=narrative.pair_id,
        side=narrative.side,
        version__lt=narrative.version,
    )
    return earlier.order_by("-version").first()


# --- recording ------------------------------------------------------------------------------------


def judge(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    evidence: Sequence[Span] = (),
    clauses: Sequence[Span] = (),
    verdicts: Mapping[int, str] | None = None,
    instead_of: uuids.UUID | None = UNKNOWN_PREVIOUS,
    late: bool = False,
    now: datetime | None = None,
    **content: Any,
) -> Statement:
    """Record the grade that `by` gives a candidate under the narrative version they read.

    Like `record`; `content`: other columns. Returns the row.
    """
    grade = Statement(
        narrative=narrative,
        candidate=candidate,
        relevance=relevance,
        evidence=[span._asdict() for span in evidence],
        clauses=[span._asdict() for span in clauses],
        **content,
    )
    return record(
        grade,
        pair=narrative.pair,
        by=by,
        verdicts=verdicts,
        instead_of=instead_of,
        late=late,
        now=now,
    ).row


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    words: str = "",
    instead_of: uuids.UUID | None = UNKNOWN_PREVIOUS,
    late: bool = False,
    now: datetime | None = None,
    **content: Any,
) -> Statement:
    """Put a flag on a candidate instead of a grade.

    Like `record`; `content`: other columns. Returns the row.
    """
    statement = Statement(
        narrative=narrative, candidate=candidate, flag=kind, note=words, **content
    )
    return record(
        statement, pair=narrative.pair, by=by, instead_of=instead_of, late=late, now=now
    ).row


def record_sent(
    sent: Mapping[str, Any], *, pair: InstructionPair, by: Membership, late: bool = False
) -> Recorded:
    """Record what a page, a program or a journal sent, as `annotate.judging.forms` validates it."""
    spot = unmask(sent["candidate"], by.pk)
    statement = Statement(
        narrative_id=sent["narrative"],
        candidate_id=spot.candidate,
        repeat=spot.again,
        **{name: value for name, value in sent.items() if name in SENT},
    )
    return record(
        statement,
        pair=pair,
        by=by,
        verdicts=sent.get("verdicts"),
        instead_of=sent.get("instead_of", UNKNOWN_PREVIOUS),
        guidelines=sent.get("guidelines"),
        late=late,
    )


def record(
    sent: Statement,
    *,
    pair: InstructionPair,
    by: Membership,
    verdicts: Mapping[int, str] | None = None,
    instead_of: uuids.UUID | None = UNKNOWN_PREVIOUS,
    guidelines: int | None = None,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Record a grade or a flag, superseding the annotator's previous one.

    `sent`: an unsaved statement; its `text_version` is what was on the screen (NO_TEXT for none,
    None for the newest). `verdicts`: answers by condition key. `instead_of`: the statement that the
    sender saw as current; `guidelines`: the version of the guidelines that was beside it. `late`:
    it arrives late, from a journal. It is then recorded even if the narrative or the text has a
    newer version or the pair was taken out, and an assignment that was given back in the meantime
    is taken again. A flag of a document that has its first text by now is kept but does not count.

    Idempotent: sending the same UUID with the same content again changes nothing.

    Refused: a grade that the project does not have, a span outside the text, missing evidence where
    the project requires it, unanswered conditions, a grade that contradicts the conditions without
    a note, a flag without the words it needs, a UUID already used for other content, an assignment
    that is not theirs, a document that is not to be judged, a text version that the document does
    not have. Raises ObjectNotFound if the document or the narrative does not belong to the pair,
    and Stale, unless `late`, if the narrative or the text has a newer version.
    """
    clean_statement(sent)
    verdicts = dict(verdicts or {})
    now = now or timezone.now()
    try:
        with transaction.atomic():
            # Serializes what one person sends from several tabs, and guards their hash chain.
            assignment = (
                assignments.lock_or_take(pair=pair, task=Task.JUDGE, by=by, now=now)
                if late
                else assignments.lock(pair=pair, task=Task.JUDGE, by=by)
            )
            state = look_up(sent, text=sent.text_version, pair=pair, by=by, now=now)
            if state.is_resend:
                row = _find_resent(sent, verdicts, by)
                warning = state.warning(sent, _find_superseded(row), instead_of, guidelines)
                return Recorded(row, warning, state.is_of_older_text)
            if not late:
                _refuse_if_taken_out(pair)
            state.refuse_if_closed(by, late=late)
            if sent.relevance is not None:
                check_grade_statement(sent, verdicts, by.project, state)
            _save(sent, verdicts, by, state)
            _append_to_chain(sent, verdicts, pair, by, state)
            _update_assignment(assignment, state, settled=sent.is_final and not state.got_text)
    except IntegrityError as error:
        # Somebody else, under another lock, used the same UUID at the same time.
        if Statement.objects.filter(uuid=sent.uuid).exists():
            raise Refused(UUID_CONFLICT) from error
        raise
    if pair.removed_at is not None:
        return Recorded(sent, TAKEN_OUT)
    warning = state.warning(sent, state.current, instead_of, guidelines)
    return Recorded(sent, warning, state.is_of_older_text)


def _find_resent(sent: Statement, verdicts: Mapping[int, str], by: Membership) -> Statement:
    """Return the statement already recorded under this UUID; refuse if its content or its target
    differs.
    """
    row = Statement.objects.filter(
        uuid=sent.uuid,
        narrative=sent.narrative_id,
        candidate=sent.candidate_id,
        annotator=by,
        repeat=sent.repeat,
    ).first()
    try:
        content = (
            *(sent.answer, sent.note, verdicts),
            merge_stored_spans(sent.evidence, ANY_LENGTH),
            merge_stored_spans(sent.clauses, ANY_LENGTH),
        )
    except ValueError as error:
        raise Refused(UUID_CONFLICT) from error
    if row is None or content != (row.answer, row.note, row.answers(), row.evidence, row.clauses):
        raise Refused(UUID_CONFLICT)
    return row


def _save(row: Statement, verdicts: Mapping[int, str], by: Membership, state: JudgingState) -> None:
    """Save a new statement with its verdicts, and end the one that it supersedes."""
    row.annotator = by
    row.at = state.now
    row.text_version, row.text_replaced_at = state.text_version, state.text_replaced_at
    row.ended_at = state.now if state.got_text else None
    row.first_id = state.first
    if state.current:
        row.replaces_id = state.current.pk
        Statement.objects.filter(pk=state.current.pk).update(ended_at=state.now)
    row.save(force_insert=True)
    if verdicts:
        Verdict.objects.bulk_create(
            Verdict(statement_id=row.pk, condition_id=condition, answer=answer)
            for condition, answer in sorted(verdicts.items())
        )


def _append_to_chain(
    row: Statement,
    verdicts: Mapping[int, str],
    pair: InstructionPair,
    by: Membership,
    state: JudgingState,
) -> None:
    """Append a new judgment, and the end of the one it supersedes, to the assignment's chain.

    One SQL statement. Flags and answers to repeats are not judgments and are not in the chain.
    """
    if row.repeat:
        return
    events = []
    if row.is_judgment:
        narrative = (state.query_id, pair.pair_id, state.side, state.version)
        about = (*narrative, state.query_id, state.doc_id, by.name)
        numbered = {state.conditions[key]: answer for key, answer in verdicts.items()}
        events.append(judgment_chain.event_of_new(row, about, numbered))
    if state.current and state.current.relevance is not None:
        events.append(judgment_chain.event_of_end(state.current.uuid, state.now))
    if events:
        links = hash_chain.of_assignment(pair.pair_id, by.name)
        hash_chain.append(by.project_id, links, events, after=state.end)


def _update_assignment(assignment: Assignment, state: JudgingState, *, settled: bool) -> None:
    """Record that the assignment is begun, and whether it is done.

    A statement under an older narrative or text version does not change whether it is done.
    """
    was_done = assignment.done_at is not None
    done = was_done if state.is_history else settled and not state.others_left
    if assignment.touched_at is None or done != was_done:
        assignments.touch(assignment, done=done, now=state.now)


# --- withdrawing ----------------------------------------------------------------------------------


def withdraw(
    *, uuid: uuids.UUID, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> Recorded:
    """Withdraw the statement of `by` that has this UUID.

    Idempotent. Refused: a statement that does not exist, belongs to someone else or came from a
    file.
    """
    refuse_if_archived(by.project)
    with transaction.atomic():
        assignment = assignments.lock(pair=pair, task=Task.JUDGE, by=by)
        row = Statement.objects.filter(uuid=uuid, annotator=by, narrative__pair=pair).first()
        if row is None:
            raise Refused("The answer to take back was not found: it was not saved.")
        text_versions.lock_text(row.candidate_id)
        return _withdraw(row, assignment, pair, by, now or timezone.now())


def undo(*, narrative: Narrative, by: Membership, now: datetime | None = None) -> Statement:
    """Withdraw and return the latest current statement of `by` under `narrative`, on a document
    that is still to be judged.

    Each further call withdraws the one before. Refused when there is none.
    """
    refuse_if_archived(by.project)
    with transaction.atomic():
        assignment = assignments.lock(pair=narrative.pair, task=Task.JUDGE, by=by)
        current = Statement.objects.current().filter(
            narrative=narrative,
            candidate__in=candidates_to_judge(narrative.pair),
            annotator=by,
            source=Statement.Source.PAGE,
        )
        last = current.order_by("-at", "-pk").first()
        if last is None:
            raise Refused("There is nothing to take back here.")
        text_versions.lock_text(last.candidate_id)
        _withdraw(last, assignment, narrative.pair, by, now or timezone.now())
    return last


def _find_superseded(row: Statement) -> Statement | None:
    """Return the statement that this one superseded, unless a file has withdrawn it since."""
    superseded = row.replaces
    if superseded is None or superseded.withdrawn_at is not None:
        return None
    return superseded


def _withdraw(
    row: Statement, assignment: Assignment, pair: InstructionPair, by: Membership, now: datetime
) -> Recorded:
    """Withdraw a statement and relink its neighbours; the caller holds the assignment's lock."""
    if row.withdrawn_at is not None:
        return Recorded(row)
    if row.source != Statement.Source.PAGE:
        raise Refused("This came from a file and cannot be taken back here.")
    ended, before = row.ended_at, _find_superseded(row)
    moment = max(now, row.at + INSTANT, *([ended + INSTANT] if ended else []))
    # `replaces` is unique: its value goes to the statement that follows.
    Statement.objects.filter(pk=row.pk).update(ended_at=moment, withdrawn_at=moment, replaces=None)
    Statement.objects.filter(replaces=row.pk).update(replaces=row.replaces_id)
    if before is not None:
        # Ends when the one that follows began, or is current again.
        Statement.objects.filter(pk=before.pk).update(ended_at=ended)
    _link_ends([row, before], pair, by)
    row.withdrawn_at = moment
    if ended is not None:
        message = "You have given a newer answer to this document. The newer answer counts."
        return Recorded(row, message)
    state = look_up(row, text=row.text_version or NO_TEXT, pair=pair, by=by, now=moment)
    _update_assignment(assignment, state, settled=state.is_settled)
    return Recorded(row)


def _link_ends(rows: Iterable[Statement | None], pair: InstructionPair, by: Membership) -> None:
    """Append to the assignment's chain when these judgments ended, or that they are current
    again.
    """
    changed = [row.pk for row in rows if row is not None and row.is_judgment]
    if not changed:
        return
    ended = hash_chain.events_of_ended(judgment_chain.KIND, Judgment.objects.filter(pk__in=changed))
    links = hash_chain.of_assignment(pair.pair_id, by.name)
    # The lock on the assignment guards its chain too.
    last = hash_chain.end_of(by.project_id, links)
    hash_chain.append(by.project_id, links, ended, after=last)
