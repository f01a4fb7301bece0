"""Uploads, alone or several at once: each is checked in a preview, and loaded once it is confirmed.

Each file has its own rows and is loaded whole or not at all. Of several files that are uploaded at
once, those that others refer to are loaded first, whatever their order in the upload.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import IO, Any, cast
from uuid import UUID, uuid4

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotate.collection import intake
from annotate.collection.intake import FileReport, InputFile, RowCounts
from annotate.loading.load import check_options, known_format, load_file, options_for
from annotate.loading.models import Load, LoadedCandidate
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record as record_audit_event
from annotate.projects.models import Membership, Project
from annotate.projects.project_jobs import cancel_job
from base.errors import Refused
from formats.recognition import explain_unrecognized, recognize
from formats.records import Doc, PairRecord, Pooled, Qrel, RunLine, Topic
from formats.registry import FORMATS, Format
from jobs import queue
from jobs.errors import JobError
from jobs.models import Job
from jobs.runner import Cancelled, Progress, save_result

MAX_FILE_NAME = 255
# The file of a preview that nobody has confirmed is deleted after this time.
KEEP_PREVIEWS = timedelta(days=7)
# Per project: previewed files that were neither loaded nor discarded.
MAX_PREVIEWS = 100


def request_load(
    *,
    format_name: str = "",
    file: File[bytes],
    by: Membership,
    no_grade: int | None = None,
    side: str = "",
    batch: UUID | None = None,
    place: int = 0,
    now: datetime | None = None,
) -> Load:
    """Store an uploaded file and enqueue its preview; return the preview's row.

    Nothing is written to the project. Without a name, the format is recognized by the file.
    `batch` and `place`: the files uploaded together, and the order in which they are loaded.
    Refused: a member who is not a lead, an archived project, an unknown format, a file whose format
    is not clear, an empty file, options that the format does not have, too many files that wait to
    be loaded.
    """
    name = _name_of(file)
    _check_lead(by, by.project)
    kind = format_of(file, format_name)
    load = _new_preview(kind=kind, file_name=name, no_grade=no_grade, side=side, by=by, now=now)
    load.batch, load.place = batch, place
    _discard_old_files(by.project, load.requested_at - KEEP_PREVIEWS)
    waiting = Load.objects.filter(project=by.project, dry_run=True, confirmed_as=None)
    if waiting.exclude(file="").count() >= MAX_PREVIEWS:
        raise Refused(
            f"{MAX_PREVIEWS} files are waiting to be loaded. Load or discard some of them first."
        )
    # Before the transaction: saving a large file takes time, and should not block others.
    load.file.save(f"{by.project_id}/{name}", file, save=False)
    try:
        with transaction.atomic():
            _enqueue_preview(load, "load.asked", by)
    except BaseException:
        load.file.delete(save=False)
        raise
    return load


def format_of(file: File[bytes], format_name: str = "") -> Format:
    """Return the format of an uploaded file: the named one, or the one recognized by the file.

    Refused: an empty file, an unknown format, a file whose format is not clear.
    """
    if not file.size:
        raise Refused(f"{_name_of(file)} is empty.")
    if format_name:
        return known_format(format_name)
    stream = cast(IO[bytes], file)
    kind = recognize(stream)
    if kind is None:
        name = _name_of(file)
        if fault := explain_unrecognized(stream):
            line = f", line {fault.line}" if fault.line else ""
            raise Refused(f"{name}{line}: {fault.message}.")
        raise Refused(f"It is not clear from {name} which format it has. Choose the format.")
    return kind


def _name_of(file: File[bytes]) -> str:
    return PurePath(file.name or "").name[-MAX_FILE_NAME:]


def recheck_load(
    *, preview: Load, by: Membership, same_format: bool = False, now: datetime | None = None
) -> Load:
    """Enqueue another preview of a refused file, in the format that its report suggests, or in the
    same one: the project may have what it refers to now.

    The stored file moves to the new preview, whose row is returned. Refused: a member who is not a
    lead; a preview that is not done, that suggests no format, or whose file is gone.
    """
    _check_lead(by, preview.project)
    with transaction.atomic():
        locked = Load.objects.select_for_update().get(pk=preview.pk)
        if not locked.dry_run or locked.state != Load.State.DONE or locked.report is None:
            raise Refused("This file has not been checked yet.")
        kind = known_format(locked.format) if same_format else suggested_format(locked)
        if kind is None:
            raise Refused(
                "Its check suggests no other format for this file. Upload it again in the "
                "right one."
            )
        if not locked.file:
            raise Refused(
                "This file is no longer here: it was discarded, or is checked in another "
                "format already. Look at the uploads of the project, or upload it again."
            )
        load = _new_preview(
            kind=kind,
            file_name=locked.file_name,
            by=by,
            now=now,
            **options_for(kind, no_grade=locked.no_grade, side=locked.side),
        )
        load.file = locked.file.name
        load.batch, load.place = locked.batch, locked.place
        Load.objects.filter(pk=locked.pk).update(file="")
        _enqueue_preview(load, "load.rechecked", by)
    return load


def suggested_format(preview: Load) -> Format | None:
    """Return the format that a refused preview suggests for its file, or None."""
    return FORMATS.get((preview.report or {}).get("likely_format") or "")


def find_recheck(preview: Load, kind: Format) -> Load | None:
    """Return the later check of a refused file in the format `kind`, or None."""
    if preview.file:
        return None
    later = Load.objects.filter(
        project=preview.project_id, pk__gt=preview.pk, file_name=preview.file_name, dry_run=True
    )
    return later.filter(format=kind.name).select_related("project").order_by("pk").first()


def _new_preview(
    *,
    kind: Format,
    file_name: str,
    no_grade: int | None,
    side: str,
    by: Membership,
    now: datetime | None,
) -> Load:
    """Return the unsaved row of a preview. Refused: options that the format does not have."""
    check_options(kind, no_grade=no_grade, side=side)
    return Load(
        project=by.project,
        by=by,
        requested_at=now or timezone.now(),
        format=kind.name,
        file_name=file_name,
        no_grade=no_grade,
        side=side,
    )


def _enqueue_preview(load: Load, event: str, by: Membership) -> None:
    """Save a preview that has its file, enqueue it and record the event."""
    load.save()
    queue.enqueue(load)
    _record_event(event, load, by)


def confirm_load(
    *,
    preview: Load,
    by: Membership,
    despite_rules: bool = False,
    carry_claims: bool = False,
    now: datetime | None = None,
) -> Load:
    """Enqueue the load of a previewed file; return its row. Calling twice returns the same row.

    Refused: a member who is not a lead; a preview that is not done, that found a bad line, or whose
    file is gone; rows that break rules of the kind, without `despite_rules`.
    """
    _check_lead(by, preview.project)
    with transaction.atomic():
        locked = Load.objects.select_for_update().get(pk=preview.pk)
        confirmed = Load.objects.filter(preview=locked).first()
        if confirmed is not None:
            return confirmed
        if not locked.dry_run or locked.state != Load.State.DONE or locked.report is None:
            raise Refused("This file has not been checked yet.")
        if locked.report["refused"]:
            raise Refused("A file is not loaded while one of its lines is bad. Correct it first.")
        if not locked.file:
            raise Refused("This file was discarded. Upload it again.")
        if locked.report.get("broken") and not despite_rules:
            raise Refused(
                "Rows of this file break rules of the project's kind. Correct it, or choose "
                "to load it despite the rules."
            )
        load = Load.objects.create(
            project=locked.project,
            by=by,
            requested_at=now or timezone.now(),
            format=locked.format,
            file=locked.file.name,
            file_name=locked.file_name,
            no_grade=locked.no_grade,
            side=locked.side,
            despite_rules=despite_rules,
            carry_claims=carry_claims,
            dry_run=False,
            preview=locked,
        )
        queue.enqueue(load)
        _record_event("load.confirmed", load, by)
    return load


def discard_preview(*, preview: Load, by: Membership) -> None:
    """Discard the file of a preview. Refused: a preview that was confirmed or is still running."""
    _check_lead(by, preview.project)
    with transaction.atomic():
        locked = Load.objects.select_for_update().get(pk=preview.pk)
        if Load.objects.filter(preview=locked).exists():
            raise Refused("This preview was confirmed, so its file is needed.")
        if not locked.is_over:
            raise Refused("The file is still being checked. Cancel that first.")
        if locked.file:
            _record_event("load.left", locked, by)
    locked.discard()


def load_by_command(
    *, project: Project, format_name: str, file: InputFile, **options: Any
) -> FileReport:
    """Load a file at once, and record the load in the transaction of its rows.

    A file that changes nothing is not recorded. `options`: those of `load_file`.
    """
    began = timezone.now()
    of_file = ("no_grade", "side", "despite_rules", "carry_claims")

    def record(report: FileReport) -> None:
        if report.new or report.changed:
            Load.objects.create(
                project=project,
                state=Load.State.DONE,
                requested_at=began,
                started_at=began,
                finished_at=timezone.now(),
                format=format_name,
                file_name=PurePath(file.name).name[:MAX_FILE_NAME],
                dry_run=False,
                report=report.as_json(),
                **{name: options[name] for name in of_file},
            )

    return load_file(project=project, format_name=format_name, file=file, record=record, **options)


def written_by(load: Load) -> RowCounts:
    """Count the candidates that a load made, and those whose earlier relevance it changed.

    Those of a load that was taken back are gone.
    """
    rows = LoadedCandidate.objects.filter(load=load)
    return RowCounts(
        new=rows.filter(is_new=True).count(), changed=rows.filter(is_new=False).count()
    )


def perform_load(load: Load, progress: Progress) -> None:
    """Perform a preview or a load: read the file and store the report with the row.

    The report of a load is written in the transaction of its rows, so a load is never done twice,
    not even if its worker is killed afterwards. If it fails for a reason other than the file, such
    as a full disk, the file is kept and the load can be retried. A refused file is kept only if
    it can be checked again: in a format that is suggested, or after the other files of its batch.
    """
    if load.report is None:
        try:
            _perform(load, progress)
        except (Cancelled, JobError):
            load.discard()
            raise
    refused = (load.report or {})["refused"]
    # The files before it in its batch may bring what it refers to.
    checked_again = suggested_format(load) is not None or load.place > 1
    if not load.dry_run or (refused and not checked_again):
        load.discard()


def _perform(load: Load, progress: Progress) -> None:
    def record(report: FileReport) -> None:
        save_result(load, report=report.as_json())

    try:
        report = load_file(
            project=load.project,
            format_name=load.format,
            file=intake.uploaded_file(load.file, load.file_name),
            no_grade=load.no_grade,
            side=load.side,
            despite_rules=load.despite_rules,
            carry_claims=load.carry_claims,
            dry_run=load.dry_run,
            progress=progress,
            record=record,
            upload=None if load.dry_run else load.pk,
            by=load.by,
        )
    except FileNotFoundError as error:
        raise JobError("The file is gone. Upload it again.") from error
    if load.report is None:
        record(report)


def _record_event(what: str, load: Load, by: Membership) -> None:
    record_audit_event(project=load.project, what=what, about=load, named=load.name_in_log(), by=by)


def _discard_old_files(project: Project, before: datetime) -> None:
    """Discard the files of old unconfirmed previews, and of old failures that were not retried."""
    unused = Q(dry_run=True, confirmed_as=None) | Q(state=Load.State.FAILED)
    for load in Load.objects.filter(unused, project=project, finished_at__lt=before).exclude(
        file=""
    ):
        load.discard()
    _delete_stray_files(project, before)


def _delete_stray_files(project: Project, before: datetime) -> None:
    """Delete old files that no row names.

    Such a file was cut short by a full disk, or the process died before it wrote the row.
    """
    storage, folder = default_storage, f"{Load.file.field.upload_to}/{project.pk}"
    try:
        _folders, names = storage.listdir(folder)
    except FileNotFoundError:
        return
    paths = {f"{folder}/{name}" for name in names}
    for path in paths.difference(
        Load.objects.filter(project=project).exclude(file="").values_list("file", flat=True)
    ):
        # A newer file may still be arriving. A file that was deleted in the meantime is fine.
        with suppress(FileNotFoundError):
            if storage.get_modified_time(path) < before:
                storage.delete(path)


def _check_lead(by: Membership, project: Project) -> None:
    if not by.leads or by.project_id != project.pk:
        raise Refused("Only leads of this project can load files.")
    refuse_if_archived(project)


logger = logging.getLogger(__name__)

MAX_FILES = 20
# Records that others refer to come first; those that are not named come last. The page *Load* and
# docs/loading.md name the same order.
_ORDER = (Topic, Doc, Qrel, PairRecord, Pooled, RunLine)


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
    is not clear, and as in `request_load`.
    """
    if len(files) > MAX_FILES:
        raise Refused(f"These are {len(files)} files. Upload at most {MAX_FILES} at once.")
    kinds = [format_of(file, format_name) for file in files]
    in_order = sorted(zip(kinds, files, strict=True), key=lambda row: order_of(row[0]))
    batch = uuid4()
    made: list[Load] = []
    try:
        for place, (kind, file) in enumerate(in_order, start=1):
            load = request_load(
                format_name=kind.name,
                file=file,
                by=by,
                batch=batch,
                place=place,
                now=now,
                **options_for(kind, no_grade=no_grade, side=side),
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


def can_load(preview: Load, *, despite_rules: bool = False) -> bool:
    """Return whether a preview can be confirmed as it is: checked, without any problem.

    `despite_rules`: rows may break rules of the project's kind.
    """
    report = preview.report
    return (
        preview.state == Job.State.DONE
        and report is not None
        and not report["refused"]
        and (despite_rules or not report.get("broken"))
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
        load_next(project, batch, past_stopped=True)
    return len(ready)


def load_next(project: Project, batch: UUID, *, past_stopped: bool = False) -> None:
    """Enqueue the next confirmed file of a batch, unless one before it is not loaded yet.

    One that was not loaded (failed, cancelled, refused) holds up those after it, until a lead goes
    on `past_stopped` ones: then one of those after it has a load as well.
    """
    previews = previews_of(project, batch)
    last = max((preview.place for preview in previews if load_of(preview)), default=0)
    for preview in previews:
        load = load_of(preview)
        if load is not None:
            is_loaded = load.report is not None and not load.report["refused"]
            if not is_loaded and not (load.is_over and (past_stopped or preview.place < last)):
                return
            continue
        if preview.chained_by is None:
            continue
        if can_load(preview):
            confirm_load(preview=preview, by=preview.chained_by)
            return
        if checked_later(preview):
            recheck_load(preview=preview, by=preview.chained_by, same_format=True)


def perform(load: Load, progress: Progress) -> None:
    """Perform a preview or a load, and then enqueue the next file of its batch."""
    perform_load(load, progress)
    batch = load.preview.batch if load.preview is not None else None
    if batch is not None:
        # The lead may have left meanwhile, or the project was archived: the rest stays unloaded.
        try:
            load_next(load.project, batch)
        except Refused as refused:
            logger.warning("the next file of batch %s is not loaded: %s", batch, refused)
