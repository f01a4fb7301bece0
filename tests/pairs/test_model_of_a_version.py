"""Each narrative version names the model that wrote it; later versions do not change that."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.models import InstructionPair, Narrative
from exporters.exports.selection.collection import pair_records
from tests import factories
from tests.collection.arriving import jsonl, load, problems
from tests.programs import Program

FIRST = {"side": "altered", "version": 1, "text": "Only at sea."}
SECOND = {"side": "altered", "version": 2, "text": "Only at sea, by night."}


@pytest.fixture
def project(db):
    return factories.project()


def pair(*narratives: dict[str, Any], **fields: Any) -> str:
    return jsonl({"query_id": "301", "narratives": [*narratives], **fields})


def written() -> list[tuple[int, str, str]]:
    """Return version, origin and model of each altered narrative."""
    found = Narrative.objects.filter(side="altered").order_by("version")
    return list(found.values_list("version", "origin", "model"))


def test_a_second_version_by_another_model_keeps_the_writer_of_the_first(project):
    load(project, "pairs-jsonl", pair(FIRST, model="model-a"))

    report = load(project, "pairs-jsonl", pair(FIRST, SECOND, model="model-b"))

    assert written() == [(1, "llm", "model-a"), (2, "llm", "model-b")]
    assert (
        "1 version already exists, written by another model: the recorded writer stays"
        in report.notes
    )


def test_each_version_of_a_file_may_name_its_own_model(project):
    by_people = {**SECOND, "version": 3, "text": "Only by night.", "origin": "human"}

    load(
        project,
        "pairs-jsonl",
        pair({**FIRST, "model": "model-a"}, {**SECOND, "model": "model-b"}, by_people),
    )

    assert written() == [(1, "llm", "model-a"), (2, "llm", "model-b"), (3, "human", "")]


def test_originals_and_versions_with_an_author_are_written_by_people(project):
    load(project, "pairs-jsonl", pair(FIRST, {**SECOND, "author": "ada"}, model="model-a"))

    assert written() == [(1, "llm", "model-a"), (2, "human", "")]
    assert Narrative.objects.get(side="original").origin == "human"


def test_the_writer_of_a_version_is_never_changed(project):
    load(project, "pairs-jsonl", pair({**FIRST, "model": "model-a"}))

    report = load(project, "pairs-jsonl", pair({**FIRST, "model": "model-b"}))

    (problem,) = problems(report)
    assert problem == (
        "file.txt:1: version 1 of the altered narrative of 301 already exists, written by "
        "model-a: the writer of a version is never changed"
    )


def test_a_narrative_by_people_with_a_model_is_refused(project):
    report = load(project, "pairs-jsonl", pair({**FIRST, "origin": "human", "model": "model-a"}))

    assert problems(report) == [
        "file.txt:1: model of a narrative is 'model-a', but origin is human"
    ]


def test_the_export_names_the_model_of_each_version_and_reads_back(project):
    content = pair({**FIRST, "model": "model-a"}, {**SECOND, "model": "model-b"})
    load(project, "pairs-jsonl", content)

    (record,) = pair_records(project)

    assert [(one.side, one.origin, one.model) for one in record.narratives] == [
        ("original", "human", ""),
        ("altered", "llm", "model-a"),
        ("altered", "llm", "model-b"),
    ]
    other = factories.project("other")
    load(other, "pairs-jsonl", jsonl({"type": "pair", **_as_json(record)}))
    assert next(pair_records(other)).narratives == record.narratives


def _as_json(record: Any) -> dict[str, Any]:
    narratives = [{**one._asdict(), "at": one.at.isoformat()} for one in record.narratives]
    return {**record._asdict(), "narratives": narratives}


def test_the_api_and_pages_name_the_model_of_each_version(project, client):
    load(project, "pairs-jsonl", pair({**FIRST, "model": "model-a"}, {**SECOND, "model": "m-b"}))
    carla = factories.lead(project)
    client.force_login(carla.user)
    found = InstructionPair.objects.get()

    versions = Program("carla").get(f"pairs/{found.pk}/narratives/?side=altered").json()["results"]
    story = client.get(f"/pairs/{found.pk}/story/").content.decode()

    assert [(one["version"], one["model"]) for one in versions] == [(1, "model-a"), (2, "m-b")]
    assert "written by model-a" in story
    assert "written by m-b" in story
