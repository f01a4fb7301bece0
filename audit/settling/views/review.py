"""The page of a disagreement on the review of an instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods, require_POST

from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.reviews import access, decisions
from audit.reviews.forms import DecisionForm
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts, passes_of, verdict_of
from audit.reviews.views.reviews import decision_message
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.views import frame as pages
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def review_disagreement(request: PageRequest, narrative: int) -> HttpResponse:
    """Show auditors' reviews side by side where they straddle poor, and decide; then the next."""
    found = access.review_disagreement(request.user, narrative)
    return pages.show_or_settle(request, ReviewPage(*found))


@require_POST
def review_withdrawal(request: PageRequest, narrative: int) -> HttpResponse:
    """Take the decision on an instruction back and show what auditors differ on again."""
    found = access.review_disagreement(request.user, narrative)
    return pages.withdraw(request, ReviewPage(*found))


class ReviewPage(pages.Page):
    """What auditors said of an instruction."""

    template = "settling/review_disagreement.html"
    form = DecisionForm

    def __init__(self, member: Membership, narrative: Narrative) -> None:
        super().__init__(member, narrative, DisagreementKey(Kind.REVIEW, narrative.pk, 0, 0))

    def settle(self, given: Mapping[str, Any]) -> str:
        """Decide what becomes of the instruction."""
        made = decisions.decide(
            narrative=self.narrative,
            outcome=given["outcome"],
            reason=given["reason"],
            by=self.member,
        )
        return decision_message(made)

    def withdraw(self) -> None:
        """Take the decision that stands back."""
        decisions.withdraw_decision(decision=access.decision(self.narrative), by=self.member)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """The reviews of people and machines, and the decision."""
        passes = passes_of([self.narrative])[self.narrative.pk]
        machines = passes_of([self.narrative], machines=True)[self.narrative.pk]
        names = frame["naming"].of(
            {one.review.auditor_id: one.review.auditor.name for one in passes}
        )
        passes.sort(key=lambda one: list(names).index(one.review.auditor_id))
        return {
            "passes": passes,
            "names": names,
            "contrasts": contrasts(passes),
            "machines": machines,
            "machine_contrasts": contrasts(machines),
            "verdict": verdict_of(passes, self.member.project),
            "decision": Decision.objects.current()
            .select_related("by")
            .filter(narrative=self.narrative)
            .first(),
        }
