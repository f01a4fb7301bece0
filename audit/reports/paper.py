"""Text for a paper about a report: a sentence and a line of LaTeX, each naming its scope."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from audit.reports.tables import Line

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
    about = {
        "people": len(line.raters),
        "units": f"{line.units:,}",
        "unit": unit if line.units != 1 else unit.removesuffix("s"),
        "of": f" ({of})" if of else "",
    }
    parts = [
        _(
            "%(people)s people answered, and %(units)s %(unit)s had answers from at least two of "
            "them%(of)s."
        )
        % about
    ]
    parts += [
        _("Left out: %(units)s %(reason)s.")
        % {"units": f"{entry['units']:,}", "reason": entry["reason"]}
        for entry in line.excluded
    ]
    first = line.headline if line.headline["value"] is not None else defined[0]
    parts.append(_sentence_of(first))
    percent = next((one for one in defined if one["name"] == "percent agreement"), None)
    if percent is not None and percent["title"] != first["title"]:
        parts.append(_sentence_of(percent))
    if first["interval"]:
        parts.append(_("Intervals: %(how)s.") % {"how": first["interval_note"]})
    if first.get("interval_over_queries"):
        low, high = map(_number, first["interval_over_queries"])
        parts.append(
            _("Over queries instead, %(name)s has the interval %(low)s to %(high)s (%(how)s).")
            % {
                "name": _title(first),
                "low": low,
                "high": high,
                "how": first["interval_over_queries_note"],
            }
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
        # Reports that are older than the style "95%" have "95 %".
        note = figure["interval_note"].removeprefix("95% ").removeprefix("95 % ")
        how = escape_latex(note)
        return rf"{sentence}, 95\% CI $[{low:.3f}, {high:.3f}]$ ({on}; {how})"
    return f"{sentence} ({on}; {escape_latex(figure['interval_note'])})"


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _title(figure: dict[str, Any]) -> str:
    """Put the variant in brackets: in a sentence, a comma would read as a list."""
    name, comma, variant = figure["title"].partition(", ")
    return f"{name} ({variant})" if comma else name


def _sentence_of(figure: dict[str, Any]) -> str:
    sentence = _("%(name)s was %(value)s") % {
        "name": _title(figure),
        "value": _number(figure["value"]),
    }
    if figure["interval"]:
        low, high = map(_number, figure["interval"])
        sentence += _(" (95%% interval %(low)s to %(high)s)") % {"low": low, "high": high}
    return f"{sentence}."
