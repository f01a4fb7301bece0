"""The page of a disagreement on one condition of a narrative."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.judgments.models import ConditionAdjudication, Judgment, Verdict
from annotate.pairs.models import Condition
from audit.settling import access, adjudication
from audit.settling.forms import VerdictForm
from audit.settling.queue import DisagreementKey, Kind
from audit.settling.views.frame import (
    answers_of,
    context_of_document,
    context_of_frame,
    group_answers,
    list_causes,
    redirect_back,
    redirect_onward,
    withdrawal_url,
)
from audit.settling.views.rejudge import sending_back
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def verdict_disagreement(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Show what each judge said of one condition, and settle it; then the next one opens."""
    disagreement, asked_of = access.verdict_disagreement(request.user, condition, candidate)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, disagreement.narrative.pk, candidate, condition
    )
    form = VerdictForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_verdicts(disagreement, asked_of, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            about = {
                "number": asked_of.number,
                "doc_id": disagreement.candidate.document.doc_id,
                "answer": made.get_answer_display(),
            }
            messages.success(
                request,
                _("Condition %(number)s of %(doc_id)s is settled as “%(answer)s”.") % about,
            )
            return redirect_onward(request, disagreement.member, disagreement_key)
    frame = context_of_frame(request, disagreement.member, disagreement.narrative, disagreement_key)
    verdicts = {
        one.judgment_id: one
        for one in Verdict.objects.filter(
            condition=asked_of,
            judgment__candidate=disagreement.candidate,
            judgment__superseded_at=None,
            judgment__text_replaced_at=None,
        )
    }
    judgments = list(
        Judgment.objects.current()
        .filter(narrative=disagreement.narrative, candidate=disagreement.candidate)
        .select_related("annotator")
        .order_by("annotator__name")
    )
    people = [one for one in judgments if not one.annotator.is_machine]
    names = frame["naming"].of({one.annotator_id: one.annotator.name for one in people})
    people.sort(key=lambda one: list(names).index(one.annotator_id))
    document = context_of_document(disagreement)
    voices = [
        (
            verdicts[one.pk].answer,
            verdicts[one.pk].get_answer_display(),
            verdicts[one.pk].pk,
            answers_of(one, names, document, frame),
        )
        for one in people
        if one.pk in verdicts
    ]
    decisions = list(
        ConditionAdjudication.objects.filter(condition=asked_of, candidate=disagreement.candidate)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    )
    keys = keymap.keys_for(request.user)
    return render(
        request,
        "settling/verdict_disagreement.html",
        {
            **frame,
            **document,
            "grades": list(disagreement.member.project.grades.order_by("value")),
            "condition": asked_of,
            "choices": [
                {"value": answer.value, "name": answer.label, "key": str(place)}
                for place, answer in enumerate(Verdict.Answer, start=1)
            ],
            "answers": group_answers(voices, keys, []),
            **sending_back(request, disagreement, people, names),
            "machines": [
                {"name": one.annotator.name, "verdict": verdicts[one.pk]}
                for one in judgments
                if one.annotator.is_machine and one.pk in verdicts
            ],
            "decision": next((one for one in decisions if one.withdrawn_at is None), None),
            "withdrawn": [one for one in decisions if one.withdrawn_at is not None],
            "withdraw_url": withdrawal_url(disagreement_key),
            "causes": list_causes(keys),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def verdict_withdrawal(request: PageRequest, condition: int, candidate: int) -> HttpResponse:
    """Take the settling decision on a condition back and show what is disputed again."""
    disagreement, asked_of = access.verdict_disagreement(request.user, condition, candidate)
    disagreement_key = DisagreementKey(
        Kind.VERDICT, disagreement.narrative.pk, candidate, condition
    )
    try:
        adjudication.withdraw_adjudication(
            adjudication=access.condition_adjudication(asked_of, disagreement.candidate),
            by=disagreement.member,
        )
    except Refused as refused:
        return redirect_back(request, disagreement_key, str(refused))
    return redirect_back(request, disagreement_key)


def _settle_verdicts(
    disagreement: access.Disagreement, condition: Condition, form: VerdictForm
) -> ConditionAdjudication:
    given = form.cleaned_data
    if given["adopt"] is not None:
        return adjudication.adopt_verdict(
            verdict=access.verdict(disagreement, condition, given["adopt"]),
            cause=given["cause"],
            reason=given["reason"],
            by=disagreement.member,
        )
    return adjudication.settle_condition(
        condition=condition,
        candidate=disagreement.candidate,
        answer=given["answer"],
        cause=given["cause"],
        reason=given["reason"],
        by=disagreement.member,
    )
