"""Counts of changes since a report was computed, which its figures do not include."""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Exists, Max, Q

from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from audit.reports.intra_annotator import repeats_in
from audit.reports.intra_annotator import through as last_repeat
from audit.reports.models import AgreementReport
from audit.reports.scopes import Scope, narrative_q, stored_scope
from audit.reports.unit_counts import judgment_q
from audit.reviews.models import Review


class Changes(NamedTuple):
    """The number of changes in a project since a report was computed, by kind."""

    judgments: int
    taken_back: int
    # Judgments of a document's text that was replaced since.
    of_older_texts: int
    reviews: int
    narratives: int


def count_changes_since(report: AgreementReport) -> Changes:
    """Count the changes since a report was computed."""
    figures = report.figures or {}
    seen, moment = figures["through"], datetime.fromisoformat(figures["computed_at"])
    scopes = [
        stored_scope(report.scope),
        *([stored_scope(report.against)] if report.compares else []),
    ]
    judgments = Judgment.objects.filter(
        reduce(or_, (judgment_q(scope) for scope in scopes)),
        annotator__project=report.project_id,
    )
    reviews = Review.objects.filter(
        reduce(or_, (scope_q(scope, "auditor") for scope in scopes)),
        auditor__project=report.project_id,
        auditor__is_machine=False,
    )
    # A comparison covers only people's judgments.
    if report.compares:
        judgments, reviews = judgments.of_people(), reviews.none()
    if scopes[0].criterion:
        judgments = judgments.none()
    new_judgments = judgments.filter(pk__gt=seen["judgment"])
    # One that another judgment replaced counts as new; the others were withdrawn, or flagged since.
    before = judgments.filter(pk__lte=seen["judgment"])
    taken_back = before.filter(ended_at__gt=moment, replaced_by__relevance__isnull=True)
    of_older_texts = before.filter(ended_at=None, text_replaced_at__gt=moment)
    narratives = Narrative.objects.filter(
        reduce(or_, (narrative_q(scope, "") for scope in scopes)),
        pair__project=report.project_id,
        pk__gt=seen["narrative"],
    )
    # A comparison does not include repeats.
    new_repeats = repeats_in(report.project_id, scopes[0]).filter(pk__gt=seen["repeat"])
    if report.compares:
        new_repeats = new_repeats.none()
    return Changes(
        new_judgments.count() + new_repeats.count(),
        taken_back.count(),
        of_older_texts.count(),
        reviews.filter(submitted_at__gt=moment).count(),
        narratives.count(),
    )


def is_outdated(project_id: int, *, computed_at: str, narrative: int) -> bool:
    """Return whether work was added since a report on a whole project was computed: one query.

    `computed_at` and `narrative`, the newest one that was read, are from its figures.

    Work: judgments and reviews on pages, and narratives. Loaded judgments and withdrawals are left
    out: no index finds them by their time. `count_changes_since` counts everything.
    """
    moment = datetime.fromisoformat(computed_at)
    members = Membership.objects.filter(project=project_id).values("pk")
    judgments = Judgment.objects.filter(
        annotator__in=members, source=Judgment.Source.PAGE, at__gt=moment
    )
    reviews = Review.objects.filter(auditor__in=members, submitted_at__gt=moment)
    narratives = Narrative.objects.filter(pair__project=project_id, pk__gt=narrative)
    projects = Project.objects.filter(pk=project_id)
    return projects.filter(Exists(judgments) | Exists(reviews) | Exists(narratives)).exists()


def scope_q(scope: Scope, who: str) -> Q:
    """Filter rows that have a narrative, and a member in the column `who`, by a scope."""
    of_scope = narrative_q(scope, "narrative__")
    return of_scope & Q(**{f"{who}__name__in": scope.people}) if scope.people else of_scope


def through(project: Project) -> dict[str, int]:
    """Return the keys of a project's newest rows; rows with larger keys came later."""
    judgments = Judgment.objects.filter(annotator__project=project)
    narratives = Narrative.objects.filter(pair__project=project)
    return {
        "judgment": judgments.aggregate(last=Max("pk"))["last"] or 0,
        "narrative": narratives.aggregate(last=Max("pk"))["last"] or 0,
        "repeat": last_repeat(project),
    }
