"""Labels that machines claim under the narratives of each side, corrected by people's judgments.

This module owns the rule of precedence: people's judgments, then the outcome of a label check, then
the claim. No document text is read; batches of pairs are read through a cursor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from annotate.judgments.consensus import Outcome, State, consensus
from annotate.judgments.machine_claims import chosen_machines, machine_that_counts
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from audit.checks.outcomes import CheckOutcome, checked_items, newest_outcomes
from base.bulk import byte_order, in_byte_order
from base.snapshot import once_in_snapshot
from exporters.exports.selection import ordered_rows
from exporters.exports.selection.ordered_rows import BATCH
from exporters.exports.selection.selection import Pair, machines_of

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
# How many characters of a machine's name a file name contains.
_MOST_CHARACTERS = 60


class _ClaimRow(NamedTuple):
    """A machine's claim about a document, with one person's grade of the document, if any."""

    narrative: int
    candidate: int
    doc_id: str
    machine: int
    claim: int
    grade: int | None
    settled: int | None


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
    """Return the machines with claims under a current narrative, ordered by name.

    `sides`: only narratives of these sides; of all without any.
    """
    in_force = Narrative.objects.filter(pair__project=project, side__in=sides or SIDES).current()
    claims = Judgment.objects.current().filter(annotator=OuterRef("pk"), narrative__in=in_force)
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
    taken: set[str] = set()
    for rater in of:
        plain = (
            re.sub(r"[^A-Za-z0-9._-]+", "-", rater.name)[:_MOST_CHARACTERS].strip("-.") or "machine"
        )
        name, number = plain, 1
        while name.casefold() in taken or f"{name}.".casefold().startswith(_OF_SIDES):
            number += 1
            name = f"{number}-{plain}"
        taken.add(name.casefold())
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
    machines = machines_of(project)
    claiming = [rater.pk] if rater is not None else machines
    chosen = [machine.pk for machine in chosen_machines(project)]
    if not claiming:
        return
    for batch in ordered_rows.batches(of, BATCH):
        under = {pair.versions[side].pk: pair for pair in batch}
        checked = _newest_checks(list(under))
        walked = _claim_rows(list(under), machines, claiming)
        for (narrative, candidate, doc_id), group in groupby(
            walked, attrgetter("narrative", "candidate", "doc_id")
        ):
            rows = list(group)
            claims = {row.machine: row.claim for row in rows}
            machine = machine_that_counts(claims, chosen)
            claim = None if machine is None else claims[machine]
            # People's grades are repeated for each machine.
            first = rows[0]
            grades = [
                row.grade for row in rows if row.machine == first.machine and row.grade is not None
            ]
            judged = consensus(grades, project.consensus, first.settled)
            relevance, counts_as = _final_relevance(
                claim, judged, checked.get((narrative, candidate))
            )
            yield ClaimedLabel(under[narrative], doc_id, claim, relevance, counts_as, machine)


def _final_relevance(
    claim: int | None, judged: Outcome, check: CheckOutcome | None
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
    return newest_outcomes(
        ordered_rows.stream_rows(items, "narrative", "candidate", "outcome", "unjudgeable")
    )


def _claim_rows(
    narratives: Sequence[int], machines: Sequence[int], claiming: Sequence[int]
) -> Iterator[_ClaimRow]:
    """Yield one row for each claim and grade of a person.

    A claim about a document that nobody has judged has one row without a grade. Written in SQL,
    because the ORM cannot join claims with other judgments of the same document.
    """
    placeholders, order = ordered_rows.placeholders, byte_order()
    statement = f"""
        SELECT m.narrative_id, m.candidate_id, d.doc_id, m.annotator_id, m.relevance, j.relevance,
            a.relevance
        FROM annotate_statement m
        JOIN annotate_narrative n ON n.id = m.narrative_id
        JOIN annotate_instructionpair p ON p.id = n.pair_id
        JOIN annotate_candidate c ON c.id = m.candidate_id
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_statement j ON j.narrative_id = m.narrative_id
            AND j.candidate_id = m.candidate_id AND j.ended_at IS NULL
            AND NOT j.repeat AND j.relevance IS NOT NULL
            AND j.text_replaced_at IS NULL
            AND j.annotator_id NOT IN ({placeholders(machines)})
        LEFT JOIN annotate_adjudication a ON a.narrative_id = m.narrative_id
            AND a.candidate_id = m.candidate_id AND a.withdrawn_at IS NULL
            AND a.text_replaced_at IS NULL
        WHERE m.annotator_id IN ({placeholders(claiming)}) AND m.ended_at IS NULL
            AND NOT m.repeat AND m.relevance IS NOT NULL AND m.text_replaced_at IS NULL
            AND m.narrative_id IN ({placeholders(narratives)}) AND c.removed_at IS NULL
        ORDER BY p.pair_id COLLATE "{order}", d.doc_id COLLATE "{order}", m.annotator_id
    """  # noqa: S608 (only placeholders and a constant are inserted)
    rows = ordered_rows.stream_sql(statement, [*machines, *claiming, *narratives])
    return map(_ClaimRow._make, rows)
