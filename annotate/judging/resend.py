"""A statement that is sent twice counts once: the same UUID with the same content."""

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
    """Return the statement that was sent before with this UUID, if it says the same; refuse a UUID
    used for something else.
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
    """A judgment with its spans as they would have been kept, if they would."""
    try:
        return given._replace(
            evidence=checked(given.evidence, KEYS.stop), clauses=checked(given.clauses, KEYS.stop)
        )
    except ValueError:
        return given


def used_before() -> str:
    """Return the sentence on a UUID that was used for something else."""
    return _("This was already sent with other content. Load the page anew and judge again.")
