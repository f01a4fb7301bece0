"""Judging: give a document a grade or a flag.

One person's statements about a document under one narrative version form a chain. Each new one
supersedes the current one and takes its time as the end (`superseded_at` or `cleared_at` equals the
`at` of the next). Withdrawing a statement (`withdrawal`) links its neighbours. So any statement can
be withdrawn at any time, and the one it had superseded becomes current again, unless there is a
newer one.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Unpack

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.collection.spans import Span
from annotate.judging.answer_rules import (
    JudgmentContent,
    check_content,
    clean_text,
    refuse_implausible,
)
from annotate.judging.history import content_of
from annotate.judging.lookup import JudgingState, look_up, not_in_pair_message
from annotate.judging.sent_twice import find_resent, uuid_conflict_message
from annotate.judging.statement import (
    UNKNOWN_PREVIOUS,
    VALID_KEYS,
    GradeOptions,
    Recorded,
    StatementOptions,
    Target,
)
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Flag, Judgment, Repeat, Verdict
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narrative
from annotate.projects import hash_chain
from annotate.projects.models import Membership
from base.errors import ObjectNotFound, Refused


def narrative_for(member: Membership, pair: InstructionPair) -> Narrative:
    """Return the current narrative to judge under; refuse unless `member` holds an assignment."""
    if not assignments.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        raise Refused(assignments.NOT_YOURS)
    narrative = judged_narrative(pair)
    if narrative is None:
        raise Refused("There is no narrative to judge under yet.")
    return narrative


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


def judge(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    **how: Unpack[GradeOptions],
) -> Judgment:
    """Record the grade that `by` gives a candidate under the narrative version they read.

    Like `record_grade`, for callers that hold model instances; returns the judgment.
    """
    target = Target(narrative.pair, narrative.pk, candidate.pk)
    row = record_grade(target=target, relevance=relevance, by=by, **how).row
    assert isinstance(row, Judgment)
    return row


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    words: str = "",
    **how: Unpack[StatementOptions],
) -> Flag:
    """Put a flag on a candidate instead of a grade.

    Like `record_flag`, for callers that hold model instances; returns the flag.
    """
    target = Target(narrative.pair, narrative.pk, candidate.pk)
    row = record_flag(target=target, kind=kind, words=words, by=by, **how).row
    assert isinstance(row, Flag)
    return row


def record_grade(
    *,
    target: Target,
    relevance: int,
    by: Membership,
    note: str = "",
    evidence: Iterable[Span] = (),
    clauses: Iterable[Span] = (),
    verdicts: Mapping[int, str] | None = None,
    active_ms: int | None = None,
    pressed: str = "",
    made_at: datetime | None = None,
    uuid: uuids.UUID | None = None,
    instead_of: uuids.UUID | None = UNKNOWN_PREVIOUS,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Record a grade, superseding the annotator's previous judgment or flag.

    Idempotent: sending the same UUID with the same content again changes nothing. Refused: a grade
    that the project does not have, a span outside the text, missing evidence where the project
    requires it, unanswered conditions, a grade that contradicts the conditions without a note, a
    UUID already used for other content, an assignment that is not theirs, a document that is not
    to be judged, a text version that the document does not have. Raises ObjectNotFound if the
    document or the narrative does not belong to the pair, and Stale, unless `late`, if the
    narrative or the text has a newer version.
    """
    content = JudgmentContent(
        relevance,
        clean_text(note, "The note"),
        sorted(evidence),
        sorted(clauses),
        dict(verdicts or {}),
    )
    refuse_implausible(pressed, active_ms)
    uuid = uuid or uuids.uuid4()
    with _recording(target, by, uuid, late=late, now=now) as state:
        if state.is_resend:
            return find_resent(target, by, uuid, instead_of, state, content)
        state.refuse_if_closed(by, late=late)
        content = check_content(content, by.project, state)
        columns = {
            **_common_columns(target, by, uuid, made_at, state),
            "relevance": relevance,
            "note": content.note,
            "evidence": [span._asdict() for span in content.evidence],
            "clauses": [span._asdict() for span in content.clauses],
            "active_ms": active_ms,
            "pressed": pressed,
        }
        if target.again:
            by_key = {str(key): answer for key, answer in sorted(content.verdicts.items())}
            repeat = Repeat(**columns, first_id=state.first, verdicts=by_key)
            return _record_repeat(repeat, target, by, instead_of, state)
        row = Judgment(**columns, replaces_id=state.judgment.pk if state.judgment else None)
        state.supersede_current()
        row.save(force_insert=True)
        _add_verdicts(row, content)
        state.append_to_chain(target, by, event=_chain_event(row, content, target, by, state))
        state.update_assignment(target, by, settled=True)
    return Recorded(row, state.warning(instead_of, relevance))


def record_flag(
    *,
    target: Target,
    kind: str,
    by: Membership,
    words: str = "",
    made_at: datetime | None = None,
    uuid: uuids.UUID | None = None,
    instead_of: uuids.UUID | None = UNKNOWN_PREVIOUS,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Put a flag (a `Flag.Kind`) on a candidate instead of a grade.

    "Cannot judge" and "problem" need words. Supersedes the previous judgment or flag, may be sent
    twice and is refused as with `record_grade`.
    """
    words = clean_text(words, "What you wrote").strip()
    if kind not in Flag.Kind.values:
        raise Refused(f"“{kind[:40]}” is not a kind of flag.")
    if kind != Flag.Kind.LATER and not words:
        raise Refused("Say in a few words why, so that the lead can act on it.")
    uuid = uuid or uuids.uuid4()
    with _recording(target, by, uuid, late=late, now=now) as state:
        if state.is_resend:
            return find_resent(target, by, uuid, instead_of, state, (kind, words))
        state.refuse_if_closed(by, late=late)
        about = _common_columns(target, by, uuid, made_at, state)
        if target.again:
            repeat = Repeat(**about, first_id=state.first, flag=kind, note=words)
            return _record_repeat(repeat, target, by, instead_of, state)
        row = Flag(**about, kind=kind, words=words)
        state.supersede_current()
        row.save(force_insert=True)
        state.append_to_chain(target, by)
        state.update_assignment(target, by, settled=kind != Flag.Kind.LATER)
    return Recorded(row, state.warning(instead_of, kind))


def _add_verdicts(row: Judgment, content: JudgmentContent) -> None:
    if content.verdicts:
        Verdict.objects.bulk_create(
            Verdict(judgment=row, condition_id=condition, answer=answer)
            for condition, answer in sorted(content.verdicts.items())
        )


def _common_columns(
    target: Target, by: Membership, uuid: uuids.UUID, made_at: datetime | None, state: JudgingState
) -> dict[str, Any]:
    """Return the columns that a judgment, a flag and the answer to a repeat have in common."""
    return {
        "uuid": uuid,
        "narrative_id": target.narrative,
        "candidate_id": target.candidate,
        "annotator": by,
        "made_at": made_at,
        "at": state.now,
        **state.text_columns(),
    }


@contextmanager
def _recording(
    target: Target, by: Membership, uuid: uuids.UUID, *, late: bool, now: datetime | None
) -> Iterator[JudgingState]:
    """Open the transaction that records a statement, under a lock on the assignment of `by`.

    The lock serializes statements that one person sends from several tabs.
    """
    if target.narrative not in VALID_KEYS or target.candidate not in VALID_KEYS:
        raise ObjectNotFound(not_in_pair_message())
    now = now or timezone.now()
    try:
        with transaction.atomic():
            state = _look_up_on_sqlite(target, by, uuid, now)
            task = Assignment.Task.JUDGE
            if state is not None and (
                state.begun or assignments.begin_work(pair=target.pair, task=task, by=by, now=now)
            ):
                yield state
                return
            if not assignments.begin_work(pair=target.pair, task=task, by=by, now=now):
                if not late:
                    raise Refused(assignments.NOT_YOURS)
                assignments.take(
                    pair=target.pair,
                    task=task,
                    by=by,
                    become_blind=True,
                    unrestricted=True,
                    now=now,
                )
                assignments.begin_work(pair=target.pair, task=task, by=by, now=now)
            yield look_up(target, by, uuid, now)
    except IntegrityError as error:
        # Somebody else, under another lock, used the same UUID at the same time.
        if any(model.objects.filter(uuid=uuid).exists() for model in (Judgment, Flag, Repeat)):
            raise Refused(uuid_conflict_message()) from error
        raise


def _look_up_on_sqlite(
    target: Target, by: Membership, uuid: uuids.UUID, now: datetime
) -> JudgingState | None:
    """On SQLite, look everything up before locking: the transaction is already the only writer.

    None if the lookup is refused, and on PostgreSQL.
    """
    if connection.vendor != "sqlite":
        return None
    try:
        return look_up(target, by, uuid, now)
    except Refused:
        return None


def _chain_event(
    row: Judgment, content: JudgmentContent, target: Target, by: Membership, state: JudgingState
) -> hash_chain.Event:
    """Return the judgment's event for the hash chain of its assignment."""
    numbered = {state.conditions[key]: answer for key, answer in content.verdicts.items()}
    hashed = judgment_chain.content(
        pair_id=target.pair.pair_id,
        side=state.side,
        version=state.version,
        doc_id=state.doc_id,
        annotator=by.name,
        relevance=row.relevance,
        note=row.note,
        evidence=judgment_chain.spans(content.evidence),
        clauses=judgment_chain.spans(content.clauses),
        verdicts=judgment_chain.answers(numbered),
        active_ms=row.active_ms,
        pressed=row.pressed,
        source=row.source,
        at=row.at,
        made_at=row.made_at,
        text_version=row.text_version,
    )
    return hash_chain.content_event(judgment_chain.KIND, row.uuid, hashed)


# --- repeats --------------------------------------------------------------------------------------


def _record_repeat(
    repeat: Repeat,
    target: Target,
    by: Membership,
    instead_of: uuids.UUID | None,
    state: JudgingState,
) -> Recorded:
    state.supersede_current()
    repeat.save(force_insert=True)
    state.update_assignment(target, by, settled=repeat.flag != Flag.Kind.LATER)
    return Recorded(repeat, state.warning(instead_of, content_of(repeat)))
