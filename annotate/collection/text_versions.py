"""Which text version of a document is read, and the lock that keeps it the newest meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from annotate.collection.models import Candidate, Document
from base.errors import Refused, Stale

# Ends a query of PostgreSQL with a document `d`: until the end of the transaction no load gives it
# another text. SQLite has one writer at a time.
SHARE_LOCK = "FOR KEY SHARE OF d"
# As much as every database takes.
MAX_TEXT_VERSION = 2**31 - 1
# Candidates or documents that one query asks for.
_BATCH = 500


def hold(candidate: int) -> None:
    """Keep the text of a candidate's document the newest until the end of the transaction."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM annotate_document d JOIN annotate_candidate c "  # noqa: S608 (ours)
                f"ON c.document_id = d.id WHERE c.id = %s {SHARE_LOCK}",
                [candidate],
            )


def hold_of(candidates: Iterable[int]) -> bool:
    """Keep the texts of these candidates' documents the newest until the end of the transaction.

    Says whether that took locks: what was read before them has to be read again then, because a
    load may have committed meanwhile.
    """
    if connection.vendor != "postgresql":
        return False
    read_now_of(candidates)
    return True


def no_version(version: int, newest: int | None) -> str:
    """The sentence for a text version that a document does not have."""
    if newest is None:
        return _("This document has no text here, and so no version %(version)d of it.") % {
            "version": version
        }
    return _(
        "The text of this document has no version %(version)d; the newest is %(newest)d. Load the "
        "page anew."
    ) % {"version": version, "newest": newest}


def read_now(document: int, text: int | None = None) -> dict[str, Any]:
    """Return the fields of `ReadsText` of what is said now of a document, by its key, and keep its
    text the newest until the end of the transaction.

    `text`: the version that was on the screen, 0 for none; None does not say. Stale: there is a
    newer one.
    """
    newest = (
        Document.objects.select_for_update(no_key=True)
        .values_list("text_version", flat=True)
        .get(pk=document)
    )
    if text is not None and text > (newest or 0):
        raise Refused(no_version(text, newest))
    if text is not None and max(text, 1) < (newest or 1):
        raise Stale(
            _("The document got another text while you were reading. Read it, then answer.")
        )
    return {"text_version": newest if text is None else text or None}


def read_now_of(candidates: Iterable[int]) -> dict[int, int | None]:
    """Return the newest text version of each candidate's document, and keep them the newest until
    the end of the transaction.
    """
    keys = sorted(set(candidates))
    documents: dict[int, int] = {}
    for batch in _batches(keys):
        documents.update(Candidate.with_removed.filter(pk__in=batch).values_list("pk", "document"))
    newest: dict[int, int | None] = {}
    # In the order in which a load locks them, over all batches.
    for batch in _batches(sorted(set(documents.values()))):
        newest.update(
            Document.objects.select_for_update(no_key=True)
            .filter(pk__in=batch)
            .order_by("pk")
            .values_list("pk", "text_version")
        )
    return {candidate: newest[document] for candidate, document in documents.items()}


def _batches(keys: list[int]) -> Iterator[list[int]]:
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))
