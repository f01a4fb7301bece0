"""The page of a disagreement on a claimed label."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.projects.models import Membership
from audit.checks import actions as check_actions
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import to_settle
from audit.settling import access
from audit.settling.forms import ThirdCheckForm
from audit.settling.views.frame import (
    Voice,
    context_of_document,
    context_of_frame,
    group_answers,
    key_of_label,
    redirect_back,
    redirect_onward,
    value_of,
    withdrawal_url,
)
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def check_disagreement(request: PageRequest, pk: int) -> HttpResponse:
    """Show what two checkers said of a label; a third person settles it, and the next one opens."""
    disagreement, item = access.check_disagreement(request.user, pk)
    member = disagreement.member
    disagreement_key = key_of_label(item)
    form = ThirdCheckForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_checks(member, item, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("%(doc_id)s is settled as %(relevance)s.")
                % {"doc_id": item.candidate.document.doc_id, "relevance": value_of(made)},
            )
            return redirect_onward(request, member, disagreement_key)
    if item.sample.asks == Sample.Asks.COUNT and to_settle(member, item.sample).filter(pk=item.pk):
        # Where each condition is answered.
        return redirect("audit:settlement", item.pk)
    frame = context_of_frame(request, member, disagreement.narrative, disagreement_key)
    said = list(
        Check.objects.current().filter(item=item).select_related("checker").order_by("place")
    )
    first_two = [one for one in said if one.place != Check.SETTLES]
    third = next((one for one in said if one.place == Check.SETTLES), None)
    document = context_of_document(disagreement)
    names = frame["naming"].of({one.checker_id: one.checker.name for one in first_two})
    first_two.sort(key=lambda one: list(names).index(one.checker_id))
    grades = list(member.project.grades.order_by("value"))
    labels = {grade.value: grade.name for grade in grades}
    voices = [
        (
            one.relevance,
            "" if one.relevance is None else labels.get(one.relevance, ""),
            one.pk,
            Voice(names[one.checker_id], one.checker_id == member.pk, one.at, one, words=one.words),
        )
        for one in first_two
    ]
    # What it came with may be what is claimed: who settles is as blind as who checked.
    shows_claim = item.sample.shows_claim or third is not None or not frame["differs"]
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.on_page("settle", keys))
    answers = group_answers(voices, keys, grade_keys.values())
    return render(
        request,
        "settling/check_disagreement.html",
        {
            **frame,
            **document,
            "sample": item.sample,
            "item": item,
            "conditions": list(item.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": answers,
            "decision": third,
            "own_check": any(voice.mine for answer in answers for voice in answer.voices),
            "own_decision": third is not None and third.checker_id == member.pk,
            "withdraw_url": withdrawal_url(disagreement_key),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def check_disagreement_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Take back how the reader settled a label, and show what two checkers differ on again."""
    disagreement, item = access.check_disagreement(request.user, pk)
    disagreement_key = key_of_label(item)
    mine = Check.objects.current().filter(
        item=item, checker=disagreement.member, place=Check.SETTLES
    )
    if not mine.exists():
        return redirect_back(
            request, disagreement_key, _("There is nothing of yours to take back here.")
        )
    try:
        check_actions.take_back(item=item, by=disagreement.member)
    except Refused as refused:
        return redirect_back(request, disagreement_key, str(refused))
    return redirect_back(request, disagreement_key)


def _settle_checks(member: Membership, item: SampleItem, form: ThirdCheckForm) -> Check:
    given = form.cleaned_data
    if given["adopt"] is None:
        return check_actions.settle(
            item=item, relevance=given["relevance"], words=given["reason"], by=member
        )
    adopted = access.check(item, given["adopt"])
    if not adopted.cannot_judge:
        return check_actions.settle(
            item=item, relevance=adopted.relevance, words=given["reason"], by=member
        )
    # It needs words, and who adopts an answer adopts its words.
    words = given["reason"] or adopted.words
    return check_actions.settle(item=item, cannot_judge=True, words=words, by=member)
