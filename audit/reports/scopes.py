"""Which part of a project a report of agreement is of, as the address, a command and a row say it.

A scope has one way to be written: `str(scope)` is the query string of its page, and is what a
report's row keeps. No statistics here, and no judgment is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.collection.models import Query
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Guideline, Membership, Project
from audit.reports.models import AgreementReport
from audit.reviews import rubrics
from audit.reviews.criteria import Rubric
from audit.reviews.models import Review
from base.errors import Refused

# What an address may say of a scope; everything may be left out.
FIELDS = (
    "query",
    "category",
    "domain",
    "side",
    "criterion",
    "one",
    "other",
    "guideline",
    "week",
    "blind",
)
_WEEK = timedelta(days=7)


class Period(NamedTuple):
    """From a moment on, up to but without another; None where it is open."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A part of a project's judgments and reviews; all of them when nothing is said.

    Attributes:
        query: Id of the only query.
        category: The only category of instructions.
        domain: The only domain of queries.
        side: The only side of the narratives, a `Narrative.Side`.
        criterion: Key of the only criterion; then there are reviews in it, and no judgments.
        people: Names of two members: what these two said.
        guideline: What was said while this version of the guidelines was in force, as it stood when
            the next one came; 0 is before the first.
        week: Monday (UTC) of the week in which the last of a document's judgments was made.
        blind: What was said before the person could see any other's answer.
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
        one, other = self.people or ("", "")
        said = {
            "query": self.query,
            "category": self.category,
            "domain": self.domain,
            "side": self.side,
            "criterion": self.criterion,
            "one": one,
            "other": other,
            "guideline": "" if self.guideline is None else str(self.guideline),
            "week": self.week.isoformat() if self.week else "",
            "blind": "1" if self.blind else "",
        }
        return urlencode({name: value for name, value in said.items() if value})

    def __bool__(self) -> bool:
        """Whether it is a part, not the whole."""
        return self != Scope()

    @property
    def asked(self) -> dict[str, str]:
        """The fields that say something, as a form takes them."""
        return dict(parse_qsl(str(self)))


WHOLE = Scope()


def stored_scope(written: str) -> Scope:
    """Read a scope as a row keeps it: what `str` wrote, checked when it was written."""
    return _read(dict(parse_qsl(written)))


def scope_of(project: Project, asked: Mapping[str, Any]) -> Scope:
    """Read what someone asks for (keys of FIELDS), and check it against the project.

    Refused, with what to do: a query, category, side, criterion, person, week or version of the
    guidelines that there is not; one person alone, or the same twice; a machine.
    """
    said = {name: str(asked.get(name) or "").strip() for name in FIELDS}
    _refuse_unknown(project, said)
    return _read(said)


def _read(said: Mapping[str, str]) -> Scope:
    one, other = said.get("one", ""), said.get("other", "")
    guideline, week = said.get("guideline", ""), said.get("week", "")
    return Scope(
        query=said.get("query", ""),
        category=said.get("category", ""),
        domain=said.get("domain", ""),
        side=said.get("side", ""),
        criterion=said.get("criterion", ""),
        # In the order of their names, so that a pair is one scope whoever is named first.
        people=tuple(sorted((one, other))) if one else None,  # type: ignore[arg-type]
        guideline=int(guideline) if guideline else None,
        week=monday(date.fromisoformat(week)) if week else None,
        blind=bool(said.get("blind")),
    )


def _refuse_unknown(project: Project, said: Mapping[str, str]) -> None:
    query, category, side = said["query"], said["category"], said["side"]
    if query and not Query.objects.filter(project=project, query_id=query).exists():
        raise Refused(
            _("There is no query %(query)s in this project. The list of queries has their ids.")
            % {"query": query}
        )
    if category and category not in (known := categories_of(project)):
        raise Refused(
            _("No instruction here is of category %(category)s. There are: %(known)s.")
            % {"category": category, "known": _listed(known)}
        )
    domain = said["domain"]
    if domain and domain not in (known := domains_of(project)):
        raise Refused(
            _("No query here is of domain %(domain)s. There are: %(known)s.")
            % {"domain": domain, "known": _listed(known)}
        )
    if side and side not in Narrative.Side.values:
        raise Refused(
            _("%(side)s is no side of a narrative. There are: %(known)s.")
            % {"side": side, "known": _listed(Narrative.Side.values)}
        )
    criterion = said["criterion"]
    if criterion and criterion not in (known := list(rubric_of(project).keys)):
        raise Refused(
            _("There is no criterion %(criterion)s. There are: %(known)s.")
            % {"criterion": criterion, "known": _listed(known)}
        )
    _refuse_people(project, said["one"], said["other"])
    _refuse_times(project, said["guideline"], said["week"])


def _refuse_people(project: Project, one: str, other: str) -> None:
    if bool(one) != bool(other):
        raise Refused(_("Agreement is between two people. Choose both, or leave both open."))
    if one and one == other:
        raise Refused(_("Agreement is between two people. Choose two different ones."))
    members = dict(
        Membership.objects.filter(project=project, name__in=[one, other]).values_list(
            "name", "is_machine"
        )
    )
    for name in filter(None, (one, other)):
        if name not in members:
            raise Refused(
                _("Nobody in this project is called %(name)s. The list of people has their names.")
                % {"name": name}
            )
        if members[name]:
            raise Refused(
                _("%(name)s is a machine. The page of machines compares it with each person.")
                % {"name": name}
            )


def _refuse_times(project: Project, guideline: str, week: str) -> None:
    if guideline:
        newest = Guideline.objects.latest_of(project)
        last = newest.version if newest else 0
        if not last or guideline not in map(str, range(last + 1)):
            raise Refused(
                _("There is no version %(version)s of the guidelines. The newest is %(last)s.")
                % {"version": guideline, "last": last}
                if last
                else _("This project has no guidelines yet, so there is no version to choose.")
            )
    if week:
        try:
            date.fromisoformat(week)
        except ValueError:
            raise Refused(
                _("%(week)s is no day. Write a day of the week you mean, such as 2026-11-16.")
                % {"week": week}
            ) from None


def categories_of(project: Project) -> list[str]:
    """The categories that instructions of a project have, in their order."""
    found = InstructionPair.objects.filter(project=project).exclude(category="")
    return sorted(found.values_list("category", flat=True).distinct())


def domains_of(project: Project) -> list[str]:
    """The domains that queries of a project have, in their order."""
    found = Query.objects.filter(project=project).exclude(domain="")
    return sorted(found.values_list("domain", flat=True).distinct())


def parts_of(project: Project) -> list[Scope]:
    """The parts of a project that one would set against each other, and those of earlier reports;
    the whole first.
    """
    versions = list(periods_of(project))
    found = [
        WHOLE,
        *(Scope(category=key) for key in categories_of(project)),
        *(Scope(domain=key) for key in domains_of(project)),
        *(Scope(guideline=version) for version in versions if len(versions) > 1),
        *(Scope(side=side) for side in Narrative.Side.values),
        Scope(blind=True),
    ]
    reports = AgreementReport.objects.filter(project=project, compares=False).order_by()
    earlier = [
        stored_scope(written) for written in reports.values_list("scope", flat=True).distinct()
    ]
    others = sorted((one for one in earlier if not one.criterion), key=str)
    return list(dict.fromkeys([*found, *others]))


def rubric_of(project: Project) -> Rubric:
    """The rubric of the newest review: levels of two rubrics are not one scale, so agreement is of
    the reviews under one.
    """
    submitted = Review.objects.submitted().filter(
        auditor__project=project, auditor__is_machine=False
    )
    name = submitted.order_by("-submitted_at", "-pk").values_list("rubric", flat=True).first()
    return (
        rubrics.current_rubric(project.pk) if name is None else rubrics.get_rubric(project.pk, name)
    )


def periods_of(project: Project) -> dict[int, Period]:
    """When each version of the guidelines was in force; 0 is before the first."""
    begun = list(
        Guideline.objects.filter(project=project)
        .order_by("version")
        .values_list("version", "created_at")
    )
    starts = [(0, None), *begun]
    ends = [start for _version, start in starts[1:]] + [None]
    return {version: Period(start, end) for (version, start), end in zip(starts, ends, strict=True)}


def monday(day: date) -> date:
    """The first day of its week."""
    return day - timedelta(days=day.weekday())


def week_of(day: date) -> Period:
    """The week that begins on a Monday, in UTC."""
    start = datetime.combine(day, time(), UTC)
    return Period(start, start + _WEEK)


def about(scope: Scope, narrative: str) -> Q:
    """Which narratives, and whose words, a scope is of, for rows that reach a narrative by the
    prefix `narrative` ("narrative__", or "" for narratives themselves). Not when they were said.
    """
    wanted = Q()
    if scope.query:
        wanted &= Q(**{f"{narrative}pair__query__query_id": scope.query})
    if scope.category:
        wanted &= Q(**{f"{narrative}pair__category": scope.category})
    if scope.domain:
        wanted &= Q(**{f"{narrative}pair__query__domain": scope.domain})
    if scope.side:
        wanted &= Q(**{f"{narrative}side": scope.side})
    return wanted


def words(scope: Scope, criteria: Mapping[str, str] | None = None) -> str:
    """What a scope is of, for a headline: "query 301, blind judgments only". "" for the whole.

    `criteria`: names of criteria by their keys, where they are known.
    """
    one, other = scope.people or ("", "")
    parts = [
        (scope.query, _("query %(query)s") % {"query": scope.query}),
        (scope.category, _("category %(category)s") % {"category": scope.category}),
        (scope.domain, _("domain %(domain)s") % {"domain": scope.domain}),
        (scope.side, str(_SIDES.get(scope.side, ""))),
        (
            scope.criterion,
            _("criterion %(criterion)s")
            % {"criterion": (criteria or {}).get(scope.criterion, scope.criterion)},
        ),
        (one, _("%(one)s and %(other)s") % {"one": one, "other": other}),
        (
            scope.guideline is not None,
            _("said before there were guidelines")
            if scope.guideline == 0
            else _("said under version %(version)s of the guidelines")
            % {"version": scope.guideline},
        ),
        (scope.week, _("in the week of %(day)s") % {"day": scope.week}),
        (scope.blind, _("blind judgments only")),
    ]
    return ", ".join(said for is_said, said in parts if is_said)


_SIDES: dict[str, Promise] = {
    Narrative.Side.ORIGINAL: gettext_lazy("original narratives"),
    Narrative.Side.ALTERED: gettext_lazy("altered narratives"),
    Narrative.Side.REVERSED: gettext_lazy("reversed narratives"),
}
_MOST_LISTED = 12


def _listed(known: list[str]) -> str:
    if not known:
        return _("none")
    more = len(known) - _MOST_LISTED
    shown = ", ".join(known[:_MOST_LISTED])
    return _("%(shown)s and %(more)s more") % {"shown": shown, "more": more} if more > 0 else shown
