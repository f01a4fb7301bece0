"""The figures of an agreement report as the tables that a page and a command show.

Agreement among people and agreement with machines are never in one table.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from audit.reports.reliability import HEADLINE
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.scopes import Scope, stored_scope

# What reviews are counted in: a criterion of one instruction that somebody rated.
RATED = "rated criteria"
SINGULAR = {"documents": "document", RATED: "rated criterion"}
# The tables of agreement among people in their order: key, title, what names a line, unit.
_TABLES = (
    ("judgments", "Judgments of people", "people", "documents"),
    (
        "settling",
        "Judgments, before and after settling",
        "what is counted",
        "documents",
    ),
    ("pairs", "Judgments, by pair of people", "pair of people", "documents"),
    ("selves", "Each person with themselves", "person", "documents"),
    ("queries", "Judgments, by query", "query", "documents"),
    ("categories", "Judgments, by category", "category", "documents"),
    ("guidelines", "Judgments, by version of the guidelines", "version", "documents"),
    ("weeks", "Judgments, by week", "week from", "documents"),
    ("reviews", "Reviews of instructions", "criterion", RATED),
    ("review-categories", "Reviews, by category", "category", RATED),
    (
        "review-domains",
        "Reviews of instructions, by domain",
        "domain and criterion",
        RATED,
    ),
)
_SETTLING = {
    "after_settling": "After settling",
    "changed": "Found changed",
}
_ONLY_IF_SPLIT = ("settling", "categories", "review-categories", "guidelines", "weeks")
_PAIR = ("one", "other")


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

    @property
    def first(self) -> list[dict[str, Any]]:
        """The three coefficients to show; the others are folded."""
        for_raters = "fleiss" if len(self.raters) > 2 else "cohen"
        shown = ("percent", for_raters, HEADLINE)
        return [coefficient for coefficient in self.coefficients if coefficient["key"] in shown]


class Table(NamedTuple):
    """Scopes in one table: `of` names a line, `unit` what was counted, `by` the raters; `left_out`
    is how many of its lines are on other pages.
    """

    key: str
    title: str
    of: str
    unit: str
    lines: list[Line]
    by: str = "people"
    left_out: int = 0

    def with_lines(self, lines: list[Line]) -> Table:
        """Return the table with only these of its lines."""
        return self._replace(lines=lines, left_out=len(self.lines) - len(lines))

    @property
    def one_unit(self) -> str:
        """The unit in the singular."""
        return SINGULAR[self.unit]


class Against(NamedTuple):
    """People against one machine: a line for each person, and how their grades meet.

    `crossed`: for each person, how often they gave the grade of a row and the machine that of a
    column of `scale`.
    """

    machine: str
    table: Table
    scale: list[int]
    crossed: list[tuple[str, list[tuple[int, list[int]]]]]


def tables(figures: dict[str, Any]) -> list[Table]:
    """Return the tables of agreement among people that are not empty; `figures` are those of
    `audit.reports.reliability.agreement_of`.
    """
    scope = stored_scope(figures["scope"])
    lines = _lines_of_people(figures, scope)
    all_tables = [
        Table(key, str(title), str(of), unit, lines[key], "times" if key == "selves" else "people")
        for key, title, of, unit in _TABLES
    ]
    return [table for table in all_tables if _is_worth_showing(table, scope)]


def _lines_of_people(figures: dict[str, Any], scope: Scope) -> dict[str, list[Line]]:
    """Return the lines of each of _TABLES."""
    judgments, reviews, selves = figures["judgments"], figures["reviews"], figures["selves"]
    together = [selves["all"]] if len(selves["people"]) > 1 else []
    pairs = [
        _line(
            "{one} and {other}".format(**dict(zip(_PAIR, pair["raters"], strict=True))),
            pair,
            replace(scope, people=tuple(pair["raters"])),
        )
        for pair in judgments["pairs"]
    ]
    everybody = _line("All people", judgments["all"])
    if len(everybody.raters) == 2 and len(pairs) == 1:
        # One line for both: the pair has figures besides, the whole may have more intervals.
        [pair] = pairs
        pairs = []
        besides = pair.coefficients[len(everybody.coefficients) :]
        everybody = pair._replace(
            coefficients=[*everybody.coefficients, *besides], headline=everybody.headline
        )
    return {
        "judgments": [everybody],
        "settling": [
            everybody._replace(label="As people judged", address=""),
            *(_line(label, judgments[key]) for key, label in _SETTLING.items() if key in judgments),
        ],
        "pairs": pairs,
        "selves": [
            *(_line("All people", measured) for measured in together),
            *(_line(person["raters"][0], person) for person in selves["people"]),
        ],
        "queries": [
            _line(query["query"], query, replace(scope, query=query["query"]))
            for query in judgments["queries"]
        ],
        "categories": [_of_category(category, scope) for category in judgments["categories"]],
        "guidelines": [
            _line(
                str(guideline["guideline"] or "before the first"),
                guideline,
                replace(scope, guideline=guideline["guideline"]),
            )
            for guideline in judgments["guidelines"]
        ],
        "weeks": [
            _line(week["week"], week, replace(scope, week=date.fromisoformat(week["week"])))
            for week in judgments["weeks"]
        ],
        "reviews": [
            _line("All criteria", reviews["all"]),
            *(
                _line(criterion["name"], criterion, replace(scope, criterion=key))
                for key, criterion in reviews["criteria"].items()
            ),
        ],
        "review-categories": [_of_category(category, scope) for category in reviews["categories"]],
        "review-domains": [_of_domain(domain, reviews, scope) for domain in reviews["domains"]],
    }


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
    kinds = (
        ("machine", "People against %(machine)s", "documents", figures["machines"]),
        (
            *("reviewing-machine", "Reviews of people against %(machine)s", RATED),
            figures["reviews"]["machines"],
        ),
    )
    return [
        Against(
            machine["machine"],
            Table(
                f"{key}-{place}",
                title % {"machine": machine["machine"]},
                "person",
                unit,
                [_line(pair["raters"][0], pair) for pair in machine["pairs"]],
                "raters",
            ),
            figures["scale"],
            # Reviews have levels instead of grades.
            [
                (pair["raters"][0], list(zip(figures["scale"], pair["table"], strict=True)))
                for pair in machine["pairs"]
                if key == "machine" and "table" in pair
            ],
        )
        for key, title, unit, machines in kinds
        for place, machine in enumerate(machines, start=1)
    ]


def _of_category(figures: dict[str, Any], scope: Scope) -> Line:
    category = figures["category"]
    if not category:
        return _line("None named", figures)
    return _line(category, figures, replace(scope, category=category))


def _of_domain(figures: dict[str, Any], reviews: dict[str, Any], scope: Scope) -> Line:
    criterion = figures["criterion"]
    name = reviews["criteria"].get(criterion, {}).get("name", criterion)
    domain = figures["domain"]
    part = replace(scope, domain=domain, criterion=criterion) if domain else None
    return _line(f"{domain or 'None named'} · {name}", figures, part)


def _line(label: str, figures: dict[str, Any], scope: Scope | None = None) -> Line:
    coefficients = [
        {**figures["coefficients"][key], "title": title, "key": key}
        for key, title in COEFFICIENTS.items()
    ]
    for key, title in (("prevalence", "Prevalence index"), ("bias", "Bias index")):
        if key in figures:
            of = f"relevant is {figures['relevant_from']} or more"
            coefficients.append({**figures[key], "title": f"{title}, {of}", "key": key})
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
