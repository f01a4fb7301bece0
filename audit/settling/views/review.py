"""The page of a disagreement on the review of an instruction."""

from __future__ import annotations

from typing import Any

from audit.reviews.forms import DecisionForm
from audit.reviews.models import Decision
from audit.reviews.passes import contrasts
from audit.reviews.views.reviews import decision_message
from audit.settling.disagreements import ReviewDisagreement
from audit.settling.views import frame as pages
from base.page_request import PageRequest


class ReviewPage(pages.Page):
    """The page of a disagreement between auditors about an instruction."""

    template = "settling/review_disagreement.html"
    form = DecisionForm
    disagreement: ReviewDisagreement

    def message(self, made: Decision) -> str:
        """Return a message for the lead about a decision just made."""
        return decision_message(made)

    def context(self, request: PageRequest, frame: dict[str, Any]) -> dict[str, Any]:
        """Return the reviews of people and machines, and the decision."""
        found = self.disagreement
        return {
            "passes": found.passes,
            "names": found.names,
            "contrasts": contrasts(found.passes),
            "machines": found.machines,
            "machine_contrasts": contrasts(found.machines),
            "verdict": found.verdict(),
            "decision": found.decisions().filter(withdrawn_at=None).first(),
        }
