"""Request and write exports; used by pages, the API, the command and the job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db.models import Model
from django.http import FileResponse

from annotate.judgments.blindness import must_answer_first
from annotate.projects.audit_log import record
from annotate.projects.kinds import KINDS
from annotate.projects.kinds.own import OWN
from annotate.projects.models import AuditEvent, Membership, Project
from annotate.projects.project_jobs import request_job
from base.errors import Refused
from base.snapshot import snapshot
from exporters.exports import access
from exporters.exports.access import ARCHIVE, BLIND
from exporters.exports.files import PROOF, Edition, Report, Writer, delete_folder, pack
from exporters.exports.layouts import (
    beir,
    citation,
    followtable,
    infosearch,
    ir_datasets,
    jsonl,
    mteb,
    multi_infosearch,
    multiconir,
    paired_qrels,
)
from exporters.exports.layouts.published import size as layout_size
from exporters.exports.manifest import manifest
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.models import Export
from exporters.exports.proof import proving
from exporters.exports.proof.proving import check_tools
from formats.texts import CannotHold
from jobs.errors import JobError
from jobs.models import Job
from jobs.runner import Progress, save_result

# The browser never displays a file with this type.
ANY_FILE = "application/octet-stream"


class Format(NamedTuple):
    """A format's writer: `size` counts the rows to read, `write` writes into an empty folder."""

    write: Callable[[Project, Writer, Report], Manifest]
    size: Callable[[Project], int] = layout_size


FORMATS = {
    Export.Format.TREC: Format(paired_qrels.write, paired_qrels.size),
    Export.Format.JSONL: Format(jsonl.write, jsonl.size),
}
# Folders that the field's tools load. A release holds the ones chosen in the publication settings.
LAYOUTS = {
    Export.Format.MTEB: Format(mteb.write_mteb),
    Export.Format.HF: Format(mteb.write_hf),
    Export.Format.BEIR: Format(beir.write),
    Export.Format.IR_DATASETS: Format(ir_datasets.write),
    Export.Format.FOLLOWTABLE: Format(followtable.write),
    Export.Format.INFOSEARCH: Format(infosearch.write),
    Export.Format.MULTICONIR: Format(multiconir.write),
    Export.Format.MULTI_INFOSEARCH: Format(multi_infosearch.write),
    Export.Format.CITATION: Format(citation.write, lambda _: 0),
}
WRITERS = FORMATS | LAYOUTS


def divide_layouts(project: Project) -> tuple[list[Export.Format], list[Export.Format]]:
    """Return the layouts that suit the project's kind, and those of the papers of other kinds.

    A layout with the name of a kind is that of its paper; a project of one's own may use any.
    """
    others = {
        layout for layout in LAYOUTS if layout in KINDS and project.kind not in (layout, OWN.key)
    }
    return [layout for layout in LAYOUTS if layout not in others], [
        layout for layout in LAYOUTS if layout in others
    ]


def request_export(
    *,
    project: Project,
    format_name: str,
    by: Membership,
    prove: bool = False,
    now: datetime | None = None,
) -> Export:
    """Request an export in a format (an `Export.Format`) and return its row.

    With `prove` the folder is read with the field's tools as soon as it is written. If an export
    of the same format is queued or running, it is returned. Refused: a member who is not a lead, a
    lead who has judging or reviewing left, an unknown format, a proof that no installed tool gives.
    """
    if not by.leads or by.project_id != project.pk:
        raise Refused("Only leads of this project can export it.")
    check_format(format_name)
    if prove:
        check_tools(format_name)
    if must_answer_first(by):
        raise Refused(BLIND)
    export = Export(project=project, format=format_name, prove=prove, by=by)
    return request_job(export, same=("format", "prove"), by=by, now=now)


def check_format(format_name: str) -> None:
    """Refuse an unknown format; the message lists the known ones."""
    if format_name not in WRITERS:
        formats = ", ".join(WRITERS)
        raise Refused(f"“{format_name}” is not a format of exports. Choose one of: {formats}.")


def write(
    project: Project,
    format_name: str,
    folder: Path,
    report: Report = lambda _: None,
    *,
    edition: Edition | None = None,
) -> Manifest:
    """Write an export of the project's current rows into an empty folder, and return its manifest.

    `report` is called with the number of further rows read. `edition`: the release that the files
    belong to; people who did not agree to be named appear as numbers in all of its formats. The
    manifest is the last file written.
    Refused: an unknown format. Raises CannotHold for content that the format cannot hold.
    """
    check_format(format_name)
    with snapshot():
        current = Project.objects.get(pk=project.pk)
        writer = WRITERS[Export.Format(format_name)].write
        into = Writer(folder, edition)
        written = writer(current, into, report)
    # The files of `citation` are put into somebody's repository, which has a README of its own.
    has_readme = any(entry["name"] == manifest.README for entry in into.files)
    if not has_readme and format_name != Export.Format.CITATION:
        manifest.write_readme(format_name, into)
    written["files"] = into.files
    (folder / manifest.NAME).write_bytes(manifest.to_bytes(written))
    return written


def build(job: Export, progress: Progress) -> None:
    """Write the files of an export, move them into storage, then record them in the row.

    No file is offered before all of them are stored; a failed build leaves no file behind.
    """
    _delete_leftovers(job)
    with TemporaryDirectory(prefix="export-", dir=settings.SCRATCH) as scratch:
        folder = Path(scratch)
        format_name = Export.Format(job.format)
        progress.start(WRITERS[format_name].size(job.project), "Writing the files")
        try:
            written = write(job.project, format_name, folder, progress.advance)
        except CannotHold as error:
            raise JobError(f"This cannot be written: {error}.") from error
        names = [entry["name"] for entry in written["files"]] + [manifest.NAME]
        proof = None
        if job.prove:
            progress.start(None, "Reading them with the field's tools")
            # Only the folder just written is proved, never one that a user supplied.
            proof = proving.prove(folder)
            names.append(PROOF)
        progress.start(len(names) + 1, "Storing the files")
        with (folder / ARCHIVE).open("xb") as stream:
            pack(folder, names, stream, top=f"{job.project.slug}-{job.format}")
        progress.advance()
        target = f"{_storage_folder(job)}/{job.pk}-{job.attempts}-{job.claim}"
        try:
            for name in [*names, ARCHIVE]:
                with (folder / name).open("rb") as stream:
                    default_storage.save(f"{target}/{name}", File(stream))
                progress.advance()
            save_result(job, folder=target, manifest=written, proof=proof)
        except BaseException:
            delete_folder(target)
            raise


def _storage_folder(job: Export) -> str:
    """Return the storage folder of a project's exports, which each have a subfolder."""
    return f"exports/{job.project_id}"


def _delete_leftovers(job: Export) -> None:
    """Delete folders left by killed workers: those that no row names and no running job writes."""
    try:
        folders, _ = default_storage.listdir(_storage_folder(job))
    except FileNotFoundError:
        return
    others = Export.objects.filter(project=job.project_id).exclude(pk=job.pk)
    named = set(others.exclude(folder="").values_list("folder", flat=True))
    running = {
        str(pk) for pk in others.filter(state=Job.State.RUNNING).values_list("pk", flat=True)
    }
    for name in folders:
        path = f"{_storage_folder(job)}/{name}"
        if path not in named and name.partition("-")[0] not in running:
            delete_folder(path)


def record_download(*, what: str, of: Model, name: str, by: Membership) -> AuditEvent:
    """Record that `by` downloads a file of an export or a release.

    Call it after the access check and before a byte is sent. `what`: the kind of event,
    "export.taken" or "release.taken".
    """
    return record(project=by.project, what=what, about=of, words=name, by=by)


def send_file(member: Membership, export: Export, stream: File[bytes], name: str) -> FileResponse:
    """Send one file of an export to a member, as `access.file` opened it."""
    record_download(what="export.taken", of=export, name=name, by=member)
    filename = name.rpartition("/")[2]
    return FileResponse(stream, as_attachment=True, filename=filename, content_type=ANY_FILE)


def send_archive(member: Membership, export: Export, stream: File[bytes]) -> FileResponse:
    """Send all files of an export as one zip archive."""
    record_download(what="export.taken", of=export, name=access.ARCHIVE, by=member)
    filename = f"{export.project.slug}-{export.format}-{export.pk}.zip"
    return FileResponse(
        stream, as_attachment=True, filename=filename, content_type="application/zip"
    )
