"""Asking for an export, and writing it. Pages, the command and the job meet here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.judgments.blindness import must_answer_first
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.snapshot import snapshot
from exporters.exports import jsonl, manifest, trec
from exporters.exports.access import ARCHIVE, BLIND
from exporters.exports.files import Writer, pack
from exporters.exports.layouts import (
    beir,
    citation,
    followtable,
    infosearch,
    ir_datasets,
    mteb,
    multi_infosearch,
    multiconir,
)
from exporters.exports.layouts.published import size as layout_size
from exporters.exports.manifest import Manifest
from exporters.exports.models import Export
from exporters.exports.progress import Report
from exporters.exports.proof import proving
from exporters.exports.proof.content import PROOF
from exporters.exports.proof.proving import check_tools
from jobs import queue
from jobs.models import Job
from jobs.runner import JobError, LeaseLost, Progress


class Format(NamedTuple):
    """How one format is written: `size` in rows walked, `write` into an empty folder."""

    size: Callable[[Project], int]
    write: Callable[[Project, Writer, Report], Manifest]


FORMATS = {
    Export.Format.TREC: Format(trec.size, trec.write),
    Export.Format.JSONL: Format(jsonl.size, jsonl.write),
}
# Folders that the field's tools load. A release holds those that its project's publication names.
LAYOUTS = {
    Export.Format.MTEB: Format(layout_size, mteb.write_mteb),
    Export.Format.HF: Format(layout_size, mteb.write_hf),
    Export.Format.BEIR: Format(layout_size, beir.write),
    Export.Format.IR_DATASETS: Format(layout_size, ir_datasets.write),
    Export.Format.FOLLOWTABLE: Format(layout_size, followtable.write),
    Export.Format.INFOSEARCH: Format(layout_size, infosearch.write),
    Export.Format.MULTICONIR: Format(layout_size, multiconir.write),
    Export.Format.MULTI_INFOSEARCH: Format(layout_size, multi_infosearch.write),
    Export.Format.CITATION: Format(layout_size, citation.write),
}
WRITERS = FORMATS | LAYOUTS


def request_export(
    *,
    project: Project,
    format_name: str,
    by: Membership,
    prove: bool = False,
    now: datetime | None = None,
) -> Export:
    """Ask for an export in a format (an `Export.Format`) and return the row that will hold it.

    With `prove` the folder is read with the field's tools as soon as it is written. While one of
    the same format is waiting or under way, that one is returned. Refused: who does not lead, who
    has yet to judge or review themselves, an unknown format, a proof that no tool gives.
    """
    now = now or timezone.now()
    if not by.leads or by.project_id != project.pk:
        raise Refused(_("Only leads of this project can have it exported."))
    check_format(format_name)
    if prove:
        check_tools(format_name)
    if must_answer_first(by):
        raise Refused(BLIND)
    with transaction.atomic():
        # Two requests at once: the second waits here and then finds the first.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        under_way = (
            Export.objects.filter(
                project=project,
                format=format_name,
                prove=prove,
                state__in=[Job.State.QUEUED, Job.State.RUNNING],
                cancel_requested_at=None,
            )
            .order_by("-pk")
            .first()
        )
        if under_way is not None:
            return under_way
        export = Export.objects.create(
            project=project,
            format=format_name,
            prove=prove,
            by=by,
            requested_by=by.user,
            requested_at=now,
        )
        queue.enqueue(export)
        record(project=project, what="export.asked", about=export, by=by, now=now)
    return export


def cancel_export(*, export: Export, by: Membership, now: datetime | None = None) -> Export:
    """Call an export off and return it anew; one that is over stays. Refused: who does not lead."""
    if not by.leads or by.project_id != export.project_id:
        raise Refused(_("Only leads of this project can call its exports off."))
    with transaction.atomic():
        over = export.is_over or export.cancel_requested_at is not None
        queue.cancel(export, now=now)
        if not over:
            record(project=export.project, what="export.cancelled", about=export, by=by, now=now)
    return export


def check_format(format_name: str) -> None:
    """Refuse a format that is none, with the names of those that are."""
    if format_name not in WRITERS:
        known = ", ".join(WRITERS)
        raise Refused(
            _("“%(format_name)s” is no format of an export. Known are: %(known)s.")
            % {"format_name": format_name, "known": known}
        )


def write(
    project: Project,
    format_name: str,
    folder: Path,
    report: Report = lambda _: None,
    *,
    published: bool = False,
) -> Manifest:
    """Write an export of the project as it stands at this moment into an empty folder.

    `report` is told how many more rows were walked. With `published`, people who did not agree to
    be named are numbers in every format. Returns the manifest, which is also the last
    file written. Refused: an unknown format. ValueError with a sentence: something that the format
    cannot hold.
    """
    check_format(format_name)
    with snapshot():
        as_it_stands = Project.objects.get(pk=project.pk)
        writer = WRITERS[Export.Format(format_name)].write
        if published and format_name == Export.Format.JSONL:
            writer = jsonl.write_published
        written = writer(as_it_stands, Writer(folder), report)
    (folder / manifest.NAME).write_bytes(manifest.to_bytes(written))
    return written


def build(job: Export, progress: Progress) -> None:
    """Do the work of an export: write its files, put them into storage, then name them in the row.

    Nothing is offered before everything is there; what does not get that far leaves no file.
    """
    _tidy(job)
    with TemporaryDirectory(prefix="export-", dir=settings.SCRATCH) as scratch:
        folder = Path(scratch)
        format_name = Export.Format(job.format)
        progress.start(WRITERS[format_name].size(job.project), "Writing the files")
        try:
            written = write(job.project, format_name, folder, progress.advance)
        except ValueError as error:
            raise JobError(f"This cannot be written: {error}.") from error
        names = [entry["name"] for entry in written["files"]] + [manifest.NAME]
        proof = None
        if job.prove:
            progress.start(None, "Reading them with the field's tools")
            # The folder that was written just now, and never one that somebody handed in.
            proof = proving.prove(folder)
            names.append(PROOF)
        progress.start(len(names) + 1, "Putting the files away")
        with (folder / ARCHIVE).open("xb") as stream:
            pack(folder, names, stream)
        progress.advance()
        place = f"{_shelf(job)}/{job.pk}-{job.attempts}-{job.claim}"
        try:
            for name in [*names, ARCHIVE]:
                with (folder / name).open("rb") as stream:
                    default_storage.save(f"{place}/{name}", File(stream))
                progress.advance()
            kept = Export.objects.filter(pk=job.pk, claim=job.claim).update(
                folder=place, manifest=written, proof=proof
            )
            if not kept:
                raise LeaseLost
        except BaseException:
            _discard(place)
            raise


def _shelf(job: Export) -> str:
    """Where the exports of a project are kept: each in a folder of its own."""
    return f"exports/{job.project_id}"


def _tidy(job: Export) -> None:
    """Take away what killed workers have left on the shelf: what no row names or writes now."""
    try:
        folders, _ = default_storage.listdir(_shelf(job))
    except FileNotFoundError:
        return
    others = Export.objects.filter(project=job.project_id).exclude(pk=job.pk)
    named = set(others.exclude(folder="").values_list("folder", flat=True))
    running = {
        str(pk) for pk in others.filter(state=Job.State.RUNNING).values_list("pk", flat=True)
    }
    for name in folders:
        place = f"{_shelf(job)}/{name}"
        if place not in named and name.partition("-")[0] not in running:
            _discard(place)


def _discard(place: str) -> None:
    """Delete a folder of the storage with all it holds, as far as it is there."""
    try:
        folders, files = default_storage.listdir(place)
    except FileNotFoundError:
        return
    for name in files:
        default_storage.delete(f"{place}/{name}")
    for name in folders:
        _discard(f"{place}/{name}")
    default_storage.delete(place)
