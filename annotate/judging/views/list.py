"""List mode of judging: the pool as rows, one key per row; a text loads when its row is opened."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotate.collection.models import Candidate
from annotate.judging.actions import narrative_for
from annotate.judging.answer_rules import grades_that_need_evidence
from annotate.judging.document_view import (
    ShownRejudgeRequest,
    read_answers,
    read_rejudge_requests,
    session_data,
)
from annotate.judging.judging_session import JudgingSession, read_judging_session
from annotate.judging.views.judge import question_context
from annotate.judgments.document_names import Name, names_for
from annotate.judgments.models import Flag, Statement
from annotate.judgments.repeats import Spot, unmask
from annotate.pairs import access
from annotate.pairs.models import Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Grade, Membership, Project
from base import keymap
from base.errors import Refused
from base.pagination import parse_key
from base.requests import PageRequest

# Rows per page.
WINDOW = 100

FINAL_FLAGS = {Flag.Kind.CANNOT_JUDGE.value, Flag.Kind.PROBLEM.value}


@dataclass(frozen=True)
class Row:
    """One document of the pool, and the judge's answer to it."""

    # Its position in the judge's order, from 1.
    position: int
    # The document's number on the judge's pages.
    number: int
    name: Name
    given: Statement | None
    again: list[ShownRejudgeRequest]
    # The grades that need a marked passage: these can be given only on the document's own page.
    evidence_grades: list[int]
    # Whether more than a grade was given: it can be changed only on that page too.
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
    positions: list[tuple[int, int]]
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
    session = read_judging_session(narrative=narrative, by=member, with_repeats=False)
    find = request.GET.get("find", "").replace("\0", "").strip()[:200]
    numbers = _find_by_name(member, narrative, session, find) if find else None
    shown = window(session, request.GET, found=numbers, find=find)
    rows = _rows(pair.project, narrative, member, shown, grades)
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("work", keys))
    question = question_context(member, pair, narrative)
    context = {
        "project": pair.project,
        "member": member,
        "pair": pair,
        "narrative": narrative,
        **question,
        "done": session.settled,
        "total": session.total,
        "keys": keys,
        "grades": grades,
        "grade_keys": grade_keys,
        "filters": filters(session, grades),
        "shown": shown,
        "rows": rows,
        "kinds": Flag.Kind,
        "needs_conditions": pair.project.condition_rule != Project.ConditionRule.BY_HAND
        and narrative.conditions.exists(),
        # The script keeps its data on the whole pool while it moves from page to page.
        "judging_session": None
        if request.htmx
        else session_data(
            member=member,
            pair=pair,
            narrative=narrative,
            number=None,
            session=session,
            grades=grades,
            keys=grade_keys,
            guideline=question["guideline"],
        ),
    }
    return render(request, "judging/listing.html", context)


def filters(session: JudgingSession, grades: list[Grade]) -> list[Filter]:
    """Return the filters of the list, each with its number of matching rows."""
    counts = Counter(session.judged.values())
    flags = Counter(session.flagged.values())
    unanswered = session.total - len(session.judged) - len(session.flagged)
    return [
        Filter("", "All", session.total),
        *([Filter("again", "Look again", len(session.again))] if session.rejudge_uuids else []),
        Filter("open", "Not yet judged", unanswered),
        Filter("later", "Later", flags[Flag.Kind.LATER]),
        Filter("aside", "Flagged", sum(flags[kind] for kind in FINAL_FLAGS)),
        *(
            Filter(str(grade.value), grade.name, counts[grade.value], grade.value)
            for grade in grades
        ),
    ]


def _find_by_name(
    member: Membership, narrative: Narrative, session: JudgingSession, find: str
) -> set[int]:
    """Return the numbers of the documents whose name, as the judge sees it, has all these words.

    A hidden id or title matches nothing: only names as they are shown decide.
    """
    terms = find.casefold().split()
    numbers = {unmask(number, member.pk).candidate: number for number in session.order}
    pool = Candidate.objects.filter(in_pool_of(narrative.pair_id), query=narrative.pair.query)
    # Not by the database: SQLite ignores the case of ASCII letters only.
    names = names_for(member, list(pool.select_related("document")), under=narrative)
    named = {pk: f"{name.label} {name.doc_id or ''}".casefold() for pk, name in names.items()}
    return {
        numbers[pk]
        for pk, name in named.items()
        if pk in numbers and all(term in name for term in terms)
    }


def window(
    session: JudgingSession,
    params: QueryDict,
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
    show = params.get("show", "")
    matches = _filter_predicate(show, session)
    matching = [
        (position, number)
        for position, number in enumerate(session.order, start=1)
        if matches(number) and (found is None or number in found)
    ]
    document = parse_key(params.get("at", ""))
    if document is not None and document not in {number for _, number in matching}:
        show, find, matching = "", "", list(enumerate(session.order, start=1))
    positions = [position for position, _ in matching]
    start = 0
    if document in session.order:
        start = bisect_left(positions, session.order.index(document) + 1) // size * size
    elif (after := parse_key(params.get("after", ""))) is not None:
        start = bisect_right(positions, after)
    elif (before := parse_key(params.get("before", ""))) is not None:
        start = max(0, bisect_left(positions, before) - size)
    part = matching[start : start + size]
    end = start + len(part)
    return Window(
        show=show,
        find=find,
        positions=part,
        first=start + 1,
        last=end,
        of=len(matching),
        previous=_page_link(show, find, before=part[0][0]) if start and part else "",
        next=_page_link(show, find, after=part[-1][0]) if end < len(matching) else "",
    )


def _filter_predicate(show: str, session: JudgingSession) -> Callable[[int], bool]:
    """Return the predicate of a filter; an unknown filter matches every document."""
    if show == "open":
        return lambda number: number not in session.judged and number not in session.flagged
    if show == "again":
        return lambda number: number in session.again
    if show == "later":
        return lambda number: session.flagged.get(number) == Flag.Kind.LATER
    if show == "aside":
        return lambda number: session.flagged.get(number) in FINAL_FLAGS
    if show.removeprefix("-").isdecimal() and len(show) < 19:
        return lambda number: session.judged.get(number) == int(show)
    return lambda _: True


def _rows(
    project: Project,
    narrative: Narrative,
    member: Membership,
    shown: Window,
    grades: list[Grade],
) -> list[Row]:
    """Return the rows of a page: six queries, none of which reads a text."""
    keys = {number: unmask(number, member.pk).candidate for _, number in shown.positions}
    pks = list(keys.values())
    candidates = Candidate.with_removed.select_related("document").in_bulk(pks)
    answers = read_answers(narrative, member, pks)
    again = read_rejudge_requests(narrative, member, pks, answers)
    values = [grade.value for grade in grades]
    names = names_for(member, list(candidates.values()), under=narrative)
    return [
        Row(
            position=position,
            number=number,
            name=names[pk],
            given=(given := answers.get(Spot(pk))),
            again=again.get(pk, []),
            evidence_grades=grades_that_need_evidence(
                project, candidates[pk].prior_relevance, values
            ),
            more=given is not None and _has_details(given),
            text_version=candidates[pk].document.text_version or 0,
        )
        for position, number in shown.positions
        for pk in (keys[number],)
    ]


def _has_details(given: Statement) -> bool:
    """Return whether a grade has a note, marked passages or verdicts."""
    details = given.note or given.evidence or given.clauses or given.verdicts.all()
    return not given.flag and bool(details)


def _page_link(show: str, find: str, **position: int) -> str:
    link = QueryDict(mutable=True)
    link.update({"show": show} if show else {})
    link.update({"find": find} if find else {})
    link.update({name: str(value) for name, value in position.items()})
    return f"?{link.urlencode()}"
