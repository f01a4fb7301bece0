"""Guidelines: every change inserts a version."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.guidelines.models import GuidelineCase
from annotate.judgments.models import Adjudication
from annotate.pairs.models import Narrative
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Guideline, Membership, Project
from base.errors import Refused, Stale

MAX_LENGTH = 100_000
MAX_CASES = 1_000

# A narrative and a candidate, by their keys.
Case = tuple[int, int]


def write_guideline(
    *,
    text: str,
    by: Membership,
    based_on: int,
    cases: Collection[Case] = (),
    now: datetime | None = None,
) -> Guideline:
    """Insert the next version of the guidelines, with the cases that led to it, and return it.

    `based_on` is the version that the author edited; Stale if somebody saved a newer one. Refused:
    a member who is not a lead, an empty or too long text, an unchanged text, too many cases, a case
    that is not in the project.
    """
    now = now or timezone.now()
    refuse_if_archived(by.project)
    text = text.replace("\r\n", "\n").strip()
    if not by.leads:
        raise Refused("Only leads of this project can write its guidelines.")
    if not text:
        raise Refused("The guidelines are empty. Write what judges should know.")
    if len(text) > MAX_LENGTH:
        raise Refused(
            f"The guidelines have {len(text):,} characters; at most {MAX_LENGTH:,} are allowed."
        )
    linked = sorted(set(cases))
    if len(linked) > MAX_CASES:
        raise Refused(f"At most {MAX_CASES:,} cases can lead to one version.")
    with transaction.atomic():
        _refuse_foreign_cases(linked, by)
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        latest = Guideline.objects.latest_of(project)
        version = latest.version if latest else 0
        if version != based_on:
            raise Stale(
                f"Version {version} was saved while you were writing. Your text is still "
                "here: compare it with that version, then save again."
            )
        if latest is not None and latest.text == text:
            raise Refused("Nothing has changed yet, so there is no new version to save.")
        made = Guideline.objects.create(
            project=project, version=version + 1, text=text, author=by, created_at=now
        )
        GuidelineCase.objects.bulk_create(
            GuidelineCase(guideline=made, narrative_id=narrative, candidate_id=candidate)
            for narrative, candidate in linked
        )
        record(
            project=project,
            what="guidelines.written",
            about=made,
            changes={"version": (version, made.version)},
            by=by,
            now=now,
        )
    return made


def cases_waiting(*projects: Project | int) -> QuerySet[Adjudication]:
    """Return the decisions with the cause "gap in the guidelines" that led to no version yet."""
    linked = GuidelineCase.objects.filter(
        narrative=OuterRef("narrative"), candidate=OuterRef("candidate")
    )
    return Adjudication.objects.current().filter(
        ~Exists(linked),
        narrative__pair__project__in=projects,
        narrative__pair__removed_at__isnull=True,
        cause=Adjudication.Cause.GUIDELINE,
    )


def count_waiting(projects: Sequence[int]) -> dict[int, int]:
    """Return the number of such decisions in each of these projects, by key."""
    rows = cases_waiting(*projects).order_by().values_list("narrative__pair__project")
    return dict(rows.annotate(n=Count("pk")))


def _refuse_foreign_cases(cases: Collection[Case], by: Membership) -> None:
    """Refuse a case whose narrative and candidate do not belong to one query of the project."""
    narratives = dict(
        Narrative.objects.filter(
            pair__project=by.project_id, pk__in={narrative for narrative, _ in cases}
        ).values_list("pk", "pair__query__pk")
    )
    candidates = dict(
        Candidate.with_removed.filter(pk__in={candidate for _, candidate in cases}).values_list(
            "pk", "query__pk"
        )
    )
    for narrative, candidate in cases:
        query = narratives.get(narrative)
        if query is None or query != candidates.get(candidate):
            raise Refused("One of the cases is not in this project. Reload the page.")
