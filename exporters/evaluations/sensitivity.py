"""The part of an evaluation's results that says how settling disagreements would change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exporters.evaluations.evaluation import LOWER
from exporters.evaluations.places import RESAMPLES, STABLE, places
from exporters.evaluations.settlements import (
    MOST_KEPT,
    Dispute,
    Settled,
    chosen,
    effects,
    single,
    together,
)
from exporters.evaluations.system_measures import Prepared, Ranked


def of_disputes(
    prepared: Prepared,
    systems: Sequence[Ranked],
    disputes: Sequence[Dispute],
    results: Mapping[str, Any],
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure the systems with disputed documents settled, and return the results to store.

    `check` is called regularly, and raises an exception when the work must stop.

    `deciding`: `disputed`, how many documents are disputed; `tried`, how many of them were settled
    to see the change; `measure`, which orders the queue of disagreements; `by_measure`, the
    documents that move each measure most; `all`, every document of the queue's measure.
    `places`: the number of draws and their seed, when an order counts as stable, and `by_measure`.
    """
    options = prepared.options["settling"]
    resamples, seed = options.get("resamples", RESAMPLES), options.get("seed", 0)
    tried = chosen(disputes, prepared.collection)
    deciding: dict[str, Any] = {
        "disputed": len(disputes),
        "tried": len(tried),
        "measure": "",
        "by_measure": {},
    }
    found = {"resamples": resamples, "seed": seed, "stable": STABLE, "by_measure": {}}
    asked = str(options.get("measure", ""))
    if asked and asked not in results["by_query"]:
        raise ValueError(
            f"settling.measure is {asked}, which is not measured; choose one of "
            f"{', '.join(results['by_query'])}"
        )
    now = results["by_query"]
    if tried and now:
        of_topics = together(tried, len(systems), seed)
        every = [
            *single(tried),
            *(one.settlement for its in of_topics.values() for one in its.every),
        ]
        settled = Settled(prepared.collection, prepared.options, systems, every, now, check)
        moved = effects(tried, settled, now)
        first = [one["key"] for one in results["measures"] if one["key"] in moved]
        deciding["measure"] = asked if asked in moved else next(iter(first), "")
        deciding["by_measure"] = {key: moved[key][:MOST_KEPT] for key in first}
        deciding["all"] = moved.get(deciding["measure"], [])
        found["by_measure"] = places(
            of_topics,
            settled,
            moved,
            now,
            chosen=deciding["measure"],
            lower=LOWER,
            resamples=resamples,
            seed=seed,
        )
    return {"deciding": deciding, "places": found}
