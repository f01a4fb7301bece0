"""The kinds of answers that people and machines give: which of them a change makes stale.

An answer is given under a version of a narrative, and most kinds are about a document as well. What
replaces the narrative, the text or the document counts them by the one list here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from base.texts import amount


@dataclass(frozen=True, kw_only=True)
class AnswerKind:
    """One kind of answers; the three paths lead from a row to what it is given on.

    `current` returns the rows that count. A path is empty where it does not apply.
    """

    singular: str
    plural: str
    current: Callable[[], QuerySet[Any]]
    narrative: str = "narrative"
    candidate: str = ""
    # A document that was shown beside what is rated: with a new text the answer stays as it is.
    beside: str = ""
    # Whether it has evidence: passages of the text that decided.
    has_evidence: bool = False
    # The current rows whose `relevance` is a grade of the project, if they are in a table of their
    # own, beside judgments and settling decisions.
    graded: Callable[[], QuerySet[Any]] | None = None

    def count(self, path: str, keys: Sequence[int] | RawSQL, **more: Any) -> int:
        """Count the current rows whose `path` leads to one of these keys, and that match `more`."""
        rows = self.current().filter(**{f"{path}__in": keys}, **more)
        return rows.values("pk").distinct().count()

    def count_under(self, narratives: Sequence[int]) -> int:
        """Count the current rows under narratives, except on documents that were taken out."""
        in_pool = {f"{self.candidate}__removed_at": None} if self.candidate else {}
        return self.count(self.narrative, narratives, **in_pool)

    def describe(self, number: int) -> str:
        """Return the number with the name of the answers: "3 judgments"."""
        return amount(number, self.singular, self.plural)


_kinds: list[AnswerKind] = []


def register(*kinds: AnswerKind) -> None:
    """Register kinds of answers; apps call it once, at start.

    Apps start from the top down, and what comes first in the work is listed first.
    """
    _kinds[:0] = [kind for kind in kinds if kind not in _kinds]


def kinds_about_documents() -> list[AnswerKind]:
    """Return the kinds of answers that depend on the text of a document."""
    return [kind for kind in _kinds if kind.candidate]


def describe_under(narratives: Sequence[int]) -> str:
    """Describe the current answers under narratives (by key): "24 judgments, 3 flags", or "".

    Those on documents that were taken out do not count, whatever becomes of the narrative.
    """
    counts = [(kind, kind.count_under(narratives)) for kind in _kinds]
    return ", ".join(kind.describe(number) for kind, number in counts if number)


def describe_about(candidates: Sequence[int] | RawSQL, but: AnswerKind | None = None) -> list[str]:
    """Describe the current answers about candidates (by key), except those of the kind `but`:
    ["24 judgments", "3 flags"].
    """
    kinds = [kind for kind in kinds_about_documents() if kind != but]
    counts = [(kind, kind.count(kind.candidate, candidates)) for kind in kinds]
    return [kind.describe(number) for kind, number in counts if number]


def count_evidence(candidates: Sequence[int] | RawSQL) -> int:
    """Count the passages that the current answers about candidates (by key) have as evidence."""
    return sum(
        len(spans)
        for kind in _kinds
        if kind.has_evidence
        for spans in kind.current()
        .filter(**{f"{kind.candidate}__in": candidates})
        .exclude(evidence=[])
        .values_list("evidence", flat=True)
        .iterator()
    )


def describe_beside(documents: Sequence[int] | RawSQL) -> list[str]:
    """Describe the current answers beside which these documents (by key) were shown."""
    counts = [(kind, kind.count(kind.beside, documents)) for kind in _kinds if kind.beside]
    return [kind.describe(number) for kind, number in counts if number]
