"""Rows that break a rule of the project's kind are reported, and loaded only on request."""

from __future__ import annotations

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotate.judgments.intake.versions import _RULES, LoadRule
from annotate.loading import load_jobs
from annotate.models import AuditEvent, Category, InstructionPair, Judgment, Load
from annotate.pools.removal import DOCUMENTS
from annotate.projects.actions import create_project
from annotate.projects.kinds import KINDS
from base.errors import Refused
from jobs.runner import Progress
from tests import factories
from tests.collection.arriving import load
from tests.programs import Program

pytestmark = pytest.mark.both_databases


def project(kind):
    return create_project(slug="tides", kind=kind, by=factories.user("carla"))


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def claims(pair_id, *relevances):
    return [
        {
            "type": "claim",
            "pair_id": pair_id,
            "doc_id": f"d{number}",
            "relevance": relevance,
            "rater": "a-model",
        }
        for number, relevance in enumerate(relevances)
    ]


def counted(conditions, *relevances):
    """Return a pair with this many conditions, and claims about its documents."""
    texts = [f"Condition {number}." for number in range(conditions)]
    altered = {"side": "altered", "text": "Find it.", "conditions": texts}
    return jsonl({"query_id": "0", "narratives": [altered]}, *claims("0", *relevances))


FEW = jsonl(
    {"query_id": "1", "altered": "Only sea harbours.", "category": "C1"},
    {"query_id": "2", "altered": "Only large ones.", "category": "C1"},
    {"query_id": "3", "altered": "Only old ones.", "category": "C1"},
    *claims("1", 1, 1, 0),
    *claims("2", 1, 1, 1),
)
# For each rule: a kind that has it, a file that breaks it, and the reported lines with messages.
BROKEN = [
    (
        "followtable",
        "pairs-jsonl",
        FEW,
        [(1, "instruction 1 has 2 relevant documents; this kind asks for at least 3")],
    ),
    (
        "followtable",
        "pairs-jsonl",
        jsonl({"query_id": "1", "altered": "Only sea harbours.", "category": "C3"}),
        [(1, "the category C3 is not one of the project's types")],
    ),
    (
        "infosearch",
        "pairs-jsonl",
        jsonl(
            {
                "query_id": "1",
                "original": "",
                "altered": "For children.",
                "reversed": "For adults.",
            },
            {"query_id": "2", "original": "", "reversed": "For adults.", "category": "length"},
            {"query_id": "3", "altered": "In verse.", "category": "verse"},
        ),
        [
            (2, "2 has a reversed instruction but not the one that it reverses"),
            (3, "the category verse is not one of the project's types"),
        ],
    ),
    (
        "multiconir",
        "pairs-jsonl",
        counted(11, 10, 3),
        [(1, "instruction 0 has 11 conditions; this kind allows at most 10")],
    ),
    (
        "multiconir",
        "pairs-jsonl",
        counted(3, 3, 4, 0),
        [(3, "d1 is labelled as meeting 4 conditions, but there are 3")],
    ),
    (
        "multi-infosearch",
        "pairs-jsonl",
        jsonl(
            {
                "query_id": "1",
                "narratives": [
                    {
                        "side": "altered",
                        "text": "Short, for a child.",
                        "conditions": [
                            {"name": "length", "text": "Short"},
                            {"name": "mood", "text": "Merry"},
                        ],
                    }
                ],
            }
        ),
        [(1, "the dimension mood is not one of the project's types")],
    ),
]


def sentences_of(report):
    return [(row.line, row.message) for row in report.broken_rules]


@pytest.mark.parametrize(("kind", "what", "content", "rows"), BROKEN)
def test_the_preview_reports_each_row_that_breaks_a_rule(db, kind, what, content, rows):
    made = project(kind)
    report = load(made, what, content, dry_run=True)

    assert (report.refused, report.broken) == (0, len(rows))
    assert sentences_of(report) == rows
    assert not made.pairs.exists()


@pytest.mark.parametrize(("kind", "what", "content", "rows"), BROKEN)
def test_a_file_that_breaks_rules_is_loaded_only_on_request(db, kind, what, content, rows):
    made = project(kind)

    refused = load(made, what, content)

    assert "of the project's kind. Nothing is loaded" in refused.problems[0].message
    assert sentences_of(refused) == rows
    assert not made.pairs.exists()

    loaded = load(made, what, content, despite_rules=True)

    assert (loaded.refused, sentences_of(loaded)) == (0, rows)
    assert made.pairs.exists()
    words = AuditEvent.objects.get(what="load.done").words
    assert f"{len(rows)} despite rules of the kind" in words


def test_a_relevance_in_qrels_above_the_number_of_conditions_is_reported(db):
    made = project("multiconir")
    load(made, "pairs-jsonl", counted(2, 2))

    report = load(made, "trec-qrels", "0 0 d0 2\n0 0 d1 3\n", dry_run=True)

    assert sentences_of(report) == [(2, "d1 is labelled as meeting 3 conditions, but there are 2")]


def test_rules_take_existing_rows_into_account(db):
    made = project("infosearch")
    load(made, "pairs-jsonl", jsonl({"query_id": "1", "altered": "For children."}))

    report = load(made, "pairs-jsonl", jsonl({"query_id": "1", "reversed": "For adults."}))

    assert (report.broken, report.refused) == (0, 0)


def test_a_document_that_was_taken_out_is_no_relevant_one(db):
    made = project("followtable")
    enough = jsonl(
        {"query_id": "2", "altered": "Only large ones.", "category": "C1"}, *claims("2", 1, 1, 1)
    )
    assert load(made, "pairs-jsonl", enough).broken == 0
    keys = DOCUMENTS.keys_of(made, [("2", "d0")])
    DOCUMENTS.remove(project=made, keys=keys, reason="Twice in the pool.", by=None)

    report = load(made, "pairs-jsonl", enough, dry_run=True)

    assert sentences_of(report) == [
        (1, "instruction 2 has 2 relevant documents; this kind asks for at least 3")
    ]


def test_a_project_without_types_has_no_unknown_category(db):
    made = project("followtable")
    Category.objects.filter(project=made).delete()

    report = load(made, "pairs-jsonl", jsonl({"query_id": "1", "altered": "A.", "category": "C9"}))

    assert (report.broken, report.refused) == (0, 0)


@pytest.mark.parametrize("kind", ["followir", "own"])
def test_other_kinds_have_no_load_rules(db, kind):
    assert KINDS[kind].load_rules == ()
    assert load(project(kind), "pairs-jsonl", FEW).broken == 0


def test_every_rule_that_a_kind_names_exists():
    rules = {one.rule for kind in KINDS.values() for one in kind.load_rules}

    assert rules == {rule.value for rule in LoadRule}
    assert set(_RULES) == set(LoadRule)


def upload_preview(by):
    file = SimpleUploadedFile("pairs.jsonl", FEW.encode())
    return finish(load_jobs.request_load(format_name="pairs-jsonl", file=file, by=by))


def finish(found):
    now = timezone.now()
    load_jobs.perform_load(found, Progress())
    Load.objects.filter(pk=found.pk).update(state="done", started_at=now, finished_at=now)
    found.refresh_from_db()
    return found


def test_the_page_lists_the_rows_and_loads_them_once_the_lead_ticks_it(db, storage, client):
    made = project("followtable")
    carla = made.memberships.get(name="carla")
    client.force_login(carla.user)
    preview = upload_preview(carla)

    page = client.get(preview.get_absolute_url()).content.decode()
    assert "1 row breaks a rule of the kind" in page
    assert "Instruction 1 has 2 relevant documents" in page
    confirm = reverse("annotate:load_confirmation", args=["tides", preview.pk])
    client.post(confirm)
    assert Load.objects.count() == 1

    client.post(confirm, {"despite_rules": "yes"})

    loaded = finish(Load.objects.get(preview=preview))
    assert loaded.despite_rules
    assert InstructionPair.objects.count() == 3
    assert "They were loaded as they are" in (
        client.get(loaded.get_absolute_url()).content.decode()
    )


def test_among_several_files_the_one_with_broken_rules_is_confirmed_beside_them(
    db, storage, client
):
    made = project("followtable")
    carla = made.memberships.get(name="carla")
    client.force_login(carla.user)
    files = [SimpleUploadedFile("pairs.jsonl", FEW.encode())]
    batch = load_jobs.request_batch(files=files, format_name="pairs-jsonl", by=carla)
    preview = finish(Load.objects.get(batch=batch))
    address = reverse("annotate:load_batch", args=["tides", batch])
    confirm = reverse("annotate:load_confirmation", args=["tides", preview.pk])

    assert f'action="{confirm}"' in client.get(address).text
    assert client.post(confirm, {"in_batch": "yes"}).url == preview.get_absolute_url()
    assert Load.objects.count() == 1

    answer = client.post(confirm, {"in_batch": "yes", "despite_rules": "yes"})

    assert answer.url == address
    assert Load.objects.get(preview=preview).despite_rules


def test_the_api_reports_broken_rules_and_loads_despite_them(db, storage):
    made = project("followtable")
    preview = upload_preview(made.memberships.get(name="carla"))
    program = Program("carla", "lead")
    address = f"projects/tides/loads/{preview.pk}/"

    report = program.get(address).json()["report"]
    assert (report["broken"], report["broken_rules"][0]["line"]) == (1, 1)
    refused = program.send("PUT", f"{address}confirmation/", {})
    assert refused.status_code == 422
    accepted = program.send("PUT", f"{address}confirmation/", {"despite_rules": True})

    assert accepted.json()["despite_rules"]


def test_confirming_broken_rules_without_despite_rules_is_refused(db, storage):
    made = project("followtable")
    carla = made.memberships.get(name="carla")

    with pytest.raises(Refused, match="break rules of the project's kind"):
        load_jobs.confirm_load(preview=upload_preview(carla), by=carla)


def test_the_command_lists_broken_rules_and_loads_despite_them(db, tmp_path):
    made = project("followtable")
    file = tmp_path / "pairs.jsonl"
    file.write_text(FEW)

    errors = io.StringIO()
    with pytest.raises(SystemExit):
        run(file, stderr=errors)
    assert "pairs.jsonl:1: instruction 1 has 2 relevant documents" in errors.getvalue()
    assert "(breaks a rule of the kind)" in errors.getvalue()
    assert not made.pairs.exists()

    run(file, "--despite-rules", stderr=io.StringIO())

    assert Judgment.objects.count() == 6


def run(file, *more, stderr):
    call_command(
        "load", "tides", "pairs-jsonl", str(file), *more, stdout=io.StringIO(), stderr=stderr
    )
