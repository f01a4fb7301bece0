"""Pages that review an instruction, and that show and decide the story of a pair."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
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
from audit.reviews import access, actions, decisions, rubrics
from audit.reviews.criteria import Rubric
from audit.reviews.forms import DecisionForm, RatingForm, ReviewForm, rating_forms
from audit.reviews.models import Decision
from audit.reviews.passes import (
    Pass,
    contrasts,
    narratives_to_decide,
    others_reviews,
    owes_review,
    pass_of,
    story,
    summary_digest,
    verdict_of,
    words_for,
)
from audit.reviews.review_page import current_decision, levels_of
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


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: PageRequest, pk: int) -> HttpResponse:
    """Rate one instruction; `submit` submits the review after a summary was confirmed."""
    try:
        task = access.review_task(request.user, pk)
    except Refused as refused:
        return _redirect_home(request, str(refused))
    if request.method == "HEAD":
        # The page checks that the server can be reached before it submits a review.
        return HttpResponse()
    if request.method != "POST":
        return _render_review(request, task)
    rubric = _rubric_of(task)
    version, forms = ReviewForm(request.POST), rating_forms(rubric, None, request.POST)
    try:
        narrative = _narrative_on_screen(task, version)
        if not all(form.is_valid() for form in forms):
            raise Refused("An answer below cannot be saved.")
        actions.save_ratings(
            narrative=narrative,
            answers={form.criterion.key: form.answer() for form in forms},
            by=task.member,
        )
        if "submit" not in request.POST:
            messages.success(request, "Saved. You can continue later.")
            return redirect("audit:review", pk)
        actions.submit_review(
            narrative=narrative,
            by=task.member,
            confirmed=request.POST.get("confirmed", ""),
            texts=request.POST.get("texts"),
        )
    except Unconfirmed:
        return _render_review(request, task, summary=True)
    except Stale as stale:
        messages.warning(request, str(stale))
        return redirect("audit:review", pk)
    except Refused as refused:
        return _render_review(request, task, forms, str(refused))
    messages.success(request, "Submitted.")
    return redirect("audit:review", pk)


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


def _rubric_of(task: access.ReviewTask) -> Rubric:
    """Return the rubric for the narrative."""
    return rubrics.rubric_for(task.narrative, task.pair.project_id)


def _narrative_on_screen(task: access.ReviewTask, form: ReviewForm) -> Narrative:
    """Return the version that was on the screen."""
    if not form.is_valid():
        raise Refused(" ".join(_error_sentences(form)))
    return pairs_access.narrative(task.pair, form.cleaned_data["narrative"])


def _render_review(
    request: PageRequest,
    task: access.ReviewTask,
    forms: list[RatingForm] | None = None,
    error: str = "",
    *,
    summary: bool = False,
) -> HttpResponse:
    """Render the review page: with the stored answers, or with those just sent and the error.

    With `summary` it shows what would be submitted above the rows, and asks to confirm it.
    """
    member, pair, narrative = task
    review_pass = pass_of(narrative, member)
    rubric = review_pass.rubric if review_pass is not None else _rubric_of(task)
    submitted = (
        review_pass.review if review_pass is not None and review_pass.review.submitted_at else None
    )
    others = others_reviews(narrative, review_pass)
    context = {
        "styles": other_styles([pair])[pair.pk],
        "pair": pair,
        "query": pair.query,
        "narrative": narrative,
        **_changes_context(pair, narrative),
        "own_words": narrative.author_id == member.pk,
        "closed": submitted is not None or narrative.author_id == member.pk,
        "category": pair.project.categories.filter(key=pair.category).first(),
        **_document_context(task),
        "texts_replaced": count_replaced_texts([[submitted]])[0] if submitted else None,
        "grades": list(pair.project.grades.order_by("value")),
        "rows": _review_rows(rubric, review_pass, forms, explain=bool(error)),
        "levels": levels_of(rubric),
        "error": error,
        "summary": review_pass if summary else None,
        "confirmed": summary_digest(review_pass) if summary and review_pass is not None else "",
        "submitted_at": submitted.submitted_at if submitted else None,
        "contrasts": contrasts(others),
        "others": others,
        "rubric": rubric,
        "journaled": {
            "user": member.user_id,
            "pair": pair.pk,
            "narrative": narrative.pk,
            "label": pair.pair_id,
        },
        **_rated_counts(rubric, review_pass),
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


def _review_rows(
    rubric: Rubric, review_pass: Pass | None, forms: list[RatingForm] | None, *, explain: bool
) -> list[dict[str, Any]]:
    """Return the rows of the page; `explain` adds an error to each incomplete row."""
    stored = rating_forms(rubric, review_pass)
    shown_forms = forms or stored
    rows = []
    for form, before in zip(shown_forms, stored, strict=True):
        level = form["level"].value() or before["level"].value() or ""
        words = form["words"].value()
        words = before["words"].value() if words is None else words
        errors = _error_sentences(form)
        if explain and not errors:
            if not level:
                errors = ["Choose a level."]
            elif (chosen := rubric.level(level)) and chosen.rejects and not words.strip():
                errors = [f"Say in words why it is {chosen.name.lower()}."]
        rows.append({"criterion": form.criterion, "level": level, "words": words, "errors": errors})
    return rows


def _error_sentences(form: Form) -> list[str]:
    return [str(sentence) for sentences in form.errors.values() for sentence in sentences]


def _rated_counts(rubric: Rubric, review_pass: Pass | None) -> dict[str, int]:
    total = len(rubric.criteria)
    return {"total": total, "rated": total - len(review_pass.unrated) if review_pass else 0}


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
        [[one.review for one in (*each.passes, *each.machines)] for each in chapters]
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
                "rubrics": ", ".join(sorted({one.rubric.name for one in chapter.passes})),
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
    found = onward or waiting.values_list("pair_id", flat=True).first()
    return reverse("audit:story", args=[found]) if found else ""
