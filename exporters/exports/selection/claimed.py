"""Labels that machines claim under the narratives of each side, corrected by people's judgments.

This module owns the rule of precedence: people's judgments, then the outcome of a label check, then
the claim. No document text is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from annotate.judgments.consensus import Outcome, State
from annotate.judgments.machine_claims import Claim, counting_claims, current_claims
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from audit.checks.queue import CheckOutcome, checked_items, newest_outcomes
from base.bulk import in_byte_order
from base.snapshot import once_in_snapshot
from exporters.exports.files import distinct_names
from exporters.exports.selection.ordered_rows import batches, stream_rows
from exporters.exports.selection.selection import (
    Pair,
    PooledDocument,
    claimed,
    pooled_documents,
)

# Sides in the order in which their files are written, with the infix of their file names. The
# altered side has none: the other sides are compared with its files.
SIDES = {
    Narrative.Side.ALTERED: "",
    Narrative.Side.REVERSED: "reversed.",
    Narrative.Side.ORIGINAL: "original.",
}

# Each claimed label is counted under one of these keys.
COUNTS = (
    "claims_unchecked",
    "claims_checked",
    "claims_open",
    "claims_unjudgeable",
    "claims_judged",
    "claims_disputed",
)
# Checked labels whose check found another relevance.
CORRECTED = "claims_corrected"
# Labels that machines claim differently, without a lead's choice, a check or people's judgments.
UNDECIDED = "claims_undecided"
_OF_SIDES = tuple(word for word in SIDES.values() if word)
# Of how many pairs the claims are in memory at once.
PAIRS = 20
# How many characters of a machine's name a file name contains.
_MOST_CHARACTERS = 60


class ClaimedLabel(NamedTuple):
    """A claimed label and its final relevance; `counts_as` is one of COUNTS, or UNDECIDED.

    `machine`: the one whose claim counts, by key. It and `claim` are None where machines claim
    different grades and no lead has chosen one of them; then the label has a relevance only if
    people judged or checked it.
    """

    pair: Pair
    doc_id: str
    claim: int | None
    relevance: int | None
    counts_as: str
    machine: int | None

    @property
    def corrected(self) -> bool:
        """Return whether a check found another relevance than the claim."""
        is_checked = self.counts_as == "claims_checked" and self.claim is not None
        return is_checked and self.relevance != self.claim


@once_in_snapshot
def raters(project: Project, *sides: str) -> list[Membership]:
    """Return the machines with claims that are not taken out, ordered by name.

    `sides`: only narratives of these sides; of all without any.
    """
    claims = current_claims(project).filter(
        annotator=OuterRef("pk"), narrative__side__in=sides or SIDES
    )
    machines = Membership.objects.filter(Exists(claims), project=project, is_machine=True)
    return list(machines.order_by(in_byte_order("name")))


def file_names(
    of: Sequence[Membership], side: str = Narrative.Side.ALTERED
) -> Iterator[tuple[str, Membership]]:
    """Name the file of each machine on a side, if there are several.

    Names are made safe as file names: only letters, digits, dots, hyphens and underscores are kept,
    and a number is put before a name that is taken (ignoring case) or that begins like the files of
    another side.
    """
    if len(of) == 1:
        return
    plain = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", rater.name)[:_MOST_CHARACTERS].strip("-.") or "machine"
        for rater in of
    )
    for name, rater in zip(distinct_names(plain, _OF_SIDES), of, strict=True):
        yield f"qrels.claimed.{SIDES[Narrative.Side(side)]}{name}.txt", rater


def file_name(side: str = Narrative.Side.ALTERED) -> str:
    """Name the file of the claims that count on a side, whichever machine made them."""
    return f"qrels.claimed.{SIDES[Narrative.Side(side)]}txt"


def labels(
    project: Project,
    of: Sequence[Pair],
    side: str = Narrative.Side.ALTERED,
    *,
    rater: Membership | None = None,
) -> Iterator[ClaimedLabel]:
    """Yield the claimed labels under these pairs' narratives on `side`, with final relevance.

    Labels are in byte order of pair_id and doc_id. Every pair must have a narrative on that side.
    `rater`: only the claims of this machine; of all without one.
    """
    for _pair, pool in labelled_pools(project, of, side, rater=rater):
        yield from (label for _document, label in pool if label is not None)


def labelled_pools(
    project: Project,
    of: Sequence[Pair],
    side: str,
    *,
    claims: bool = True,
    rater: Membership | None = None,
) -> Iterator[tuple[Pair, list[tuple[PooledDocument, ClaimedLabel | None]]]]:
    """Yield each pair with its pool like `pooled_documents`, and the label of each document if a
    machine claims one. Without `claims`, and of a pair whose claims do not count, it is None.
    """
    judgments = Judgment.objects.filter(annotator=rater) if rater else Judgment.objects.all()
    for batch in batches(of, PAIRS):
        narratives = [pair.versions[side].pk for pair in claimed(batch, side)] if claims else []
        counting: dict[tuple[int, int], Claim] = {}
        if narratives:
            of_batch = judgments.filter(narrative__in=narratives)
            for claim in counting_claims(project, of_batch, "annotator_id"):
                counting[claim.narrative, claim.candidate] = claim
        checks = _newest_checks(narratives)
        for pair, pool in pooled_documents(project, batch, side):
            narrative = pair.versions[side].pk
            labelled: list[tuple[PooledDocument, ClaimedLabel | None]] = []
            for document in pool:
                label = narrative, document.candidate
                counts = counting.get(label)
                labelled.append(
                    (document, counts and _label(pair, document, counts, checks.get(label)))
                )
            yield pair, labelled


def _label(
    pair: Pair, document: PooledDocument, claim: Claim, check: CheckOutcome | None
) -> ClaimedLabel:
    machine = None if claim.relevance is None else claim.columns[0]
    relevance, counts_as = _final_relevance(claim.relevance, document.outcome, check)
    return ClaimedLabel(pair, document.doc_id, claim.relevance, relevance, counts_as, machine)


def _final_relevance(
    claim: int | None, judged: Outcome[int], check: CheckOutcome | None
) -> tuple[int | None, str]:
    """Return the final relevance, and the key under which the label is counted."""
    if judged.relevance is not None:
        return judged.relevance, "claims_judged"
    if check is not None and check.outcome is not None:
        return check.outcome, "claims_checked"
    if claim is None:
        return None, UNDECIDED
    if judged.state is State.DISPUTED:
        return claim, "claims_disputed"
    if check is None:
        return claim, "claims_unchecked"
    return claim, "claims_unjudgeable" if check.over else "claims_open"


def _newest_checks(narratives: Sequence[int]) -> dict[tuple[int, int], CheckOutcome]:
    """Return the newest check of each label over all samples, by narrative and candidate.

    A grade may follow from the answers to two questions.
    """
    items = checked_items(narrative__in=narratives).order_by(
        "sample__created_at", in_byte_order("sample__name")
    )
    return newest_outcomes(stream_rows(items, "narrative", "candidate", "outcome", "unjudgeable"))
