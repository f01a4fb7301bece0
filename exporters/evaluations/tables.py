"""Results of an evaluation as tables, for the page and for CSV, Markdown and LaTeX files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotate.judgments.pair_rules import dropped_share
from base.csv_output import cell
from base.errors import Refused
from base.extras import missing_extra
from base.tags.figures import interval_remark

if TYPE_CHECKING:
    import pandas as pd

Results = Mapping[str, Any]


def systems(results: Results) -> pd.DataFrame:
    """Return a row per system and measure: value, interval, difference from the baseline."""
    rows = []
    for system in results["systems"]:
        for measure in results["measures"]:
            value = system["values"].get(measure["key"])
            if value is None:
                continue
            other = results["differences"].get(measure["key"], {}).get(system["name"], {})
            rows.append(
                {
                    "system": system["name"],
                    "measure": measure["name"],
                    **{
                        name: value[name]
                        for name in ("value", "low", "high", "n", "reason", "note")
                    },
                    "baseline": results["baseline"] if other else "",
                    **{name: other.get(name) for name in ("difference", "p", "p_holm")},
                    "difference_low": other.get("low"),
                    "difference_high": other.get("high"),
                }
            )
    order = [
        *("system", "measure", "value", "low", "high", "n", "reason", "note", "baseline"),
        *("difference", "difference_low", "difference_high", "p", "p_holm"),
    ]
    return _frame(rows, order)


def summary(results: Results) -> pd.DataFrame:
    """Return a row per measure and a column per system: value and interval as text."""
    rows = [
        {
            "Measure": measure["name"],
            **{
                system["name"]: interval_text(system["values"].get(measure["key"]))
                for system in results["systems"]
            },
        }
        for measure in results["measures"]
    ]
    return _frame(rows, ["Measure", *(system["name"] for system in results["systems"])])


def queries(results: Results) -> pd.DataFrame:
    """Return a row per topic and system, with every measure."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for key, by_system in results["by_query"].items():
        for name, by_topic in by_system.items():
            for topic, value in by_topic.items():
                rows.setdefault((topic, name), {"topic": topic, "system": name})[key] = value
    keys = [measure["key"] for measure in results["measures"]]
    return _frame([rows[place] for place in sorted(rows)], ["topic", "system", *keys])


def documents(results: Results) -> pd.DataFrame:
    """Return a row per changed document and system: its ranks and its p-MRR."""
    from measures.followir import pair_score

    rows = [
        {
            "topic": topic,
            "document": document,
            "system": system["name"],
            "original_rank": old,
            "changed_rank": new,
            "p_mrr": pair_score(old, new),
        }
        for system in results["systems"]
        for topic, document, old, new in system["moves"]
    ]
    return _frame(rows, ["topic", "document", "system", "original_rank", "changed_rank", "p_mrr"])


def collection(results: Results) -> pd.DataFrame:
    """Return a row per topic: how many documents are judged, relevant and dropped."""
    names = [
        *("topic", "query", "judged_before", "judged_after", "relevant_before"),
        *("relevant_after", "kept", "dropped", "share_dropped"),
    ]
    return _frame(results["collection"]["topics"], names)


def totals(results: Results) -> pd.DataFrame:
    """Return the figures of the collection and its runs, a name and a value per row."""
    rows = [{"figure": name, "value": value} for name, value in figures(results)]
    # Counts stay integers beside shares.
    return _frame(rows, ["figure", "value"], dtype=object)


def figures(results: Results) -> list[tuple[str, float | None]]:
    """Return the figures of the collection and its runs, by name."""
    about = results["collection"]
    topics = about["topics"]
    relevant = sum(row["relevant_before"] for row in topics)
    kept, dropped = (sum(row[name] for row in topics) for name in ("kept", "dropped"))
    n = len(topics) or 1
    rows: list[tuple[str, float | None]] = [
        ("topics", len(topics)),
        ("documents", about["documents"]),
        ("candidates of a query, median", about["pools"]["median"]),
        ("candidates of a query, most", about["pools"]["most"]),
        ("relevant before, mean of topics", relevant / n),
        ("relevant after, mean of topics", sum(row["relevant_after"] for row in topics) / n),
        ("share that dropped, all pairs together", dropped_share(kept, dropped)),
        *(
            (f"grade {grade} {when}, documents", about["grades"][when][grade])
            for when in ("before", "after")
            # As numbers: as text, grade 10 would come before grade 2.
            for grade in sorted(about["grades"][when], key=int)
        ),
        *(
            (f"words of a narrative {when}, median", about["lengths"]["narratives"][when]["median"])
            for when in ("before", "after")
        ),
        ("characters of a document, mean", about["lengths"]["texts"]["mean"]),
        ("characters of a document, most", about["lengths"]["texts"]["most"]),
    ]
    for run in about["runs"]:
        name = f"{run['system']}, {run['side']} run"
        rows += [
            (f"{name}: topics", run["topics"]),
            (f"{name}: median depth", run["depth"]["median"]),
        ]
    for system in results["systems"]:
        for when in ("before", "after"):
            judged = system["values"].get(f"Judged@10 {when}")
            if judged is not None:
                rows.append((f"{system['name']}: Judged@10 {when}", judged["value"]))
    return rows


def deciding(results: Results) -> pd.DataFrame:
    """Return a row per disputed document and measure: the most that settling it would change."""
    rows = [
        {
            "measure": measure["name"],
            "topic": row["topic"],
            "document": row["document"],
            "side": row["side"],
            "grades": " ".join(map(str, row["grades"])),
            "figure": row["figure"],
            "system": row["system"],
            "changes": " ".join(
                f"{grade}:{change:+.6f}" for grade, change in row["changes"].items()
            ),
        }
        for measure in results["measures"]
        for row in results["deciding"]["by_measure"].get(measure["key"], ())
    ]
    order = ["measure", "topic", "document", "side", "grades", "figure", "system", "changes"]
    return _frame(rows, order)


def places(results: Results) -> pd.DataFrame:
    """Return a row per measure and two systems: the probability that the first stays before."""
    rows = [
        {
            "measure": measure["name"],
            "first": first,
            "second": second,
            "probability": probability,
            "judgments_until_stable": stability["judgments"],
            "disputed": stability["documents"],
        }
        for measure in results["measures"]
        if (stability := results["places"]["by_measure"].get(measure["key"]))
        for first, others in stability["before"].items()
        for second, probability in others.items()
    ]
    order = ["measure", "first", "second", "probability", "judgments_until_stable", "disputed"]
    # A count stays an integer, even if other rows have none.
    return _frame(rows, order).astype({"judgments_until_stable": "Int64"})


def estimates(results: Results) -> pd.DataFrame:
    """Return a row per measure and system: the score over all pairs by machine, people and both."""
    about = results["estimates"] or {"measures": {}}
    rows = [
        {
            "measure": measure["name"],
            "system": name,
            "pairs": about["pairs"],
            "judged": about["judged"],
            "machine": estimate["machine"],
            **{
                f"{whose}{end}": estimate[whose][key]
                for whose in ("people", "combined")
                for end, key in (("", "value"), ("_low", "low"), ("_high", "high"))
            },
            "width_ratio": estimate["width_ratio"],
            "note": estimate["combined"]["note"],
        }
        for measure in results["measures"]
        for name, estimate in about["measures"].get(measure["key"], {}).items()
    ]
    order = [
        *("measure", "system", "pairs", "judged", "machine", "people", "people_low", "people_high"),
        *("combined", "combined_low", "combined_high", "width_ratio", "note"),
    ]
    return _frame(rows, order)


TABLES: dict[str, Callable[[Results], pd.DataFrame]] = {
    "systems": systems,
    "summary": summary,
    "queries": queries,
    "documents": documents,
    "collection": collection,
    "totals": totals,
    "deciding": deciding,
    "places": places,
    "estimates": estimates,
}
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}


def render_table(frame: pd.DataFrame, kind: str) -> str:
    """Return a table as text of one of KINDS. CSV formulas and LaTeX commands are escaped."""
    if kind == "csv":
        escaped = _map_cells(frame, lambda value: cell(value) if isinstance(value, str) else value)
        return escaped.to_csv(index=False, lineterminator="\n")
    if kind == "md":
        cells = _map_cells(frame, _escape_markdown).where(frame.notna().to_numpy(), None)
        # An id of digits is text: as a number it would lose leading zeros.
        words = [
            place
            for place, name in enumerate(frame)
            if any(isinstance(value, str) for value in frame[name])
        ]
        text = cells.to_markdown(
            index=False,
            # A column of counts and shares has no zeros behind its counts.
            floatfmt=[".12g" if frame[name].dtype == object else ".4f" for name in frame],
            missingval="",
            disable_numparse=words,
        )
        return f"{text}\n"
    style = frame.style.hide(axis="index").format(escape="latex", precision=4, na_rep="--")
    numbers = frame.infer_objects().select_dtypes("number")
    sides = "".join("r" if name in numbers else "l" for name in frame)
    head = style.format_index(escape="latex", axis=1)
    return str(head.to_latex(hrules=True, column_format=sides))


def _map_cells(frame: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """Return a table with every cell and the head changed; integers beside floats stay integers."""
    rows = [map(change, row) for row in frame.itertuples(index=False, name=None)]
    return _frame(rows, list(map(change, frame)), dtype=object)


def _escape_markdown(value: Any) -> Any:
    """Return text without characters that would end a cell, and a number with four decimals."""
    if isinstance(value, str):
        return value.replace("|", "\\|").replace("\n", " ")
    return round(value, 4) if isinstance(value, float) else value


def interval_text(value: Mapping[str, Any] | None) -> str:
    """Return a value with its interval, as text."""
    if value is None:
        return ""
    if value["value"] is None:
        return str(value["reason"])
    shown = f"{value['value']:.3f}"
    if value["low"] is not None:
        shown += f" [{value['low']:.3f}, {value['high']:.3f}]"
        if remark := interval_remark(value["note"]):
            shown += f", {remark}"
    return shown


def _frame(rows: Sequence[Any], columns: list[str], dtype: type | None = None) -> pd.DataFrame:
    if sentence := missing_extra("evaluation", "A table of an evaluation"):
        raise Refused(sentence)
    import pandas as pd

    return pd.DataFrame(rows, columns=columns, dtype=dtype)
