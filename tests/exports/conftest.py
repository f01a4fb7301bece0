"""A hand-made project in which every case that exports distinguish occurs once or twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.core.files.storage import Storage, default_storage

from annotate.models import (
    Adjudication,
    Condition,
    Flag,
    InstructionPair,
    Narrative,
    Project,
    Verdict,
)
from audit.models import Decision, Rating, Review
from audit.reviews.criteria import FOLLOWTABLE
from exporters.exports import actions
from exporters.models import Export, Release
from exporters.releases import actions as releasing
from exporters.releases import contents, file_store
from jobs.runner import Progress, run
from tests import factories
from tests.services.copied import Copied

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
LATER = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)


class Tides:
    """Queries 1000 (no pair), 301, 302, 303 (its pair removed), 304 (nothing written yet)."""

    def __init__(self) -> None:
        self.project = factories.project(judge_scope="relevant", overlap_judge=2)
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        self.ben = factories.member(self.project, "ben")
        self.dan = factories.member(self.project, "dan")
        self.model = factories.machine(self.project)
        self._uuids = 0
        self._query_1000()
        self._query_301()
        self._query_302()
        self._query_303()
        self._query_304()
        # The bytes of an export must not depend on when narratives were written.
        Narrative.objects.update(created_at=AT)

    def _query_1000(self) -> None:
        query = factories.query(self.project, "1000", "harbour seals")
        factories.candidate(query, "X", prior=-1, text=None)

    def _query_301(self) -> None:
        query = factories.query(self.project, "301", "tidal power")
        priors = {"é": 1, "a": 0, "FT-9": 1, "FT-10": 2, "B": 1, "Z": None}
        pool = {
            doc_id: factories.candidate(query, doc_id, prior, text=f"Text of {doc_id}.")
            for doc_id, prior in priors.items()
        }
        self.pair = factories.pair(query, category="S1")
        old = factories.altered(self.pair)
        new = factories.narrative(self.pair, text="Only plants at sea, in use.", version=2)
        conditions = [
            Condition.objects.create(narrative=new, number=number, name=name, text=text)
            for number, (name, text) in enumerate((("", "At sea."), ("use", "In use.")), 1)
        ]
        self.judge(old, pool["é"], self.ben, 1)
        self.judge(new, pool["B"], self.ada, 0)
        self.judge(new, pool["B"], self.ben, 0)
        earlier = self.judge(new, pool["FT-10"], self.ada, 1, ended_at=LATER)
        later = self.judge(
            new, pool["FT-10"], self.ada, 2, at=LATER, replaces=earlier, note="At sea."
        )
        self.give_verdicts(later, conditions, "met", "met")
        self.give_verdicts(
            self.judge(new, pool["FT-10"], self.ben, 2, pressed="click"),
            conditions,
            "met",
            "cant_tell",
        )
        self.judge(new, pool["FT-9"], self.ada, 1)
        self.judge(new, pool["FT-9"], self.ben, 0)
        marked = self.judge(
            *(new, pool["é"], self.ada, 0),
            evidence=[{"start": 0, "end": 4}],
            clauses=[{"start": 15, "end": 21}],
            active_ms=900,
            pressed="key",
            made_at=AT,
        )
        self.give_verdicts(marked, conditions, "not_met")
        Flag.objects.create(
            uuid=UUID(int=99),
            narrative=new,
            candidate=pool["é"],
            annotator=self.ben,
            flag="later",
            at=AT,
            made_at=AT,
        )
        self.narrative, self.pool = new, pool

    def _query_302(self) -> None:
        query = factories.query(self.project, "302", "dykes")
        c, d = factories.candidate(query, "C"), factories.candidate(query, "D")
        under = factories.altered(factories.pair(query, origin="llm", model="llm-1"))
        self.judge(under, c, self.ada, 0)
        self.judge(under, c, self.ben, 1)
        self.judge(under, d, self.model, 0)
        Adjudication.objects.create(
            narrative=under,
            candidate=c,
            relevance=1,
            reason="It says so.",
            cause="error",
            by=self.carla,
            at=LATER,
        )
        review = Review.objects.create(
            narrative=under,
            auditor=self.dan,
            rubric=FOLLOWTABLE.name,
            started_at=AT,
            submitted_at=LATER,
        )
        for criterion in reversed(FOLLOWTABLE.criteria):
            Rating.objects.create(
                review=review,
                criterion=criterion.key,
                level="acceptable",
                place=1,
                rejects=False,
            )
        Review.objects.create(
            narrative=under, auditor=self.ben, rubric=FOLLOWTABLE.name, started_at=AT
        )
        Decision.objects.create(narrative=under, outcome="accepted", by=self.carla, at=LATER)

    def _query_303(self) -> None:
        query = factories.query(self.project, "303", "canals")
        candidate = factories.candidate(query, "R")
        pair = factories.pair(query)
        self.judge(factories.altered(pair), candidate, self.ada, 0)
        InstructionPair.objects.filter(pk=pair.pk).update(removed_at=AT, removed_by=self.carla)

    def _query_304(self) -> None:
        factories.pair(factories.query(self.project, "304", "locks"), altered=None)

    def judge(self, under, of, by, relevance, *, at=AT, **fields):
        self._uuids += 1
        return factories.judgment(
            under, of, by, relevance, at=at, uuid=UUID(int=self._uuids), **fields
        )

    def give_verdicts(self, judgment, conditions, *answers):
        """Give verdicts on the first conditions, in their order."""
        for condition, answer in zip(conditions, answers, strict=False):
            Verdict.objects.create(statement=judgment, condition=condition, answer=answer)


TIDES: Copied[Tides] = Copied("tides")


@pytest.fixture
def tides(db: None, tmp_path_factory: pytest.TempPathFactory) -> Tides:
    return TIDES.copy_or_make(Tides, tmp_path_factory)


def make_release(tides: Any, name: str, **fields: Any) -> Release:
    """Make a release by the lead `carla` at once, as a worker would."""
    with patch("jobs.queue.publish"), patch("jobs.runner.PULSE", 3_600):
        release = releasing.request_release(
            project=tides.project, name=name, **{"by": tides.carla, **fields}
        )
        run(release.pk)
    release.refresh_from_db()
    return release


def content_of(storage: Storage, release: Release, name: str) -> bytes:
    """Return the content of a release's file."""
    entry = contents.files(release)[name]
    with storage.open(file_store.path_of(release.project_id, entry["sha256"])) as stream:
        return bytes(stream.read())


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


class WrittenExport:
    """An export in a folder, with access to its files."""

    def __init__(self, project: Project, format_name: str, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.manifest = actions.write(project, format_name, folder)

    def __getitem__(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def records(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self[name].splitlines()]

    def bytes(self) -> dict[str, bytes]:
        return files_of(self.folder)


@pytest.fixture
def built(tides: Tides) -> Export:
    """A finished export of the hand-made project."""
    export = Export.objects.create(project=tides.project, by=tides.carla, format="trec")
    actions.build(export, Progress())
    Export.objects.update(state="done", started_at=AT, finished_at=LATER)
    export.refresh_from_db()
    return export


@pytest.fixture
def write(tmp_path):
    made: list[WrittenExport] = []

    def write(project, format_name="trec"):
        made.append(WrittenExport(project, format_name, tmp_path / str(len(made))))
        return made[-1]

    return write


@pytest.fixture(autouse=True)
def empty_storage(settings, tmp_path):
    """Give every test an empty storage."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "storage")},
        },
    }
    return default_storage
