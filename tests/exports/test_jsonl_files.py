"""The JSON lines of the hand-made project hold every record, and read back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.models import ConditionAdjudication, Document, Membership, ReviewDraw
from annotate.pools.removal import DOCUMENTS
from annotate.rewriting import actions as rewriting
from audit.settling.adjudication import settle_condition, withdraw_adjudication
from formats import judgments_csv
from formats.jsonl import read_judgments
from formats.jsonl_pairs import read_pairs
from formats.records import ConditionRecord, Evidence, JudgmentRecord, PairRecord, VerdictRecord
from formats.source import open_source
from tests.exports.conftest import AT, LATER

pytestmark = pytest.mark.both_databases


def records_of(files, name):
    with open_source(files.folder / name) as source:
        return list(read_judgments(source))


def test_every_judgment_is_exported_with_annotator_time_and_narrative_version(tides, write):
    files = write(tides.project, "jsonl")

    assert files["judgments.jsonl"].splitlines()[7] == (
        '{"type": "judgment", "query_id": "301", "doc_id": "é", "annotator": "ben", '
        '"relevance": 1, "side": "altered", "pair_id": "301", "version": 1, '
        '"at": "2026-03-02T09:30:00+00:00", "note": "", '
        '"uuid": "00000000-0000-0000-0000-000000000001", "machine": false, "evidence": [], '
        '"active_ms": null, "superseded_at": null, "withdrawn_at": null, "clauses": [], '
        '"verdicts": [], "pressed": "", "made_at": null}'
    )


def test_exported_judgments_read_back_unchanged(tides, write):
    records = records_of(write(tides.project, "jsonl"), "judgments.jsonl")

    assert [(r.query_id, r.doc_id, r.annotator, r.relevance, r.version) for r in records] == [
        ("301", "B", "ada", 0, 2),
        ("301", "B", "ben", 0, 2),
        ("301", "FT-10", "ada", 1, 2),
        ("301", "FT-10", "ada", 2, 2),
        ("301", "FT-10", "ben", 2, 2),
        ("301", "FT-9", "ada", 1, 2),
        ("301", "FT-9", "ben", 0, 2),
        ("301", "é", "ben", 1, 1),
        ("301", "é", "ada", 0, 2),
        ("302", "C", "ada", 0, 1),
        ("302", "C", "ben", 1, 1),
        ("302", "D", "model", 0, 1),
        ("303", "R", "ada", 0, 1),
    ]
    assert [r.doc_id for r in records if r.machine] == ["D"]
    assert records[8] == JudgmentRecord(
        query_id="301",
        doc_id="é",
        annotator="ada",
        relevance=0,
        side="altered",
        pair_id="301",
        version=2,
        at=AT,
        uuid="00000000-0000-0000-0000-000000000009",
        evidence=(Evidence(0, 4),),
        active_ms=900,
        clauses=(Evidence(15, 21),),
        verdicts=(VerdictRecord(1, "not_met"),),
        pressed="key",
        made_at=AT,
    )
    assert [r.verdicts for r in records if r.annotator == "ben" and r.verdicts] == [
        (VerdictRecord(1, "met"), VerdictRecord(2, "cant_tell"))
    ]


def test_a_superseded_judgment_has_the_time_of_its_end(tides, write):
    records = records_of(write(tides.project, "jsonl"), "judgments.jsonl")

    assert [(r.relevance, r.superseded_at) for r in records if r.superseded_at] == [(1, LATER)]


def test_flags_decisions_and_reviews_read_back(tides, write):
    files = write(tides.project, "jsonl")

    [flag] = records_of(files, "flags.jsonl")
    [adjudication] = records_of(files, "adjudications.jsonl")
    [review] = records_of(files, "reviews.jsonl")
    [decision] = records_of(files, "decisions.jsonl")

    assert (flag.doc_id, flag.annotator, flag.kind, flag.at) == ("é", "ben", "later", AT)
    assert (flag.uuid, flag.made_at) == ("00000000-0000-0000-0000-000000000063", AT)
    assert (adjudication.doc_id, adjudication.by, adjudication.relevance) == ("C", "carla", 1)
    assert (adjudication.reason, adjudication.cause) == ("It says so.", "error")
    assert (review.pair_id, review.auditor, review.version, review.at) == ("302", "dan", 1, LATER)
    assert [rating.criterion for rating in review.ratings] == [
        "semantic_expansion",
        "semantic_consistency",
        "query_dependency",
        "constraint_abstraction",
        "category_focus",
        "internal_consistency",
    ]
    assert (decision.pair_id, decision.outcome, decision.by) == ("302", "accepted", "carla")


def test_pairs_read_back_with_every_version(tides, write):
    files = write(tides.project, "jsonl")

    with open_source(files.folder / "pairs.jsonl") as source:
        pairs = [pair for pair in read_pairs(source) if isinstance(pair, PairRecord)]

    assert [pair.pair_id for pair in pairs] == ["301", "302", "303", "304"]
    assert (pairs[1].origin, pairs[1].model) == ("llm", "llm-1")
    assert [(n.side, n.version, n.text) for n in pairs[0].narratives] == [
        ("original", 1, "Any plant counts."),
        ("altered", 1, "Only plants at sea count."),
        ("altered", 2, "Only plants at sea, in use."),
    ]
    assert [n.conditions for n in pairs[0].narratives] == [
        (),
        (),
        (ConditionRecord("", "At sea."), ConditionRecord("use", "In use.")),
    ]


def test_documents_are_exported_with_the_conditions_they_meet(tides, write):
    files = write(tides.project, "jsonl")

    assert files.records("verdicts.jsonl") == [
        {
            "pair_id": "301",
            "query_id": "301",
            "doc_id": "FT-10",
            "side": "altered",
            "version": 2,
            "met": None,
            "violated_attributes": [],
            "conditions": [
                {
                    "condition": 1,
                    "name": "",
                    "text": "At sea.",
                    "agreed": "met",
                    "state": "judged",
                    "answers": [
                        {"annotator": "ada", "machine": False, "answer": "met"},
                        {"annotator": "ben", "machine": False, "answer": "met"},
                    ],
                    "settled": None,
                },
                {
                    "condition": 2,
                    "name": "use",
                    "text": "In use.",
                    "agreed": None,
                    "state": "disputed",
                    "answers": [
                        {"annotator": "ada", "machine": False, "answer": "met"},
                        {"annotator": "ben", "machine": False, "answer": "cant_tell"},
                    ],
                    "settled": None,
                },
            ],
        },
        {
            "pair_id": "301",
            "query_id": "301",
            "doc_id": "é",
            "side": "altered",
            "version": 2,
            "met": None,
            "violated_attributes": ["At sea."],
            "conditions": [
                {
                    "condition": 1,
                    "name": "",
                    "text": "At sea.",
                    "agreed": "not_met",
                    "state": "judged",
                    "answers": [{"annotator": "ada", "machine": False, "answer": "not_met"}],
                    "settled": None,
                },
                {
                    "condition": 2,
                    "name": "use",
                    "text": "In use.",
                    "agreed": None,
                    "state": "unjudged",
                    "answers": [],
                    "settled": None,
                },
            ],
        },
    ]


def test_a_settled_condition_counts_until_it_is_withdrawn(tides, write):
    second = tides.narrative.conditions.get(number=2)
    made = settle_condition(
        condition=second,
        candidate=tides.pool["FT-10"],
        answer="not_met",
        reason="Not since 2011.",
        cause="edge",
        by=tides.carla,
        now=datetime(2026, 11, 16, 9, 30, tzinfo=UTC),
    )

    line = write(tides.project, "jsonl").records("verdicts.jsonl")[0]

    assert (line["doc_id"], line["met"], line["violated_attributes"]) == ("FT-10", 1, ["use"])
    assert (line["conditions"][1]["agreed"], line["conditions"][1]["state"]) == (
        "not_met",
        "settled",
    )
    assert line["conditions"][1]["settled"] == {
        "answer": "not_met",
        "by": "carla",
        "at": "2026-11-16T09:30:00+00:00",
        "cause": "edge",
        "reason": "Not since 2011.",
    }

    withdraw_adjudication(adjudication=made, by=tides.carla)

    line = write(tides.project, "jsonl").records("verdicts.jsonl")[0]
    assert (line["met"], line["conditions"][1]["state"]) == (None, "disputed")


def test_machine_answers_to_a_condition_are_listed_but_not_counted(tides, write):
    conditions = list(tides.narrative.conditions.order_by("number"))
    tides.give_verdicts(
        tides.judge(tides.narrative, tides.pool["B"], tides.model, 1), conditions, "met", "met"
    )
    judged = tides.narrative.statements.current().filter(
        candidate=tides.pool["B"], annotator__is_machine=False
    )
    for judgment in judged:
        tides.give_verdicts(judgment, conditions, "not_met", "met")

    line = write(tides.project, "jsonl").records("verdicts.jsonl")[0]

    assert (line["doc_id"], line["met"], line["violated_attributes"]) == ("B", 1, ["At sea."])
    assert [(one["annotator"], one["machine"]) for one in line["conditions"][0]["answers"]] == [
        ("ada", False),
        ("ben", False),
        ("model", True),
    ]


def test_current_judgments_are_a_table_with_active_time(tides, write):
    lines = write(tides.project, "jsonl")["judgments.csv"].splitlines()

    assert len(lines) == 1 + 12
    assert lines[0] == (
        "query_id,doc_id,annotator,relevance,side,at,note,pair_id,version,uuid,machine,active_ms,"
        "pressed,made_at"
    )
    assert lines[8] == (
        "301,é,ada,0,altered,2026-03-02T09:30:00+00:00,,301,2,"
        "00000000-0000-0000-0000-000000000009,,900,key,2026-03-02T09:30:00+00:00"
    )
    # Notes are only in judgments.jsonl.
    assert not any("At sea." in line for line in lines)


def test_the_table_of_judgments_keeps_names_and_ids_that_begin_like_formulas(tides, write):
    Membership.objects.filter(pk=tides.ada.pk).update(name="=ada")
    Document.objects.filter(project=tides.project, doc_id="B").update(doc_id="@B")

    written = write(tides.project, "jsonl")

    assert "301,@B,=ada,0,altered," in written["judgments.csv"]
    holds = {entry["name"]: entry["holds"] for entry in written.manifest["files"]}
    assert holds["judgments.csv"].endswith("For programs: no cell is escaped.")
    with open_source(written.folder / "judgments.csv") as source:
        read = {(one.annotator, one.doc_id) for one in judgments_csv.read_judgments(source)}
    assert ("=ada", "@B") in read


def test_the_manifest_counts_current_and_superseded_judgments(tides, write):
    files = write(tides.project, "jsonl")

    assert files.manifest["counts"] == {
        "queries": 5,
        "pairs": 4,
        "judgments": 13,
        "verdicts": 2,
        "judgments_by_people": 11,
        "judgments_counted": 9,
        "judgments_stale": 1,
        "judgments_set_aside": 1,
        "adjudications_standing": 1,
        "adjudications_counted": 1,
        "judgments_by_machines": 1,
        "judgments_by_machines_altered": 1,
        "judgments_superseded": 1,
        "flags": 1,
        "adjudications": 1,
        "rubrics": 0,
        "reviews": 1,
        "reviews_by_machines": 0,
        "decisions": 1,
        "repeats": 0,
        "samples": 0,
        "checks": 0,
        "checks_open": 0,
        "drafts": 1,
    }
    assert files.manifest["notes"] == ["1 review is not submitted yet and left out."]


def test_the_record_has_every_answer_about_a_query_that_is_taken_out(tides, write):
    before = write(tides.project, "jsonl")
    # Query 301 has 11 of the judgments, the flag and the verdicts; 302 the settling decision.
    queries = QUERIES.keys_of(tides.project, ["301", "302"])
    QUERIES.remove(project=tides.project, keys=queries, reason="A pilot.", by=tides.carla)

    after = write(tides.project, "jsonl")

    for name in (
        "judgments.jsonl",
        "judgments.csv",
        "flags.jsonl",
        "adjudications.jsonl",
        "reviews.jsonl",
        "decisions.jsonl",
        "verdicts.jsonl",
    ):
        assert after[name] == before[name], name
    counts = after.manifest["counts"]
    assert (counts["judgments"], counts["flags"], counts["adjudications"]) == (13, 1, 1)
    assert counts["judgments_superseded"] == 1


def test_the_record_has_the_verdicts_on_a_candidate_that_is_taken_out(tides, write):
    before = write(tides.project, "jsonl")
    gone = [tides.pool["FT-10"].pk]
    DOCUMENTS.remove(project=tides.project, keys=gone, reason="Twice.", by=tides.carla)

    after = write(tides.project, "jsonl")

    assert after["judgments.jsonl"] == before["judgments.jsonl"]
    assert after["verdicts.jsonl"] == before["verdicts.jsonl"]


def take_out_query(tides):
    keys = QUERIES.keys_of(tides.project, ["301"])
    QUERIES.remove(project=tides.project, keys=keys, reason="A pilot.", by=tides.carla)


def take_out_pair(tides):
    keys = [tides.pair.pk]
    INSTRUCTIONS.remove(project=tides.project, keys=keys, reason="Too vague.", by=tides.carla)


def send_back(tides):
    rewriting.send_back(pair=tides.pair, by=tides.carla)


@pytest.mark.parametrize("leave_out", [take_out_query, take_out_pair, send_back])
def test_verdicts_as_labels_follow_the_changed_qrels(tides, write, leave_out):
    assert write(tides.project)["verdicts.tsv"].splitlines()[1:] == [
        "301\tFT-10\t1\tmet\tpeople",
        "301\tFT-10\t2\t\t",
        "301\té\t1\tnot_met\tpeople",
        "301\té\t2\t\t",
    ]
    leave_out(tides)

    files = write(tides.project)

    assert "301 " not in files["qrels.changed.txt"]
    assert "verdicts.tsv" not in files.bytes()


def test_the_manifest_says_that_only_a_backup_moves_settled_conditions_and_draws(tides, write):
    ConditionAdjudication.objects.create(
        narrative=tides.narrative,
        condition=tides.narrative.conditions.get(number=1),
        candidate=tides.pool["B"],
        answer="met",
        reason="It is at sea.",
        cause="edge",
        by=tides.carla,
    )
    ReviewDraw.objects.create(project=tides.project, size=1, seed=7, frame={"": 1})

    notes = write(tides.project, "jsonl").manifest["notes"]

    assert (
        "These files do not restore: leads' decisions on conditions, draws of instructions to "
        "review; only the backup of a project moves them."
    ) in notes
