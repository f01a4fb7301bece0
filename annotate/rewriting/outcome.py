"""What re-judging came to, for the writer of a narrative: what stayed relevant, what dropped out.

What judgments come to is for leads, as everywhere, and for them only where they do not judge
themselves. A writer who is no lead sees it once it can lead nobody any more: when every judge's
assignment of the pair is taken and done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotate.collection.models import Candidate
from annotate.collection.spans import Span
from annotate.judgments.consensus import consensus
from annotate.judgments.document_names import names_to
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.judgments.pair_rules import Change, change
from annotate.pairs.clauses import clauses, overlapping_clauses
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import candidates_to_judge as pool_of
from annotate.projects.models import Membership

# Documents named under each clause; the rest is counted.
NAMED = 10


@dataclass(frozen=True)
class Removed:
    """A clause of the altered narrative with the documents for which judges named it."""

    text: str
    count: int
    # The first of them: candidate (by key) and what a list shows.
    documents: list[tuple[int, str]]


@dataclass(frozen=True)
class Outcome:
    """What the judgments under one narrative version come to."""

    kept: int
    dropped: int
    # Relevant now and not before: a narrower narrative lets nothing in.
    grew: int
    disputed: int
    unjudged: int
    clauses: list[Removed]
    # Documents that dropped out without a clause that says why.
    unexplained: int

    @property
    def total(self) -> int:
        """The documents that were put before the judges, but those that stayed irrelevant."""
        return self.kept + self.dropped + self.grew + self.disputed + self.unjudged

    @property
    def open(self) -> int:
        """Those of which nobody knows yet."""
        return self.disputed + self.unjudged

    @property
    def promise(self) -> str:
        """Whether the relevant set only shrinks and at least one document changed: "broken" (it
        grew), "kept", "unchanged" (all is judged, nothing dropped out), or while something is open
        "so_far" and "not_yet".
        """
        if self.grew:
            return "broken"
        if self.open:
            return "so_far" if self.dropped else "not_yet"
        return "kept" if self.dropped else "unchanged"


def outcome(pair: InstructionPair, narrative: Narrative, reader: Membership) -> Outcome | None:
    """Return what people's judgments under this version come to; None while there is none.

    Six queries at most; nothing is asked about machines. See `may_see` first.
    """
    given: dict[int, list[int]] = defaultdict(list)
    marked: dict[int, list[Span]] = defaultdict(list)
    said = Judgment.objects.current().of_people().filter(in_pools(), narrative=narrative)
    for candidate, relevance, spans in said.order_by("pk").values_list(
        "candidate", "relevance", "clauses"
    ):
        given[candidate].append(relevance)
        if relevance < pair.project.relevant_from:
            marked[candidate] += [Span(span["start"], span["end"]) for span in spans]
    settled = dict(
        Adjudication.objects.current()
        .filter(narrative=narrative)
        .values_list("candidate", "relevance")
    )
    if not given and not settled:
        return None
    counts = dict.fromkeys(("kept", "dropped", "grew", "disputed", "unjudged"), 0)
    dropped: list[int] = []
    pool = pool_of(pair)
    for candidate, prior in pool.order_by("pk").values_list("pk", "prior_relevance"):
        what = _became(pair, prior, given.get(candidate, []), settled.get(candidate))
        if what:
            counts[what] += 1
        if what == "dropped":
            dropped.append(candidate)
    removed, unexplained = _removed(narrative, dropped, marked, reader)
    return Outcome(**counts, clauses=removed, unexplained=unexplained)


def _became(
    pair: InstructionPair, prior: int | None, grades: list[int], settled: int | None
) -> str:
    """What became of one candidate; nothing of what was irrelevant and stays so."""
    found = consensus(grades, pair.project.consensus, settled)
    if found.relevance is None:
        return found.state.value
    became = change(prior, found.relevance, pair.project.relevant_from)
    return "" if became is Change.STAYED else became.value


def _removed(
    narrative: Narrative,
    dropped: Iterable[int],
    marked: Mapping[int, list[Span]],
    reader: Membership,
) -> tuple[list[Removed], int]:
    """Group what dropped out by the clauses that its judges named, in the narrative's order."""
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
    labels = {candidate: name.label for candidate, name in names_to(reader, rows).items()}
    return [
        Removed(
            narrative.text[spans[place].start : spans[place].end],
            len(those),
            [(candidate, labels[candidate]) for candidate in those[:NAMED]],
        )
        for place, those in sorted(under.items())
    ], unexplained
