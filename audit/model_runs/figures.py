"""What came of a run: calls, tokens, cost, grades, and how steady they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, Q

from audit.model_runs.models import (
    IS_ANSWERED,
    IS_FAILED,
    IS_IN_DOUBT,
    Call,
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
class OutcomeCount:
    """How many first answers say the same."""

    outcome: Annotated[str, "A grade, or how many criteria got each level."]
    count: int


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
    outcomes: Annotated[list[OutcomeCount], "Empty for instructions that were written."]
    repeated: Annotated[int, "Documents with two answers or more."]
    steady: Annotated[int, "Of them, those that always got the same grade."]
    models: Annotated[list[str], "As the server named them."]


def run_figures(run: ModelRun, *, blind: bool = False) -> RunFigures:
    """Return what came of a run so far; without outcomes for a lead who is still `blind`."""
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
    first = calls.answered().filter(sample=1).values_list("outcome").annotate(count=Count("pk"))
    hides_outcomes = blind or run.task == ModelRun.Task.WRITE
    repeated = (
        calls.answered()
        .values("pair", "narrative", "candidate")
        .annotate(answers=Count("pk"), outcomes=Count("outcome", distinct=True))
        .filter(answers__gt=1)
    )
    return RunFigures(
        **counts,
        tokens=used.tokens,
        cost=None if run.endpoint.prompt_price is None else float(used.cost),
        failures=[FailureCount(kind=kind, count=n) for kind, n in failures.order_by("failure")],
        outcomes=[
            OutcomeCount(outcome=outcome, count=count)
            for outcome, count in ([] if hides_outcomes else first.order_by("-count", "outcome"))
        ],
        repeated=repeated.count(),
        steady=repeated.filter(outcomes=1).count(),
        models=list(models),
    )


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
