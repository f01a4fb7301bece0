"""Several files uploaded at once: each is checked, and they are loaded one after the other.

Each file has its own rows, as if it had been uploaded alone, and is loaded whole or not at all. A
batch adds their order: what files refer to comes first, whatever their order in the upload.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.core.files.base import File
from django.db import transaction

from annotate.collection import load_jobs
from annotate.collection.models import Load
from annotate.projects.models import Membership, Project
from annotate.projects.project_jobs import cancel_job
from base.errors import Refused
from formats.records import Doc, PairRecord, Pooled, Qrel, RunLine, Topic
from formats.registry import Format
from jobs.models import Job
from jobs.runner import Progress

logger = logging.getLogger(__name__)

MAX_FILES = 20
# Records that others refer to come first; those that are not named come last.
_ORDER = (Topic, Doc, PairRecord, Qrel, Pooled, RunLine)


def order_of(kind: Format) -> int:
    """Return the place of a format among files that are loaded together."""
    places = [_ORDER.index(record) for record in kind.reads if record in _ORDER]
    return min(places, default=len(_ORDER))


def request_batch(
    *,
    files: Sequence[File[bytes]],
    by: Membership,
    format_name: str = "",
    no_grade: int | None = None,
    side: str = "",
    now: datetime | None = None,
) -> UUID:
    """Store uploaded files, enqueue the preview of each, and return the key of their batch.

    Refused, before any file is stored: more than `MAX_FILES`, a file that is empty or whose format
    is not clear, and as in `load_jobs.request_load`.
    """
    if len(files) > MAX_FILES:
        raise Refused(f"These are {len(files)} files. Upload at most {MAX_FILES} at once.")
    kinds = [load_jobs.format_of(file, format_name) for file in files]
    in_order = sorted(zip(kinds, files, strict=True), key=lambda row: order_of(row[0]))
    batch = uuid4()
    made: list[Load] = []
    try:
        for place, (kind, file) in enumerate(in_order, start=1):
            load = load_jobs.request_load(
                format_name=kind.name,
                file=file,
                no_grade=no_grade,
                side=side if RunLine in kind.reads else "",
                by=by,
                batch=batch,
                place=place,
                now=now,
            )
            made.append(load)
    except Refused:
        for load in made:
            cancel_job(job=load, by=by)
        raise
    return batch


def previews_of(project: Project, batch: UUID) -> list[Load]:
    """Return the newest preview of each file of a batch, in their order, each with its load."""
    rows = Load.objects.filter(project=project, batch=batch, dry_run=True)
    rows = rows.select_related("confirmed_as", "by", "project", "chained_by__project")
    newest = {preview.place: preview for preview in rows.order_by("place", "pk")}
    return list(newest.values())


def load_of(preview: Load) -> Load | None:
    """Return the load of a preview, if it was confirmed."""
    return getattr(preview, "confirmed_as", None)


def can_load(preview: Load) -> bool:
    """Return whether a preview can be confirmed as it is: checked, without any problem."""
    report = preview.report
    return (
        preview.state == Job.State.DONE
        and report is not None
        and not report["refused"]
        and not report.get("broken")
        and bool(preview.file)
        and load_of(preview) is None
    )


def checked_later(preview: Load) -> bool:
    """Return whether a refused file is checked again once those before it are loaded."""
    report = preview.report
    return bool(report and report["refused"] and preview.file and preview.place > 1)


def confirm_batch(*, project: Project, batch: UUID, by: Membership) -> int:
    """Load those files of a batch whose check found no problem, one after the other; return how
    many. A file with a bad line that comes after them is checked again then.

    Rows that break rules of the project's kind are confirmed on the page of their own file.
    Refused: a file that is still being checked, nothing that can be loaded.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        previews = previews_of(project, batch)
        if any(not preview.is_over for preview in previews):
            raise Refused("A file is still being checked. Wait until all are.")
        ready = [preview for preview in previews if can_load(preview)]
        if not ready:
            raise Refused("None of these files can be loaded. Correct them, and upload them again.")
        waiting = [preview for preview in previews if checked_later(preview)]
        Load.objects.filter(pk__in=[preview.pk for preview in (*ready, *waiting)]).update(
            chained_by=by
        )
        load_next(project, batch)
    return len(ready)


def load_next(project: Project, batch: UUID) -> None:
    """Enqueue the next confirmed file of a batch, unless one before it is not loaded yet."""
    for preview in previews_of(project, batch):
        load = load_of(preview)
        if load is not None and load.state in {Job.State.FAILED, Job.State.CANCELLED}:
            return
        if load is not None:
            if load.report is None or load.report["refused"]:
                return
            continue
        if preview.chained_by is None:
            continue
        if can_load(preview):
            load_jobs.confirm_load(preview=preview, by=preview.chained_by)
            return
        if checked_later(preview):
            load_jobs.recheck_load(preview=preview, by=preview.chained_by, same_format=True)


def perform(load: Load, progress: Progress) -> None:
    """Perform a preview or a load, and then enqueue the next file of its batch."""
    load_jobs.perform_load(load, progress)
    batch = load.preview.batch if load.preview is not None else None
    if batch is not None:
        # The lead may have left meanwhile, or the project was archived: the rest stays unloaded.
        try:
            load_next(load.project, batch)
        except Refused as refused:
            logger.warning("the next file of batch %s is not loaded: %s", batch, refused)
