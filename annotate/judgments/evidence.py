"""Evidence: spans of a document or of the narrative that decided a judgment. No Django here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annotate.collection.marking import Span

# More spans than this would be the document, not evidence.
MAX_SPANS = 50

# The length of a text that is not known, in characters.
ANY_LENGTH = 2**31

# The values of models.Project.EvidenceRule.
NONE, DOCUMENT, NARRATIVE = "none", "document", "narrative"


def merge_spans(spans: Iterable[Span], length: int) -> list[Span]:
    """Return the spans in order, merging those that touch or overlap.

    Raises ValueError, with a message for the annotator, for a span that is empty or outside a text
    of `length` characters, and for more than MAX_SPANS.
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
            f"{len(merged)} passages are marked; at most {MAX_SPANS} are allowed. Remove some."
        )
    return merged


def merge_stored_spans(spans: Iterable[Mapping[str, int]], length: int) -> list[dict[str, int]]:
    """Return spans as `merge_spans` does, in the form in which a statement stores them."""
    return [span._asdict() for span in merge_spans((Span(**span) for span in spans), length)]


def needs_evidence(
    *, relevance: int, prior: int | None, relevant_from: int, prior_known: bool
) -> bool:
    """Return whether a grade needs evidence, in a project that asks for it when relevance changes.

    `prior_known`: whether the judge may know if the document was relevant before. If not, asking
    for evidence only on a change would reveal it, so every grade needs evidence.
    """
    if not prior_known or prior is None:
        return True
    return (relevance >= relevant_from) != (prior >= relevant_from)


def missing_evidence(
    *, rule: str, wanted: bool, passages: int, clauses: int, markable: bool, note: str
) -> str:
    """Return the message on the evidence that a judgment lacks; "" if it lacks none.

    `wanted`: whether this grade needs evidence (`needs_evidence`). `markable`: whether the document
    or narrative, as the rule asks, has text that can be marked. For a table, and without a text, a
    note takes the place of a marked passage.
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
