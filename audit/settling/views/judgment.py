"""The page of a disagreement on the grade of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate.judgments.models import Adjudication, Judgment, Verdict
from annotate.pairs.models import Condition
from audit.settling import access, adjudication
from audit.settling.forms import AdjudicationForm
from audit.settling.queue import DisagreementKey, Kind
from audit.settling.views.frame import (
    answers_of,
    context_of_document,
    context_of_frame,
    group_answers,
    list_causes,
    list_flags,
    redirect_back,
    redirect_onward,
    withdrawal_url,
)
from audit.settling.views.rejudge import sending_back
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def disagreement(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Show what each judge said of a document, and settle it; then the next one opens."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    disagreement_key = DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0)
    form = AdjudicationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = _settle_judgments(disagreement, form)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(
                request,
                _("%(doc_id)s is settled as %(relevance)s.")
                % {"doc_id": disagreement.candidate.document.doc_id, "relevance": made.relevance},
            )
            return redirect_onward(request, disagreement.member, disagreement_key)
    about = {"narrative": disagreement.narrative, "candidate": disagreement.candidate}
    frame = context_of_frame(request, disagreement.member, disagreement.narrative, disagreement_key)
    judgments = list(
        Judgment.objects.current()
        .filter(**about)
        .select_related("annotator")
        .order_by("annotator__name")
    )
    people = [one for one in judgments if not one.annotator.is_machine]
    document = context_of_document(disagreement)
    names = frame["naming"].of({one.annotator_id: one.annotator.name for one in people})
    people.sort(key=lambda one: list(names).index(one.annotator_id))
    grades = list(disagreement.member.project.grades.order_by("value"))
    labels = {grade.value: grade.name for grade in grades}
    voices = [
        (
            one.relevance,
            labels.get(one.relevance, ""),
            one.pk,
            answers_of(one, names, document, frame),
        )
        for one in people
    ]
    decisions = list(
        Adjudication.objects.filter(**about)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    )
    keys = keymap.keys_for(request.user)
    grade_keys = keymap.grade_keys(grades, keymap.on_page("settle", keys))
    return render(
        request,
        "settling/disagreement.html",
        {
            **frame,
            **document,
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": group_answers(voices, keys, grade_keys.values()),
            "verdicts": _verdicts(people, names),
            **sending_back(request, disagreement, people, names),
            "machines": [one for one in judgments if one.annotator.is_machine],
            "flags": list_flags(about, frame, names),
            "decision": next((one for one in decisions if one.withdrawn_at is None), None),
            "withdrawn": [one for one in decisions if one.withdrawn_at is not None],
            "withdraw_url": withdrawal_url(disagreement_key),
            "causes": list_causes(keys),
            "form": form,
        },
        status=422 if form.errors else 200,
    )


@require_POST
def adjudication_withdrawal(request: PageRequest, narrative: int, candidate: int) -> HttpResponse:
    """Take a settling decision back and show what is disputed again."""
    disagreement = access.judgment_disagreement(request.user, narrative, candidate)
    try:
        adjudication.withdraw_adjudication(
            adjudication=access.adjudication(disagreement), by=disagreement.member
        )
    except Refused as refused:
        return redirect_back(
            request, DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0), str(refused)
        )
    return redirect_back(request, DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0))


def _settle_judgments(disagreement: access.Disagreement, form: AdjudicationForm) -> Adjudication:
    given = form.cleaned_data
    if given["adopt"] is not None:
        return adjudication.adopt(
            judgment=access.judgment(disagreement, given["adopt"]),
            cause=given["cause"],
            reason=given["reason"],
            by=disagreement.member,
        )
    return adjudication.adjudicate(
        narrative=disagreement.narrative,
        candidate=disagreement.candidate,
        relevance=given["relevance"],
        cause=given["cause"],
        reason=given["reason"],
        by=disagreement.member,
    )


def _verdicts(judgments: list[Judgment], names: Mapping[int, str]) -> list[dict[str, Any]]:
    """What each judgment says of each condition (None: nothing), those they differ on first."""
    said: dict[Condition, dict[int, Verdict]] = {}
    found = Verdict.objects.filter(judgment__in=judgments).select_related("condition")
    for verdict in found.order_by("condition__number"):
        said.setdefault(verdict.condition, {})[verdict.judgment_id] = verdict
    rows = [
        {
            "condition": condition,
            "answers": [verdicts.get(one.pk) for one in judgments],
            "names": [names[one.annotator_id] for one in judgments],
            "differs": len({verdict.answer for verdict in verdicts.values()}) > 1,
        }
        for condition, verdicts in said.items()
    ]
    return sorted(rows, key=lambda row: not row["differs"])
