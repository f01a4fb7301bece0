"""List mode of judging: the pool as rows, one key per row; a text loads when its row is opened."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotate.collection.models import Candidate
from annotate.judging.actions import narrative_for
from annotate.judging.answer_rules import grades_that_need_evidence
from annotate.judging.document_view import Again, judging_session_of, rejudge_requests
from annotate.judging.judging_session import JudgingSession, read_judging_session, without_repeats
from annotate.judging.views.judge import asked
from annotate.judgments.document_names import Name, names_to, neutral_name
from annotate.judgments.models import Flag, Judgment
from annotate.judgments.repeats import unmasked
from annotate.pairs import access
from annotate.pairs.models import Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Grade, Membership, Project
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest
from base.pagination import parse_key

# Rows per page.
WINDOW = 100

ASIDE = {Flag.Kind.CANNOT_JUDGE.value, Flag.Kind.PROBLEM.value}


@dataclass(frozen=True)
class Row:
    """One document of the pool, and the judge's answer to it."""

    # Its position in the judge's order, from 1.
    place: int
    # The document's number on the judge's pages.
    number: int
    name: Name
    judgment: Judgment | None
    flag: Flag | None
    again: list[Again]
    # The grades that need a marked passage: these can be given only on the document's own page.
    wanted: list[int]
    # Whether the judgment holds more than a grade: it can be changed only on that page too.
    more: bool
    # The newest text version of the document, which the row opens; 0 if it has no text.
    text_version: int


@dataclass(frozen=True)
class Filter:
    """A filter of the list: its query parameter, its name, and how many rows match."""

    show: str
    name: str
    count: int
    grade: int | None = None


@dataclass(frozen=True)
class Window:
    """One page of the list, with the query strings of the previous and next pages ("" for none)."""

    show: str
    # The words that the names of the rows contain; "" for all rows.
    find: str
    # Positions in the whole order, from 1, each with the number of the document there.
    places: list[tuple[int, int]]
    # The first and the last of the matching rows on this page, from 1, and how many rows match.
    first: int
    last: int
    of: int
    previous: str
    next: str


@require_GET
def listing(request: PageRequest, pk: int) -> HttpResponse:
    """Show one page of the judge's pool, in the order in which they judge it."""
    member, pair = access.pair(request.user, pk)
    try:
        narrative = narrative_for(member, pair)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("annotate:home")
    grades = list(pair.project.grades.order_by("value"))
    at = without_repeats(read_judging_session(narrative=narrative, by=member), member)
    find = request.GET.get("find", "").replace("\0", "").strip()[:200]
    found = _named(member, narrative, at, find) if find else None
    shown = window(at, request.GET, found=found, find=find)
    rows = _rows(pair.project, narrative, member, shown, grades)
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("judge", keys))
    context = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "narrative": narrative,
        **asked(pair, narrative),
        "done": at.settled,
        "total": at.total,
        "keys": keys,
        "grades": grades,
        "grade_keys": grade_keys,
        "filters": filters(at, grades),
        "shown": shown,
        "rows": rows,
        "kinds": Flag.Kind,
        "needs_conditions": pair.project.condition_rule != Project.ConditionRule.BY_HAND
        and narrative.conditions.exists(),
        # The script keeps its data on the whole pool while it moves from page to page.
        "judging_session": None
        if "x-part" in request.headers
        else judging_session_of(
            member=member,
            pair=pair,
            narrative=narrative,
            number=None,
            at=at,
            grades=grades,
            keys=grade_keys,
        ),
    }
    return render(request, "judging/listing.html", context)


def filters(at: JudgingSession, grades: list[Grade]) -> list[Filter]:
    """Return the filters of the list, each with its number of matching rows."""
    given = Counter(at.judged.values())
    flags = Counter(at.flagged.values())
    return [
        Filter("", _("All"), at.total),
        *([Filter("again", _("Look again"), len(at.again))] if at.asked else []),
        Filter("open", _("Not yet judged"), at.total - len(at.judged) - len(at.flagged)),
        Filter("later", _("Later"), flags[Flag.Kind.LATER]),
        Filter("aside", _("Flagged"), sum(flags[kind] for kind in ASIDE)),
        *(Filter(str(one.value), one.name, given[one.value], one.value) for one in grades),
    ]


def _named(member: Membership, narrative: Narrative, at: JudgingSession, find: str) -> set[int]:
    """Return the numbers of the documents whose name, as the judge sees it, has all these words.

    A hidden id or title matches nothing: only names as they are shown decide.
    """
    terms = find.casefold().split()
    numbers = {unmasked(number, member.pk).candidate: number for number in at.order}
    pool = Candidate.objects.filter(in_pool_of(narrative.pair_id), query=narrative.pair.query)
    matching = pool
    for term in terms:
        matching = matching.filter(
            Q(document__title__icontains=term) | Q(document__doc_id__icontains=term)
        )
    wanted = set(matching.values_list("pk", flat=True)) | {
        pk
        for pk, document in pool.values_list("pk", "document_id")
        if _has(neutral_name(document, member.project_id), terms)
    }
    rows = pool.select_related("document").in_bulk(list(wanted & numbers.keys()))
    names = names_to(member, list(rows.values()), under=narrative)
    return {
        numbers[pk]
        for pk, name in names.items()
        if _has(f"{name.label} {name.doc_id or ''}", terms)
    }


def _has(name: str, terms: list[str]) -> bool:
    """Return whether a name contains all these terms, also as parts of words."""
    return all(term in name.casefold() for term in terms)


def window(
    at: JudgingSession,
    asked: QueryDict,
    size: int = WINDOW,
    *,
    found: Collection[int] | None = None,
    find: str = "",
) -> Window:
    """Return the page of the list that the query parameters ask for.

    `?show=`: the filter; `found`: the documents whose name contains the words `find` (None: all);
    `?after=` and `?before=`: a position; `?at=`: a document, which selects the page that holds it,
    without the filter if the filter excludes it. Invalid values are ignored.
    """
    show = asked.get("show", "")
    keeps = _keeps(show, at)
    kept = [
        (n, c)
        for n, c in enumerate(at.order, start=1)
        if keeps(c) and (found is None or c in found)
    ]
    wanted = parse_key(asked.get("at", ""))
    if wanted is not None and wanted not in {candidate for _, candidate in kept}:
        show, find, kept = "", "", list(enumerate(at.order, start=1))
    places = [place for place, _ in kept]
    start = 0
    if wanted in at.order:
        start = bisect_left(places, at.order.index(wanted) + 1) // size * size
    elif (after := parse_key(asked.get("after", ""))) is not None:
        start = bisect_right(places, after)
    elif (before := parse_key(asked.get("before", ""))) is not None:
        start = max(0, bisect_left(places, before) - size)
    part = kept[start : start + size]
    end = start + len(part)
    return Window(
        show=show,
        find=find,
        places=part,
        first=start + 1,
        last=end,
        of=len(kept),
        previous=_link(show, find, before=part[0][0]) if start and part else "",
        next=_link(show, find, after=part[-1][0]) if end < len(kept) else "",
    )


def _keeps(show: str, at: JudgingSession) -> Callable[[int], bool]:
    """Return the predicate of a filter; an unknown filter matches every document."""
    if show == "open":
        return lambda candidate: candidate not in at.judged and candidate not in at.flagged
    if show == "again":
        return lambda candidate: candidate in at.again
    if show == "later":
        return lambda candidate: at.flagged.get(candidate) == Flag.Kind.LATER
    if show == "aside":
        return lambda candidate: at.flagged.get(candidate) in ASIDE
    if show.removeprefix("-").isdecimal() and len(show) < 19:
        return lambda candidate: at.judged.get(candidate) == int(show)
    return lambda _: True


def _rows(
    project: Project,
    narrative: Narrative,
    member: Membership,
    shown: Window,
    grades: list[Grade],
) -> list[Row]:
    """Return the rows of a page: seven queries, none of which reads a text."""
    keys = {number: unmasked(number, member.pk).candidate for _, number in shown.places}
    wanted = list(keys.values())
    mine = {"narrative": narrative, "annotator": member, "candidate__in": wanted}
    candidates = Candidate.with_removed.select_related("document").in_bulk(wanted)
    judgments = {
        given.candidate_id: given
        for given in Judgment.objects.current().filter(**mine).prefetch_related("verdicts")
    }
    flags = {flag.candidate_id: flag for flag in Flag.objects.current().filter(**mine)}
    again = rejudge_requests(narrative, member, wanted, flags)
    values = [grade.value for grade in grades]
    names = names_to(member, list(candidates.values()), under=narrative)
    return [
        Row(
            place=place,
            number=number,
            name=names[pk],
            judgment=(given := judgments.get(pk)),
            flag=flags.get(pk),
            again=again.get(pk, []),
            wanted=grades_that_need_evidence(project, candidates[pk].prior_relevance, values),
            more=given is not None
            and bool(given.note or given.evidence or given.clauses or given.verdicts.all()),
            text_version=candidates[pk].document.text_version or 0,
        )
        for place, number in shown.places
        for pk in (keys[number],)
    ]


def _link(show: str, find: str, **place: int) -> str:
    link = QueryDict(mutable=True)
    link.update({"show": show} if show else {})
    link.update({"find": find} if find else {})
    link.update({name: str(value) for name, value in place.items()})
    return f"?{link.urlencode()}"
