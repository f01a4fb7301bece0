"""Tables as pages build them, for the tests of what is shown of them."""

from __future__ import annotations

from typing import Any

from annotate.collection.document_rendering import ShownTable, build_pane
from annotate.models import Document


def build_table(text: str, markup: str, *words: Any, **window: Any) -> ShownTable:
    """Return the table of a document with this text, as its pane has it."""
    table = build_pane(Document(markup=markup), text, *words, **window).table
    assert table is not None
    return table
