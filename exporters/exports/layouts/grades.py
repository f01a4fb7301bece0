"""The grades that a layout publishes: each candidate's earlier grade, and its grade under a side.

People's agreed grades come first. If claimed labels are published, the outcome of a label check
comes next, then the claim: the precedence of `exporters.exports.claimed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.files import Report, report_rows
from exporters.exports.selection import claimed, selection
from exporters.exports.selection.selection import CLAIMED, Pair, PooledDocument

ALTERED = Narrative.Side.ALTERED


class Row(NamedTuple):
    """One candidate of a pair: its earlier grade, and its grade under the narrative of a side.

    A grade is None if the qrels have no line. `is_claim`: whether the grade is a machine's claim
    that nobody has judged or checked; `is_undecided`: whether it is None because machines claim
    different grades.
    """

    doc_id: str
    candidate: int
    document: int
    before: int | None
    after: int | None
    is_claim: bool = False
    is_undecided: bool = False

    @property
    def changed(self) -> bool:
        """Return whether both grades exist and differ."""
        return self.before is not None and self.after is not None and self.before != self.after


def pairs_with_grades(pairs: Sequence[Pair], side: str, *, claims: bool) -> list[Pair]:
    """Return the pairs that may have grades under a side: judged by people, or claimed."""
    judged = {pair.pk for pair in selection.written_pairs(pairs, side)}
    return [
        pair for pair in pairs if pair.pk in judged or (claims and pair.claimed_on[side] == CLAIMED)
    ]


def pools(
    project: Project,
    of: Sequence[Pair],
    side: str,
    report: Report = lambda _: None,
    *,
    claims: bool,
) -> Iterator[tuple[Pair, list[Row]]]:
    """Yield each pair with its candidates in byte order of doc_id.

    Every pair must have a narrative on that side. `claims`: also claimed labels, where people have
    not judged.
    """
    judged = {pair.pk for pair in selection.written_pairs(of, side)}
    for pair, pool in claimed.labelled_pools(project, of, side, claims=claims):
        yield (
            pair,
            [
                _row(document, side, label, by_people=pair.pk in judged)
                for document, label in report_rows(pool, report)
            ],
        )


def _row(
    document: PooledDocument, side: str, label: claimed.ClaimedLabel | None, *, by_people: bool
) -> Row:
    after, is_claim, is_undecided = None, False, False
    if label is not None:
        after = label.relevance
        is_undecided = label.counts_as == claimed.UNDECIDED
        is_claim = label.counts_as not in ("claims_judged", "claims_checked", claimed.UNDECIDED)
    elif by_people:
        after = document.relevance_on(side)
    return Row(
        document.doc_id,
        document.candidate,
        document.document,
        document.prior,
        after,
        is_claim,
        is_undecided,
    )
