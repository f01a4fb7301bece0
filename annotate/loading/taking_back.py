"""Take back a file of qrels that was loaded here, while nothing stands on it."""

from __future__ import annotations

from datetime import datetime

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Subquery
from django.utils import timezone

from annotate.collection.models import Candidate, Document, Query
from annotate.judgments import assignments
from annotate.loading.load_jobs import written_by
from annotate.loading.models import Load, LoadedCandidate
from annotate.pairs.models import InstructionPair
from annotate.pools.replacing import releases_of
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from formats.records import CollectionRecord, Qrel
from formats.registry import FORMATS

# Tables that refer to a candidate and do not stand on it.
_OWN = (LoadedCandidate,)


def take_back(*, load: Load, by: Membership, now: datetime | None = None) -> Load:
    """Undo what a load of qrels wrote, and return the load.

    Its new candidates are deleted, with queries and documents that are only ids then; changed ones
    have their earlier relevance again. Refused: a member who is not a lead, an archived project, a
    load that wrote no candidate, a candidate with an answer or in anything else, a later file of
    qrels (also one that a command loaded), a release since.
    """
    now = now or timezone.now()
    if not by.leads or by.project_id != load.project_id:
        raise Refused("Only leads of this project can take a file back.")
    refuse_if_archived(by.project)
    with transaction.atomic():
        # Loads of the project wait for this lock.
        Project.objects.select_for_update(no_key=True).get(pk=load.project_id)
        locked = Load.objects.select_for_update(of=("self",)).get(pk=load.pk)
        _refuse_if_in_use(locked)
        counts = written_by(locked)
        _undo(locked, now)
        locked.taken_back_at, locked.taken_back_by = now, by
        locked.save(update_fields=["taken_back_at", "taken_back_by"])
        record(
            project=by.project,
            what="load.taken_back",
            about=locked,
            words=f"{counts.new:,} candidates deleted, {counts.changed:,} changed back",
            by=by,
            now=now,
        )
    return locked


def _refuse_if_in_use(load: Load) -> None:
    rows = LoadedCandidate.objects.filter(load=load)
    if load.taken_back_at is not None:
        raise Refused("There is nothing to take back: this load was taken back already.")
    if load.by is None:
        raise Refused("Only files that were loaded here can be taken back, not those of a command.")
    if not rows.exists():
        raise Refused("There is nothing to take back: this load wrote no earlier relevance.")
    later = LoadedCandidate.objects.filter(load__project=load.project_id, load__gt=load.pk)
    if (other := later.select_related("load").order_by("-load").first()) is not None:
        raise Refused(f"{other.load} was loaded later. Take it back first.")
    if (by_command := _later_commands(load).first()) is not None:
        named = by_command.name_in_log()
        raise Refused(f"{named} was loaded later by a command, and cannot be taken back.")
    if since := releases_of(load.project, load.finished_at):
        raise Refused(f"{since[0]} was released since and has these candidates.")
    candidates = Candidate.with_removed.filter(pk__in=rows.values("candidate"))
    # Whoever answers now waits for this lock.
    locked = len(candidates.select_for_update(of=("self",)).values_list("pk"))
    used = locked - _without_references(candidates).count()
    if used:
        documents = "1 document of it is" if used == 1 else f"{used:,} documents of it are"
        raise Refused(f"{documents} judged or used already, so the file cannot be taken back.")


def _later_commands(load: Load) -> models.QuerySet[Load]:
    """Return the later loads by commands of files that may have an earlier relevance."""
    formats = [
        name
        for name, kind in FORMATS.items()
        if not {Qrel, CollectionRecord}.isdisjoint(kind.reads)
    ]
    return Load.objects.filter(
        project=load.project_id,
        by=None,
        format__in=formats,
        dry_run=False,
        finished_at__gte=load.finished_at,
    ).order_by("pk")


def _undo(load: Load, now: datetime) -> None:
    """Delete the new candidates, change the others back, and delete what is only an id then."""
    rows = LoadedCandidate.objects.filter(load=load)
    candidates = Candidate.with_removed.filter(pk__in=rows.values("candidate"))
    queries = list(candidates.order_by().values_list("query__pk", flat=True).distinct())
    new = Candidate.with_removed.filter(pk__in=rows.filter(is_new=True).values("candidate"))
    documents = list(new.values_list("document__pk", flat=True))
    earlier = rows.filter(candidate=OuterRef("pk")).values("earlier")
    Candidate.with_removed.filter(pk__in=rows.filter(is_new=False).values("candidate")).update(
        prior_relevance=Subquery(earlier)
    )
    new.delete()
    rows.delete()
    bare = Document.objects.filter(pk__in=documents, text_version=None, title="")
    _without_references(bare).delete()
    _without_references(Query.objects.filter(pk__in=queries, title="", description="")).delete()
    for pair in InstructionPair.objects.filter(query__in=queries).select_related("project"):
        assignments.update_ends(project=pair.project, held=pair.assignments.all(), now=now)


def _without_references(rows: models.QuerySet[models.Model]) -> models.QuerySet[models.Model]:
    """Keep the rows that no row of another table refers to."""
    for relation in rows.model._meta.related_objects:
        if relation.related_model not in _OWN:
            refers = relation.related_model._base_manager.filter(
                **{relation.field.name: OuterRef("pk")}
            )
            rows = rows.filter(~Exists(refers))
    return rows
