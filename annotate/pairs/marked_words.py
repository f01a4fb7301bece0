"""The words of a query and its narratives to mark in documents."""

from __future__ import annotations

from annotate.collection import marking
from annotate.pairs.models import InstructionPair, Narrative


def words_to_mark(pair: InstructionPair, narrative: Narrative) -> marking.WordsToMark:
    """Return the words to mark in a pair's documents when read under `narrative`.

    Takes one query.
    """
    original = pair.current(Narrative.Side.ORIGINAL)
    changed = original is not None and original.pk != narrative.pk
    return marking.select_words(
        query=pair.query.title or pair.query.description,
        original=original.text if original and changed else "",
        altered=narrative.text if changed else "",
    )
