"""Recognize a statement that is sent again: the same UUID with the same content counts once."""

from __future__ import annotations

import uuid as uuids

from django.utils.translation import gettext as _

from annotate.collection.spans import Span
from annotate.judging.answer_rules import Given
from annotate.judging.history import content_of, given_way_to
from annotate.judging.lookup import Place, Standing, warning_of
from annotate.judging.statement import KEYS, On, Recorded
from annotate.judgments.evidence import checked
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.projects.models import Membership
from base.errors import Refused


def sent_before(
    on: On,
    by: Membership,
    uuid: uuids.UUID,
    instead_of: uuids.UUID | None,
    place: Place,
    content: Given | tuple[str, str],
) -> Recorded:
    """Return the statement already recorded under this UUID; refuse if its content or its target
    differs.
    """
    where = {
        "uuid": uuid,
        "narrative": on.narrative,
        "candidate": on.candidate,
        "annotator": by,
    }
    row: Judgment | Flag | Repeat | None
    if on.again:
        row = Repeat.objects.filter(**where).first()
        kept = _with_checked_spans(content) if isinstance(content, Given) else content
        same = row is not None and _all_content(row) == kept
    elif isinstance(content, Given):
        row = Judgment.objects.filter(**where).first()
        same = row is not None and _all_content(row) == _with_checked_spans(content)
    else:
        row = Flag.objects.filter(**where).first()
        same = row is not None and (row.kind, row.words) == content
    if row is None or not same:
        raise Refused(used_before())
    before = given_way_to(row)
    return Recorded(
        row,
        warning_of(
            place,
            Standing(before.pk, before.uuid, before.at, content_of(before)) if before else None,
            instead_of,
            content[0],
        ),
    )


def _all_content(row: Judgment | Repeat) -> Given | tuple[str, str]:
    if row.relevance is None:
        return (row.flag, row.note)
    return Given(
        row.relevance,
        row.note,
        [Span(span["start"], span["end"]) for span in row.evidence],
        [Span(span["start"], span["end"]) for span in row.clauses],
        row.answers(),
    )


def _with_checked_spans(given: Given) -> Given:
    """Normalize a judgment's spans as saving does; leave them as they are if they are invalid."""
    try:
        return given._replace(
            evidence=checked(given.evidence, KEYS.stop), clauses=checked(given.clauses, KEYS.stop)
        )
    except ValueError:
        return given


def used_before() -> str:
    """Return the message for a UUID that was already used for other content."""
    return _("This was already sent with other content. Reload the page and judge again.")
