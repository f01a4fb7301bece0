"""What came of runs: tokens, cost and limits of their calls, grades, and how steady they are."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce

from annotate.projects.models import Project
from audit.model_runs.models import (
    IS_ANSWERED,
    IS_FAILED,
    IS_IN_DOUBT,
    Call,
    CallQuerySet,
    Endpoint,
    ModelRun,
    ProjectBudget,
)
from audit.model_runs.tasks import task_of

# A call under way or in doubt, or whose server counts no tokens.
_IS_UNCOUNTED = Q(prompt_tokens=None) | Q(completion_tokens=None)
_SUMS = {
    "used_tokens": Sum(
        Coalesce(F("prompt_tokens") + F("completion_tokens"), F("reserved_tokens")), default=0
    ),
    "used_cost": Sum(Coalesce("cost", "reserved_cost"), default=Decimal(0)),
    "uncounted_tokens": Sum("reserved_tokens", filter=_IS_UNCOUNTED, default=0),
    "uncounted_cost": Sum("reserved_cost", filter=Q(cost=None), default=Decimal(0)),
    "without_cost": Count("pk", filter=Q(cost=None, reserved_cost=None)),
}


@dataclass(kw_only=True)
class Use:
    """Tokens and cost of calls; those that nobody counted are counted as they were reserved."""

    used_tokens: Annotated[int, "Of all runs."] = 0
    used_cost: Decimal = Decimal(0)
    uncounted_tokens: Annotated[
        int, "Of these, reserved for calls whose tokens nobody counted."
    ] = 0
    uncounted_cost: Decimal = Decimal(0)
    without_cost: Annotated[int, "Calls of models without prices."] = 0

    @classmethod
    def of(cls, calls: CallQuerySet) -> Use:
        """Return what these calls have used."""
        return cls(**calls.aggregate(**_SUMS))


def use_of(project: Project) -> Use:
    """Return what all runs of a project have used."""
    return Use.of(Call.objects.filter(run__project=project))


def use_by_endpoint(project: Project) -> dict[int, Use]:
    """Return what the runs of each endpoint of a project have used, by its key: one query."""
    calls = Call.objects.filter(run__project=project).annotate(endpoint=F("run__endpoint"))
    rows = calls.values("endpoint").annotate(**_SUMS).values_list("endpoint", *_SUMS)
    return {endpoint: Use(**dict(zip(_SUMS, sums, strict=True))) for endpoint, *sums in rows}


def budget_of(project: Project) -> ProjectBudget:
    """Return what all runs of a project may use; unsaved and without limits if nobody set any."""
    budget = ProjectBudget.objects.filter(project=project).first()
    return budget or ProjectBudget(project=project)


class Limits:
    """What a run may still use; calls that are under way count as they were estimated.

    One run of a project is under way at a time, so no other changes these sums.
    """

    def __init__(self, run: ModelRun) -> None:
        self._run = run
        of_project = Call.objects.filter(run__project=run.project_id)
        self._uses = {
            "This run": Use.of(of_project.filter(run=run)),
            "All runs of this model": Use.of(of_project.filter(run__endpoint=run.endpoint)),
            "All runs of this project": Use.of(of_project),
        }

    def why_not(self, tokens: int, cost: Decimal | None) -> str:
        """Return why a call that may use so much is not made; "" if it is within the limits."""
        # A lead may have changed these since the last call.
        self._run.endpoint.refresh_from_db(fields=("most_tokens", "most_cost"))
        limits: list[ModelRun | Endpoint | ProjectBudget] = [
            *(self._run, self._run.endpoint, budget_of(self._run.project))
        ]
        for (whose, use), limit in zip(self._uses.items(), limits, strict=True):
            most_tokens, most_cost = limit.most_tokens, limit.most_cost
            if most_tokens is not None and use.used_tokens + tokens > most_tokens:
                return f"{whose} may use {most_tokens:,} tokens, and the next call could exceed it."
            # A model without prices costs nothing that is counted.
            if cost and most_cost is not None and use.used_cost + cost > most_cost:
                return f"{whose} may cost {most_cost:f}, and the next call could exceed it."
        return ""

    def reserve(self, call: Call) -> None:
        """Count a call that is sent now."""
        self._add(call.counted_tokens, call.counted_cost)

    def settle(self, call: Call, reserved_tokens: int, reserved_cost: Decimal) -> None:
        """Replace what was reserved for a call by what it used."""
        self._add(call.counted_tokens - reserved_tokens, call.counted_cost - reserved_cost)

    def _add(self, tokens: int, cost: Decimal) -> None:
        for use in self._uses.values():
            use.used_tokens += tokens
            use.used_cost += cost


# The calls that a page can list, by what is asked for: name, and which they are.
CALL_FILTERS: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "answered": ("Answered", IS_ANSWERED),
    "remarks": ("With remarks", IS_ANSWERED & ~Q(remarks=[])),
    "failed": ("Failed", IS_FAILED),
    "in_doubt": ("In doubt", IS_IN_DOUBT),
}


@dataclass(frozen=True, kw_only=True)
class RunFigures:
    """What came of a run so far."""

    calls: Annotated[int, "All of them, also those that used an earlier answer."]
    answered: int
    used_again: Annotated[int, "Answered by an earlier call, unpaid."]
    failed: Annotated[int, "Ended without an answer, for a reason."]
    in_doubt: Annotated[int, "Sent, but nothing was recorded: they may have been paid."]
    incomplete: Annotated[int, "Documents without a grade, as one of their passages has none."]
    remarks: Annotated[
        int | None, "With an answer and a remark, as a quote that does not occur. null: blind."
    ]
    tokens: int
    cost: Annotated[float | None, "null: the model has no prices."]
    failures: Annotated[dict[str, int], "Failed calls by the kind of failure."]
    outcomes: Annotated[
        dict[str, int],
        "First answers by what they say: a grade, or how many criteria got each level. "
        "Empty for instructions that were written.",
    ]
    repeated: Annotated[int | None, "Documents with two answers or more. null: blind."]
    steady: Annotated[int | None, "Of them, those that always got the same grade. null: blind."]
    models: Annotated[list[str], "As the server named them."]


def run_figures(run: ModelRun, *, blind: bool = False) -> RunFigures:
    """Return what came of a run so far, without what answers say for a lead who is `blind`."""
    calls = run.calls.all()
    counts = calls.aggregate(
        calls=Count("pk"),
        used_again=Count("cached_from"),
        **{key: Count("pk", filter=chosen) for key, (_, chosen) in CALL_FILTERS.items() if key},
    )
    failures = calls.failed().values_list("failure").annotate(count=Count("pk"))
    models = calls.exclude(model="").order_by("model").values_list("model", flat=True).distinct()
    use = Use.of(calls)
    answers = calls.whole_answers()
    first = answers.filter(sample=1).values_list("outcome").annotate(count=Count("pk"))
    divided = calls.filter(passages__gt=1, sample=1)
    documents = divided.values("narrative", "candidate").distinct().count()
    hides_outcomes = blind or task_of(run.prompt.task).writes_texts
    repeated = (
        answers.values("pair", "narrative", "candidate")
        .annotate(answers=Count("pk"), outcomes=Count("outcome", distinct=True))
        .filter(answers__gt=1)
    )
    hidden = {"remarks": None} if blind else {}
    return RunFigures(
        **counts | hidden,
        incomplete=documents - divided.whole_answers().count(),
        tokens=use.used_tokens,
        cost=None if run.endpoint.prompt_price is None else float(use.used_cost),
        failures=dict(failures.order_by("failure")),
        outcomes={} if hides_outcomes else dict(first.order_by("-count", "outcome")),
        repeated=None if blind else repeated.count(),
        steady=None if blind else repeated.filter(outcomes=1).count(),
        models=list(models),
    )
