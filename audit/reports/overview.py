"""What this room adds to the home and project pages of leads."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max
from django.urls import reverse
from django.utils.translation import gettext as _

from annotate.guidelines.actions import count_waiting
from annotate.judgments.blindness import must_answer_first
from annotate.overview.contributions import Contribution, Todo
from annotate.overview.progress import Reviewed
from annotate.projects.models import Membership, Project
from audit.reports.measured import COEFFICIENTS
from audit.reports.models import AgreementReport
from audit.reports.reliability import HEADLINE
from audit.reviews.models import Review
from audit.reviews.passes import count_to_decide
from audit.settling import queue as disagreements
from audit.settling.wanted import Wanted


def contribution(member: Membership) -> Contribution:
    """Open disagreements and the newest agreement."""
    if not member.leads:
        return Contribution()
    slug = member.project.slug
    open_ones = disagreements.count(member, Wanted())
    where = reverse("audit:disagreements", args=[slug])
    return Contribution(
        todo=(
            Todo(_("Disagreements to settle"), open_ones, where),
            Todo(
                _("Instructions to decide on"),
                count_to_decide(member),
                reverse("audit:reviews", args=[slug]) + "?state=to-decide",
            ),
            Todo(
                _("Waiting for a guideline change"),
                count_waiting(member.project),
                reverse("annotate:guidelines", args=[slug]) + "?edit=1",
            ),
        ),
        context={"disputed": open_ones, "url_disputed": where},
        details=lambda: _headline(member),
    )


def reviews_by_member(project: Project) -> dict[int, Reviewed]:
    """How many reviews each member of the project has submitted, and when the last: one query."""
    reviewed = (
        Review.objects.submitted()
        .filter(auditor__project=project)
        .order_by()
        .values_list("auditor_id")
        .annotate(n=Count("pk"), last=Max("submitted_at"))
    )
    return {auditor: Reviewed(count, last) for auditor, count, last in reviewed}


def _headline(member: Membership) -> dict[str, Any]:
    if must_answer_first(member):
        return {"agreement_blind": True}
    report = AgreementReport.objects.of("").computed().filter(project=member.project_id).first()
    if report is None or report.figures is None:
        return {}
    # Where nobody judges, people agree on instructions.
    told = [_figure(report.figures, kind) for kind in ("judgments", "reviews")]
    known = [figure for figure in told if figure]
    if not known:
        return {"report": report}
    figure = next((one for one in known if one["value"] is not None), known[0])
    return {"report": report, "headline": figure, "headline_words": COEFFICIENTS[HEADLINE]}


def _figure(figures: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The coefficient that is shown of all judgments or reviews, with what it was computed on."""
    everyone = figures[kind]["all"]
    coefficient = everyone["coefficients"].get(HEADLINE)
    if coefficient is None:
        return None
    counted = {"units": everyone["units"], "raters": len(everyone["raters"])}
    return {**coefficient, **counted, "of_reviews": kind == "reviews"}
