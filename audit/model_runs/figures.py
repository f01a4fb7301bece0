"""What came of a run: calls, tokens, cost, grades, and how steady they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, Q

from audit.model_runs.models import IS_ANSWERED, IS_FAILED, IS_IN_DOUBT, ModelRun
from audit.model_runs.spending import Use
from audit.model_runs.tasks import task_of

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
    hides_outcomes = blind or task_of(run.task).writes_texts
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
