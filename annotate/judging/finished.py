"""The summary of a judge's answers, shown at the end of a query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.urls import reverse

from annotate.judging.judging_session import JudgingSession
from annotate.judgments.models import Flag
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Grade


@dataclass(frozen=True)
class SessionSummary:
    """The summary of a judge's answers to a pair's documents."""

    # The number of documents with each grade.
    grades: list[tuple[Grade, int]]
    # Notes and flags: the key the script uses, the name on screen, and the documents, each as its
    # position in the judge's order and its URL.
    places: list[tuple[str, str, list[tuple[int, str]]]]
    seconds: float


def summarize(
    pair: InstructionPair, session: JudgingSession, grades: Sequence[Grade]
) -> SessionSummary:
    """Summarize a judging session; runs no query."""
    counts = Counter(session.judged.get(number) for number in session.order)
    url = reverse("annotate:judge", args=[pair.pk, 0]).removesuffix("0/")

    def links(numbers: Collection[int]) -> list[tuple[int, str]]:
        return [
            (position, f"{url}{number}/")
            for position, number in enumerate(session.order, start=1)
            if number in numbers
        ]

    flagged: dict[str, set[int]] = defaultdict(set)
    for number, kind in session.flagged.items():
        flagged[kind].add(number)
    return SessionSummary(
        grades=[(grade, counts[grade.value]) for grade in grades],
        places=[
            ("noted", "With a note", links(session.noted)),
            *(
                (f"flag {kind.value}", str(kind.label), links(flagged[kind]))
                for kind in (Flag.Kind.CANNOT_JUDGE, Flag.Kind.PROBLEM)
            ),
        ],
        seconds=session.seconds,
    )
