"""The figures of an agreement report as the tables that a page and a command show."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from audit.reliability import COEFFICIENTS, HEADLINE


class Line(NamedTuple):
    """One scope: what it is of, its counts, and its coefficients, each with its title.

    `headline` is the one of them that stands first where there is room for one.
    """

    label: str
    units: int
    raters: list[str]
    ratings: int
    excluded: list[dict[str, Any]]
    coefficients: list[dict[str, Any]]
    headline: dict[str, Any]


class Table(NamedTuple):
    """Scopes that stand together; `of` says what a line is, `unit` what was counted, `by` whose."""

    key: str
    title: str
    of: str
    unit: str
    lines: list[Line]
    by: str = "people"

    @property
    def one_unit(self) -> str:
        """The unit in the singular."""
        return self.unit.removesuffix("s")


def tables(figures: dict[str, Any]) -> list[Table]:
    """Return the tables that have lines, as `audit.reliability.agreement_of` made the figures."""
    judgments, reviews = figures["judgments"], figures["reviews"]
    found = [
        Table(
            "judgments",
            "Judgments of people",
            "people",
            "documents",
            [_line("All people", judgments["all"])],
        ),
        Table(
            "pairs",
            "Judgments, by pair of people",
            "pair of people",
            "documents",
            [_line(" and ".join(scope["raters"]), scope) for scope in judgments["pairs"]],
        ),
        Table(
            "queries",
            "Judgments, by query",
            "query",
            "documents",
            [_line(scope["query"], scope) for scope in judgments["queries"]],
        ),
        Table(
            "categories",
            _("Judgments, by category"),
            _("category"),
            "documents",
            [
                _line(scope["category"] or _("none named"), scope)
                for scope in judgments.get("categories", [])
            ],
        ),
        Table(
            "guidelines",
            _("Judgments, by version of the guidelines"),
            _("version"),
            "documents",
            [_line(_version(scope), scope) for scope in judgments.get("guidelines", [])],
        ),
        Table(
            "weeks",
            _("Judgments, by week"),
            _("week from"),
            "documents",
            [_line(scope["week"], scope) for scope in judgments.get("weeks", [])],
        ),
        *(
            Table(
                f"machine-{place}",
                f"People against {machine['machine']} (a machine)",
                "person",
                "documents",
                [_line(scope["raters"][0], scope) for scope in machine["pairs"]],
                "raters",
            )
            for place, machine in enumerate(figures["machines"], start=1)
        ),
        Table(
            "reviews",
            "Reviews of instructions",
            "criterion",
            "ratings",
            [
                _line("All criteria", reviews["all"]),
                *(
                    _line(scope.get("name", key), scope)
                    for key, scope in reviews["criteria"].items()
                ),
            ],
        ),
    ]
    return [table for table in found if any(line.ratings for line in table.lines)]


def _version(scope: dict[str, Any]) -> str:
    version = scope["guideline"]
    return str(version) if version else _("before the first")


def _line(label: str, scope: dict[str, Any]) -> Line:
    coefficients = {
        key: {**scope["coefficients"][key], "title": title} for key, title in COEFFICIENTS.items()
    }
    return Line(
        label,
        scope["units"],
        scope["raters"],
        scope["ratings"],
        scope["excluded"],
        list(coefficients.values()),
        coefficients[HEADLINE],
    )
