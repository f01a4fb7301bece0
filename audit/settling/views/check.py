"""The page of a disagreement on a claimed label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from audit.checks import actions as check_actions
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import to_settle
from audit.settling import access
from audit.settling.forms import ThirdCheckForm
from audit.settling.views import frame as pages
from audit.settling.views.last_decision import check_value, key_of_label
from base import keymap
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def check_disagreement(request: PageRequest, pk: int) -> HttpResponse:
    """Show two checkers' answers on a label; a third person settles it and goes to the next."""
    found = access.check_disagreement(request.user, pk)
    return pages.show_or_settle(request, CheckPage(*found))


@require_POST
def check_disagreement_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw the reader's decision on a label, and show the disagreement again."""
    return pages.withdraw(request, CheckPage(*access.check_disagreement(request.user, pk)))


class CheckPage(pages.Page):
    """The page of a disagreement between two checkers of a label."""

    template = "settling/check_disagreement.html"
    form = ThirdCheckForm

    def __init__(self, disagreement: access.Disagreement, item: SampleItem) -> None:
        self.disagreement, self.item = disagreement, item
        super().__init__(disagreement.member, disagreement.narrative, key_of_label(item))

    def settle(self, given: Mapping[str, Any]) -> str:
        """Settle it by a grade, or by adopting one of the two answers."""
        words: str = given["reason"]
        how: dict[str, Any] = {"relevance": given["relevance"]}
        if given["adopt"] is not None:
            adopted = access.check(self.item, given["adopt"])
            how = {"relevance": adopted.relevance}
            if adopted.cannot_judge:
                # "Cannot judge" needs words: adopting the answer adopts its words.
                how, words = {"cannot_judge": True}, words or adopted.words
        made = check_actions.settle(item=self.item, words=words, by=self.member, **how)
        return _("%(doc_id)s is settled as %(relevance)s.") % {
            "doc_id": self.item.candidate.document.doc_id,
            "relevance": check_value(made),
        }

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return False for the two checkers. A claim on an older narrative can be settled."""
        return not context["own_check"]

    def other_page_url(self) -> str:
        """Return the address of the page with conditions or questions, if the sample has them."""
        sample = self.item.sample
        if sample.asks != Sample.Asks.GRADE and to_settle(self.member, sample).filter(
            pk=self.item.pk
        ):
            return reverse("audit:settlement", args=[self.item.pk])
        return ""

    def withdraw(self) -> None:
        """Withdraw the reader's own decision."""
        mine = Check.objects.current().filter(
            item=self.item, checker=self.member, place=Check.SETTLES
        )
        if not mine.exists():
            raise Refused(_("You have no decision to withdraw here."))
        check_actions.withdraw_check(item=self.item, by=self.member)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the document, the two answers, the claim if it may be seen, and the decision."""
        item, member = self.item, self.member
        checks = list(
            Check.objects.current().filter(item=item).select_related("checker").order_by("place")
        )
        third = next((one for one in checks if one.place == Check.SETTLES), None)
        first_two = {one.checker_id: one for one in checks if one.place != Check.SETTLES}
        names = frame["naming"].displayed({key: one.checker.name for key, one in first_two.items()})
        grades = list(member.project.grades.order_by("value"))
        labels = {grade.value: grade.name for grade in grades}
        voices = [
            (
                one.relevance,
                "" if one.relevance is None else labels.get(one.relevance, ""),
                one.pk,
                pages.Voice(name, key == member.pk, one.at, one, words=one.words),
            )
            for key, name in names.items()
            for one in [first_two[key]]
        ]
        document = pages.document_context(self.disagreement)
        # The prior relevance may be the claim: the person who settles is as blind as the checkers.
        shows_claim = item.sample.shows_claim or third is not None or not frame["differs"]
        keys = keymap.keys_for(request.user)
        grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
        return {
            **document,
            "sample": item.sample,
            "item": item,
            "conditions": list(item.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            "grades": grades,
            "grade_keys": grade_keys,
            "answers": pages.group_answers(voices, keys, grade_keys.values()),
            "decision": third,
            "reason_optional": True,
            "own_check": member.pk in first_two,
            "own_decision": third is not None and third.checker_id == member.pk,
        }
