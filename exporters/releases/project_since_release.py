"""What has changed in a project since a time, for pages that compare the present with a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from annotate.collection.answers import describe_under
from annotate.collection.models import Candidate
from annotate.judgments.models import Adjudication, ConditionAdjudication, Flag, Judgment
from annotate.overview.contributions import Contribution
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import AuditEvent, Guideline, Membership, Project
from audit.checks.models import Check
from audit.reviews.models import Decision, Review
from exporters.exports.models import Export
from exporters.releases.models import Release

# One judgment, however often it was changed.
_OF_JUDGMENT = ("narrative", "candidate", "annotator")

# Actions of leads after which a release holds something else, and that leave no other trace.
_ACTIONS = {
    "load.done": ("loaded file", "loaded files"),
    "load.taken_back": ("file taken back", "files taken back"),
    "pool.made": ("pool", "pools"),
    "queries.restored": ("return of queries", "returns of queries"),
    "pairs.restored": ("return of instructions", "returns of instructions"),
    "candidates.restored": ("return of documents", "returns of documents"),
    "project.rules": ("change of the rules", "changes of the rules"),
}


NEWEST = 3


def changes_since(project: Project, at: datetime) -> list[str]:
    """Describe what changed since a time: "1 narrative", "3 judgments"; empty: nothing.

    An answer counts once if it was given, replaced or withdrawn since. Answers that became stale
    because a narrative has another version are a line of their own.
    """
    of_project = {"narrative__pair__project": project}
    replaced, narratives = _changed_narratives(project, at)
    judgments = Judgment.objects.filter(
        Q(at__gt=at) | Q(ended_at__gt=at) | Q(text_replaced_at__gt=at), **of_project
    )
    ended = Q(at__gt=at) | Q(withdrawn_at__gt=at)
    grades = Adjudication.objects.filter(ended, **of_project)
    verdicts = ConditionAdjudication.objects.filter(ended, **of_project)
    settled = _count(grades, "narrative", "candidate") + _count(verdicts, "condition", "candidate")
    flags = Flag.objects.filter(Q(at__gt=at) | Q(ended_at__gt=at), **of_project)
    reviews = Review.objects.submitted().filter(submitted_at__gt=at, **of_project)
    taken_out = Candidate.with_removed.filter(query__project=project, removed_at__gt=at).count()
    pairs = InstructionPair.objects.filter(project=project, removed_at__gt=at)
    events = AuditEvent.objects.filter(project=project, at__gt=at, what__in=_ACTIONS)
    actions = Counter(events.values_list("what", flat=True))
    counts = (
        (narratives, "narrative", "narratives"),
        (_count(judgments.of_people(), *_OF_JUDGMENT), "judgment", "judgments"),
        (
            _count(judgments.filter(annotator__is_machine=True), *_OF_JUDGMENT),
            "claimed label",
            "claimed labels",
        ),
        (
            Membership.objects.filter(project=project, claims_chosen_at__gt=at).count(),
            "choice of whose claims count",
            "choices of whose claims count",
        ),
        (
            _count(Check.objects.filter(ended, item__sample__project=project), "item"),
            "checked label",
            "checked labels",
        ),
        (settled, "settlement", "settlements"),
        (flags.count(), "flag", "flags"),
        (reviews.count(), "review", "reviews"),
        (Decision.objects.filter(ended, **of_project).count(), "decision", "decisions"),
        (pairs.count(), "instruction taken out", "instructions taken out"),
        (taken_out, "document taken out", "documents taken out"),
        (
            Guideline.objects.filter(project=project, created_at__gt=at).count(),
            "version of the guidelines",
            "versions of the guidelines",
        ),
        *((actions[what], *words) for what, words in _ACTIONS.items()),
    )
    sentences = [f"{n:,} {singular if n == 1 else plural}" for n, singular, plural in counts if n]
    if stale := describe_under(replaced):
        sentences.append(f"stale by other narratives: {stale}")
    return sentences


def _count(answers: QuerySet[Any], *about: str) -> int:
    """Return about how many different things these answers are."""
    return answers.values(*about).distinct().count()


def _changed_narratives(project: Project, at: datetime) -> tuple[list[int], int]:
    """Return the narratives (keys) that were current at a time and are not, and how many sides of
    pairs have another current version.
    """
    versions = Narrative.objects.filter(pair__project=project)
    changed = versions.filter(Q(created_at__gt=at) | Q(withdrawn_at__gt=at)).values("pair")
    of_changed = versions.filter(pair__in=changed).order_by("version")
    in_use = Q(withdrawn_at=None) | Q(withdrawn_at__gt=at)
    then = _newest_by_side(of_changed.filter(in_use, created_at__lte=at))
    now = _newest_by_side(of_changed.filter(withdrawn_at=None))
    differing = [key for key in now if then.get(key) != now[key]]
    return [then[key] for key in differing if key in then], len(differing)


def _newest_by_side(versions: QuerySet[Narrative]) -> dict[tuple[int, str], int]:
    """Return the last of these versions of each side of each pair."""
    return {(pair, side): pk for pair, side, pk in versions.values_list("pair_id", "side", "pk")}


def contribution(members: Sequence[Membership]) -> dict[int, Contribution]:
    """Return the newest exports and the newest release of each lead's project, as details."""
    return {
        member.pk: Contribution(details=partial(_newest, member))
        for member in members
        if member.leads
    }


def releases_made(project: Project, since: datetime | None) -> list[str]:
    """Return the names of releases made since a time (None: all), in the order of their making."""
    made = Release.objects.made().filter(project=project)
    if since is not None:
        made = made.filter(at__gt=since)
    return list(made.order_by("pk").values_list("name", flat=True))


def _newest(member: Membership) -> dict[str, Any]:
    newest = (
        Export.objects.filter(project=member.project_id)
        .select_related("by", "project")
        .defer("manifest")
        .order_by("-pk")
    )
    released = Release.objects.made().filter(project=member.project_id)
    release = released.select_related("project").defer("manifest").order_by("-pk").first()
    return {
        "exports": list(newest[:NEWEST]),
        "release": release,
        "since_release": changes_since(member.project, release.at)
        if release and release.at
        else [],
    }
