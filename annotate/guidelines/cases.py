"""Cases of the guidelines: documents whose disagreement shows a gap in the guidelines."""

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

# The most cases shown beside the editor; the newest come first.
MAX_SHOWN = 30


@dataclass
class ShownCase:
    """A case as a lead sees it: answers without names."""

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
        """The key of the case in forms and URLs."""
        return f"{self.narrative.pk}-{self.candidate.pk}"

    @property
    def grades(self) -> list[int]:
        """The grades of the answers."""
        return [judgment.relevance for judgment in self.answers]


def parse_case(key: str) -> Case | None:
    """Parse a case's key, as from `ShownCase.key`; None if it is invalid."""
    numbers = key.split("-")
    if len(numbers) != 2 or not all(
        number.isascii() and number.isdecimal() and len(number) < 19 for number in numbers
    ):
        return None
    return int(numbers[0]), int(numbers[1])


def cases_for_editor(reader: Membership, chosen: Sequence[Case]) -> tuple[list[ShownCase], int]:
    """Return the cases to tick, `chosen` ones first, and the number of waiting cases not shown."""
    waiting = cases_waiting(reader.project).order_by("-at", "-pk")
    others = [
        case for case in waiting.values_list("narrative__pk", "candidate__pk") if case not in chosen
    ]
    shown = shown_cases(reader, [*chosen, *others[:MAX_SHOWN]])
    for case in shown:
        case.chosen = (case.narrative.pk, case.candidate.pk) in chosen
    return shown, len(others[MAX_SHOWN:])


def cases_of(reader: Membership, guideline: Guideline) -> list[ShownCase]:
    """Return the cases that led to a version of the guidelines."""
    linked = guideline.cases.order_by("pk")
    return shown_cases(reader, list(linked.values_list("narrative__pk", "candidate__pk")))


def shown_cases(reader: Membership, cases: Sequence[Case]) -> list[ShownCase]:
    """Return these cases as they are shown: five queries, none of which reads a document's text.

    Cases outside the reader's project are left out.
    """
    narratives = (
        Narrative.objects.filter(pair__project=reader.project_id)
        .select_related("pair__query")
        .in_bulk([narrative for narrative, _ in cases])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [candidate for _, candidate in cases]
    )
    same = {"narrative__in": narratives, "candidate__in": candidates}
    answers: dict[Case, list[Judgment]] = defaultdict(list)
    for judgment in (
        Judgment.objects.current().of_people().filter(**same).order_by("relevance", "pk")
    ):
        answers[judgment.narrative_id, judgment.candidate_id].append(judgment)
    decisions = {
        (decision.narrative_id, decision.candidate_id): decision
        for decision in Adjudication.objects.current().filter(**same)
    }
    # A reader who judges the pair must answer before seeing others' answers.
    blind = blind_pairs(reader)
    shown = []
    for case in dict.fromkeys(cases):
        narrative, candidate = narratives.get(case[0]), candidates.get(case[1])
        if narrative is None or candidate is None or candidate.query_id != narrative.pair.query_id:
            continue
        has_judged = any(judgment.annotator_id == reader.pk for judgment in answers[case])
        if narrative.pair_id in blind and not has_judged:
            shown.append(ShownCase(narrative, candidate, hidden=True))
        else:
            shown.append(ShownCase(narrative, candidate, answers[case], decisions.get(case)))
    return shown
