"""What calls have used, and whether the next one is within the limits of its run and endpoint."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import F, Sum
from django.db.models.functions import Coalesce

from audit.model_runs.models import Call, CallQuerySet, ModelRun


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

    def why_not(self, tokens: int, cost: Decimal | None) -> str:
        """Return why a call that may use so much is not made; "" if it is within the limits."""
        for used, most_tokens, most_cost, whose in self._limits:
            if used.tokens + tokens > most_tokens:
                return f"{whose} may use {most_tokens:,} tokens, and the next call could exceed it."
            if most_cost is not None and used.cost + (cost or 0) > most_cost:
                return f"{whose} may cost {most_cost:f}, and the next call could exceed it."
        return ""

    def reserve(self, call: Call) -> None:
        """Count a call that is sent now."""
        self._add(call.counted_tokens, call.counted_cost)

    def settle(self, call: Call, reserved_tokens: int, reserved_cost: Decimal) -> None:
        """Replace what was reserved for a call by what it used."""
        self._add(call.counted_tokens - reserved_tokens, call.counted_cost - reserved_cost)

    def _add(self, tokens: int, cost: Decimal) -> None:
        for used, *_ in self._limits:
            used.tokens += tokens
            used.cost += cost
