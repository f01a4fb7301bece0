"""Judgments have a hash chain, and any change other than by the actions is noticed."""

from __future__ import annotations

import json
import uuid
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotate.collection.marking import Span
from annotate.judging import actions as judging
from annotate.judging.actions import undo, withdraw
from annotate.models import Judgment, Link, Verdict
from annotate.projects import hash_chain
from base.constraints import deletions_allowed
from keeping.verify import verify
from tests import factories
from tests.collection.arriving import jsonl, load
from tests.judging.test_judging import NOON, Scene

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def faults(scene: Scene) -> list[tuple[str, str]]:
    return [(one.what, one.sentence) for one in verify(scene.project).faults]


def execute_sql(statement: str, *parameters: Any) -> None:
    """Change the database directly, past the actions."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def judgment_line(
    doc_id: str, relevance: int, annotator: str = "ben", **more: object
) -> dict[str, object]:
    return {
        "query_id": "301",
        "doc_id": doc_id,
        "annotator": annotator,
        "relevance": relevance,
        **more,
    }


# --- changes by the actions are valid -------------------------------------------------------------


def test_every_action_of_the_pages_is_in_the_chain(scene):
    first = scene.judge(2, note="It is at sea. Œ", evidence=[Span(0, 4)], active_ms=900)
    scene.judge(1, made_at=NOON, pressed="key")
    judging.flag(narrative=scene.narrative, candidate=scene.first, kind="later", by=scene.ada)
    scene.judge(0, of=scene.second)
    undo(narrative=scene.narrative, by=scene.ada)
    withdraw(uuid=first.uuid, pair=scene.pair, by=scene.ada)
    scene.judge(2, of=scene.second)

    found = verify(scene.project)

    assert found.faults == []
    assert found.rows["judgment"] == 4


def test_undoing_every_judgment_leaves_no_fault_at_any_step(scene):
    scene.judge(2)
    scene.judge(1)
    scene.judge(0)
    for left in (1, 2, None):
        undo(narrative=scene.narrative, by=scene.ada)

        assert scene.current() == ([("A", left)] if left is not None else [])
        assert faults(scene) == []


def test_verdicts_are_part_of_the_content(scene):
    conditions = [
        scene.narrative.conditions.create(number=number, text=f"Condition {number}.")
        for number in (2, 1)
    ]
    scene.judge(1, verdicts={conditions[0].pk: "met", conditions[1].pk: "not_met"})
    assert faults(scene) == []

    Verdict.objects.filter(condition=conditions[0]).update(answer="not_met")

    assert faults(scene) == [
        (
            "changed",
            "the judgment of ada on A (301, altered 1) was changed after it was recorded",
        )
    ]


def test_a_verdict_moved_to_a_condition_of_another_narrative_is_reported(scene):
    condition = scene.narrative.conditions.create(number=1, text="It is at sea.")
    scene.judge(1, verdicts={condition.pk: "met"})

    original = scene.pair.narratives.get(side="original")
    Verdict.objects.update(condition=original.conditions.create(number=1, text="It is on land."))

    assert [what for what, _ in faults(scene)] == ["changed"]


def test_judgments_from_files_and_those_they_supersede_are_in_a_chain(scene):
    scene.judge(2)
    load(scene.project, "judgments-jsonl", jsonl(judgment_line("A", 1), judgment_line("B", 2)))
    load(
        scene.project,
        "judgments-jsonl",
        jsonl(
            judgment_line("A", 0, note="after all"),
            judgment_line("B", 1, at="2020-01-01T00:00:00Z"),
            judgment_line("A", 1, annotator="ada"),
        ),
    )
    load(scene.project, "judgments-jsonl", jsonl(judgment_line("B", -1)), no_grade=-1)

    found = verify(scene.project)

    assert found.faults == []
    assert found.rows["judgment"] == Judgment.objects.count() == 6


def test_a_file_that_is_loaded_again_adds_no_link(scene):
    lines = jsonl(judgment_line("A", 1, evidence=[{"start": 0, "end": 4}]), judgment_line("B", 2))
    load(scene.project, "judgments-jsonl", lines)
    before = Link.objects.count()

    load(scene.project, "judgments-jsonl", lines)
    load(scene.project, "judgments-jsonl", jsonl(judgment_line("C", 0)), dry_run=True)

    assert Link.objects.count() == before
    assert Link.objects.filter(kind="judgment").count() == 2
    assert faults(scene) == []


def test_all_lines_of_a_file_are_in_one_chain(scene):
    lines = "".join(jsonl(judgment_line("A", n % 3, annotator=f"rater {n}")) for n in range(40))

    load(scene.project, "judgments-jsonl", lines)

    links = Link.objects.filter(kind="judgment")
    assert links.values("chain").distinct().count() == 1
    assert sorted(links.values_list("number", flat=True)) == list(range(1, 41))
    assert faults(scene) == []


def test_a_judgment_has_one_link_and_one_for_the_judgment_it_superseded(scene):
    first = scene.judge(2)
    second = scene.judge(1)

    links = Link.objects.order_by("number").values_list("number", "event", "name", "chain")

    assignment = hash_chain.of_assignment("301", "ada")
    assert list(links) == [
        (1, Link.Event.CONTENT, first.uuid, assignment),
        (2, Link.Event.CONTENT, second.uuid, assignment),
        (3, Link.Event.END, first.uuid, assignment),
    ]


# --- changes past the actions are noticed ---------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("relevance", 0),
        ("note", "Another note"),
        ("evidence", '[{"start": 1, "end": 4}]'),
        ("clauses", '[{"start": 0, "end": 2}]'),
        ("active_ms", 1),
        ("pressed", "click"),
        ("source", "file"),
        ("at", "2026-01-01 00:00:00"),
        ("made_at", "2026-01-01 00:00:00"),
    ],
)
def test_a_changed_judgment_is_reported(scene, column, value):
    scene.judge(2, note="A note", evidence=[Span(0, 4)], active_ms=900, pressed="key")

    execute_sql(f"UPDATE annotate_statement SET {column} = %s", value)  # noqa: S608 (columns of ours)

    assert faults(scene) == [
        (
            "changed",
            "the judgment of ada on A (301, altered 1) was changed after it was recorded",
        )
    ]


def test_a_value_that_cannot_be_read_is_reported_and_the_links_are_compared(scene):
    scene.judge(2, evidence=[Span(0, 4)])

    execute_sql("UPDATE annotate_statement SET evidence = %s", '[["not a span"]]')

    [(what, sentence)] = faults(scene)
    assert what == "changed"
    assert sentence.startswith("a row of the kind judgment cannot be read: ")
    assert sentence.endswith("; compare it by hand")
    assert verify(scene.project).links > 0


def test_a_judgment_moved_to_another_person_or_document_is_reported(scene):
    scene.judge(2)
    ben = factories.member(scene.project, "ben")

    Judgment.objects.update(annotator=ben)
    assert [what for what, _ in faults(scene)] == ["changed"]

    Judgment.objects.update(annotator=scene.ada)
    assert faults(scene) == []

    Judgment.objects.update(candidate=scene.second)
    assert faults(scene) == [
        (
            "changed",
            "the judgment of ada on B (301, altered 1) was changed after it was recorded",
        )
    ]


def test_a_judgment_superseded_or_restored_by_hand_is_reported(scene):
    first = scene.judge(2)
    scene.judge(1)

    Judgment.objects.filter(ended_at=None).update(ended_at=NOON)
    Judgment.objects.filter(pk=first.pk).update(ended_at=None)

    assert sorted(faults(scene)) == [
        (
            "stands",
            "the judgment of ada on A (301, altered 1) was ended, but not by an action",
        ),
        (
            "stands",
            "the judgment of ada on A (301, altered 1) was made current, but not by an action",
        ),
    ]


def test_a_deleted_judgment_is_reported(scene):
    gone = scene.judge(2)
    scene.judge(1, of=scene.second)

    execute_sql("DELETE FROM annotate_statement WHERE id = %s", gone.pk)

    assert faults(scene) == [("gone", f"the judgment with the UUID {gone.uuid} is gone")]


def test_an_inserted_judgment_is_reported(scene):
    scene.judge(2)
    factories.judgment(scene.narrative, scene.second, scene.ada, 1)

    assert faults(scene) == [
        (
            "unlinked",
            "the judgment of ada on B (301, altered 1) is not in a chain: no action inserted it",
        )
    ]


def test_a_judgment_deleted_with_its_link_leaves_a_gap(scene):
    gone = scene.judge(2)
    scene.judge(1, of=scene.second)

    execute_sql("DELETE FROM annotate_statement WHERE id = %s", gone.pk)
    with deletions_allowed():
        Link.objects.filter(name=gone.uuid).delete()

    assert faults(scene) == [("link", "link 1 of the chain of ada's judgments of 301 is gone")]


def test_a_link_that_matches_a_changed_judgment_does_not_match_its_chain(scene):
    changed = scene.judge(2)
    scene.judge(1, of=scene.second)
    link = Link.objects.get(name=changed.uuid)
    Judgment.objects.filter(pk=changed.pk).update(relevance=0)
    [row] = hash_chain.KINDS["judgment"].read(Judgment.objects.filter(pk=changed.pk))

    with deletions_allowed():
        link.delete()
        link.digest = hash_chain.digest("judgment", row.content)
        link.save(force_insert=True)

    assert faults(scene) == [("link", "link 1 of the chain of ada's judgments of 301 was changed")]


def test_a_shortened_chain_is_reported_against_a_kept_end(scene, tmp_path):
    scene.judge(2)
    last = scene.judge(1, of=scene.second)
    ends = tmp_path / "ends.txt"
    out, _ = run_verify("tides", keep=ends)
    assert "2 judgment; 2 links" in out

    execute_sql("DELETE FROM annotate_statement WHERE id = %s", last.pk)
    with deletions_allowed():
        Link.objects.filter(name=last.uuid).delete()

    assert faults(scene) == []
    out, error = run_verify("tides", against=ends)
    assert "the chain of ada's judgments of 301 no longer has the link 2 that it had then" in out
    assert error == "Differences from the chains: 1."


def test_a_deleted_chain_is_reported_against_a_kept_end(scene, tmp_path):
    scene.judge(2)
    ends = tmp_path / "ends.txt"
    run_verify("tides", keep=ends)

    Judgment.objects.all().delete()
    with deletions_allowed():
        Link.objects.all().delete()

    out, _ = run_verify("tides", against=ends)
    assert "the chain of ada's judgments of 301, which had 1 links, is gone" in out


def test_a_longer_chain_still_matches_its_kept_end(scene, tmp_path):
    scene.judge(2)
    ends = tmp_path / "ends.txt"
    run_verify(keep=ends)

    scene.judge(1)

    assert run_verify(against=ends)[1] == ""


# --- the command ----------------------------------------------------------------------------------


def run_verify(*arguments: str, **options: object) -> tuple[str, str]:
    """Return the command's output, and the sentence with which it fails or ""."""
    out = StringIO()
    try:
        call_command("verify", *arguments, stdout=out, **options)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def test_the_command_prints_faults_as_json(scene):
    changed = scene.judge(2)
    Judgment.objects.update(relevance=0)

    out, error = run_verify(json=True)

    result = json.loads(out)
    of_all, tides = result["projects"]
    assert result["wrong"] == 1
    assert (of_all["project"], tides["project"]) == (None, "tides")
    assert (tides["rows"], tides["links"], tides["chains"]) == ({"judgment": 1}, 1, 1)
    assert tides["faults"] == [
        {
            "what": "changed",
            "sentence": "the judgment of ada on A (301, altered 1) was changed after it was "
            "recorded",
            "kind": "judgment",
            "uuid": str(changed.uuid),
            "chain": None,
            "number": None,
        }
    ]
    assert error == "Differences from the chains: 1."


def test_one_project_is_verified_without_the_others(scene):
    scene.judge(2)
    other = factories.project("bees")

    assert run_verify("bees") == (f"bees: nothing; 0 links; sum {verify(other).sum}\n", "")
    assert run_verify("none")[1] == "There is no project “none”. Choose one of: bees, tides."


def test_the_sum_of_a_project_changes_with_every_judgment(scene):
    scene.judge(2)
    before = verify(scene.project).sum

    assert verify(scene.project).sum == before
    scene.judge(1)
    assert verify(scene.project).sum != before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tides x 1 00\n", "line 1 is not the end of a chain"),
        (f"tides {uuid.UUID(int=1)} 1 00\n", "line 1 is not the end of a chain"),
        (f"tides {uuid.UUID(int=1)} 0 {'00' * 32}\n", "line 1 is not the end of a chain"),
        ("\udcff\n", "line 1 is not the end of a chain"),
    ],
    ids=["no chain", "a short sum", "no link", "not UTF-8"],
)
def test_a_file_without_chain_ends_is_refused(text, sentence, tmp_path):
    file = tmp_path / "ends.txt"
    file.write_bytes(text.encode(errors="surrogateescape"))

    assert run_verify(against=file)[1] == f"{file}: {sentence}."


def test_chain_ends_are_written_to_new_files_only(scene, tmp_path):
    file = tmp_path / "ends.txt"
    file.write_text("mine")

    assert run_verify(keep=file)[1] == f"{file} already exists. Name a new file."
    assert file.read_text() == "mine"
