"""The figures of an agreement report as the tables that a page and a command show.

Agreement among people and agreement with machines are never in one table.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from audit.reports.reliability import HEADLINE
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.scopes import Scope, stored_scope


class Line(NamedTuple):
    """One scope: its label, its counts, and its coefficients, each with its title.

    `headline` is the coefficient to show if there is room for one; `address` is the query string of
    the page of this scope alone ("" if it has none).
    """

    label: str
    units: int
    raters: list[str]
    ratings: int
    excluded: list[dict[str, Any]]
    coefficients: list[dict[str, Any]]
    headline: dict[str, Any]
    address: str = ""


class Table(NamedTuple):
    """Scopes in one table: `of` names a line, `unit` what was counted, `by` the raters."""

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


class Crossed(NamedTuple):
    """How often a person gave one grade and a machine another: `rows` by the person's grades."""

    person: str
    machine: str
    scale: list[int]
    rows: list[tuple[int, list[int]]]


class Against(NamedTuple):
    """People against one machine: a line for each person, and how their grades meet."""

    machine: str
    table: Table
    crossed: list[Crossed]


_ONLY_IF_SPLIT = ("categories", "review-categories", "guidelines", "weeks")
_PAIR = ("one", "other")


def tables(figures: dict[str, Any]) -> list[Table]:
    """Return the tables of agreement among people that are not empty; `figures` are those of
    `audit.reports.reliability.agreement_of`.
    """
    judgments, reviews = figures["judgments"], figures["reviews"]
    scope = stored_scope(figures.get("scope", ""))
    # A report of an older version has no repeats.
    intra_annotator = figures.get("selves", {"all": None, "people": []})
    found = [
        Table(
            "judgments",
            _("Judgments of people"),
            _("people"),
            "documents",
            [_line(_("All people"), judgments["all"])],
        ),
        Table(
            "pairs",
            _("Judgments, by pair of people"),
            _("pair of people"),
            "documents",
            [
                _line(
                    _("%(one)s and %(other)s") % dict(zip(_PAIR, one["raters"], strict=True)),
                    one,
                    replace(scope, people=tuple(one["raters"])),
                )
                for one in judgments["pairs"]
            ],
        ),
        _selves(intra_annotator),
        *_parts_of_judgments(judgments, scope),
        Table(
            "reviews",
            _("Reviews of instructions"),
            _("criterion"),
            "ratings",
            [
                _line(_("All criteria"), reviews["all"]),
                *(
                    _line(one.get("name", key), one, replace(scope, criterion=key))
                    for key, one in reviews["criteria"].items()
                ),
            ],
        ),
        Table(
            "review-categories",
            _("Reviews, by category"),
            _("category"),
            "ratings",
            # A report of an older version has no categories of reviews.
            [_of_category(one, scope) for one in reviews.get("categories", [])],
        ),
        Table(
            "review-domains",
            _("Reviews of instructions, by domain"),
            _("domain and criterion"),
            "ratings",
            # A report of an older version has no domains.
            [_of_domain(one, reviews, scope) for one in reviews.get("domains", [])],
        ),
    ]
    return [table for table in found if _is_worth_showing(table, scope)]


def _selves(intra_annotator: dict[str, Any]) -> Table:
    """Return intra-annotator agreement: each person, and all together if there are several."""
    together = [intra_annotator["all"]] if len(intra_annotator["people"]) > 1 else []
    return Table(
        "selves",
        _("Each person with themselves"),
        _("person"),
        "documents",
        [
            *(_line(_("All people"), one) for one in together),
            *(_line(one["raters"][0], one) for one in intra_annotator["people"]),
        ],
        _("times"),
    )


def _parts_of_judgments(judgments: dict[str, Any], scope: Scope) -> list[Table]:
    """Return the judgments by query, category, version of the guidelines and week."""
    return [
        Table(
            "queries",
            _("Judgments, by query"),
            _("query"),
            "documents",
            [
                _line(one["query"], one, replace(scope, query=one["query"]))
                for one in judgments["queries"]
            ],
        ),
        Table(
            "categories",
            _("Judgments, by category"),
            _("category"),
            "documents",
            [_of_category(one, scope) for one in judgments.get("categories", [])],
        ),
        Table(
            "guidelines",
            _("Judgments, by version of the guidelines"),
            _("version"),
            "documents",
            [
                _line(_version(one), one, replace(scope, guideline=one["guideline"]))
                for one in judgments.get("guidelines", [])
            ],
        ),
        Table(
            "weeks",
            _("Judgments, by week"),
            _("week from"),
            "documents",
            [
                _line(one["week"], one, replace(scope, week=date.fromisoformat(one["week"])))
                for one in judgments.get("weeks", [])
            ],
        ),
    ]


def _is_worth_showing(table: Table, scope: Scope) -> bool:
    """Return whether a table has units, and more than a repetition of the whole."""
    if len(table.lines) < 2 and (
        table.key in _ONLY_IF_SPLIT or (table.key == "queries" and scope.query)
    ):
        return False
    return any(line.units for line in table.lines)


def people_alone(figures: dict[str, Any]) -> list[str]:
    """Return the names of people who answered, if nobody shares a unit with anybody else."""
    everything = (figures["judgments"]["all"], figures["reviews"]["all"])
    if any(scope["units"] for scope in everything):
        return []
    return sorted({name for scope in everything for name in scope["raters"]})


def against_machines(figures: dict[str, Any]) -> list[Against]:
    """Return people against each machine: the machines' judgments, then their reviews."""
    return [*_judging_machines(figures), *_reviewing_machines(figures)]


def _reviewing_machines(figures: dict[str, Any]) -> list[Against]:
    # A report of an older version has no machines that review.
    return [
        Against(
            machine["machine"],
            Table(
                f"reviewing-machine-{place}",
                _("Reviews of people against %(machine)s") % {"machine": machine["machine"]},
                _("person"),
                "ratings",
                [_line(one["raters"][0], one) for one in machine["pairs"]],
                "raters",
            ),
            [],
        )
        for place, machine in enumerate(figures["reviews"].get("machines", []), start=1)
    ]


def _judging_machines(figures: dict[str, Any]) -> list[Against]:
    return [
        Against(
            machine["machine"],
            Table(
                f"machine-{place}",
                _("People against %(machine)s") % {"machine": machine["machine"]},
                _("person"),
                "documents",
                [_line(one["raters"][0], one) for one in machine["pairs"]],
                "raters",
            ),
            [
                Crossed(
                    one["raters"][0],
                    machine["machine"],
                    figures["scale"],
                    list(zip(figures["scale"], one["table"], strict=True)),
                )
                for one in machine["pairs"]
                if "table" in one
            ],
        )
        for place, machine in enumerate(figures["machines"], start=1)
    ]


def _of_category(one: dict[str, Any], scope: Scope) -> Line:
    category = one["category"]
    if not category:
        return _line(_("None named"), one)
    return _line(category, one, replace(scope, category=category))


def _of_domain(one: dict[str, Any], reviews: dict[str, Any], scope: Scope) -> Line:
    criterion = one["criterion"]
    name = reviews["criteria"].get(criterion, {}).get("name", criterion)
    domain = one["domain"]
    part = replace(scope, domain=domain, criterion=criterion) if domain else None
    return _line(f"{domain or _('None named')} · {name}", one, part)


def _version(scope: dict[str, Any]) -> str:
    version = scope["guideline"]
    return str(version) if version else _("before the first")


def _line(label: str, figures: dict[str, Any], scope: Scope | None = None) -> Line:
    coefficients = [
        {**figures["coefficients"][key], "title": title}
        for key, title in COEFFICIENTS.items()
        # A report of an older version lacks coefficients that were added later.
        if key in figures["coefficients"]
    ]
    for key, title in (("prevalence", _("Prevalence index")), ("bias", _("Bias index"))):
        if key in figures:
            of = _("relevant is %(grade)s or more") % {"grade": figures["relevant_from"]}
            coefficients.append({**figures[key], "title": f"{title}, {of}"})
    return Line(
        label,
        figures["units"],
        figures["raters"],
        figures["ratings"],
        figures["excluded"],
        coefficients,
        {**figures["coefficients"][HEADLINE], "title": COEFFICIENTS[HEADLINE]},
        "" if scope is None else str(scope),
    )
