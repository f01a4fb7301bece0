"""The page of a disagreement on a claimed label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from audit.checks.models import Check, Sample
from audit.checks.queue import to_settle
from audit.settling.disagreements import CheckDisagreement
from audit.settling.forms import ThirdCheckForm
from audit.settling.views import frame as pages
from audit.settling.views.last_decision import check_value
from base import keymap
from base.page_request import PageRequest


class CheckPage(pages.Page):
    """The page of a disagreement between two checkers of a label."""

    template = "settling/check_disagreement.html"
    form = ThirdCheckForm
    disagreement: CheckDisagreement

    def message(self, made: Check) -> str:
        """Return a message for the lead about a decision just made."""
        return _("%(doc_id)s is settled as %(relevance)s.") % {
            "doc_id": made.item.candidate.document.doc_id,
            "relevance": check_value(made),
        }

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return False for the two checkers. A claim on an older narrative can be settled."""
        return not context["own_check"]

    def other_page_url(self) -> str:
        """Return the address of the page with conditions or questions, if the sample has them."""
        item, sample = self.disagreement.item, self.disagreement.item.sample
        if sample.asks != Sample.Asks.GRADE and to_settle(self.disagreement.member, sample).filter(
            pk=item.pk
        ):
            return reverse("audit:settlement", args=[item.pk])
        return ""

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the document, the two answers, the claim if it may be seen, and the decision."""
        found, keys = self.disagreement, keymap.keys_for(request.user)
        item, member, third, answers = found.item, found.member, found.third, found.answers()
        voices = [
            pages.Voice(one.who, one.mine, one.row.at, one.row, words=one.row.words)
            for one in answers
        ]
        document = pages.document_context(found)
        # The prior relevance may be the claim.
        shows_claim = found.shows_claim(differs=frame["differs"])
        return {
            **document,
            "sample": item.sample,
            "item": item,
            "conditions": list(item.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            **pages.grades_context(member.project, voices, keys),
            "decision": third,
            "reason_optional": True,
            "own_check": any(one.mine for one in answers),
            "own_decision": third is not None and third.checker_id == member.pk,
        }
