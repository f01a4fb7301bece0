"""The part of a project that an agreement report covers, as addresses, commands and rows name it.

A scope has only one written form: `str(scope)` is the query string of its page, and what a report's
row stores. This module has no statistics and reads no judgments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.db.models import Q

from annotate.collection.models import Query
from annotate.pairs.models import InstructionPair, Narrative, is_taken_out
from annotate.projects.models import Guideline, Membership, Project
from audit.reports.models import AgreementReport
from audit.reviews import rubrics
from audit.reviews.criteria import Rubric
from audit.reviews.models import Review
from base.errors import InvalidField

# The fields of a scope in an address; all are optional.
TEXTS = ("query", "category", "domain", "side", "criterion")
FIELDS = (*TEXTS, "one", "other", "guideline", "week", "blind")
_WEEK = timedelta(days=7)


class Period(NamedTuple):
    """A period from `start` to before `end`; None is open."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A part of a project's judgments and reviews; by default all of them.

    Attributes:
        query: Id of the only query.
        category: The only category of instructions.
        domain: The only domain of queries.
        side: The only side of the narratives, a `Narrative.Side`.
        criterion: Key of the only criterion; then there are reviews in it, and no judgments.
        people: Names of two members: only their answers.
        guideline: Answers given while this version of the guidelines was current, as they were when
            the next one came; 0 is before the first.
        week: Monday (UTC) of the week in which the last of a document's judgments was made.
        blind: Only answers given before the person could see anyone else's.
    """

    query: str = ""
    category: str = ""
    domain: str = ""
    side: str = ""
    criterion: str = ""
    people: tuple[str, str] | None = None
    guideline: int | None = None
    week: date | None = None
    blind: bool = False

    def __str__(self) -> str:
        first, other = self.people or ("", "")
        values = {
            **{name: getattr(self, name) for name in TEXTS},
            "one": first,
            "other": other,
            "guideline": "" if self.guideline is None else str(self.guideline),
            "week": self.week.isoformat() if self.week else "",
            "blind": "1" if self.blind else "",
        }
        return urlencode({name: value for name, value in values.items() if value})

    def __bool__(self) -> bool:
        """Return whether it is a part, not the whole project."""
        return self != Scope()

    @property
    def form_data(self) -> dict[str, str]:
        """The fields that are set, as data for a form."""
        return dict(parse_qsl(str(self)))


WHOLE = Scope()


def stored_scope(written: str) -> Scope:
    """Parse a scope that a row stores: `str` wrote it, and it was checked then."""
    return _read(dict(parse_qsl(written)))


def scope_of(project: Project, asked: Mapping[str, Any]) -> Scope:
    """Parse a requested scope (keys of FIELDS), and check it against the project.

    InvalidField, with advice: an unknown query, category, domain, side, criterion, person, week or
    version of the guidelines; one person alone, or the same twice; a machine.
    """
    values = {name: str(asked.get(name) or "").strip() for name in FIELDS}
    _refuse_unknown(project, values)
    return _read(values)


def _read(values: Mapping[str, str]) -> Scope:
    first, other = values.get("one", ""), values.get("other", "")
    guideline, week = values.get("guideline", ""), values.get("week", "")
    return Scope(
        **{name: values.get(name, "") for name in TEXTS},
        # In the order of their names, so that a pair is one scope in either order.
        people=tuple(sorted((first, other))) if first else None,  # type: ignore[arg-type]
        guideline=int(guideline) if guideline else None,
        week=monday(date.fromisoformat(week)) if week else None,
        blind=bool(values.get("blind")),
    )


def _refuse_unknown(project: Project, values: Mapping[str, str]) -> None:
    query = values["query"]
    if query and not Query.objects.filter(project=project, query_id=query).exists():
        raise InvalidField(
            f"There is no query {query} in this project. The list of queries has their ids.",
            "query",
        )
    for field, (offered, sentence) in _OFFERED.items():
        value = values[field]
        if value and value not in (names := offered(project)):
            raise InvalidField(f"{sentence.format(value)}: {_join_names(names)}.", field)
    _refuse_people(project, values["one"], values["other"])
    _refuse_times(project, values["guideline"], values["week"])


def _refuse_people(project: Project, first: str, other: str) -> None:
    if bool(first) != bool(other):
        missing = "other" if first else "one"
        raise InvalidField(
            "Agreement is between two people. Choose both, or leave both open.", missing
        )
    if first and first == other:
        raise InvalidField("Agreement is between two people. Choose two different ones.", "other")
    members = dict(
        Membership.objects.filter(project=project, name__in=[first, other]).values_list(
            "name", "is_machine"
        )
    )
    for field, name in (("one", first), ("other", other)):
        if name and name not in members:
            raise InvalidField(
                f"Nobody in this project is called {name}. The list of people has their names.",
                field,
            )
        if name and members[name]:
            raise InvalidField(
                f"{name} is a machine. The page of machines compares it with each person.", field
            )


def _refuse_times(project: Project, guideline: str, week: str) -> None:
    if guideline:
        newest = Guideline.objects.latest_of(project)
        last = newest.version if newest else 0
        if not last or guideline not in map(str, range(last + 1)):
            raise InvalidField(
                f"There is no version {guideline} of the guidelines. The newest is {last}."
                if last
                else "This project has no guidelines yet, so there is no version to choose.",
                "guideline",
            )
    if week:
        try:
            week_of(monday(date.fromisoformat(week)))
        except (ValueError, OverflowError):
            raise InvalidField(
                f"{week} is not a date. Write any day of the week, such as 2026-11-16.", "week"
            ) from None


def categories_of(project: Project) -> list[str]:
    """Return the categories of a project's instructions, sorted."""
    pairs = InstructionPair.objects.filter(project=project).exclude(category="")
    return sorted(pairs.values_list("category", flat=True).distinct())


def domains_of(project: Project) -> list[str]:
    """Return the domains of a project's queries, sorted."""
    queries = Query.objects.filter(project=project).exclude(domain="")
    return sorted(queries.values_list("domain", flat=True).distinct())


# The fields with a few values: which a project has, and the sentence about any other.
_OFFERED: dict[str, tuple[Callable[[Project], list[str]], str]] = {
    "category": (
        categories_of,
        "No instruction in this project has category {}. The categories are",
    ),
    "domain": (domains_of, "No query in this project has domain {}. The domains are"),
    "side": (
        lambda project: Narrative.Side.values,
        "{} is not a side of a narrative. The sides are",
    ),
    "criterion": (
        lambda project: list(rubric_of(project).keys),
        "There is no criterion {}. The criteria are",
    ),
}


def parts_of(project: Project) -> list[Scope]:
    """Return the parts of a project that are worth comparing, and those of earlier reports and
    comparisons; the whole first.
    """
    versions = list(periods_of(project))
    parts = [
        WHOLE,
        *(Scope(category=key) for key in categories_of(project)),
        *(Scope(domain=key) for key in domains_of(project)),
        *(Scope(guideline=version) for version in versions if len(versions) > 1),
        *(Scope(side=side) for side in Narrative.Side.values),
        Scope(blind=True),
    ]
    reports = AgreementReport.objects.filter(project=project).order_by()
    written = {part for both in reports.values_list("scope", "against").distinct() for part in both}
    earlier = map(stored_scope, sorted(written))
    others = [scope for scope in earlier if not scope.criterion]
    return list(dict.fromkeys([*parts, *others]))


def rubric_of(project: Project) -> Rubric:
    """Return the rubric of the newest review. Agreement covers the reviews under this one, because
    levels of two rubrics are not one scale.
    """
    submitted = Review.objects.submitted().filter(
        ~is_taken_out("narrative__pair__"), auditor__project=project, auditor__is_machine=False
    )
    name = submitted.order_by("-submitted_at", "-pk").values_list("rubric", flat=True).first()
    return (
        rubrics.current_rubric(project.pk) if name is None else rubrics.get_rubric(project.pk, name)
    )


def periods_of(project: Project) -> dict[int, Period]:
    """Return the period of each version of the guidelines; 0 is before the first."""
    begun = list(
        Guideline.objects.filter(project=project)
        .order_by("version")
        .values_list("version", "created_at")
    )
    starts = [(0, None), *begun]
    ends = [start for _version, start in starts[1:]] + [None]
    return {version: Period(start, end) for (version, start), end in zip(starts, ends, strict=True)}


def monday(day: date) -> date:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def week_of(day: date) -> Period:
    """Return the week that begins on a Monday, in UTC."""
    start = datetime.combine(day, time(), UTC)
    return Period(start, start + _WEEK)


def narrative_q(scope: Scope, narrative: str) -> Q:
    """Return the filter for the narratives of a scope, for rows that reach a narrative by the
    prefix `narrative` ("narrative__", or "" for narratives themselves). People and times are not
    in it.
    """
    columns = {
        "pair__query__query_id": scope.query,
        "pair__category": scope.category,
        "pair__query__domain": scope.domain,
        "side": scope.side,
    }
    return Q(**{f"{narrative}{column}": value for column, value in columns.items() if value})


def describe_scope(scope: Scope, criteria: Mapping[str, str] | None = None) -> str:
    """Describe a scope for a headline: "query 301, blind judgments only". "" for the whole.

    `criteria`: names of criteria by their keys, if known.
    """
    first, other = scope.people or ("", "")
    parts = [
        (scope.query, f"query {scope.query}"),
        (scope.category, f"category {scope.category}"),
        (scope.domain, f"domain {scope.domain}"),
        (scope.side, str(_SIDES.get(scope.side, ""))),
        (
            scope.criterion,
            f"criterion {(criteria or {}).get(scope.criterion, scope.criterion)}",
        ),
        (first, f"{first} and {other}"),
        (
            scope.guideline is not None,
            "answers before there were guidelines"
            if scope.guideline == 0
            else f"answers under version {scope.guideline} of the guidelines",
        ),
        (scope.week, f"in the week of {scope.week}"),
        (scope.blind, "blind judgments only"),
    ]
    return ", ".join(words for applies, words in parts if applies)


_SIDES: dict[str, str] = {
    Narrative.Side.ORIGINAL: "original narratives",
    Narrative.Side.ALTERED: "altered narratives",
    Narrative.Side.REVERSED: "reversed narratives",
}
_MOST_LISTED = 12


def _join_names(names: list[str]) -> str:
    if not names:
        return "none"
    more = len(names) - _MOST_LISTED
    shown = ", ".join(names[:_MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown
