"""What calls have used, and whether the next one is within the limits of its run and endpoint."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import F, Sum
from django.db.models.functions import Coalesce

from audit.model_runs.models import Call, CallQuerySet, ModelRun
from llm.cost import Estimate


class Used:
    """Tokens and cost. A call whose tokens nobody counted is counted as it was estimated."""

    def __init__(self, calls: CallQuerySet) -> None:
        counted = F("prompt_tokens") + F("completion_tokens")
        sums = calls.aggregate(
            tokens=Sum(Coalesce(counted, F("reserved_tokens"))),
            cost=Sum(Coalesce("cost", "reserved_cost")),
        )
        self.tokens: int = sums["tokens"] or 0
        self.cost: Decimal = sums["cost"] or Decimal(0)


class Budget:
    """What a run may still use; calls that are under way count as they were estimated."""

    def __init__(self, run: ModelRun) -> None:
        endpoint = run.endpoint
        of_endpoint = Call.objects.filter(run__endpoint=endpoint)
        self._limits = [
            (Used(of_endpoint.filter(run=run)), run.most_tokens, run.most_cost, "This run"),
            (Used(of_endpoint), endpoint.most_tokens, endpoint.most_cost, "All runs of this model"),
        ]

    def why_not(self, call: Estimate) -> str:
        """Return why a call is not made, as a sentence; "" if it is within the limits."""
        for used, most_tokens, most_cost, whose in self._limits:
            if used.tokens + _tokens(call) > most_tokens:
                return f"{whose} may use {most_tokens:,} tokens, and the next call could exceed it."
            if most_cost is not None and used.cost + (call.cost or 0) > most_cost:
                return f"{whose} may cost {most_cost:,.2f}, and the next call could exceed it."
        return ""

    def reserve(self, call: Estimate) -> None:
        """Count a call that is sent now."""
        self._add(_tokens(call), call.cost or Decimal(0))

    def settle(self, call: Call) -> None:
        """Replace what was reserved for a call by what it used."""
        if call.prompt_tokens is not None and call.completion_tokens is not None:
            self._add(
                call.prompt_tokens + call.completion_tokens - call.reserved_tokens, Decimal(0)
            )
        if call.cost is not None:
            self._add(0, call.cost - (call.reserved_cost or 0))

    def _add(self, tokens: int, cost: Decimal) -> None:
        for used, *_ in self._limits:
            used.tokens += tokens
            used.cost += cost


def _tokens(call: Estimate) -> int:
    return call.prompt_tokens + call.completion_tokens
