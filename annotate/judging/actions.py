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
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection.models import Candidate
from annotate.collection.spans import Span
from annotate.judging.answer_rules import Given, checked_answer, checked_words, refuse_unlikely
from annotate.judging.history import content_of
from annotate.judging.lookup import Place, look_up, not_here
from annotate.judging.resend import sent_before, used_before
from annotate.judging.statement import KEYS, UNSAID, Grading, On, Recorded, Saying
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Flag, Judgment, Repeat, Verdict
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narrative
from annotate.projects import chain
from annotate.projects.models import Membership
from base.errors import ObjectNotFound, Refused
from base.raw_sql import insert


def narrative_for(member: Membership, pair: InstructionPair) -> Narrative:
    """Return the current narrative to judge under; refuse unless `member` holds an assignment."""
    if not assignments.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        raise Refused(assignments.NOT_YOURS)
    narrative = judged_narrative(pair)
    if narrative is None:
        raise Refused(_("There is no narrative to judge under yet."))
    return narrative


def judge(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    **how: Unpack[Grading],
) -> Judgment:
    """Record the grade that `by` gives a candidate under the narrative version they read.

    Like `say_grade`, for callers that hold model instances; returns the judgment.
    """
    on = On(narrative.pair, narrative.pk, candidate.pk)
    row = say_grade(on=on, relevance=relevance, by=by, **how).row
    assert isinstance(row, Judgment)
    return row


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    words: str = "",
    **how: Unpack[Saying],
) -> Flag:
    """Put a flag on a candidate instead of a grade.

    Like `say_flag`, for callers that hold model instances; returns the flag.
    """
    on = On(narrative.pair, narrative.pk, candidate.pk)
    row = say_flag(on=on, kind=kind, words=words, by=by, **how).row
    assert isinstance(row, Flag)
    return row


def say_grade(
    *,
    on: On,
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
    instead_of: uuids.UUID | None = UNSAID,
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
    given = Given(
        relevance,
        checked_words(note, _("The note")),
        sorted(evidence),
        sorted(clauses),
        dict(verdicts or {}),
    )
    refuse_unlikely(pressed, active_ms)
    uuid = uuid or uuids.uuid4()
    with _speaking(on, by, uuid, late=late, now=now) as place:
        if place.sent:
            return sent_before(on, by, uuid, instead_of, place, given)
        place.refuse_if_closed(by, late=late)
        given = checked_answer(given, by.project, place)
        columns = {
            **_about(on, by, uuid, made_at, place),
            "relevance": relevance,
            "note": given.note,
            "evidence": [span._asdict() for span in given.evidence],
            "clauses": [span._asdict() for span in given.clauses],
            "active_ms": active_ms,
            "pressed": pressed,
        }
        if on.again:
            by_key = {str(key): said for key, said in sorted(given.verdicts.items())}
            repeat = Repeat(**columns, first_id=place.first, verdicts=by_key)
            return _said_again(repeat, on, by, instead_of, place)
        row = Judgment(**columns, replaces_id=place.judgment.pk if place.judgment else None)
        place.end_what_stands()
        insert(row)
        _add_verdicts(row, given)
        place.link(on, by, said=_summed(row, given, on, by, place))
        place.settle_assignment(on, by, settled=True)
    return Recorded(row, place.warning(instead_of, relevance))


def say_flag(
    *,
    on: On,
    kind: str,
    by: Membership,
    words: str = "",
    made_at: datetime | None = None,
    uuid: uuids.UUID | None = None,
    instead_of: uuids.UUID | None = UNSAID,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Put a flag (a `Flag.Kind`) on a candidate instead of a grade.

    "Cannot judge" and "problem" need words. Supersedes the previous judgment or flag, may be sent
    twice and is refused as with `say_grade`.
    """
    words = checked_words(words, _("What you wrote")).strip()
    if kind not in Flag.Kind.values:
        raise Refused(_("“%(kind)s” is not a kind of flag.") % {"kind": kind[:40]})
    if kind != Flag.Kind.LATER and not words:
        raise Refused(_("Say in a few words why, so that the lead can act on it."))
    uuid = uuid or uuids.uuid4()
    with _speaking(on, by, uuid, late=late, now=now) as place:
        if place.sent:
            return sent_before(on, by, uuid, instead_of, place, (kind, words))
        place.refuse_if_closed(by, late=late)
        about = _about(on, by, uuid, made_at, place)
        if on.again:
            repeat = Repeat(**about, first_id=place.first, flag=kind, note=words)
            return _said_again(repeat, on, by, instead_of, place)
        row = Flag(**about, kind=kind, words=words)
        place.end_what_stands()
        insert(row)
        place.link(on, by)
        place.settle_assignment(on, by, settled=kind != Flag.Kind.LATER)
    return Recorded(row, place.warning(instead_of, kind))


def _add_verdicts(row: Judgment, given: Given) -> None:
    if given.verdicts:
        Verdict.objects.bulk_create(
            Verdict(judgment=row, condition_id=condition, answer=answer)
            for condition, answer in sorted(given.verdicts.items())
        )


def _about(
    on: On, by: Membership, uuid: uuids.UUID, made_at: datetime | None, place: Place
) -> dict[str, Any]:
    """Return the columns that a judgment, a flag and the answer to a repeat have in common."""
    return {
        "uuid": uuid,
        "narrative_id": on.narrative,
        "candidate_id": on.candidate,
        "annotator": by,
        "made_at": made_at,
        "at": place.now,
        **place.text_read(),
    }


@contextmanager
def _speaking(
    on: On, by: Membership, uuid: uuids.UUID, *, late: bool, now: datetime | None
) -> Iterator[Place]:
    """Open the transaction that records a statement, under a lock on the assignment of `by`.

    The lock serializes statements that one person sends from several tabs.
    """
    if on.narrative not in KEYS or on.candidate not in KEYS:
        raise ObjectNotFound(not_here())
    now = now or timezone.now()
    try:
        with transaction.atomic():
            found = _looked_up_first(on, by, uuid, now)
            task = Assignment.Task.JUDGE
            if found is not None and (
                found.begun or assignments.work_in(pair=on.pair, task=task, by=by, now=now)
            ):
                yield found
                return
            if not assignments.work_in(pair=on.pair, task=Assignment.Task.JUDGE, by=by, now=now):
                if not late:
                    raise Refused(assignments.NOT_YOURS)
                assignments.take(
                    pair=on.pair,
                    task=Assignment.Task.JUDGE,
                    by=by,
                    become_blind=True,
                    unrestricted=True,
                    now=now,
                )
                assignments.work_in(pair=on.pair, task=Assignment.Task.JUDGE, by=by, now=now)
            yield look_up(on, by, uuid, now)
    except IntegrityError as error:
        # Somebody else, under another lock, used the same UUID at the same time.
        if any(model.objects.filter(uuid=uuid).exists() for model in (Judgment, Flag, Repeat)):
            raise Refused(used_before()) from error
        raise


def _looked_up_first(on: On, by: Membership, uuid: uuids.UUID, now: datetime) -> Place | None:
    """On SQLite, look everything up before locking: the transaction is already the only writer.

    None if the lookup is refused, and on PostgreSQL.
    """
    if connection.vendor != "sqlite":
        return None
    try:
        return look_up(on, by, uuid, now)
    except Refused:
        return None


def _summed(row: Judgment, given: Given, on: On, by: Membership, place: Place) -> chain.Event:
    """Return the judgment's event for the hash chain of its assignment."""
    numbered = {place.conditions[key]: answer for key, answer in given.verdicts.items()}
    what = judgment_chain.content(
        pair_id=on.pair.pair_id,
        side=place.side,
        version=place.version,
        doc_id=place.doc_id,
        annotator=by.name,
        relevance=row.relevance,
        note=row.note,
        evidence=judgment_chain.spans(given.evidence),
        clauses=judgment_chain.spans(given.clauses),
        verdicts=judgment_chain.answers(numbered),
        active_ms=row.active_ms,
        pressed=row.pressed,
        source=row.source,
        at=row.at,
        made_at=row.made_at,
        text_version=row.text_version,
    )
    return chain.content_event(judgment_chain.KIND, row.uuid, what)


# --- repeats --------------------------------------------------------------------------------------


def _said_again(
    repeat: Repeat, on: On, by: Membership, instead_of: uuids.UUID | None, place: Place
) -> Recorded:
    place.end_what_stands()
    repeat.save(force_insert=True)
    place.settle_assignment(on, by, settled=repeat.flag != Flag.Kind.LATER)
    return Recorded(repeat, place.warning(instead_of, content_of(repeat)))
