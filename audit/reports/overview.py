"""Disagreements, open tasks and agreement on the home and project pages of leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, F, Max
from django.urls import reverse

from annotate.guidelines.actions import count_waiting
from annotate.judgments.blindness import must_answer_first
from annotate.judgments.rule_report import rule_report, rules_of
from annotate.overview.contributions import Contribution, Todo
from annotate.overview.progress import Audited
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project
from audit.checks.models import Check
from audit.reports.models import AgreementReport
from audit.reports.reliability import HEADLINE
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.rule_standings import RuleStanding, rule_standings
from audit.reports.statements_since import is_outdated
from audit.reviews.models import Review
from audit.reviews.passes import count_to_decide
from audit.reviews.rejected import count_without_rewriters
from audit.settling.queue import count_open


def contribution(members: Sequence[Membership]) -> dict[int, Contribution]:
    """Return the open tasks and the newest agreement of leads: a fixed number of queries."""
    leads = [member for member in members if member.leads]
    if not leads:
        return {}
    disputed = count_open(leads)
    to_decide = count_to_decide(leads)
    waiting = count_waiting([member.project_id for member in leads])
    sent_back = count_without_rewriters(leads)
    return {
        member.pk: _contribution(
            member,
            disputed[member.pk],
            to_decide[member.pk],
            sent_back.get(member.pk, 0),
            waiting.get(member.project_id, 0),
        )
        for member in leads
    }


def _contribution(
    member: Membership, disputed: int, to_decide: int, sent_back: int, waiting: int
) -> Contribution:
    slug = member.project.slug
    where = reverse("audit:disagreements", args=[slug])
    todo = [Todo("Disagreements to settle", disputed, where)]
    if to_decide:
        decide = reverse("audit:reviews", args=[slug]) + "?state=to-decide"
        todo.append(Todo("Instructions to decide on", to_decide, decide))
    if sent_back:
        back = reverse("audit:reviews", args=[slug]) + "?state=sent-back"
        todo.append(Todo("Sent back, and nobody is asked to rewrite", sent_back, back))
    if waiting:
        write = reverse("annotate:guidelines", args=[slug]) + "?edit=1"
        todo.append(Todo("Waiting for a guideline change", waiting, write))
    return Contribution(
        todo=tuple(todo),
        context={
            "disputed": disputed,
            "url_disputed": where,
            "to_decide": to_decide,
            "sent_back": sent_back,
        },
        details=lambda: {**_headline(member), "broken_rules": _broken_rules(member)},
    )


def audits_by_member(project: Project) -> dict[int, Audited]:
    """Return each member's submitted reviews and current checks, and the last time: two queries."""
    reviews = Review.objects.submitted().filter(auditor__project=project)
    reviewed = reviews.order_by().values_list("auditor_id")
    checks = Check.objects.current().filter(item__sample__project=project)
    checked = checks.order_by().values_list("checker_id")
    reviews_of = {
        person: (count, last)
        for person, count, last in reviewed.annotate(n=Count("pk"), last=Max("submitted_at"))
    }
    checks_of = {
        person: (count, last)
        for person, count, last in checked.annotate(n=Count("pk"), last=Max("at"))
    }
    return {
        person: Audited(
            reviews_of.get(person, (0, None))[0],
            checks_of.get(person, (0, None))[0],
            max(of[person][1] for of in (reviews_of, checks_of) if person in of),
        )
        for person in reviews_of.keys() | checks_of.keys()
    }


def _broken_rules(member: Membership) -> list[RuleStanding]:
    """Return the rules of the project's kind that pairs break, as far as the reader may know."""
    if not rules_of(kind_of(member.project.kind)):
        return []
    return [standing for standing in rule_standings(rule_report(member)) if standing.broken]


def _headline(member: Membership) -> dict[str, Any]:
    if must_answer_first(member):
        return {"agreement_blind": True}
    # The figures of many people are large, and a page needs only those of all together.
    report: Any = (
        AgreementReport.objects.of("")
        .computed()
        .filter(project=member.project_id)
        .defer("figures")
        .annotate(
            judgments=F("figures__judgments__all"),
            reviews=F("figures__reviews__all"),
            computed_at=F("figures__computed_at"),
            last_narrative=F("figures__through__narrative"),
        )
        .first()
    )
    if report is None:
        return {}
    # In projects without judging, the agreement is about instructions.
    figures = [_headline_figure(getattr(report, kind), kind) for kind in ("judgments", "reviews")]
    computed = [figure for figure in figures if figure]
    if not computed:
        return {"report": report}
    figure = next((figure for figure in computed if figure["value"] is not None), computed[0])
    return {
        "report": report,
        "report_outdated": is_outdated(
            member.project_id, computed_at=report.computed_at, narrative=report.last_narrative
        ),
        "headline": figure,
        "headline_words": COEFFICIENTS[HEADLINE],
    }


def _headline_figure(everyone: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """Return the headline coefficient of all judgments or reviews, with its units and raters."""
    coefficient = everyone["coefficients"].get(HEADLINE)
    if coefficient is None:
        return None
    counted = {"units": everyone["units"], "raters": len(everyone["raters"])}
    return {**coefficient, **counted, "of_reviews": kind == "reviews"}
