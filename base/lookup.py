"""Fetch a row that a request names."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404

from base.raw_sql import LARGEST_KEY

Row = TypeVar("Row", bound=Model)


def first_or_404(rows: QuerySet[Row], sentence: str) -> Row:
    """Return the first of the rows; raise Http404 with `sentence` if there is none."""
    row = rows.first()
    if row is None:
        raise Http404(sentence)
    return row


def row_or_404(rows: QuerySet[Row], pk: int, sentence: str) -> Row:
    """Return the row with this key, however large the key is; raise Http404 with `sentence`."""
    return first_or_404(rows.filter(pk=min(pk, LARGEST_KEY)), sentence)
