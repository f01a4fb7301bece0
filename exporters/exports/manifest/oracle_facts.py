"""Facts and warnings of the manifest on the three systems of `exporters.exports.proof.oracles`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

SEED = 17
# A smaller difference counts as 0.
_ZERO = 1e-9
SYSTEMS = ("oracle", "ignorant", "shuffled")
IR = ("nDCG@10", "AP", "RR")

ByTopic = dict[str, dict[str, float | None]]


class Facts(TypedDict):
    """The values of the three systems by one measure. `topics`: how many have a value.

    `short_of_best` names the topics in which the oracle misses the best value,
    `ignorant_not_zero` those in which the ignorant system's value is not 0.
    """

    measure: str
    qrels: str
    topics: int
    oracle: float | None
    ignorant: float | None
    shuffled: float | None
    short_of_best: list[str]
    ignorant_not_zero: list[str]


class Oracles(TypedDict):
    """The block `oracles` of the manifest."""

    rule: str
    seed: int
    measures: list[Facts]


class Expectation(NamedTuple):
    """The values that the oracle and the ignorant system should get by one measure.

    Attributes:
        best: The best value, for all topics or by topic; None if any value above 0 will do.
        zero: Whether a run that ignores the change should get 0.
        short: Warning about topics in which the oracle misses the best value; "" for none.
        ignored: Warning about topics in which the ignorant system does not get 0; "" for none.
    """

    best: Mapping[str, float] | float | None
    zero: bool
    short: str = ""
    ignored: str = ""


class Values:
    """Values by measure, system and topic, collected batch by batch."""

    def __init__(self) -> None:
        self.found: dict[str, ByTopic] = {}
        self.best: dict[str, dict[str, float]] = {}

    def add(self, measure: str, system: str, by_topic: Mapping[str, float | None]) -> None:
        """Add the values of some topics."""
        systems = self.found.setdefault(measure, {name: {} for name in SYSTEMS})
        systems[system].update(by_topic)

    def facts(self, measure: str, qrels: str, check: Expectation) -> Facts:
        """Average over topics, and find the topics that do not tell the systems apart."""
        values = self.found[measure]
        means: dict[str, float | None] = {}
        for system in SYSTEMS:
            defined = [value for value in values[system].values() if value is not None]
            means[system] = round(sum(defined) / len(defined), 6) if defined else None
        oracle, ignorant = values["oracle"], values["ignorant"]
        return Facts(
            measure=measure,
            qrels=qrels,
            topics=sum(value is not None for value in oracle.values()),
            oracle=means["oracle"],
            ignorant=means["ignorant"],
            shuffled=means["shuffled"],
            short_of_best=[
                topic
                for topic, value in oracle.items()
                if value is not None and _is_short(value, topic, check.best)
            ],
            ignorant_not_zero=[
                topic
                for topic, value in ignorant.items()
                if check.zero and value is not None and abs(value) > _ZERO
            ],
        )


def _is_short(value: float, topic: str, best: Mapping[str, float] | float | None) -> bool:
    """Return whether a value misses the best one, or is not above 0 if no best one is known."""
    if best is None:
        return value <= _ZERO
    wanted = best[topic] if isinstance(best, Mapping) else best
    return abs(value - wanted) > _ZERO or (isinstance(best, Mapping) and wanted <= _ZERO)


class Result(NamedTuple):
    """The values of the three systems, and warnings about topics that do not tell them apart."""

    measures: list[Facts]
    warnings: list[str]


def expectations(values: Values) -> dict[str, Expectation]:
    """Return the expected values of each measure, with the warnings if they are missed."""
    follows = "A run that ranks by the changed qrels does not reach the best"
    ignores = "A run that ignores the change gets a value other than 0 for"
    none = "No document is relevant {} the change, so nDCG@10 {} it is 0 for every run, in: "
    return {
        "p-MRR": Expectation(
            best=values.best.get("p-MRR", {}),
            zero=True,
            short=f"{follows} p-MRR, or gets 0, because documents that are no longer relevant have "
            "a higher grade than others, or because no other document could rank above them, in: ",
            ignored=f"{ignores} p-MRR in: ",
        ),
        "nDCG@10 before": Expectation(1.0, zero=False, short=none.format("before", "before")),
        "nDCG@10 after": Expectation(1.0, zero=False, short=none.format("after", "after")),
        **{
            f"{name} {when}": Expectation(1.0, False)
            for name in IR[1:]
            for when in ("before", "after")
        },
        "WISE": Expectation(
            None,
            zero=True,
            short="A run that follows every narrative gets no reward by WISE in: ",
            ignored=f"{ignores} WISE in: ",
        ),
        "SICR": Expectation(
            1.0,
            zero=True,
            short="A run that follows every narrative does not get the best SICR, because a "
            "document ranks first already or does not rise, in: ",
            ignored=f"{ignores} SICR in: ",
        ),
        "IRS": Expectation(
            1.0,
            zero=True,
            short=f"{follows} IRS in: ",
            ignored=f"{ignores} IRS, because the order of the original qrels is ideal already, "
            "in: ",
        ),
        "NFR": Expectation(0.0, zero=False, short=f"{follows} NFR in: "),
    }


def judge_values(values: Values, qrels: str) -> Result:
    """Return the facts and warnings of the manifest for these values."""
    expected = expectations(values)
    result = Result([], [])
    for measure in values.found:
        check = expected[measure]
        facts = values.facts(measure, qrels, check)
        if not facts["topics"]:
            continue
        result.measures.append(facts)
        if check.short and facts["short_of_best"]:
            result.warnings.append(check.short + list_first(facts["short_of_best"]))
        if check.ignored and facts["ignorant_not_zero"]:
            result.warnings.append(check.ignored + list_first(facts["ignorant_not_zero"]))
    return result


def oracles_block(measured: Iterable[Facts]) -> Oracles | None:
    """Return the block `oracles` of the manifest; None if there is nothing to measure."""
    facts = list(measured)
    if not facts:
        return None
    return Oracles(
        rule="Three systems made from the qrels alone rank the judged documents of each topic. The "
        "oracle ranks by the changed qrels, and before the change by the original ones. The "
        "ignorant system always ranks by the original qrels. The shuffled one ranks at random. "
        "short_of_best and ignorant_not_zero name the topics in which a measure does not "
        "tell them apart.",
        seed=SEED,
        measures=facts,
    )


def list_first(names: Sequence[str], most: int = 20) -> str:
    """Return the first names and how many more there are, as the end of a sentence."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more." if len(names) > most else f"{shown}."
