"""The outcome of re-judging, for a narrative's writer: which documents stayed relevant or dropped.

As everywhere, outcomes are for leads, except on pairs that they judge themselves. A writer who is
not a lead sees them once they can influence nobody any more: when every judging assignment of the
pair is taken and done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotate.collection.marking import Span
from annotate.collection.models import Candidate
from annotate.judgments.consensus import consensus
from annotate.judgments.document_names import names_for
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.judgments.pair_rules import Change, change
from annotate.pairs.clauses import clauses, overlapping_clauses
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import candidates_to_judge as pool_of
from annotate.projects.models import Membership

# How many documents are named under each clause; the rest are only counted.
NAMED = 10


@dataclass(frozen=True)
class RemovingClause:
    """A clause of the altered narrative with the documents for which judges named it."""

    text: str
    count: int
    # The first of them: candidate (by key) and its label.
    documents: list[tuple[int, str]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of the judgments under one narrative version."""

    api_fields = ("kept", "dropped", "grew", "disputed", "unjudged", "promise")

    kept: int
    dropped: int
    # Relevant now and not before; with a narrower narrative there should be none.
    grew: int
    disputed: int
    unjudged: int
    clauses: list[RemovingClause]
    # Documents that dropped out without a clause that says why.
    unexplained: int

    @property
    def total(self) -> int:
        """The documents that were put before judges, except those that stayed irrelevant."""
        return self.kept + self.dropped + self.grew + self.disputed + self.unjudged

    @property
    def open(self) -> int:
        """The documents without an outcome yet."""
        return self.disputed + self.unjudged

    @property
    def promise(self) -> str:
        """Whether the relevant set only shrank and at least one document dropped out.

        "kept", "broken" (the set grew) or "unchanged" (all is judged, nothing dropped out); while
        documents are open, "so_far" (some dropped out) or "not_yet".
        """
        if self.grew:
            return "broken"
        if self.open:
            return "so_far" if self.dropped else "not_yet"
        return "kept" if self.dropped else "unchanged"


def outcome(pair: InstructionPair, narrative: Narrative, reader: Membership) -> Outcome | None:
    """Return the outcome of people's judgments under this version; None while there are none.

    At most six queries; judgments of machines do not count. Check `may_see` first.
    """
    grades: dict[int, list[int]] = defaultdict(list)
    marked: dict[int, list[Span]] = defaultdict(list)
    judgments = Judgment.objects.current().of_people().filter(in_pools(), narrative=narrative)
    for candidate, relevance, spans in judgments.order_by("pk").values_list(
        "candidate", "relevance", "clauses"
    ):
        grades[candidate].append(relevance)
        if relevance < pair.project.relevant_from:
            marked[candidate] += [Span(span["start"], span["end"]) for span in spans]
    settled = dict(
        Adjudication.objects.current()
        .filter(narrative=narrative)
        .values_list("candidate", "relevance")
    )
    if not grades and not settled:
        return None
    counts = dict.fromkeys(("kept", "dropped", "grew", "disputed", "unjudged"), 0)
    dropped: list[int] = []
    pool = pool_of(pair)
    for candidate, prior in pool.order_by("pk").values_list("pk", "prior_relevance"):
        outcome_word = _outcome_of(pair, prior, grades.get(candidate, []), settled.get(candidate))
        if outcome_word:
            counts[outcome_word] += 1
        if outcome_word == "dropped":
            dropped.append(candidate)
    removed, unexplained = _group_by_clause(narrative, dropped, marked, reader)
    return Outcome(**counts, clauses=removed, unexplained=unexplained)


def _outcome_of(
    pair: InstructionPair, prior: int | None, grades: list[int], settled: int | None
) -> str:
    """Return the outcome of one candidate; "" if it was irrelevant and stays so."""
    agreed = consensus(grades, pair.project.consensus, settled)
    if agreed.relevance is None:
        return agreed.state.value
    became = change(prior, agreed.relevance, pair.project.relevant_from)
    return "" if became is Change.STAYED else became.value


def _group_by_clause(
    narrative: Narrative,
    dropped: Iterable[int],
    marked: Mapping[int, list[Span]],
    reader: Membership,
) -> tuple[list[RemovingClause], int]:
    """Group the dropped documents by the clauses that judges named, in the narrative's order.

    Also return how many dropped without any such clause.
    """
    spans = clauses(narrative.text)
    under: dict[int, list[int]] = defaultdict(list)
    unexplained = 0
    for candidate in dropped:
        named = overlapping_clauses(spans, marked.get(candidate, []))
        unexplained += not named
        for place in named:
            under[place].append(candidate)
    wanted = {candidate for those in under.values() for candidate in those[:NAMED]}
    rows = list(Candidate.with_removed.select_related("document").filter(pk__in=wanted))
    labels = {candidate: name.label for candidate, name in names_for(reader, rows).items()}
    return [
        RemovingClause(
            narrative.text[spans[place].start : spans[place].end],
            len(those),
            [(candidate, labels[candidate]) for candidate in those[:NAMED]],
        )
        for place, those in sorted(under.items())
    ], unexplained
