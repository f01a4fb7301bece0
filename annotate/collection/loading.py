"""Loading one file into a project: all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from annotate.collection import intake
from annotate.collection.intake import FileReport, InputFile, Options
from annotate.collection.models import Run
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record as record_audit_event
from annotate.projects.models import Membership, Project
from base.errors import Refused
from formats.records import RunLine
from formats.registry import Format, UnknownFormat, lookup


def load_file(
    *,
    project: Project,
    format_name: str,
    file: InputFile,
    no_grade: int | None = None,
    pool: int = 0,
    side: str = "",
    despite_rules: bool = False,
    carry_claims: bool = False,
    dry_run: bool = False,
    progress: intake.Progress | None = None,
    record: Callable[[FileReport], None] | None = None,
    load: int | None = None,
    by: Membership | None = None,
    now: datetime | None = None,
) -> FileReport:
    """Load one file into a project, all of it or nothing; the report has its errors.

    `no_grade` is the value in the file that means no grade; `pool` is the number of documents per
    query of a run that join the pool; `side` says under which narratives a run ranks them;
    `despite_rules` also loads rows that break rules of the project's kind; `carry_claims` copies
    machines' claims to new versions of narratives for which the file has none; `record` is called
    with the report in the same transaction; `load` is the key of the upload, to take its qrels
    back; `by` is None for a command. Refused: an unknown format, a pool or a side for a file that
    is not a run, an archived project.
    """
    kind = known_format(format_name)
    refuse_if_archived(project)
    if pool < 0 or (pool and RunLine not in kind.reads):
        raise Refused("Only a run can add documents to the pool, one or more per query.")

    check_side(kind, side)

    def record_and_log(report: FileReport) -> None:
        if record is not None:
            record(report)
        if not (report.new or report.changed):
            return
        counts = f"{report.new} new, {report.changed} changed, {report.unchanged} unchanged"
        if report.broken:
            counts += f", {report.broken} despite rules of the kind"
        if report.stale_answers:
            counts += f"; answers under earlier narratives: {report.stale_answers}"
        described = f"{file.name} · {kind.name}"
        record_audit_event(
            project=project, what="load.done", about=described, words=counts, by=by, now=now
        )

    return intake.load(
        project=project,
        kind=kind,
        file=file,
        options=Options(no_grade, pool, side, despite_rules, load, carry_claims),
        dry_run=dry_run,
        progress=progress,
        record=record_and_log,
        now=now,
    )


def check_side(kind: Format, side: str) -> None:
    """Refuse an unknown side, or a side for a file that is not a run."""
    if not side:
        return
    if RunLine not in kind.reads:
        raise Refused("Only a run has a side. Leave the side out for this format.")
    if side not in Run.Side.values:
        raise Refused(
            f"{side} is not a side of a run. The sides are: {', '.join(Run.Side.values)}."
        )


def known_format(name: str) -> Format:
    """Return the format of that name. Refused: an unknown name; the message lists the names."""
    try:
        return lookup(name)
    except UnknownFormat as error:
        reason = str(error)
        raise Refused(f"{reason[:1].upper() + reason[1:]}.") from error


def check_grades(*, project: Project, grades: Sequence[int]) -> None:
    """Refuse grades that differ from the project's."""
    existing = sorted(project.grades.values_list("value", flat=True))
    if sorted(grades) != existing:
        names = ", ".join(map(str, existing))
        raise Refused(
            f"The project “{project.slug}” already exists, with the grades {names}. Change "
            "them in its settings, or leave --grades out."
        )
