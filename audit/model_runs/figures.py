"""What came of a run: calls, tokens, cost, grades, and how steady they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, F, Q

from audit.model_runs.models import (
    IS_ANSWERED,
    IS_FAILED,
    IS_IN_DOUBT,
    Call,
    CallQuerySet,
    Endpoint,
    ModelRun,
)
from audit.model_runs.spending import Used

# The calls that a page can list, by what is asked for: name, and which they are.
CALL_FILTERS: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "answered": ("Answered", IS_ANSWERED),
    "remarks": ("With remarks", IS_ANSWERED & ~Q(remarks=[])),
    "failed": ("Failed", IS_FAILED),
    "in_doubt": ("In doubt", IS_IN_DOUBT),
}


@dataclass(frozen=True, kw_only=True)
class FailureCount:
    """How many calls failed for one reason."""

    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class GradeCount:
    """How many documents got one grade."""

    grade: int
    documents: int


@dataclass(frozen=True, kw_only=True)
class RunFigures:
    """What came of a run so far."""

    calls: Annotated[int, "All of them, also those that used an earlier answer."]
    answered: int
    used_again: Annotated[int, "Answered by an earlier call, unpaid."]
    failed: Annotated[int, "Ended without an answer, for a reason."]
    in_doubt: Annotated[int, "Sent, but nothing was recorded: they may have been paid."]
    remarks: Annotated[int, "With an answer and a remark, as a quote that does not occur."]
    tokens: int
    cost: Annotated[float | None, "null: the model has no prices."]
    failures: list[FailureCount]
    grades: list[GradeCount]
    repeated: Annotated[int, "Documents with two answers or more."]
    steady: Annotated[int, "Of them, those that always got the same grade."]
    models: Annotated[list[str], "As the server named them."]


def run_figures(run: ModelRun, *, blind: bool = False) -> RunFigures:
    """Return what came of a run so far; without grades for a lead who is still `blind`."""
    calls = run.calls.all()
    counts = calls.aggregate(
        calls=Count("pk"),
        answered=Count("pk", filter=CALL_FILTERS["answered"][1]),
        used_again=Count("pk", filter=Q(cached_from__isnull=False)),
        failed=Count("pk", filter=CALL_FILTERS["failed"][1]),
        in_doubt=Count("pk", filter=CALL_FILTERS["in_doubt"][1]),
        remarks=Count("pk", filter=CALL_FILTERS["remarks"][1]),
    )
    failures = calls.failed().values_list("failure").annotate(count=Count("pk"))
    models = calls.exclude(model="").order_by("model").values_list("model", flat=True).distinct()
    used = Used(calls)
    first, repeated, steady = _grades(calls)
    return RunFigures(
        **counts,
        tokens=used.tokens,
        cost=None if run.endpoint.prompt_price is None else float(used.cost),
        failures=[FailureCount(kind=kind, count=n) for kind, n in failures.order_by("failure")],
        grades=[
            GradeCount(grade=grade, documents=first[grade]) for grade in sorted(first) if not blind
        ],
        repeated=repeated,
        steady=steady,
        models=list(models),
    )


def _grades(calls: CallQuerySet) -> tuple[Counter[int], int, int]:
    """Count the first grades; documents with several answers; and those that are all the same."""
    first: Counter[int] = Counter()
    answers: dict[tuple[int, int], set[int]] = {}
    many: set[tuple[int, int]] = set()
    rows = calls.answered().values_list("narrative", "candidate", "sample", F("value__grade"))
    for narrative, candidate, sample, grade in rows.iterator(5_000):
        key = (narrative, candidate)
        if sample == 1:
            first[grade] += 1
        if key in answers:
            many.add(key)
        answers.setdefault(key, set()).add(grade)
    return first, len(many), sum(len(answers[key]) == 1 for key in many)


@dataclass(frozen=True, kw_only=True)
class EndpointUse:
    """What all runs of an endpoint have used."""

    endpoint: Endpoint
    tokens: int
    cost: float


def endpoint_use(endpoint: Endpoint) -> EndpointUse:
    """Return what all runs of an endpoint have used."""
    used = Used(Call.objects.filter(run__endpoint=endpoint))
    return EndpointUse(endpoint=endpoint, tokens=used.tokens, cost=float(used.cost))
