"""Judging: a grade, a flag, and taking either back."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.actions import seats
from annotate.actions.pool import pool, sitting
from annotate.errors import Refused, Stale
from annotate.evidence import is_wanted
from annotate.models import (
    Assignment,
    Candidate,
    Flag,
    Grade,
    Judgment,
    Membership,
    Narrative,
    Project,
)

MAX_NOTE = 10_000


def judge(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    note: str = "",
    evidence: Sequence[dict[str, int]] = (),
    active_ms: int | None = None,
    uuid: uuids.UUID | None = None,
    now: datetime | None = None,
) -> Judgment:
    """Record what `by` says of a candidate under the narrative version they read, and return the
    row.

    An earlier judgment of theirs is superseded, a flag cleared. The same UUID with the same
    content again changes nothing. Refused: a grade the project does not have, a document that is
    not to be judged, a seat that is not theirs. Stale: the narrative has a newer version.
    """
    now = now or timezone.now()
    with transaction.atomic():
        seat = _seat(narrative, candidate, by)
        if uuid is not None and (sent := Judgment.objects.filter(uuid=uuid).first()):
            return _same(sent, narrative, candidate, by, relevance, note)
        check_grade(by, relevance)
        _check_note(note)
        earlier = (
            Judgment.objects.current()
            .filter(narrative=narrative, candidate=candidate, annotator=by)
            .first()
        )
        if earlier is not None:
            Judgment.objects.filter(pk=earlier.pk).update(superseded_at=now)
        judgment = Judgment.objects.create(
            uuid=uuid or uuids.uuid4(),
            narrative=narrative,
            candidate=candidate,
            annotator=by,
            relevance=relevance,
            note=note,
            evidence=list(evidence),
            active_ms=active_ms,
            at=now,
            replaces=earlier,
        )
        _clear_flag(narrative, candidate, by, now)
        seats.touch(seat, done=sitting(narrative=narrative, by=by).done, now=now)
    return judgment


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    words: str = "",
    now: datetime | None = None,
) -> Flag:
    """Put a flag (a `Flag.Kind`) on a candidate instead of a grade, and return it.

    "Cannot judge" and "problem" need words. A judgment of theirs, and an earlier flag, give way to
    it.
    """
    now = now or timezone.now()
    words = words.strip()
    if kind not in Flag.Kind.values:
        raise Refused(f"“{kind}” is no kind of flag.")
    if kind != Flag.Kind.LATER and not words:
        raise Refused("Say in a few words why, so that the lead can act on it.")
    _check_note(words)
    with transaction.atomic():
        seat = _seat(narrative, candidate, by)
        Judgment.objects.current().filter(
            narrative=narrative, candidate=candidate, annotator=by
        ).update(superseded_at=now)
        _clear_flag(narrative, candidate, by, now)
        made = Flag.objects.create(
            narrative=narrative, candidate=candidate, annotator=by, kind=kind, words=words, at=now
        )
        seats.touch(seat, done=sitting(narrative=narrative, by=by).done, now=now)
    return made


def undo(*, narrative: Narrative, by: Membership, now: datetime | None = None) -> Candidate:
    """Take back the latest judgment or flag of `by` under `narrative`; return the document it was
    on.

    What it had replaced stands again. Refused when there is nothing to take back.
    """
    now = now or timezone.now()
    with transaction.atomic():
        seat = seats.hold(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
        judgment = (
            Judgment.objects.current()
            .filter(narrative=narrative, annotator=by, source=Judgment.Source.PAGE)
            .order_by("-at", "-pk")
            .first()
        )
        last_flag = (
            Flag.objects.current()
            .filter(narrative=narrative, annotator=by)
            .order_by("-at", "-pk")
            .first()
        )
        if last_flag is not None and (judgment is None or last_flag.at > judgment.at):
            Flag.objects.filter(pk=last_flag.pk).update(cleared_at=now)
            # The judgment that gave way to the flag, at the very moment it was put, stands again.
            Judgment.objects.filter(
                narrative=narrative,
                candidate=last_flag.candidate_id,
                annotator=by,
                superseded_at=last_flag.at,
                withdrawn_at__isnull=True,
            ).update(superseded_at=None)
            taken_back: Flag | Judgment = last_flag
        elif judgment is not None:
            # It gives its place up: another one may take it.
            Judgment.objects.filter(pk=judgment.pk).update(
                superseded_at=now, withdrawn_at=now, replaces=None
            )
            if judgment.replaces_id is not None:
                Judgment.objects.filter(pk=judgment.replaces_id).update(superseded_at=None)
            taken_back = judgment
        else:
            raise Refused("There is nothing to take back here.")
        seats.touch(seat, done=False, now=now)
    return Candidate.objects.select_related("document").get(pk=taken_back.candidate_id)


def _seat(narrative: Narrative, candidate: Candidate, by: Membership) -> Assignment:
    """Return the seat, locked: it keeps one person's two tabs apart. Checks all that must hold
    to speak.
    """
    seats.refuse_if_archived(by.project)
    seat = seats.hold(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
    newer = Narrative.objects.filter(
        pair=narrative.pair_id, side=narrative.side, version__gt=narrative.version
    )
    if newer.exists():
        raise Stale("The narrative changed while you were reading. Read it again, then judge.")
    if not pool(narrative.pair).filter(pk=candidate.pk).exists():
        raise Refused("This document is not among those to be judged for this query.")
    return seat


def _same(
    sent: Judgment,
    narrative: Narrative,
    candidate: Candidate,
    by: Membership,
    relevance: int,
    note: str,
) -> Judgment:
    """Return the judgment that was sent before, if it says the same; refuse a UUID used for
    something else.
    """
    before = (sent.narrative_id, sent.candidate_id, sent.annotator_id, sent.relevance, sent.note)
    if before != (narrative.pk, candidate.pk, by.pk, relevance, note):
        raise Refused(
            "This judgment was already sent with other content. Reload the page and judge again."
        )
    return sent


def _clear_flag(narrative: Narrative, candidate: Candidate, by: Membership, now: datetime) -> None:
    Flag.objects.current().filter(narrative=narrative, candidate=candidate, annotator=by).update(
        cleared_at=now
    )


def check_grade(by: Membership, relevance: int) -> None:
    """Refuse a relevance that is not one of the grades of the project of `by`."""
    grades = sorted(Grade.objects.filter(project=by.project_id).values_list("value", flat=True))
    if relevance not in grades:
        known = ", ".join(map(str, grades))
        raise Refused(f"{relevance} is not a grade of this project. Its grades are {known}.")


def grades_that_need_evidence(
    project: Project, prior: int | None, grades: Sequence[int]
) -> list[int]:
    """The grades of a document, which came with the relevance `prior`, that the project takes only
    with a marked passage.
    """
    if project.evidence_rule == Project.EvidenceRule.NONE:
        return []
    return [
        grade
        for grade in grades
        if is_wanted(
            relevance=grade,
            prior=prior,
            relevant_from=project.relevant_from,
            prior_known=project.show_prior or project.judge_scope == Project.Scope.RELEVANT,
        )
    ]


def _check_note(note: str) -> None:
    if len(note) > MAX_NOTE:
        raise Refused(f"The note has {len(note):,} characters; at most {MAX_NOTE:,} are kept.")
