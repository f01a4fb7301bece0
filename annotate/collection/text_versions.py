"""Find the text version of a document that was read, and lock it so that it stays the newest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection

from annotate.collection.models import Candidate, Document
from base.errors import Refused, Stale

# Ends a PostgreSQL query over a document `d`: until the end of the transaction no load can give it
# a new text. SQLite needs none: it has one writer at a time.
SHARE_LOCK = "FOR KEY SHARE OF d"
# The largest integer that every database stores.
MAX_TEXT_VERSION = 2**31 - 1
# Candidates or documents per query.
_BATCH = 500


def lock_text(candidate: int) -> None:
    """Lock a candidate's document against new texts until the end of the transaction."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM annotate_document d JOIN annotate_candidate c "  # noqa: S608 (ours)
                f"ON c.document_id = d.id WHERE c.id = %s {SHARE_LOCK}",
                [candidate],
            )


def lock_texts(candidates: Iterable[int]) -> bool:
    """Lock these candidates' documents against new texts until the end of the transaction.

    Return whether locks were taken: if so, read again whatever was read before, because a load may
    have committed in between.
    """
    if connection.vendor != "postgresql":
        return False
    lock_newest_versions(candidates)
    return True


def missing_version_message(version: int, newest: int | None) -> str:
    """Return the error message for a text version that a document does not have."""
    if newest is None:
        return f"This document has no text here, so its text has no version {version}."
    return (
        f"The text of this document has no version {version}; the newest is {newest}. Reload the "
        "page."
    )


def lock_read_version(document: int, text: int | None = None) -> dict[str, Any]:
    """Return the `ReadsText` fields of an answer given now, and lock the document's text.

    `document` is a key; the lock lasts until the end of the transaction. `text` is the version that
    was on the screen, 0 for none; None if the caller does not say. Stale: there is a newer version.
    Refused: there is no such version.
    """
    newest = (
        Document.objects.select_for_update(no_key=True)
        .values_list("text_version", flat=True)
        .get(pk=document)
    )
    if text is not None and text > (newest or 0):
        raise Refused(missing_version_message(text, newest))
    if text is not None and max(text, 1) < (newest or 1):
        raise Stale("The document got another text while you were reading. Read it, then answer.")
    return {"text_version": newest if text is None else text or None}


def lock_newest_versions(candidates: Iterable[int]) -> dict[int, int | None]:
    """Return the newest text version of each candidate's document, and lock these documents.

    The locks last until the end of the transaction.
    """
    keys = sorted(set(candidates))
    documents: dict[int, int] = {}
    for batch in _batches(keys):
        documents.update(Candidate.with_removed.filter(pk__in=batch).values_list("pk", "document"))
    newest: dict[int, int | None] = {}
    # In the same order over all batches as a load locks them.
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
