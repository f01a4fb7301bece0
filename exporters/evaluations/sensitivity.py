"""The part of an evaluation's results that says how settling disagreements would change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from base.errors import Refused
from exporters.evaluations.evaluation import LOWER
from exporters.evaluations.places import RESAMPLES, STABLE, compute_places, largest_error
from exporters.evaluations.settlements import (
    MOST_STORED,
    Dispute,
    SettledValues,
    choose_disputes,
    effects_of_settling,
    joint_settlements,
    single_settlements,
)
from exporters.evaluations.system_measures import PreparedCollection, RankedSystem


def measure_disputes(
    prepared: PreparedCollection,
    systems: Sequence[RankedSystem],
    disputes: Sequence[Dispute],
    results: Mapping[str, Any],
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure the systems with disputed documents settled, and return the results to store.

    `check` is called regularly, and raises an exception when the work must stop.

    `deciding`: `disputed`, how many documents are disputed; `tried`, how many of them were settled
    to see the change; `measure`, which orders the queue of disagreements; `by_measure`, the
    documents that move each measure most; `all`, every document of the queue's measure.
    `places`: the number of draws and their seed, when an order counts as stable, `by_measure`, and
    `error`, the largest standard error of its probabilities.
    """
    options = prepared.options["settling"]
    resamples, seed = options.get("resamples", RESAMPLES), options.get("seed", 0)
    tried = choose_disputes(disputes, prepared.collection)
    deciding: dict[str, Any] = {
        "disputed": len(disputes),
        "tried": len(tried),
        "measure": "",
        "by_measure": {},
    }
    ranking: dict[str, Any] = {
        "resamples": resamples,
        "seed": seed,
        "stable": STABLE,
        "by_measure": {},
    }
    queue_measure = str(options.get("measure", ""))
    if queue_measure and queue_measure not in results["by_query"]:
        raise Refused(
            f"settling.measure is {queue_measure}, which is not measured; choose one of "
            f"{', '.join(results['by_query'])}"
        )
    now = results["by_query"]
    if tried and now:
        of_topics = joint_settlements(tried, len(systems), seed, resamples)
        every = [
            *single_settlements(tried),
            *(joint.settlement for its in of_topics.values() for joint in its.every),
        ]
        settled = SettledValues(prepared.collection, prepared.options, systems, every, now, check)
        moved = effects_of_settling(tried, settled, now)
        first = [measure["key"] for measure in results["measures"] if measure["key"] in moved]
        deciding["measure"] = queue_measure if queue_measure in moved else next(iter(first), "")
        deciding["by_measure"] = {key: moved[key][:MOST_STORED] for key in first}
        deciding["all"] = moved.get(deciding["measure"], [])
        ranking["error"] = largest_error(of_topics, resamples)
        ranking["by_measure"] = compute_places(
            of_topics,
            settled,
            moved,
            now,
            chosen=deciding["measure"],
            lower=LOWER,
            resamples=resamples,
            seed=seed,
        )
    return {"deciding": deciding, "places": ranking}
