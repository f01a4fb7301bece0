"""Evidence: the spans of a document, or of the narrative, that decided a judgment. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.collection.spans import Span

# More is no longer evidence, it is the document.
MAX_SPANS = 50

# The values of models.Project.EvidenceRule.
NONE, DOCUMENT, NARRATIVE = "none", "document", "narrative"


def checked(spans: Iterable[Span], length: int) -> list[Span]:
    """Return the spans in their order, those that touch or overlap made one.

    Raises ValueError, with a sentence for whoever marked them, for a span that is empty or not
    within a text of `length` characters, and for more than MAX_SPANS.
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if not 0 <= start < end <= length:
            raise ValueError(
                f"The marked passage {start}-{end} is not within the text, which has "
                f"{length:,} characters. Mark it again."
            )
        if merged and start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(end, merged[-1].end))
        else:
            merged.append(Span(start, end))
    if len(merged) > MAX_SPANS:
        raise ValueError(
            f"{len(merged)} passages are marked; at most {MAX_SPANS} are kept. Take some away."
        )
    return merged


def is_wanted(*, relevance: int, prior: int | None, relevant_from: int, prior_known: bool) -> bool:
    """Whether a grade needs evidence, in a project that asks for it when relevance changes.

    `prior_known`: whether the judge may know that the document was relevant before. Where not,
    asking only when it changes would tell; so every grade needs it.
    """
    if not prior_known or prior is None:
        return True
    return (relevance >= relevant_from) != (prior >= relevant_from)


def lacking(
    *, rule: str, wanted: bool, passages: int, clauses: int, markable: bool, note: str
) -> str:
    """Return the sentence that says which evidence a judgment lacks; "" if it lacks none.

    `wanted`: whether this grade needs evidence (`is_wanted`). `markable`: whether what the rule
    asks for has text that can be marked. Passages are marked in texts; of a table, and of a
    document or a narrative without text, words in the note stand for them.
    """
    if rule == NONE or not wanted:
        return ""
    if rule == DOCUMENT and not passages and markable:
        return "Mark the passage that decided, then give the grade again."
    if rule == NARRATIVE and not clauses and markable:
        return "Mark the clause of the narrative that decided, then give the grade again."
    if not markable and not passages + clauses and not note.strip():
        return (
            "Mark a cell of the table, or say in the note what decided, then give the grade again."
        )
    return ""
