"""Cases of the guidelines: documents on which the guidelines left people without an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotate.collection.models import Candidate
from annotate.guidelines.actions import Case, cases_waiting
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership

# So many cases stand beside the editor; of more, the newest.
MOST = 30


@dataclass
class ShownCase:
    """A case as a lead sees it: the answers without names."""

    narrative: Narrative
    candidate: Candidate
    # Empty while the reader has yet to judge the document themselves.
    answers: list[Judgment] = field(default_factory=list)
    decision: Adjudication | None = None
    hidden: bool = False
    # Whether it is ticked beside the editor.
    chosen: bool = False

    @property
    def key(self) -> str:
        """As forms and addresses name it."""
        return f"{self.narrative.pk}-{self.candidate.pk}"


def case_of(key: str) -> Case | None:
    """Read a case as `ShownCase.key` writes it; None for what is none."""
    numbers = key.split("-")
    if len(numbers) != 2 or not all(
        number.isascii() and number.isdecimal() and len(number) < 19 for number in numbers
    ):
        return None
    return int(numbers[0]), int(numbers[1])


def beside_the_editor(reader: Membership, chosen: Sequence[Case]) -> tuple[list[ShownCase], int]:
    """The cases to be ticked, those `chosen` first, and how many wait that are not shown."""
    waiting = cases_waiting(reader.project).order_by("-at", "-pk")
    others = [
        case for case in waiting.values_list("narrative__pk", "candidate__pk") if case not in chosen
    ]
    shown = shown_cases(reader, [*chosen, *others[:MOST]])
    for one in shown:
        one.chosen = (one.narrative.pk, one.candidate.pk) in chosen
    return shown, len(others[MOST:])


def cases_of(reader: Membership, guideline: Guideline) -> list[ShownCase]:
    """The cases that led to a version of the guidelines."""
    linked = guideline.cases.order_by("pk")
    return shown_cases(reader, list(linked.values_list("narrative__pk", "candidate__pk")))


def shown_cases(reader: Membership, cases: Sequence[Case]) -> list[ShownCase]:
    """Read what is shown of these cases: five queries, none of which reads a document's text. What
    is none of the reader's project is left out.
    """
    narratives = (
        Narrative.objects.filter(pair__project=reader.project_id)
        .select_related("pair__query")
        .in_bulk([narrative for narrative, _ in cases])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [candidate for _, candidate in cases]
    )
    where = {"narrative__in": narratives, "candidate__in": candidates}
    said: dict[Case, list[Judgment]] = defaultdict(list)
    for judgment in (
        Judgment.objects.current().of_people().filter(**where).order_by("relevance", "pk")
    ):
        said[judgment.narrative_id, judgment.candidate_id].append(judgment)
    decisions = {
        (decision.narrative_id, decision.candidate_id): decision
        for decision in Adjudication.objects.current().filter(**where)
    }
    # Blind means blind: who judges here themselves answers first.
    judging = blind_pairs(reader)
    shown = []
    for case in dict.fromkeys(cases):
        narrative, candidate = narratives.get(case[0]), candidates.get(case[1])
        if narrative is None or candidate is None or candidate.query_id != narrative.pair.query_id:
            continue
        mine = any(judgment.annotator_id == reader.pk for judgment in said[case])
        if narrative.pair_id in judging and not mine:
            shown.append(ShownCase(narrative, candidate, hidden=True))
        else:
            shown.append(ShownCase(narrative, candidate, said[case], decisions.get(case)))
    return shown
