"""The summary of a judge's answers, shown at the end of a query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.judging.judging_session import JudgingSession
from annotate.judgments.models import Flag
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Grade


@dataclass(frozen=True)
class Finished:
    """The summary of a judge's answers to a pair's documents."""

    # The number of documents with each grade.
    grades: list[tuple[Grade, int]]
    # Notes and flags: the key the script uses, the name on screen, and the documents, each as its
    # position in the judge's order and its URL.
    places: list[tuple[str, str | Promise, list[tuple[int, str]]]]
    seconds: float


def finished(pair: InstructionPair, at: JudgingSession, grades: Sequence[Grade]) -> Finished:
    """Summarize a judging session; runs no query."""
    given = Counter(at.judged.get(number) for number in at.order)
    url = reverse("annotate:judge", args=[pair.pk, 0]).removesuffix("0/")

    def places(wanted: Collection[int]) -> list[tuple[int, str]]:
        return [
            (place, f"{url}{number}/")
            for place, number in enumerate(at.order, start=1)
            if number in wanted
        ]

    flagged: dict[str, set[int]] = defaultdict(set)
    for number, kind in at.flagged.items():
        flagged[kind].add(number)
    return Finished(
        grades=[(grade, given[grade.value]) for grade in grades],
        places=[
            ("noted", _("With a note"), places(at.noted)),
            *(
                (f"flag {kind.value}", kind.label, places(flagged[kind]))
                for kind in (Flag.Kind.CANNOT_JUDGE, Flag.Kind.PROBLEM)
            ),
        ],
        seconds=at.active_ms / 1000,
    )
