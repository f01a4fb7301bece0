"""Options of an evaluation, which set by name how measures are computed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from subprocess import SubprocessError
from typing import TYPE_CHECKING, Any

from exporters.exports.selection.labels import ir_evaluator

if TYPE_CHECKING:
    from measures import Measurement

# Limits of one evaluation: more would keep a worker busy for hours.
MOST_RESAMPLES, MOST_MEASURES, MOST_CUTOFF = 100_000, 20, 10_000
MOST_COUNT = 999_999_999
# The default measures of ir_measures, which the option ir.measures replaces; and one that is always
# measured.
IR = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Bpref", "RBP")
JUDGED = "Judged@10"
# Measures that take options, with their names in tables.
NAMES = {
    "p-mrr": "p-MRR",
    "wise": "WISE",
    "sicr": "SICR",
    "robustness": "Robustness",
    "m-wise": "mWISE",
    "m-sicr": "mSICR",
    "mdcr": "MDCR",
    "irs": "IRS",
    "nfr": "NFR",
}
# Options that belong to no single measure, with their values; None: a number or a name.
GENERAL: dict[str, dict[str, tuple[str, ...] | None]] = {
    "ir": {"measures": None},
    "intervals": {"clusters": ("pair", "query", "core")},
    "differences": {"test": ("randomization", "t")},
    "settling": {"measure": None, "resamples": None, "seed": None},
    "machine": {"name": None, "population": ("these", "like")},
}
# The least and the highest value of options that are whole numbers; of a measure that counts them
# by itself if they are none.
NUMBERS = {
    "k": (1, MOST_CUTOFF),
    "N": (1, MOST_COUNT),
    "tables": (1, MOST_COUNT),
    "seed": (0, MOST_COUNT),
}
# Fewer draws cannot estimate a probability.
FEWEST_DRAWS = 100
# What ir_measures raises for a name, and for a tool that it cannot run.
IR_ERRORS = (
    *(NameError, ValueError, KeyError, TypeError, SyntaxError, AssertionError),
    *(ArithmeticError, SubprocessError, OSError),
)


def name_of(key: str) -> str:
    """Return the name of a measure in tables."""
    return NAMES.get(key, key)


def read_options(options: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Read options such as {"p-mrr.documents": "changed"} into arguments by measure.

    Raises:
        ValueError: An unknown measure, option or value; the message lists the known ones.
    """
    arguments: dict[str, dict[str, Any]] = {name: {} for name in (*NAMES, *GENERAL)}
    for name, text in options.items():
        measure, dot, option = name.partition(".")
        if measure not in arguments or not dot:
            raise ValueError(
                f"{name} is not an option: write MEASURE.OPTION=VALUE, where MEASURE is one of "
                f"{', '.join(arguments)}"
            )
        accepted = option_names(measure)
        if option not in accepted:
            raise ValueError(f"{measure} has no option {option!r}; it has {', '.join(accepted)}")
        if measure == "ir":
            arguments[measure][option] = text.split()
        else:
            # The name of a machine is a text, also if it is a number.
            arguments[measure][option] = text if measure == "machine" else _parse_value(text)
    for measure in NAMES:
        if arguments[measure]:
            try:
                nothing: dict[str, Any] = {name: {} for name in _parameters(measure)[0]}
                _measure_function(measure)(**nothing, **arguments[measure])
            except TypeError as error:
                values = ", ".join(f"{name}={value}" for name, value in arguments[measure].items())
                raise ValueError(f"{measure} does not accept {values}") from error
        if int(arguments[measure].get("resamples") or 0) > MOST_RESAMPLES:
            raise ValueError(f"{measure}.resamples is at most {MOST_RESAMPLES:,}")
        _check_numbers(measure, arguments[measure])
    _check_ir(arguments["ir"].get("measures", []))
    _check_general(arguments)
    return arguments


def _check_general(arguments: Mapping[str, Mapping[str, Any]]) -> None:
    for group, names in GENERAL.items():
        for name, allowed in names.items():
            if allowed and (value := arguments[group].get(name, allowed[0])) not in allowed:
                raise ValueError(
                    f"{group}.{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, "
                    f"not {value}"
                )
    clusters = arguments["intervals"].get("clusters", "pair")
    if clusters != "pair" and arguments["differences"].get("test") == "t":
        raise ValueError(
            "differences.test=t treats pairs as independent; leave out "
            f"intervals.clusters={clusters} or the t test"
        )
    if arguments["machine"] and not arguments["machine"].get("name"):
        raise ValueError("machine.name names the machine whose labels are used")
    if clusters != "pair" and arguments["machine"]:
        raise ValueError(
            "machine.name takes each judged pair as drawn for itself; leave out "
            f"intervals.clusters={clusters} or the machine"
        )
    draws = arguments["settling"].get("resamples", FEWEST_DRAWS)
    if not isinstance(draws, int) or not FEWEST_DRAWS <= draws <= MOST_RESAMPLES:
        raise ValueError(
            f"settling.resamples must be a number from {FEWEST_DRAWS:,} to {MOST_RESAMPLES:,}, "
            f"not {draws}"
        )
    measure = arguments["settling"].get("measure", "")
    measurable = measured_names(arguments["ir"].get("measures", IR))
    if measure != "" and measure not in measurable:
        raise ValueError(f"settling.measure must be one of {', '.join(measurable)}, not {measure}")
    seed = arguments["settling"].get("seed", 0)
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"settling.seed must be a whole number of at least 0, not {seed}")


def measured_names(ir: Iterable[str]) -> list[str]:
    """Return the names of all measures that an evaluation may have; `ir`: those of ir_measures.

    Which of them it has depends on the runs and labels.
    """
    return [
        *NAMES,
        *(f"{name} {when}" for name in ir for when in ("before", "after", "change")),
        *(f"{JUDGED} {when}" for when in ("before", "after")),
    ]


def option_names(measure: str) -> list[str]:
    """Return the options that a measure accepts."""
    if measure in GENERAL:
        return list(GENERAL[measure])
    return _parameters(measure)[1]


def _parameters(measure: str) -> tuple[list[str], list[str]]:
    """Return the parameters of a measure that an evaluation supplies, and its options."""
    parameters = inspect.signature(_measure_function(measure)).parameters.values()
    supplied = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty or parameter.name in ("violated", "conditions")
    ]
    taken = {*supplied, "base", "relevant"}
    return supplied, [parameter.name for parameter in parameters if parameter.name not in taken]


def _measure_function(measure: str) -> Callable[..., Measurement]:
    import measures

    function: Callable[..., Measurement] = getattr(measures, measure.replace("-", "_"))
    return function


def _parse_value(text: str) -> Any:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return int(text)
    return {"none": None, "true": True, "false": False}.get(text.casefold(), text)


def _check_numbers(measure: str, values: Mapping[str, Any]) -> None:
    defaults = inspect.signature(_measure_function(measure)).parameters
    for name in values.keys() & NUMBERS.keys():
        (least, most), value = NUMBERS[name], values[name]
        if value is None and defaults[name].default is None:
            continue
        if type(value) is not int or not least <= value <= most:
            raise ValueError(
                f"{measure}.{name} must be a number from {least} to {most:,}, not {value}"
            )


def _check_ir(names: Iterable[str]) -> None:
    """Refuse measures that ir_measures cannot compute."""
    measures = list(names)
    if not measures:
        return
    import ir_measures

    if len(measures) > MOST_MEASURES:
        raise ValueError(f"ir.measures names at most {MOST_MEASURES} measures")
    for name in measures:
        try:
            measure = ir_measures.parse_measure(name)
            # The code of trec_eval would end the process at a cutoff of 0.
            if not 0 < measure.params.get("cutoff", 1) <= MOST_CUTOFF:
                raise ValueError(f"the cutoff of {name} is out of range")
            if measure.NAME == "RBP" and not 0 < measure.params.get("p", 0.5) < 1:
                raise ValueError(f"p of {name} is out of range")
            ir_evaluator([name], {"q": {"d": 1}}, 1)({"q": {"d": 1.0}})
        except IR_ERRORS as error:
            raise ValueError(
                f"{name!r} is not a measure that ir_measures can compute; write, for example, "
                "nDCG@10, AP(rel=2) or RBP(p=0.8)"
            ) from error
