"""Text for a paper about the figures of a report: sentences, and lines of LaTeX."""

from __future__ import annotations

from typing import Any

from audit.reports.tables import SINGULAR, Against, Line, Table
from base.tags.figures import interval_remark

# Characters with a special meaning in LaTeX.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"$-$",
}


def paper_text(table: Table, of: str) -> dict[str, Any] | None:
    """Return the sentence and LaTeX for a table's first line; None for a split of a table."""
    if table.key not in ("judgments", "reviews"):
        return None
    line = table.lines[0]
    sentence = sentence_for_paper(line, unit=table.unit, of=of)
    if not sentence:
        return None
    lines = [latex_for_paper(figure, unit=table.unit, of=of) for figure in line.coefficients]
    return {"title": table.title, "sentence": sentence, "latex": "\n".join(lines), "key": table.key}


def latex_against(against: Against, of: str) -> str:
    """Return a line of LaTeX for each coefficient of each person with a machine."""
    lines = [
        latex_for_paper(
            figure,
            unit=against.table.unit,
            of=", ".join(filter(None, [f"{line.label} against {against.machine}", of])),
        )
        for line in against.table.lines
        for figure in line.coefficients
    ]
    return "\n".join(lines)


def escape_latex(text: str) -> str:
    """Escape a text for LaTeX; line ends become spaces."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def sentence_for_paper(line: Line, *, unit: str, of: str = "") -> str:
    """Return sentences for a paper about a scope; "" if no coefficient has a value.

    `unit` is what was counted, in the plural; `of` says which part of the project it is.
    """
    defined = [figure for figure in line.coefficients if figure["value"] is not None]
    if not defined:
        return ""
    what = unit if line.units != 1 else SINGULAR[unit]
    about = f" ({of})" if of else ""
    parts = [
        (
            f"{len(line.raters)} people answered, and {line.units:,} {what} had answers from at "
            f"least two of them{about}."
        )
    ]
    parts += [f"Left out: {entry['units']:,} {entry['reason']}." for entry in line.excluded]
    first = line.headline if line.headline["value"] is not None else defined[0]
    parts.append(_sentence_of(first))
    percent = next(
        (coefficient for coefficient in defined if coefficient["name"] == "percent agreement"), None
    )
    if percent is not None and percent["title"] != first["title"]:
        parts.append(_sentence_of(percent))
    if first["interval"]:
        parts.append(f"Intervals: {first['interval_note']}.")
    if first.get("interval_over_queries"):
        low, high = map(_number, first["interval_over_queries"])
        parts.append(
            f"Over queries instead, {_title(first)} has the interval {low} to {high} "
            f"({first['interval_over_queries_note']})."
        )
    return " ".join(parts)


def latex_for_paper(figure: dict[str, Any], *, unit: str, of: str = "") -> str:
    """Return one coefficient as a line of LaTeX, with units, raters and the interval's method.

    An undefined value is given as its reason.
    """
    counted = unit if figure["units"] != 1 else SINGULAR[unit]
    on = f"{figure['units']:,} {escape_latex(counted)}, {figure['raters']} raters"
    if of:
        on += f"; {escape_latex(of)}"
    title = escape_latex(_title(figure))
    if figure["value"] is None:
        return f"{title}: {escape_latex(figure['note'])} ({on})"
    sentence = f"{title} $= {figure['value']:.3f}$"
    if figure["interval"]:
        low, high = figure["interval"]
        how = escape_latex(figure["interval_note"].removeprefix("95% "))
        return rf"{sentence}, 95\% CI $[{low:.3f}, {high:.3f}]$ ({on}; {how})"
    return f"{sentence} ({on}; {escape_latex(figure['interval_note'])})"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _title(figure: dict[str, Any]) -> str:
    """Put the variant in brackets: in a sentence, a comma would read as a list."""
    name, comma, variant = figure["title"].partition(", ")
    return f"{name} ({variant})" if comma else name


def _sentence_of(figure: dict[str, Any]) -> str:
    sentence = f"{_title(figure)} was {_number(figure['value'])}"
    if figure["interval"]:
        low, high = map(_number, figure["interval"])
        sentence += f" (95% interval {low} to {high})"
        if remark := interval_remark(figure["interval_note"]):
            sentence += f", which {remark}"
    return f"{sentence}."
