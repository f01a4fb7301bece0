"""Judging: give a document a grade or a flag.

One person's statements about a document under one narrative version form a chain. Each new one
supersedes the current one (`replaces`), which ends at its time (`ended_at` equals the `at` of the
next). Withdrawing a statement (`withdrawal`) links its neighbours. So any statement can
be withdrawn at any time, and the one it had superseded becomes current again, unless there is a
newer one.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.judging.answer_rules import check_grade_statement
from annotate.judging.history import find_resent, uuid_conflict_message
from annotate.judging.lookup import JudgingState, look_up, not_in_pair_message
from annotate.judging.statement import (
    VALID_KEYS,
    FlagStatement,
    GradeStatement,
    Recorded,
    Target,
)
from annotate.judgments import assignments
from annotate.judgments.models import Judgment, Statement, Verdict
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narrative
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
    late: bool = False,
    now: datetime | None = None,
    **content: Any,
) -> Statement:
    """Record the grade that `by` gives a candidate under the narrative version they read.

    Like `record`, for callers that hold model instances. `content`: other fields of a
    `GradeStatement`. Returns the row.
    """
    target = Target(narrative.pair, narrative.pk, candidate.pk)
    statement = GradeStatement(relevance=relevance, **content)
    return record(statement, target=target, by=by, late=late, now=now).row


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    late: bool = False,
    now: datetime | None = None,
    **content: Any,
) -> Statement:
    """Put a flag on a candidate instead of a grade.

    Like `record`, for callers that hold model instances. `content`: other fields of a
    `FlagStatement`. Returns the row.
    """
    target = Target(narrative.pair, narrative.pk, candidate.pk)
    statement = FlagStatement(kind=kind, **content)
    return record(statement, target=target, by=by, late=late, now=now).row


def record(
    statement: GradeStatement | FlagStatement,
    *,
    target: Target,
    by: Membership,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Record a grade or a flag, superseding the annotator's previous one.

    Idempotent: sending the same UUID with the same content again changes nothing. `late`: it
    arrives late, from a journal. It is then recorded even if the narrative or the text has a newer
    version, and an assignment that was given back in the meantime is taken again.

    Refused: a grade that the project does not have, a span outside the text, missing evidence where
    the project requires it, unanswered conditions, a grade that contradicts the conditions without
    a note, a flag without the words it needs, a UUID already used for other content, an assignment
    that is not theirs, a document that is not to be judged, a text version that the document does
    not have. Raises ObjectNotFound if the document or the narrative does not belong to the pair,
    and Stale, unless `late`, if the narrative or the text has a newer version.
    """
    statement = statement.cleaned()
    with _recording(target, by, statement.uuid, late=late, now=now) as state:
        if state.is_resend:
            return find_resent(target, by, statement, state)
        state.refuse_if_closed(by, late=late)
        verdicts: Mapping[int, str] = {}
        if isinstance(statement, GradeStatement):
            statement = check_grade_statement(statement, by.project, state)
            verdicts = statement.verdicts
        row = _new_row(statement, target, by, state)
        state.supersede_current()
        row.save(force_insert=True)
        _add_verdicts(row, verdicts)
        state.append_to_chain(target, by, row, verdicts)
        state.update_assignment(target, by, settled=statement.settles)
    return Recorded(row, state.warning(statement))


def _new_row(
    statement: GradeStatement | FlagStatement, target: Target, by: Membership, state: JudgingState
) -> Statement:
    """Return the unsaved row of a statement."""
    return Statement(
        uuid=statement.uuid,
        narrative_id=target.narrative,
        candidate_id=target.candidate,
        annotator=by,
        repeat=target.again,
        first_id=state.first,
        replaces_id=state.current.pk if state.current else None,
        made_at=statement.made_at,
        at=state.now,
        **state.text_columns(),
        **statement.columns(),
    )


def _add_verdicts(row: Statement, verdicts: Mapping[int, str]) -> None:
    if verdicts:
        Verdict.objects.bulk_create(
            Verdict(statement_id=row.pk, condition_id=condition, answer=answer)
            for condition, answer in sorted(verdicts.items())
        )


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
        if Statement.objects.filter(uuid=uuid).exists():
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
