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
    """Show auditors' conflicting reviews side by side, or decide and go to the next one."""
    found = access.review_disagreement(request.user, narrative)
    return pages.show_or_settle(request, ReviewPage(*found))


@require_POST
def review_withdrawal(request: PageRequest, narrative: int) -> HttpResponse:
    """Withdraw the decision on an instruction, and show the disagreement again."""
    found = access.review_disagreement(request.user, narrative)
    return pages.withdraw(request, ReviewPage(*found))


class ReviewPage(pages.Page):
    """The page of a disagreement between auditors about an instruction."""

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
        """Withdraw the current decision."""
        decisions.withdraw_decision(decision=access.decision(self.narrative), by=self.member)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the reviews of people and machines, and the decision."""
        passes = passes_of([self.narrative])[self.narrative.pk]
        machines = passes_of([self.narrative], machines=True)[self.narrative.pk]
        names = frame["naming"].displayed(
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
