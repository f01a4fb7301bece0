"""Recognize a statement that is sent again: the same UUID with the same content counts once."""

from __future__ import annotations

import uuid as uuids

from annotate.collection.spans import Span
from annotate.judging.answer_rules import JudgmentContent
from annotate.judging.history import content_of, find_superseded
from annotate.judging.lookup import CurrentStatement, JudgingState, warning_of
from annotate.judging.statement import VALID_KEYS, Recorded, Target
from annotate.judgments.evidence import merge_spans
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.projects.models import Membership
from base.errors import Refused


def find_resent(
    target: Target,
    by: Membership,
    uuid: uuids.UUID,
    instead_of: uuids.UUID | None,
    state: JudgingState,
    content: JudgmentContent | tuple[str, str],
) -> Recorded:
    """Return the statement already recorded under this UUID; refuse if its content or its target
    differs.
    """
    same_target = {
        "uuid": uuid,
        "narrative": target.narrative,
        "candidate": target.candidate,
        "annotator": by,
    }
    row: Judgment | Flag | Repeat | None
    if target.again:
        row = Repeat.objects.filter(**same_target).first()
        expected = _with_merged_spans(content) if isinstance(content, JudgmentContent) else content
        is_same = row is not None and _stored_content(row) == expected
    elif isinstance(content, JudgmentContent):
        row = Judgment.objects.filter(**same_target).first()
        is_same = row is not None and _stored_content(row) == _with_merged_spans(content)
    else:
        row = Flag.objects.filter(**same_target).first()
        is_same = row is not None and (row.kind, row.words) == content
    if row is None or not is_same:
        raise Refused(uuid_conflict_message())
    before = find_superseded(row)
    return Recorded(
        row,
        warning_of(
            state,
            CurrentStatement(before.pk, before.uuid, before.at, content_of(before))
            if before
            else None,
            instead_of,
            content[0],
        ),
    )


def _stored_content(row: Judgment | Repeat) -> JudgmentContent | tuple[str, str]:
    if row.relevance is None:
        return (row.flag, row.note)
    return JudgmentContent(
        row.relevance,
        row.note,
        [Span(span["start"], span["end"]) for span in row.evidence],
        [Span(span["start"], span["end"]) for span in row.clauses],
        row.answers(),
    )


def _with_merged_spans(content: JudgmentContent) -> JudgmentContent:
    """Normalize a judgment's spans as saving does; leave them as they are if they are invalid."""
    try:
        return content._replace(
            evidence=merge_spans(content.evidence, VALID_KEYS.stop),
            clauses=merge_spans(content.clauses, VALID_KEYS.stop),
        )
    except ValueError:
        return content


def uuid_conflict_message() -> str:
    """Return the message for a UUID that was already used for other content."""
    return "This was already sent with other content. Reload the page and judge again."
