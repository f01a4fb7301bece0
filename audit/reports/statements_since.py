"""Counts of changes since a report was computed, which its figures do not include."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, Q

from annotate.collection.models import Candidate
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment, Repeat
from annotate.pairs.models import Narrative, is_taken_out
from annotate.projects.models import AuditEvent, Membership, Project
from audit.reports.intra_annotator import repeats_in
from audit.reports.models import AgreementReport
from audit.reports.scopes import Scope, narrative_q, stored_scope
from audit.reports.unit_counts import judgment_q, period_q
from audit.reviews.models import Review


class Changes(NamedTuple):
    """The number of changes in a project since a report was computed, by kind."""

    judgments: int = 0
    taken_back: int = 0
    # Judgments of a document's text that was replaced since.
    of_older_texts: int = 0
    # Judgments of documents, or under instructions, that were taken out since.
    taken_out: int = 0
    # How often documents, instructions or queries were brought back, with their answers.
    brought_back: int = 0
    # Settling decisions that were made or withdrawn.
    settled: int = 0
    reviews: int = 0
    # Reviews of instructions that were taken out since.
    reviews_taken_out: int = 0
    narratives: int = 0
    # Narratives of the report that were withdrawn since.
    withdrawn: int = 0

    @property
    def words(self) -> str:
        """A sentence about the changes; empty if there are none."""
        counted = [
            f"{count:,} {singular if count == 1 else plural}"
            for count, (singular, plural) in zip(self, _WORDS, strict=True)
            if count
        ]
        return f"Since then: {', '.join(counted)}." if counted else ""


# What each of the changes is called: one, and several.
_WORDS = (
    ("new judgment", "new judgments"),
    ("judgment withdrawn", "judgments withdrawn"),
    ("judgment outdated by a newer text", "judgments outdated by newer texts"),
    ("judgment taken out", "judgments taken out"),
    ("return of documents or instructions", "returns of documents or instructions"),
    ("decision of a lead", "decisions of leads"),
    ("new review", "new reviews"),
    ("review taken out", "reviews taken out"),
    # A rewritten one, or the first of a new pair.
    ("new version of a narrative", "new versions of narratives"),
    ("narrative withdrawn", "narratives withdrawn"),
)


_RETURNS = ("queries.restored", "pairs.restored", "candidates.restored")


def count_changes_since(report: AgreementReport) -> Changes:
    """Count the changes since a report was computed."""
    figures = report.figures or {}
    seen, moment = figures["through"], datetime.fromisoformat(figures["computed_at"])
    scopes = [
        stored_scope(report.scope),
        *([stored_scope(report.against)] if report.compares else []),
    ]
    # What was answered under other guidelines changes no report on one version of them. A judgment
    # of another week does change one on a week: it moves its document out of that week.
    judgments = Judgment.objects.filter(
        reduce(
            or_,
            (
                judgment_q(scope) & period_q(report.project, replace(scope, week=None), "at")
                for scope in scopes
            ),
        ),
        annotator__project=report.project_id,
    )
    reviews = Review.objects.filter(
        reduce(
            or_,
            (
                scope_q(scope, "auditor") & period_q(report.project, scope, "submitted_at")
                for scope in scopes
            ),
        ),
        auditor__project=report.project_id,
        auditor__is_machine=False,
    )
    # A comparison covers only people's judgments.
    if report.compares:
        judgments, reviews = judgments.of_people(), reviews.none()
    if scopes[0].criterion:
        judgments = judgments.none()
    is_before = Q(pk__lte=seen["judgment"])
    is_counted = in_pools() & Q(ended_at=None, narrative__pair__removed_at=None)
    removed = Candidate.with_removed.filter(removed_at__gt=moment).values("pk")
    taken_out_since = Q(candidate__in=removed) | Q(narrative__pair__removed_at__gt=moment)
    # One that another judgment replaced counts as new; the others were withdrawn, or flagged since.
    is_taken_back = Q(ended_at__gt=moment, replaced_by__relevance__isnull=True)
    changed = judgments.aggregate(
        judgments=Count("pk", filter=~is_before & is_counted),
        taken_back=Count("pk", filter=is_before & is_taken_back),
        of_older_texts=Count(
            "pk", filter=is_before & Q(ended_at=None, text_replaced_at__gt=moment)
        ),
        taken_out=Count(
            "pk", filter=is_before & taken_out_since & Q(ended_at=None, text_replaced_at=None)
        ),
    )
    # Rows that are back do not say that they were out.
    returns = AuditEvent.objects.filter(project=report.project_id, what__in=_RETURNS, at__gt=moment)
    is_new = Q(pk__gt=seen["narrative"])
    narratives = Narrative.objects.filter(
        reduce(or_, (narrative_q(scope, "") for scope in scopes)), pair__project=report.project_id
    ).aggregate(
        new=Count("pk", filter=is_new & Q(pair__removed_at=None, withdrawn_at=None)),
        withdrawn=Count("pk", filter=~is_new & Q(withdrawn_at__gt=moment)),
    )
    new_repeats = (
        repeats_in(report.project_id, scopes[0])
        .current()
        .filter(relevance__isnull=False, pk__gt=seen["repeat"])
    )
    settled = Adjudication.objects.filter(
        Q(at__gt=moment) | Q(withdrawn_at__gt=moment),
        narrative_q(scopes[0], "narrative__"),
        narrative__pair__project=report.project_id,
    )
    # A comparison includes neither repeats nor decisions, and a part of the past no decisions.
    if report.compares:
        new_repeats = new_repeats.none()
    if report.compares or scopes[0].criterion or scopes[0].guideline is not None:
        settled = settled.none()
    # Reviews from a file may be older than the report.
    is_new_review = Q(submitted_at__gt=moment) | Q(pk__gt=seen.get("review", 0))
    of_taken_out = is_taken_out("narrative__pair__")
    gone = of_taken_out & Q(narrative__pair__removed_at__gt=moment)
    changed_reviews = reviews.submitted().aggregate(
        reviews=Count("pk", filter=is_new_review & ~of_taken_out),
        reviews_taken_out=Count("pk", filter=~is_new_review & gone),
    )
    changed["judgments"] += new_repeats.count()
    return Changes(
        **changed,
        brought_back=returns.count(),
        settled=settled.count(),
        **changed_reviews,
        narratives=narratives["new"],
        withdrawn=narratives["withdrawn"],
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
        in_pools(),
        annotator__in=members,
        source=Judgment.Source.PAGE,
        at__gt=moment,
        ended_at=None,
        narrative__pair__removed_at=None,
    )
    reviews = Review.objects.filter(
        ~is_taken_out("narrative__pair__"), auditor__in=members, submitted_at__gt=moment
    )
    narratives = Narrative.objects.filter(
        pair__project=project_id, pair__removed_at=None, withdrawn_at=None, pk__gt=narrative
    )
    projects = Project.objects.filter(pk=project_id)
    return projects.filter(Exists(judgments) | Exists(reviews) | Exists(narratives)).exists()


def scope_q(scope: Scope, who: str) -> Q:
    """Filter rows that have a narrative, and a member in the column `who`, by a scope."""
    of_scope = narrative_q(scope, "narrative__")
    return of_scope & Q(**{f"{who}__name__in": scope.people}) if scope.people else of_scope


# The kinds of rows whose newest keys a report stores: the table, and the path to its project.
NEWEST_ROWS: dict[str, tuple[Any, str]] = {
    "judgment": (Judgment, "annotator__project"),
    "narrative": (Narrative, "pair__project"),
    "repeat": (Repeat, "annotator__project"),
    "review": (Review, "auditor__project"),
}


def through(project: Project) -> dict[str, int]:
    """Return the keys of a project's newest rows; rows with larger keys came later."""
    return {
        name: model.objects.filter(**{path: project}).aggregate(last=Max("pk"))["last"] or 0
        for name, (model, path) in NEWEST_ROWS.items()
    }
