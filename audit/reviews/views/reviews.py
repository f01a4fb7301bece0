"""Pages that review an instruction, and that show and decide the story of a pair."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotate.judgments.assignments import LeadMustConfirm
from annotate.judgments.document_names import names_for
from annotate.overview.views.home import confirm_assignment, confirmed
from annotate.pairs import access as pairs_access
from annotate.pairs.instruction_styles import other_styles
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.reviews import access, actions, decisions
from audit.reviews.forms import DecisionForm, RatingForm, ReviewForm
from audit.reviews.models import Decision
from audit.reviews.passes import (
    contrasts,
    digest_of_answers,
    narratives_to_decide,
    others_reviews,
    owes_review,
    story,
    verdict_of,
    words_for,
)
from audit.reviews.review_page import current_decision, levels_of
from audit.reviews.review_session import CriterionView, ReviewSession, read_session
from audit.reviews.review_verdict import Verdict
from audit.reviews.texts_at_hand import count_replaced_texts, documents_at_hand, texts_of
from base.errors import InvalidField, Refused, Stale, Unconfirmed
from base.page_request import PageRequest, refusal_as_message
from base.word_diff import diff


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
        task = access.review_task(request.user, pk)
    except Refused as refused:
        return _redirect_home(request, str(refused))
    session = read_session(task)
    if request.method != "POST":
        return _render_review(request, session, session.first_open)
    try:
        if "submit" in request.POST:
            _submit(session, request.POST)
            messages.success(request, "Submitted.")
        else:
            _save_rating(task, request.POST)
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
        session = read_session(access.review_task(request.user, pk))
    except Refused as refused:
        return _redirect_home(request, str(refused))
    view = session.view(number)
    if session.closed or view is None:
        return redirect("audit:review", pk)
    return _render_review(request, session, view)


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
    messages.success(request, decision_message(made))
    return True


def decision_message(made: Decision) -> str:
    """Return a sentence that names the decision."""
    about = {"pair_id": made.narrative.pair.pair_id, "made": made.get_outcome_display().lower()}
    return "{pair_id}: {made}.".format(**about)


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
    others = others_reviews(narrative, session.mine)
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
        "contrasts": contrasts(others),
        "others": others,
        "judging_session": session.data(view),
    }
    status = 422 if error else 200
    return project_page(request, "reviews/review.html", member, status=status, **context)


def _changes_context(pair: InstructionPair, narrative: Narrative) -> dict[str, Any]:
    """Return how the narrative differs from the original and from the version before it."""
    original = pair.current(Narrative.Side.ORIGINAL)
    earlier = pair.narratives.filter(side=narrative.side, version__lt=narrative.version)
    previous = earlier.order_by("-version").first()
    return {
        "original": original,
        "pieces": diff(original.text, narrative.text) if original and original.text else None,
        "previous": previous,
        "previous_pieces": diff(previous.text, narrative.text) if previous else None,
        "previous_words": words_for(previous) if previous else [],
        "sent_back": current_decision(previous) if previous else None,
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
        verdict = verdict_of(chapter.passes, member.project)
        rows.append(
            {
                "chapter": chapter,
                "pieces": diff(older.text, chapter.narrative.text) if older else None,
                "contrasts": contrasts(chapter.passes),
                "names": chapter.pseudonyms(member.project),
                "machine_contrasts": contrasts(chapter.machines),
                "rubrics": ", ".join(
                    sorted({review_pass.rubric.name for review_pass in chapter.passes})
                ),
                "verdict": None if chapter.hidden else verdict,
                "texts_replaced": texts_replaced[place],
            }
        )
    newest = chapters[0] if chapters else None
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
        wanted=member.project.overlap_review,
        category=pair.project.categories.filter(key=pair.category).first(),
        verdicts=Verdict,
        form=form,
        review_url=_review_url(member, pair, newest.narrative) if newest else "",
        next_url=_next_url(member, pair) if member.leads else "",
        can_decide=bool(
            member.leads and newest and newest.passes and not newest.hidden and not newest.decision
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
