"""Text for a paper about agreement: a sentence, and lines of LaTeX."""

from __future__ import annotations

import pytest

from audit.reports.paper import escape_latex, latex_for_paper, sentence_for_paper
from audit.reports.tables import RATED, Line

HOW = "95% expanded percentile bootstrap over units, 2,000 resamples, seed 7"


def figure(title="Krippendorff's alpha, ordinal", value=0.493, **more):
    return {
        "title": title,
        "name": title,
        "value": value,
        "note": "",
        "interval": [0.4771, 0.508],
        "interval_note": HOW,
        "units": 10_284,
        "raters": 2,
        **more,
    }


def line(*coefficients, **more):
    return Line(
        **{
            "label": "All people",
            "units": 10_284,
            "raters": ["ada", "ben"],
            "ratings": 20_568,
            "excluded": [{"reason": "judged by one rater only", "units": 12}],
            "coefficients": list(coefficients),
            "headline": coefficients[0],
            **more,
        }
    )


def test_latex_line_names_its_units_and_interval_method():
    assert latex_for_paper(figure(), unit="documents") == (
        r"Krippendorff's alpha (ordinal) $= 0.493$, 95\% CI $[0.477, 0.508]$ "
        r"(10,284 documents, 2 raters; expanded percentile bootstrap over units, "
        r"2,000 resamples, seed 7)"
    )


def test_latex_line_of_one_unit_is_in_the_singular():
    assert "(1 document, 2 raters;" in latex_for_paper(figure(units=1), unit="documents")


def test_latex_line_escapes_the_part():
    printed = latex_for_paper(
        figure(value=-0.1), unit="documents", of="query 50%_a & {b} $c^2~d\\#"
    )

    assert "$= -0.100$" in printed
    assert (
        r"; query 50\%\_a \& \{b\} \$c\textasciicircum{}2\textasciitilde{}d\textbackslash{}\#;"
        in printed
    )


def test_latex_line_of_an_undefined_value_gives_the_reason():
    undefined = figure(value=None, interval=None, note="undefined: only one category was used")

    assert latex_for_paper(undefined, unit="documents") == (
        "Krippendorff's alpha (ordinal): undefined: only one category was used "
        "(10,284 documents, 2 raters)"
    )


def test_latex_line_without_interval_says_why():
    printed = latex_for_paper(
        figure(interval=None, interval_note="no interval: 5% of resamples had no value"),
        unit="documents",
    )

    assert printed.endswith(r"2 raters; no interval: 5\% of resamples had no value)")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("two\nlines\t here", "two lines here"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ('"−1"', r"\textquotedbl{}$-$1\textquotedbl{}"),
        ("ø 日本", "ø 日本"),
    ],
)
def test_special_characters_of_latex_are_escaped(text, printed):
    assert escape_latex(text) == printed


def test_sentence_names_people_units_and_coefficients():
    percent = figure("Percent agreement", 0.44, name="percent agreement", interval=None)

    assert sentence_for_paper(line(figure(), percent), unit="documents") == (
        "2 people answered, and 10,284 documents had answers from at least two of them. "
        "Left out: 12 judged by one rater only. "
        "Krippendorff's alpha (ordinal) was 0.493 (95% interval 0.477 to 0.508). "
        f"Percent agreement was 0.440. Intervals: {HOW}."
    )


def test_reviews_are_counted_in_criteria_that_were_rated():
    assert "84 rated criteria had answers from at least two of them" in sentence_for_paper(
        line(figure(), units=84), unit=RATED
    )
    assert "1 rated criterion had answers from" in sentence_for_paper(
        line(figure(), units=1), unit=RATED
    )


def test_the_sentence_names_the_part():
    assert "from at least two of them (query 301)." in sentence_for_paper(
        line(figure()), unit="documents", of="query 301"
    )


def test_sentence_uses_the_next_coefficient_if_the_first_is_undefined():
    undefined = figure(value=None, interval=None, note="undefined: only one category was used")
    percent = figure("Percent agreement", 1.0, name="percent agreement", interval=None)

    printed = sentence_for_paper(line(undefined, percent), unit="documents")

    assert "Percent agreement was 1.000." in printed
    assert "undefined" not in printed


def test_no_defined_value_gives_no_sentence():
    undefined = figure(value=None, interval=None, note="undefined: only one rater judged")

    assert sentence_for_paper(line(undefined), unit="documents") == ""


CERTAIN = f"{HOW}; the resamples do not differ, so the interval cannot show the uncertainty"


def test_the_sentence_says_that_an_interval_cannot_show_the_uncertainty():
    perfect = figure("Percent agreement", value=1.0, interval=[1.0, 1.0], interval_note=CERTAIN)

    written = sentence_for_paper(
        line(figure(), perfect | {"name": "percent agreement"}), unit="documents"
    )

    assert "(95% interval 1.000 to 1.000), which cannot show the uncertainty." in written
