"""Pages of reviews: the list, draws, rubrics, the review of an instruction, a pair's story."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.forms import Form
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotate.collection.removal import parse_keys
from annotate.judgments import open_pairs
from annotate.judgments.assignments import LeadMustConfirm
from annotate.judgments.completion import open_assignments
from annotate.judgments.document_names import names_for
from annotate.overview.views.home import confirm_assignment, confirmed
from annotate.pairs import access as pairs_access
from annotate.pairs.instruction_styles import other_styles
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects import access as annotate_access
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.reviews import access, actions, decisions, draws, rejected, rubrics
from audit.reviews.actions import MAX_WORDS
from audit.reviews.criteria import SHIPPED, Rubric, Verdict
from audit.reviews.draws import current_draw
from audit.reviews.forms import (
    DecisionForm,
    RatingForm,
    ReviewDrawForm,
    ReviewFilterForm,
    ReviewForm,
    RubricForm,
)
from audit.reviews.models import Decision, Review
from audit.reviews.models import Rubric as RubricRow
from audit.reviews.passes import (
    digest_of_answers,
    narratives_to_decide,
    others_reviews,
    owes_review,
    words_for,
)
from audit.reviews.review_list import (
    DRAWN,
    STATES,
    ReviewFilter,
    filter_reviews,
    levels_of,
    review_rows,
)
from audit.reviews.review_session import CriterionView, ReviewSession, read_session
from audit.reviews.story import story
from audit.reviews.texts_at_hand import count_replaced_texts, documents_at_hand, texts_of
from base.errors import InvalidField, Refused, Stale, Unconfirmed
from base.pagination import page_by_key
from base.requests import PageRequest, refusal_as_message
from base.word_diff import diff
from formats.rubrics import format_rubric


@require_GET
def reviews(request: PageRequest, slug: str) -> HttpResponse:
    """List a project's altered narratives with the progress of their reviews."""
    member = annotate_access.member(request.user, slug)
    state = request.GET.get("state", "")
    if not member.leads or state not in STATES:
        state = ""
    chosen = rubrics.chosen_rubrics(member.project_id)
    form = ReviewFilterForm(member, chosen, request.GET)
    filters = form.filters(state)
    narratives = filter_reviews(member, filters)
    page = page_by_key(narratives, request.GET)
    rows = review_rows(member, page.rows)
    standing = current_draw(member.project) if member.leads else None
    return project_page(
        request,
        "reviews/reviews.html",
        member,
        "reviews",
        rows=rows,
        any_waits=member.leads and any(row.waits for row in rows),
        ticked=request.GET.getlist("ticked"),
        max_reason=MAX_WORDS,
        can_take=open_pairs.is_any_open(task=Assignment.Task.REVIEW, by=member)
        or bool(open_assignments(member, Assignment.Task.REVIEW)),
        page=page,
        state=state,
        states={key: name for key, name in STATES.items() if key != DRAWN or standing},
        standing=standing,
        form=form,
        filtered=filters != ReviewFilter(state=state),
        rubric=chosen[0],
        by_majority=kind_of(member.project.kind).rejects_by_majority,
        for_generator=(rejected.rejected(member.project, by=member).count() if member.leads else 0),
        words=_count_in_words(narratives.count()),
    )


@require_POST
def decide_ticked(request: PageRequest, slug: str) -> HttpResponse:
    """Accept the ticked instructions, or send them back with one reason: all or none.

    If refused, they are still ticked.
    """
    member = annotate_access.lead(request.user, slug)
    outcome, reason = request.POST.get("outcome", ""), request.POST.get("reason", "")
    query = request.GET.copy()
    query.setlist("ticked", request.POST.getlist("narratives"))
    with refusal_as_message(request):
        narratives = access.ticked_narratives(member, parse_keys(query.getlist("ticked")))
        made = decisions.decide_many(
            narratives=narratives, outcome=outcome, reason=reason, by=member
        )
        number = "1 instruction is" if len(made) == 1 else f"{len(made)} instructions are"
        done = "accepted" if outcome == Decision.Outcome.ACCEPTED else "sent back"
        messages.success(request, f"{number} {done}. Withdraw a decision on its history page.")
        del query["ticked"]
    return redirect(reverse("audit:reviews", args=[slug], query=query))


@require_GET
def rejected_file(request: PageRequest, slug: str) -> StreamingHttpResponse:
    """Download sent-back instructions as JSON lines, for the language model that wrote them."""
    member = annotate_access.lead(request.user, slug)
    instructions = rejected.rejected(member.project, by=member)
    response = StreamingHttpResponse(
        rejected.lines(instructions), content_type="application/jsonl; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="rejected-{slug}.jsonl"'
    return response


def _count_in_words(count: int) -> str:
    sentence = "%(shown)s instruction" if count == 1 else "%(shown)s instructions"
    return sentence % {"shown": f"{count:,}"}


@require_http_methods(["GET", "POST"])
def review_draw(request: PageRequest, slug: str) -> HttpResponse:
    """Preview a draw (`?size=`), make it, or end the current one (`end`)."""
    member = annotate_access.lead(request.user, slug)
    project = member.project
    has_choices = "size" in request.GET or request.method == "POST"
    form = ReviewDrawForm((request.POST or request.GET) if has_choices else None)
    planned, error = None, ""
    try:
        if "end" in request.POST:
            if draws.end_draw(project=project, by=member):
                messages.success(request, "The draw has ended: every instruction is reviewed.")
            return redirect("audit:reviews", slug)
        if request.method == "POST" and form.is_valid():
            token = request.POST.get("token", "")
            draws.draw_for_review(project=project, by=member, token=token, **form.cleaned_data)
            messages.success(request, "Drawn. Only these instructions are reviewed now.")
            return redirect("audit:review_draw", slug)
    except Refused as refused:
        error = str(refused)
    if has_choices and form.is_valid():
        planned = draws.plan_draw(project, **form.cleaned_data)
    current = draws.current_draw(project)
    return project_page(
        request,
        "reviews/draw.html",
        member,
        "reviews",
        form=form,
        error=error,
        standing=current,
        plan=planned,
        strata=planned.strata if planned else [],
        token=draws.plan_token(planned) if planned else "",
        status=422 if request.method == "POST" else 200,
    )


@require_http_methods(["GET", "POST"])
def rubric(request: PageRequest, slug: str) -> HttpResponse:
    """Show the current rubric or that in `?name=`; edit, preview and save a new version."""
    member = annotate_access.lead(request.user, slug)
    current = rubrics.current_rubric(member.project_id)
    name = request.GET.get("name", "")
    try:
        shown = rubrics.get_rubric(member.project_id, name) if name else current
    except rubrics.UnknownRubric:
        shown = current
    preview = None
    proposed = shown._replace(name=rubrics.next_name(member.project_id, shown.name))
    form = RubricForm(initial={"text": format_rubric(proposed)})
    if request.method == "POST":
        form = RubricForm(request.POST, request.FILES)
        if form.is_valid():
            preview = Rubric(*form.content)
            # Show the content of an uploaded file in the text field, where it can be edited.
            form = RubricForm({"text": format_rubric(preview)}, content=preview)
            form.is_valid()
            if "save" in request.POST and _try_save(request, member, form, preview):
                return redirect("audit:rubric", slug)
    return project_page(
        request,
        "reviews/rubric.html",
        member,
        "settings",
        in_force=current,
        kept=RubricRow.objects.current_of(member.project_id),
        shown=shown,
        levels=levels_of(shown),
        others=_rubric_rows(member, current),
        preview=preview,
        preview_levels=levels_of(preview) if preview else [],
        form=form,
        next_name=proposed.name,
        editing=request.method == "POST" or "edit" in request.GET,
        status=422 if form.is_bound and form.errors else 200,
    )


@require_POST
def rubric_choice(request: PageRequest, slug: str) -> HttpResponse:
    """Make another rubric current."""
    member = annotate_access.lead(request.user, slug)
    with refusal_as_message(request):
        chosen = rubrics.choose_rubric(
            project=member.project, name=request.POST.get("name", ""), by=member
        )
        _announce(request, chosen)
    return redirect("audit:rubric", slug)


def _try_save(request: PageRequest, member: Membership, form: RubricForm, content: Rubric) -> bool:
    """Save a rubric and return True, or add the reason for refusal to the form."""
    try:
        saved = rubrics.save_rubric(project=member.project, content=content, by=member)
    except Refused as refused:
        form.add_error("text", str(refused))
        return False
    _announce(request, saved)
    return True


def _announce(request: PageRequest, row: RubricRow) -> None:
    messages.success(
        request,
        f"“{row.name}” is now the rubric. Versions already under review keep theirs.",
    )


def _rubric_rows(member: Membership, current: Rubric) -> list[dict[str, Any]]:
    """Return every rubric the project can choose, with the number of its reviews: two queries."""
    reviews = Review.objects.of_people().filter(auditor__project=member.project_id).order_by()
    counted = dict(reviews.values_list("rubric").annotate(n=Count("pk")))
    stored = {row.name: row for row in RubricRow.objects.filter(project=member.project_id)}
    available = {name: row.content for name, row in stored.items()} | SHIPPED
    return [
        {
            "rubric": available[name],
            "reviews": counted.get(name, 0),
            "shipped": name in SHIPPED,
            "in_force": name == current.name,
            "created_at": stored[name].created_at
            if name in stored and name not in SHIPPED
            else None,
        }
        for name in sorted(available)
    ]


@require_POST
def assignment(request: PageRequest, slug: str) -> HttpResponse:
    """Redirect to the next review: one that was begun, or the next open assignment."""
    member = annotate_access.member(request.user, slug)
    try:
        taken = actions.take_review(by=member, become_blind=confirmed(request))
    except LeadMustConfirm:
        return confirm_assignment(request, member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("audit:reviews", slug)
    if taken is None:
        messages.info(request, "Every task is taken, or there is nothing to review now.")
        return redirect("audit:reviews", slug)
    return redirect("audit:review", taken.pair_id)


@require_http_methods(["GET", "POST"])
@never_cache  # a cached page would show answers that are no longer current
def review(request: PageRequest, pk: int) -> HttpResponse:
    """Show the first criterion without a level, or the summary; save a rating, or submit the review
    (`submit`) as its summary showed it.
    """
    try:
        session = _read_session(request, pk)
    except Refused as refused:
        return _redirect_home(request, str(refused))
    if request.method != "POST":
        return _render_review(request, session, session.first_open)
    try:
        if "submit" in request.POST:
            _submit(session, request.POST)
            messages.success(request, "Submitted.")
        else:
            _save_rating(session.task, request.POST)
    except (Unconfirmed, Stale) as changed:
        messages.warning(request, str(changed))
    except Refused as refused:
        return _render_refused(request, session, str(refused))
    return redirect("audit:review", pk)


@require_GET
@never_cache
def criterion(request: PageRequest, pk: int, number: int) -> HttpResponse:
    """Show one criterion of a review that can change, by its number from 1."""
    try:
        session = _read_session(request, pk)
    except Refused as refused:
        return _redirect_home(request, str(refused))
    view = session.view(number)
    if session.closed or view is None:
        return redirect("audit:review", pk)
    return _render_review(request, session, view)


def _read_session(request: PageRequest, pk: int) -> ReviewSession:
    """Return the reader's review of a pair, or raise Refused if there is nothing to review."""
    session = read_session(access.review_task(request.user, pk))
    if session.mine is None:
        actions.refuse_if_out_of_review(session.task.narrative)
    return session


@require_GET
def pair_story(request: PageRequest, pk: int) -> HttpResponse:
    """Show the story of an instruction: its versions, their reviews and decisions."""
    member, pair = pairs_access.pair(request.user, pk)
    return _render_story(request, member, pair, DecisionForm())


@require_POST
def decision(request: PageRequest, narrative: int) -> HttpResponse:
    """Accept a narrative version, send it back, or remove its pair."""
    member, version = access.review_disagreement(request.user, narrative)
    form = DecisionForm(request.POST)
    if not try_decide(request, member, version, form):
        return _render_story(request, member, version.pair, form, status=422)
    return redirect("audit:story", version.pair_id)


@require_POST
def decision_withdrawal(request: PageRequest, narrative: int) -> HttpResponse:
    """Withdraw the decision on a narrative version."""
    member, version = access.review_disagreement(request.user, narrative)
    with refusal_as_message(request):
        decisions.withdraw_decision(decision=access.decision(version), by=member)
        messages.success(request, "The decision is withdrawn.")
    return redirect("audit:story", version.pair_id)


def try_decide(
    request: PageRequest, member: Membership, narrative: Narrative, form: DecisionForm
) -> bool:
    """Make a decision and return True, or add the reason for refusal to `form`."""
    if not form.is_valid():
        return False
    try:
        made = decisions.decide(
            narrative=narrative,
            outcome=form.cleaned_data["outcome"],
            reason=form.cleaned_data["reason"],
            by=member,
        )
    except Refused as refused:
        form.add_error(refused.field if isinstance(refused, InvalidField) else None, str(refused))
        return False
    messages.success(request, decisions.describe(made))
    return True


def _redirect_home(request: PageRequest, sentence: str) -> HttpResponse:
    """Redirect to the home page with an error message, for plain requests and for htmx."""
    messages.error(request, sentence)
    home = reverse("annotate:home")
    return HttpResponseClientRedirect(home) if request.htmx else redirect(home)


def _save_rating(task: access.ReviewTask, sent: QueryDict) -> None:
    """Save the rating of a form, with the version that was on the screen."""
    form = _valid(RatingForm(sent))
    actions.save_rating(
        narrative=pairs_access.narrative(task.pair, form["narrative"]),
        criterion=form["criterion"],
        level=form["level"],
        words=form["words"] if "words" in sent else None,
        by=task.member,
    )


def _submit(session: ReviewSession, sent: QueryDict) -> None:
    """Submit the review, if the draft is what the summary showed: `level-KEY` and `words-KEY`."""
    narrative = pairs_access.narrative(session.task.pair, _valid(ReviewForm(sent))["narrative"])
    shown = [
        (key, sent.get(f"level-{key}", ""), sent.get(f"words-{key}", ""))
        for key in session.rubric.keys
    ]
    actions.submit_review(
        narrative=narrative,
        by=session.task.member,
        confirmed=digest_of_answers(narrative.pk, session.rubric, shown),
        texts=sent.get("texts"),
    )


def _valid(form: Form) -> dict[str, Any]:
    """Return the values of a form, or raise Refused with its first sentence."""
    if not form.is_valid():
        raise Refused(next(iter(form.errors.values()))[0])
    return form.cleaned_data


def _render_refused(request: PageRequest, session: ReviewSession, error: str) -> HttpResponse:
    """Render the criterion that was sent, or the summary, with why it is refused."""
    sent = request.POST.get("criterion")
    view = next((shown for shown in session.criteria if shown.criterion.key == sent), None)
    return _render_review(request, session, view or session.first_open, error)


def _render_review(
    request: PageRequest, session: ReviewSession, view: CriterionView | None, error: str = ""
) -> HttpResponse:
    """Render the review page at a criterion, or at the summary if there is none or it is closed.

    `error`: why what was just sent is refused.
    """
    member, pair, narrative = session.task
    view = None if session.closed else view
    at = view.number if view else len(session.criteria) + 1
    contrasts, others = others_reviews(narrative, session.mine, member)
    submitted = session.submitted
    context = {
        "styles": other_styles([pair])[pair.pk],
        "pair": pair,
        "query": pair.query,
        "narrative": narrative,
        **_changes_context(pair, narrative),
        "category": pair.project.categories.filter(key=pair.category).first(),
        **_document_context(session.task),
        "texts_replaced": count_replaced_texts([[submitted]])[0] if submitted else None,
        "grades": list(pair.project.grades.order_by("value")),
        "session": session,
        "closed": session.closed,
        "back_url": reverse("audit:reviews", args=[pair.project.slug]),
        "thing": "criterion",
        "answered_by": "a level",
        "view": view,
        "at_end": view is None,
        "note": request.POST.get("words", view.words) if view else "",
        "previous_url": session.url(at - 1),
        "next_url": session.url(at + 1),
        "levels": levels_of(session.rubric)[::-1],
        "error": error,
        "contrasts": contrasts,
        "others": others,
        "judging_session": session.data(view),
    }
    status = 422 if error else 200
    return project_page(request, "reviews/review.html", member, status=status, **context)


def _changes_context(pair: InstructionPair, narrative: Narrative) -> dict[str, Any]:
    """Return how the narrative differs from the original and from the version before it."""
    original = pair.current(Narrative.Side.ORIGINAL)
    versions = pair.narratives.in_use().filter(side=narrative.side)
    earlier = versions.filter(version__lt=narrative.version)
    previous = earlier.order_by("-version").first()
    decisions_on_previous = Decision.objects.current().filter(narrative=previous)
    return {
        "original": original,
        "pieces": diff(original.text, narrative.text) if original and original.text else None,
        "previous": previous,
        "previous_pieces": diff(previous.text, narrative.text) if previous else None,
        "previous_words": words_for(previous) if previous else [],
        "sent_back": decisions_on_previous.first() if previous else None,
    }


def _document_context(task: access.ReviewTask) -> dict[str, Any]:
    """Return the documents at hand, their names for the reader, and the size of the pool."""
    member, pair, narrative = task
    candidates = documents_at_hand(pair, narrative)
    return {
        "candidates": candidates,
        "document_names": names_for(member, candidates),
        "texts": texts_of(candidates),
        "pool": pair.query.candidates.filter(in_pool_of(pair.pk)).count(),
    }


def _render_story(
    request: PageRequest,
    member: Membership,
    pair: InstructionPair,
    form: DecisionForm,
    status: int = 200,
) -> HttpResponse:
    chapters = story(pair, member)
    rows = []
    texts_replaced = count_replaced_texts(
        [
            [review_pass.review for review_pass in (*each.passes, *each.machines)]
            for each in chapters
        ]
    )
    for place, chapter in enumerate(chapters):
        older = chapters[place + 1].narrative if place + 1 < len(chapters) else None
        rows.append(
            {
                "chapter": chapter,
                "pieces": diff(older.text, chapter.narrative.text) if older else None,
                "rubrics": ", ".join(
                    sorted({review_pass.rubric.name for review_pass in chapter.passes})
                ),
                "texts_replaced": texts_replaced[place],
            }
        )
    current = next((chapter for chapter in chapters if chapter.is_current), None)
    return project_page(
        request,
        "reviews/story.html",
        member,
        "reviews",
        status=status,
        styles=other_styles([pair])[pair.pk],
        pair=pair,
        query=pair.query,
        original=pair.current(Narrative.Side.ORIGINAL),
        rows=rows,
        category=pair.project.categories.filter(key=pair.category).first(),
        verdicts=Verdict,
        form=form,
        review_url=_review_url(member, pair, current.narrative) if current else "",
        next_url=_next_url(member, pair) if member.leads else "",
        can_decide=bool(
            member.leads
            and pair.removed_at is None
            and current
            and current.passes
            and not current.hidden
            and not current.decision
            and current.narrative.sent_back_at is None
        ),
    )


def _review_url(member: Membership, pair: InstructionPair, narrative: Narrative) -> str:
    """Return the URL where the reader reviews the current version, or "" if they owe no review."""
    owed = owes_review(member, narrative)
    return reverse("audit:review", args=[pair.pk]) if owed else ""


def _next_url(member: Membership, pair: InstructionPair) -> str:
    """Return the URL of the next story that waits for a decision; wraps around at the end."""
    waiting = narratives_to_decide(member).exclude(pair=pair).order_by("pair_id")
    onward = waiting.filter(pair_id__gt=pair.pk).values_list("pair_id", flat=True).first()
    next_pair = onward or waiting.values_list("pair_id", flat=True).first()
    return reverse("audit:story", args=[next_pair]) if next_pair else ""
