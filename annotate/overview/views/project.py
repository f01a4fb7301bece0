"""The pages of a project and of its queries; taking out queries, instructions and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection import access as collection_access
from annotate.collection import core_queries
from annotate.collection.models import Candidate, Query
from annotate.collection.removal import INSTRUCTIONS, QUERIES, Removable, parse_keys
from annotate.collection.views import choose, choosing_context
from annotate.judgments import cached_counts, completion
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.assignments import (
    my_assignments,
    pair_assignments,
    read_assignments,
)
from annotate.judgments.blindness import hides_figures, must_answer_first
from annotate.judgments.completion import WorkLeft
from annotate.judgments.document_names import names_for, neutral_order
from annotate.judgments.machine_claims import count_undecided
from annotate.judgments.open_pairs import open_among
from annotate.overview import lists, steps
from annotate.overview.contributions import Todo, overview
from annotate.overview.forms import QueryPeopleForm
from annotate.overview.lists import SearchForm, search
from annotate.overview.pace import time_estimate
from annotate.overview.progress import (
    PersonProgress,
    QueryProgress,
    TaskProgress,
    matrix_of,
    people_progress,
    query_progress,
    statements_of,
    task_progress,
)
from annotate.overview.views.home import assignment_rows, work_url, worker
from annotate.pairs.instruction_styles import OtherStyle, other_styles
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.named_people import (
    name_people,
    named_people,
    people_to_name,
    people_token,
    set_urgent,
)
from annotate.pairs.pool import documents_without_text
from annotate.pools import access as pool_access
from annotate.pools.provenance import contributions
from annotate.pools.removal import DOCUMENTS
from annotate.projects import access, schedule
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from annotate.projects.project_page import project_page
from base.errors import Refused, Stale
from base.pagination import Page, page_by_key, page_in_order, parse_key
from base.requests import PageRequest, refusal_as_message
from base.word_diff import diff

# The parameters that ask for a page of instructions, as the pager's links do.
PAGES_OF_INSTRUCTIONS = {"instructions_after", "instructions_before"}


@require_GET
def project(request: PageRequest, slug: str) -> HttpResponse:
    """Show the project's progress, its agreement, and what needs the reader."""
    member = access.member(request.user, slug)
    read_assignments([member])
    completion.prefetch_left([member])
    far = completion.judging_by_pair(member.project)
    judgments = completion.total(far.values())
    # Queries that are taken out are on the list of queries only.
    page = page_by_key(member.project.queries.filter(removed_at__isnull=True), request.GET)
    added = overview(member, details=True)
    assignments = my_assignments(member)
    # Who has begun a task continues it; the home page also offers another one.
    tasks = task_progress(member, judgments, held={work.assignment.task for work in assignments})
    free = [task for task in tasks if task.free]
    people = people_progress(member.project) if member.leads else None
    rows = query_progress(member, page.rows, far)
    # Only leads may open the pages of the steps.
    project_steps = steps.steps(member, judgments, tasks, added.context) if member.leads else []
    return project_page(
        request,
        "overview/project.html",
        member,
        section="overview",
        due=schedule.due(member.project),
        time_estimate=time_estimate(member, judgments) if member.leads else None,
        judging=judgments,
        judging_begun=completion.has_judging_begun(member.project, judgments),
        tasks=tasks,
        rewriting_left=any(
            task.task == Assignment.Task.REWRITE and task.done < task.total for task in tasks
        ),
        reviewing=_reviewing(member.project, tasks),
        # Tasks that would hide the project's figures from a lead are listed apart.
        offered=[offer for offer in free if not hides_figures(task=offer.task, by=member)],
        hiding=[offer for offer in free if hides_figures(task=offer.task, by=member)],
        steps=project_steps,
        next_step=steps.next_step(project_steps),
        kind=kind_of(member.project.kind),
        todo=[*_begun(assignments), *added.todo, *_undecided(member)],
        rows=rows,
        shows_judging=_shows_judging(member.project, rows),
        people=people,
        **_without_grade(member),
        **_others(member, people, free),
        any_answered=bool(member.project.overlap_judge)
        or any(person.answered for person in people or ()),
        any_reviewed=bool(member.project.overlap_review)
        or any(person.reviewed for person in people or ()),
        any_checked=any(person.checked for person in people or ()),
        any_imported=any(person.imported for person in people or ()),
        **worker() if member.leads else {},
        **added.context,
        page=page,
    )


def _others(
    member: Membership, people: Sequence[PersonProgress] | None, free: Sequence[TaskProgress]
) -> dict[str, Any]:
    """Return how many others can work in a lead's project, and whether that is too few to judge.

    `is_alone` is as `member.is_alone()`, of the people that were read.
    """
    if people is None:
        return {"is_alone": False, "lacks_judges": False}
    others = sum(person.member.user_id is not None for person in people) - 1
    left_to_judge = any(task.task == Assignment.Task.JUDGE for task in free)
    return {
        "others": others,
        "is_alone": not others,
        "lacks_judges": left_to_judge and 0 < others < member.project.overlap_judge,
    }


@require_GET
def queries(request: PageRequest, slug: str) -> HttpResponse:
    """List the queries with their progress, in pages.

    `?search=` finds queries by id or by words of the title, `?core=` those of a core query,
    `?urgent=yes` urgent ones, `?state=` those in a state (without it: all that are not taken out);
    `?sort=` replaces the order of loading by another. `?choose=` adds a lead's choice of topics.
    """
    member = access.member(request.user, slug)
    choosing = None
    if member.leads and "choose" in request.GET:
        choosing = choosing_context(request, member)
    return _queries_page(request, member, choosing)


@require_http_methods(["GET", "POST"])
def topics(request: PageRequest, slug: str) -> HttpResponse:
    """Choose topics: keep those that are drawn or ticked, and take the others out."""
    member = access.lead(request.user, slug)
    if request.method == "GET":
        asked = urlencode({"choose": "yes"} | request.GET.dict())
        return redirect(f"{reverse('annotate:queries', args=[slug])}?{asked}#choose")
    refused = choose(request, member)
    if refused is None:
        # A lead alone needs people for these topics first.
        return redirect("annotate:members" if member.is_alone() else "annotate:queries", slug)
    return _queries_page(request, member, refused, status=422)


def _queries_page(
    request: PageRequest,
    member: Membership,
    choosing: Mapping[str, Any] | None,
    status: int = 200,
) -> HttpResponse:
    form = lists.QueryListForm(member, request.GET)
    search, core = form.value("search"), form.value("core")
    state, sort = form.value("state"), form.value("sort")
    matching = lists.find_queries(member.project, search, core, state, urgent=form.is_urgent())
    if state or sort:
        keys = lists.queries_in_order(member.project, matching, state=state, sort=sort)
        page, count = page_in_order(matching, keys, request.GET), len(keys)
    else:
        page, count = page_by_key(matching, request.GET), matching.count()
    rows = query_progress(member, page.rows)
    return project_page(
        request,
        "overview/queries.html",
        member,
        section="queries",
        rows=rows,
        shows_judging=_shows_judging(member.project, rows),
        pools=lists.pools(member.project, page.rows),
        cores=core_queries.count_queries(member.project, [query.core for query in page.rows]),
        filter_form=form,
        core=core,
        found=count,
        page=page,
        choosing=choosing is not None,
        status=status,
        **(choosing or {}),
    )


@require_GET
def query(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show one query: its narratives, and its pool with the answers (annotators: their own).

    `?pair=` begins the list of instructions with this one (a key), if they do not fit on one page.
    """
    member = access.member(request.user, slug)
    project = member.project
    shown_query = collection_access.query(member, pk)
    all_pairs = shown_query.pairs.select_related("project", "query")
    instructions = _instructions_page(all_pairs, request.GET)
    pairs = instructions.rows
    # Most queries have few instructions; what concerns all of them is read only where they are not.
    are_all = not (instructions.previous or instructions.next)
    styles = other_styles(pairs, among=pairs if are_all else None)
    shows_prior = lists.knows_prior(
        member, (pair.pk for pair in pairs) if are_all else all_pairs.values_list("pk", flat=True)
    )
    form = lists.PoolForm(request.GET, knows_prior=shows_prior) if member.leads else None
    page = _pool_page(member, shown_query, form, request.GET)
    statements = statements_of(member, page.rows, None if are_all else pairs)
    # The ranks of a document could influence a reader who still judges, leads included.
    may_see_ranks = member.leads and not must_answer_first(member)
    return project_page(
        request,
        "overview/query.html",
        member,
        section="queries",
        query=shown_query,
        siblings=list(core_queries.listed_siblings(shown_query)),
        core_size=core_queries.count_queries(project, [shown_query.core]).get(shown_query.core, 1),
        pairs=_pairs(member, pairs, styles),
        candidates=statements,
        shows_statements=bool(project.overlap_judge)
        or any(statement.judgments or statement.flags for statement in statements),
        shows_outcomes=bool(project.overlap_judge)
        or any(
            not judgment.annotator.is_machine
            for statement in statements
            for judgment in statement.judgments
        ),
        instructions=None if are_all else instructions,
        all_instructions="" if are_all else f"{all_pairs.count():,}",
        anchors=are_all,
        matrix=None if are_all and len(pairs) < 2 else matrix_of(statements),
        names=names_for(member, page.rows),
        grades=list(project.grades.order_by("value")),
        show_prior=shows_prior,
        pool=shown_query.candidates.count(),
        form=form,
        filtered=form is not None and bool(form.value("search") or form.value("state")),
        brought=contributions(page.rows) if may_see_ranks else None,
        removed=Candidate.with_removed.filter(query=shown_query, removed_at__isnull=False).count()
        if may_see_ranks
        else 0,
        page=page,
    )


def _instructions_page(pairs: QuerySet[InstructionPair], asked: QueryDict) -> Page[InstructionPair]:
    """Return a page of a query's instructions, or the one that begins with the instruction asked
    for.
    """
    size = lists.INSTRUCTIONS_ON_A_PAGE
    page = page_by_key(pairs, asked, size, of="instructions_")
    first = parse_key(asked.get("pair", ""))
    is_there = any(pair.pk == first for pair in page.rows)
    others = page.next or page.previous
    if first is None or is_there or not others or asked.keys() & PAGES_OF_INSTRUCTIONS:
        return page
    asked = asked.copy()
    asked["instructions_after"] = str(first - 1)
    return page_by_key(pairs, asked, size, of="instructions_")


def _pool_page(
    member: Membership, query: Query, form: lists.PoolForm | None, asked: QueryDict
) -> Page[Candidate]:
    """Return a page of a query's documents; for annotators all, in an order that tells nothing."""
    pool = query.candidates.select_related("document", "made_for")
    if form is None:
        return page_in_order(pool, neutral_order(query, member.project), asked)
    pool = lists.find_candidates(
        member, pool, search=form.value("search"), state=form.value("state")
    )
    sort = form.value("sort")
    return (
        page_in_order(pool, lists.candidates_in_order(member, pool, sort), asked)
        if sort
        else page_by_key(pool, asked)
    )


def _pairs(
    member: Membership,
    pairs: Sequence[InstructionPair],
    styles: Mapping[int, Sequence[OtherStyle]],
) -> list[dict[str, Any]]:
    """Return the pairs for their query's page, with their narratives and tasks."""
    assignments = {pair.pk: pair_assignments(pair) for pair in pairs}
    held = {
        (work.assignment.task, pair): work.assignment
        for pair, works in assignments.items()
        for work in works
        if work.assignment.member_id == member.pk
    }
    free = {
        (task.value, pair)
        for task in Assignment.Task
        for pair in open_among(
            task=task, by=member, pairs=[pair for pair in assignments if (task, pair) not in held]
        )
    }
    return [
        {
            **_pair(member, pair),
            "styles": styles[pair.pk],
            "assignments": assignments[pair.pk],
            "tasks": [
                {
                    "task": task.value,
                    "name": task.label,
                    "url": work_url(held[task, pair.pk]) if (task, pair.pk) in held else None,
                    "free": (task.value, pair.pk) in free,
                }
                for task in Assignment.Task
            ],
        }
        for pair in pairs
    ]


def _pair(member: Membership, pair: InstructionPair) -> dict[str, Any]:
    """Return the narratives of one pair for its query's page."""
    pair.read_current()
    original = pair.current(Narrative.Side.ORIGINAL)
    altered = pair.current(Narrative.Side.ALTERED)
    before = original.text if original else ""
    return {
        "pair": pair,
        "original": original,
        "altered": altered,
        "pieces": diff(before, altered.text) if altered else None,
        "rewrite_url": reverse("annotate:rewrite", args=[pair.pk]) if member.leads else None,
        "attributes_url": reverse("annotate:attributes", args=[pair.pk])
        if member.leads and altered and altered.conditions.exists()
        else None,
    }


def _shows_judging(project: Project, rows: Sequence[QueryProgress]) -> bool:
    """Return whether lists show judging: somebody is asked to judge, or has judged."""
    return bool(project.overlap_judge) or any(
        row.answered or row.kept or row.dropped or row.others or row.disputed for row in rows
    )


def _reviewing(project: Project, tasks: Sequence[TaskProgress]) -> TaskProgress | None:
    """Return the progress of reviews if people are asked to review and nobody to judge."""
    if project.overlap_judge:
        return None
    reviews = (task for task in tasks if task.task == Assignment.Task.REVIEW and task.total)
    return next(reviews, None)


def _without_grade(member: Membership) -> dict[str, int]:
    """Return how many documents to judge have no text, and how many people only flagged.

    Nothing for annotators; the second is not told to a lead who still judges or reviews.
    """
    if not member.leads:
        return {}
    counts = {"without_text": documents_without_text(member.project).count()}
    if not must_answer_first(member):
        answers = counts_of(cached_counts.states_in_force([member.project])).values()
        counts["only_flagged"] = sum(counted.only_flagged(member.project) for counted in answers)
    return counts


def _undecided(member: Membership) -> list[Todo]:
    """Return the choice of whose claims count, for a lead of a project where machines differ."""
    undecided = count_undecided(member.project) if member.leads else 0
    where = reverse("audit:machines", args=[member.project.slug])
    return [Todo("Labels that machines claim differently", undecided, where)] if undecided else []


def _begun(assignments: Sequence[WorkLeft]) -> list[Todo]:
    """Return the tasks with work left: one line for each kind of task."""
    by_task: dict[str, list[dict[str, Any]]] = {}
    for row in assignment_rows(assignments):
        by_task.setdefault(row["task"], []).append(row)
    return [
        Todo(
            task,
            len(rows),
            rows[0]["url"],
            f"{len(rows)} task" if len(rows) == 1 else f"{len(rows)} tasks",
            sum(row["again"] for row in rows),
        )
        for task, rows in by_task.items()
    ]


@require_http_methods(["GET", "POST"])
def query_people(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Set who takes each task of a query (the ticked people, or everybody), and whether first."""
    member = access.lead(request.user, slug)
    query = collection_access.query(member, pk)
    named, token = named_people(query), request.POST.get("token", "")
    form = QueryPeopleForm(
        request.POST if request.method == "POST" else None,
        project=member.project,
        people=list(people_to_name(member.project)),
        named=named,
        is_urgent=query.is_urgent,
    )
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                name_people(query=query, people=form.people(), token=token, by=member)
                set_urgent(query=query, urgent=form.is_urgent(), by=member)
        except Refused as refused:
            form.add_error(None, str(refused))
            token = "" if isinstance(refused, Stale) else token
        else:
            messages.success(request, "Saved. People keep the tasks that they already hold.")
            return redirect("annotate:query", slug, pk)
    return project_page(
        request,
        "overview/query_people.html",
        member,
        section="queries",
        query=query,
        form=form,
        token=token or people_token(named),
        status=422 if form.errors else 200,
    )


@require_GET
def search_project(request: PageRequest, slug: str) -> HttpResponse:
    """List what an id, a title or a name leads to; open it at once if it is the only one."""
    member = access.member(request.user, slug)
    form = SearchForm(request.GET if "q" in request.GET else None)
    results = search(member, form.cleaned_data["q"]) if form.is_valid() else None
    if results is not None and len(results.hits) == 1:
        return redirect(results.hits[0].url)
    return project_page(
        request, "overview/search.html", member, section="search", form=form, found=results
    )


# The name of each kind in addresses and forms.
KINDS: Mapping[str, Removable] = {
    "queries": QUERIES,
    "instructions": INSTRUCTIONS,
    "documents": DOCUMENTS,
}


@require_POST
def removal(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Take the ticked rows out."""
    removable, member = _removable(request, slug, kind)
    with refusal_as_message(request):
        changed = removable.remove(
            project=member.project,
            keys=parse_keys(request.POST.getlist(kind)),
            reason=request.POST.get("reason", ""),
            by=member,
        ).changed
        messages.success(request, f"{_count(removable, changed)} taken out.")
    return _redirect_back(request, slug, kind)


@require_POST
def restoration(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Bring the ticked rows back."""
    removable, member = _removable(request, slug, kind)
    with refusal_as_message(request):
        changed = removable.restore(
            project=member.project, keys=parse_keys(request.POST.getlist(kind)), by=member
        ).changed
        messages.success(request, f"{_count(removable, changed)} brought back.")
    return _redirect_back(request, slug, kind)


def _removable(request: PageRequest, slug: str, kind: str) -> tuple[Removable, Membership]:
    if kind not in KINDS:
        raise Http404("Nothing of this kind is taken out.")
    removable = KINDS[kind]
    lead = pool_access.lead if removable.refused_while_blind else access.lead
    return removable, lead(request.user, slug)


def _count(removable: Removable, changed: int) -> str:
    return f"1 {removable.noun} was" if changed == 1 else f"{changed} {removable.nouns} were"


def _redirect_back(request: PageRequest, slug: str, kind: str) -> HttpResponse:
    """Redirect to the page that the request came from, else to the list of what is taken out."""
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None) and back.startswith("/"):
        return redirect(back)
    where = "removed_candidates" if kind == "documents" else "removed_queries"
    return redirect(f"annotate:{where}", slug)
