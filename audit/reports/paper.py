"""Text for a paper about a report: a sentence and a line of LaTeX, each naming its scope."""

from __future__ import annotations

from typing import Any

from audit.reports.tables import Line
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


def escape_latex(text: str) -> str:
    """Escape a text for LaTeX; line ends become spaces."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def sentence(line: Line, *, unit: str, of: str = "") -> str:
    """Return sentences for a paper about a scope; "" if no coefficient has a value.

    `unit` is what was counted, in the plural; `of` says which part of the project it is.
    """
    defined = [figure for figure in line.coefficients if figure["value"] is not None]
    if not defined:
        return ""
    what = unit if line.units != 1 else unit.removesuffix("s")
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


def latex(figure: dict[str, Any], *, unit: str, of: str = "") -> str:
    """Return one coefficient as a line of LaTeX, with units, raters and the interval's method.

    An undefined value is given as its reason.
    """
    on = f"{figure['units']:,} {escape_latex(unit)}, {figure['raters']} raters"
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
