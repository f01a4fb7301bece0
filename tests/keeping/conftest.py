"""An installation with two projects, their files, and rows in nearly every table."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from annotate.collection import intake
from annotate.guidelines import actions as guidelines
from annotate.loading.load import load_rows
from annotate.models import (
    AuditEvent,
    ConditionAdjudication,
    Draft,
    Link,
    Preferences,
    Project,
    RejudgeRequest,
    Repeat,
    Verdict,
)
from audit.models import Check, Reveal, Rubric, Sample, SampleItem
from base.constraints import deletions_allowed
from exporters.exports import actions as exporting
from formats.registry import lookup
from jobs.runner import run
from keeping import tables
from tests import factories
from tests.exports.conftest import AT, LATER, Tides, make_release
from tests.services.copied import Copied


class CountingProgress:
    """Progress that is counted but not shown."""

    def __init__(self) -> None:
        self.done = 0

    def start(self, total: int | None, step: str) -> None:
        self.done = 0

    def advance(self, n: int = 1) -> None:
        self.done += n


class FilledInstallation:
    """An installation with the project `tides` of the export tests, and `other`, led by eve."""

    def __init__(self, folder: Path) -> None:
        # First, so that no key of the next project begins at 1.
        self.other = factories.project("other")
        eve = factories.lead(self.other, "eve")
        query = factories.query(self.other, "301")
        candidate = factories.candidate(query, "B", text="Another text.")
        factories.judgment(factories.altered(factories.pair(query)), candidate, eve, 2)
        self.tides = Tides()
        self.project = self.tides.project
        self._add_work()
        self._add_audit()
        self._load_run(folder)
        self._make_export_and_release()

    def _add_work(self) -> None:
        tides = self.tides
        # É and 名 as JSON keys and values.
        Preferences.objects.create(
            user=factories.user("ada"), keys={"undo": "u", "é": "名"}, theme="dark"
        )
        guidelines.write_guideline(text="Judge the words.", by=tides.carla, based_on=0)
        Draft.objects.create(
            pair=tides.pair,
            side="altered",
            member=tides.ada,
            text="Half a thought",
            drops=[tides.pool["B"].pk],
            overtaken=[{"id": "x:1", "drops": [tides.pool["a"].pk], "text": "Another"}],
        )
        condition = tides.narrative.conditions.get(number=1)
        repeat = Repeat.objects.create(
            repeat=True,
            narrative=tides.narrative,
            candidate=tides.pool["B"],
            annotator=tides.ada,
            relevance=0,
            at=LATER,
        )
        Verdict.objects.create(statement=repeat, condition=condition, answer="met")
        ConditionAdjudication.objects.create(
            narrative=condition.narrative,
            condition=condition,
            candidate=tides.pool["FT-10"],
            answer=Verdict.Answer.MET,
            reason="It is at sea.",
            cause="error",
            by=tides.carla,
            at=LATER,
        )
        RejudgeRequest.objects.create(
            statement=tides.narrative.statements.current().filter(annotator=tides.ada)[0],
            words="Look at the date.",
            by=tides.carla,
            at=LATER,
        )

    def _add_audit(self) -> None:
        tides = self.tides
        Rubric.objects.create(
            project=self.project, name="ours-1", title="Ours", levels=[], criteria=[], created_at=AT
        )
        sample = Sample.objects.create(
            project=self.project,
            name="first",
            source="consensus",
            asks="count",
            seed=2**40,
            size=1,
            frame_grades={"S1": {"1": 3}},
            created_by=tides.carla,
            created_at=AT,
        )
        item = SampleItem.objects.create(
            sample=sample, narrative=tides.narrative, candidate=tides.pool["B"], claimed=1
        )
        condition = tides.narrative.conditions.get(number=2)
        Check.objects.create(
            item=item,
            checker=tides.dan,
            place=1,
            relevance=1,
            verdicts={str(condition.pk): "met"},
            at=AT,
        )
        Reveal.objects.create(narrative=tides.narrative, by=tides.carla, at=AT)

    def _load_run(self, folder: Path) -> None:
        path = folder / "bm25.run"
        path.write_text("301 Q0 B 1 0.1 bm25\n301 Q0 FT-9 2 -2.5e-07 bm25\n")
        report = load_rows(
            project=self.project, kind=lookup("trec-run"), file=intake.file_on_disk(str(path))
        )
        assert report.refused == 0

    def _make_export_and_release(self) -> None:
        with patch("jobs.queue.publish"), patch("jobs.runner.PULSE", 3_600):
            export = exporting.request_export(
                project=self.project, format_name="trec", by=self.tides.carla
            )
            run(export.pk)
        self.release = make_release(self.tides, "v1")


INSTALLATION: Copied[FilledInstallation] = Copied("installation")


@pytest.fixture
def installation(
    transactional_db: None,
    storage: Any,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> FilledInstallation:
    return INSTALLATION.copy_or_make(
        lambda: FilledInstallation(tmp_path), tmp_path_factory, Path(storage.location)
    )


@pytest.fixture
def quiet() -> CountingProgress:
    return CountingProgress()


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Path) -> Any:
    """Give every test its own storage; `start_empty_installation` replaces it."""
    use_storage(settings, tmp_path / "storage")
    return default_storage


def use_storage(settings: Any, folder: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(folder)},
        },
    }


@pytest.fixture
def start_empty_installation(settings: Any, tmp_path: Path) -> Any:
    """Return a function that leaves an empty installation: no rows, no files."""

    def leave() -> None:
        with deletions_allowed():
            call_command("flush", interactive=False, verbosity=0)
        use_storage(settings, tmp_path / "elsewhere")

    return leave


# Events that backup and restore themselves record, after the backup is written.
KEEPING_EVENTS = ("project.backed_up", "project.restored")


def all_rows() -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows that a whole backup keeps, by table, except the events of KEEPING."""
    audit_events = AuditEvent.objects.filter(what__in=KEEPING_EVENTS)
    left_out = {
        AuditEvent: audit_events,
        Link: Link.objects.filter(name__in=list(audit_events.values_list("uuid", flat=True))),
    }
    found = {}
    for model in tables.kept_tables():
        rows = model._base_manager.order_by("pk")
        if model in left_out:
            rows = rows.exclude(pk__in=left_out[model].values("pk"))
        found[tables.label(model)] = [
            tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
            for row in rows.values_list()
        ]
    return found


def storage_folder() -> Path:
    """Return the folder of this test's storage."""
    storage: Any = default_storage
    return Path(storage.location)


def all_files() -> dict[str, bytes]:
    """Return the content of every file in the storage, by name."""
    root = storage_folder()
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def export_files(slug: str, folder: Path) -> dict[str, bytes]:
    """Return the content of every file of all exports of a project, by name."""
    project = Project.objects.get(slug=slug)
    written: dict[str, bytes] = {}
    for name in exporting.FORMATS:
        into = folder / f"{slug}-{name}-{len(list(folder.iterdir()))}"
        into.mkdir()
        exporting.write(project, name, into)
        written |= {
            f"{name}/{path.relative_to(into).as_posix()}": path.read_bytes()
            for path in into.rglob("*")
            if path.is_file()
        }
    return written


def run_command(command: str, *args: Any, **options: Any) -> str:
    """Return the output of a command."""
    out = io.StringIO()
    call_command(command, *map(str, args), stdout=out, **options)
    return out.getvalue()
