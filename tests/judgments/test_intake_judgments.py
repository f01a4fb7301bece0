"""Loading judgments, flags and adjudications from files."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Condition,
    Flag,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Verdict,
)
from formats.records import JudgmentRecord
from tests import factories
from tests.collection.arriving import counts, jsonl, load, load_records, problems, rows

pytestmark = pytest.mark.both_databases

HEADER = "query_id,doc_id,annotator,relevance\n"
CSV = f"{HEADER}301,A,ada,2\n301,A,ben,1\n301,B,ada,0\n"
KEY = "00000000-0000-4000-8000-000000000001"
OTHER_KEY = "00000000-0000-4000-8000-000000000002"
MORNING, NOON, EVENING = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (9, 12, 18))


@pytest.fixture
def project(db):
    return factories.project()


@pytest.fixture
def pair(project):
    """A pair with both narratives, and document A to judge."""
    query = factories.query(project, "301")
    factories.candidate(query, "A")
    return factories.pair(query)


def current_judgments(**about: object) -> list[tuple[str, str, int]]:
    found = Judgment.objects.current().filter(**about)
    return sorted(found.values_list("candidate__document__doc_id", "annotator__name", "relevance"))


def record(**fields: object) -> dict[str, Any]:
    return {"query_id": "301", "doc_id": "A", "annotator": "ada", "relevance": 2, **fields}


# --- what a line becomes --------------------------------------------------------------------------


def test_unknown_people_become_raters_without_a_login(project):
    report = load(project, "judgments-csv", CSV)

    assert counts(report) == (3, 3, 0, 0, 0)
    assert rows(report) == {
        "queries": (1, 0, 0),
        "documents": (2, 0, 0),
        "candidates": (2, 0, 0),
        "pairs": (1, 0, 0),
        "narratives": (1, 0, 0),
        "raters": (2, 0, 0),
        "judgments": (3, 0, 0),
    }
    assert current_judgments() == [("A", "ada", 2), ("A", "ben", 1), ("B", "ada", 0)]
    people = Membership.objects.filter(user=None).values_list("name", "role", "is_machine")
    assert sorted(people) == [
        ("ada", "annotator", False),
        ("ben", "annotator", False),
    ]


def test_a_missing_pair_is_created_with_an_empty_original_narrative(project):
    load(project, "judgments-csv", CSV)

    pair = InstructionPair.objects.get()
    assert pair.pair_id == "301"
    assert list(pair.narratives.values_list("side", "version", "text")) == [("original", 1, "")]
    assert set(Candidate.objects.values_list("origin", "prior_relevance")) == {("judged", None)}


def test_members_are_recognized_by_name(project, pair):
    ada = factories.member(project, "ada")

    load(project, "judgments-csv", f"{HEADER}301,A,ada,1\n")

    judgment = Judgment.objects.get()
    assert (judgment.annotator, judgment.source) == (ada, "file")


def test_loading_again_changes_nothing(project):
    load(project, "judgments-csv", CSV)

    report = load(project, "judgments-csv", CSV)

    assert counts(report) == (3, 0, 0, 3, 0)
    assert rows(report)["judgments"] == (0, 0, 3)
    assert Judgment.objects.count() == 3


def test_the_column_label_is_the_relevance_too(project):
    load(project, "judgments-csv", "query_id,doc_id,annotator,label\n301,A,ada,1\n")

    assert current_judgments() == [("A", "ada", 1)]


def test_every_field_of_a_line_is_saved(project, pair):
    load(
        project,
        "judgments-jsonl",
        jsonl(
            record(
                side="original",
                version=1,
                pair_id="301",
                at="2026-03-01T09:00:00Z",
                note="Says so in line 3.",
                uuid=KEY,
                evidence=[{"start": 2, "end": 5}],
                active_ms=900,
                clauses=[{"start": 4, "end": 9}],
                pressed="key",
                made_at="2026-03-01T08:59:58Z",
            )
        ),
    )

    judgment = Judgment.objects.get()
    assert judgment.uuid == uuid.UUID(KEY)
    assert judgment.narrative == pair.current("original")
    assert (judgment.relevance, judgment.note, judgment.at) == (2, "Says so in line 3.", MORNING)
    assert (judgment.evidence, judgment.active_ms) == ([{"start": 2, "end": 5}], 900)
    assert (judgment.clauses, judgment.pressed) == ([{"start": 4, "end": 9}], "key")
    assert judgment.made_at == datetime(2026, 3, 1, 8, 59, 58, tzinfo=UTC)


def test_a_machine_stays_a_machine(project):
    load(project, "judgments-jsonl", jsonl(record(annotator="some-model", machine=True)))

    assert Membership.objects.get().is_machine is True


def test_a_machine_cannot_have_a_persons_name(project):
    factories.member(project, "ada")

    report = load(project, "judgments-jsonl", jsonl(record(machine=True)))

    assert problems(report) == [
        "file.txt:1: “ada” is a person in this project; a machine needs another name"
    ]


# --- under which narrative ------------------------------------------------------------------------


def test_a_judgment_is_about_the_altered_narrative_where_there_is_one(project, pair):
    load(project, "judgments-csv", f"{HEADER}301,A,ada,1\n")

    assert Judgment.objects.get().narrative == pair.current("altered")


def test_a_judgment_is_about_the_original_if_there_is_no_altered_narrative(project):
    query = factories.query(project, "301")
    pair = factories.pair(query, altered=None)

    load(project, "judgments-csv", f"{HEADER}301,A,ada,1\n")

    assert Judgment.objects.get().narrative == pair.current("original")


def test_a_judgment_is_about_the_current_version_unless_it_names_one(project, pair):
    second = factories.narrative(pair, text="Only plants in rivers count.", version=2)

    load(
        project,
        "judgments-jsonl",
        jsonl(record(), record(annotator="ben", side="altered", version=1)),
    )

    assert [*current_judgments(narrative=second), *current_judgments(narrative__version=1)] == [
        ("A", "ada", 2),
        ("A", "ben", 2),
    ]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"side": "altered", "version": 7},
            "the altered narrative of 301 has no version 7; the newest is 1",
        ),
        ({"side": "reversed"}, "instruction pair 301 has no reversed narrative"),
        ({"pair_id": "302"}, "there is no instruction pair 302 in this project: load it first"),
    ],
)
def test_a_missing_narrative_is_refused(project, pair, fields, sentence):
    report = load(project, "judgments-jsonl", jsonl(record(doc_id="B"), record(**fields)))

    assert problems(report) == [f"file.txt:2: {sentence}"]
    assert Judgment.objects.count() == 0
    assert project.documents.count() == 1


def test_a_line_must_name_a_pair_if_its_query_has_several(project, pair):
    factories.pair(pair.query, pair_id="301_b")

    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,1\n")
    named = load(
        project, "judgments-csv", "query_id,doc_id,annotator,relevance,pair_id\n301,A,ada,1,301_b\n"
    )

    assert problems(report) == [
        "file.txt:2: query 301 has 2 instruction pairs: say which one, in pair_id"
    ]
    assert counts(named) == (1, 1, 0, 0, 0)
    assert Judgment.objects.get().narrative.pair.pair_id == "301_b"


def test_a_pair_of_another_query_is_refused(project, pair):
    report = load(project, "judgments-jsonl", jsonl(record(query_id="302", pair_id="301")))

    assert problems(report) == [
        "file.txt:1: instruction pair 301 belongs to query 301 in this project, not to 302"
    ]


# --- grades ---------------------------------------------------------------------------------------


def test_a_relevance_that_is_not_a_grade_of_the_project_is_refused(project):
    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n301,B,ada,3\n")

    assert counts(report) == (2, 0, 0, 0, 1)
    assert problems(report) == [
        "file.txt:3: 3 is not a grade of this project; its grades are 0, 1, 2"
    ]
    assert (Judgment.objects.count(), Membership.objects.count()) == (0, 0)


def test_the_value_that_means_no_grade_becomes_a_flag(project):
    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n301,B,ada,-1\n", no_grade=-1)

    assert counts(report) == (2, 2, 0, 0, 0)
    assert rows(report)["judgments"] == (1, 0, 0)
    assert rows(report)["flags"] == (1, 0, 0)
    assert current_judgments() == [("A", "ada", 2)]
    flag = Flag.objects.get()
    assert (flag.flag, flag.candidate.document.doc_id, flag.annotator.name) == (
        "cannot_judge",
        "B",
        "ada",
    )
    assert report.notes == [
        "1 line has the value -1, which means no grade: kept as a flag, “cannot judge”",
        "2 new documents have no text yet: load the texts of those to judge",
        "1 new query has no title and no narrative yet: load its topic",
    ]


def test_flags_made_of_no_grade_are_not_made_twice(project):
    lines = f"{HEADER}301,B,ada,-1\n"
    load(project, "judgments-csv", lines, no_grade=-1)

    report = load(project, "judgments-csv", lines, no_grade=-1)

    assert counts(report) == (1, 0, 0, 1, 0)
    assert Flag.objects.count() == 1


def test_an_undeclared_value_for_no_grade_is_refused_with_a_hint(project):
    report = load(project, "judgments-csv", f"{HEADER}301,B,ada,-1\n")

    assert problems(report) == [
        (
            "file.txt:2: -1 is not a grade of this project; its grades are 0, 1, 2 (if -1 means no "
            "grade, say so when loading: --no-grade -1)"
        )
    ]


# --- loaded twice ---------------------------------------------------------------------------------


def test_two_relevances_of_one_person_for_one_document_are_refused_with_both_lines(project):
    report = load(project, "judgments-csv", f"{CSV}301,A,ada,1\n")

    assert problems(report) == [
        "file.txt:5: ada has given document A of query 301 another relevance on line 2"
    ]
    assert Judgment.objects.count() == 0


def test_two_relevances_at_one_time_are_refused_also_after_an_earlier_one(project, pair):
    lines = [
        record(relevance=1, at=MORNING.isoformat()),
        record(relevance=2, at=NOON.isoformat()),
        record(relevance=1, at=NOON.isoformat()),
    ]

    report = load(project, "judgments-jsonl", jsonl(*lines))

    assert problems(report) == [
        "file.txt:3: ada has given document A of query 301 another relevance on line 2"
    ]
    assert not Judgment.objects.exists()


def test_a_grade_and_no_grade_for_one_document_contradict_each_other(project):
    report = load(project, "judgments-csv", f"{CSV}301,A,ada,-1\n", no_grade=-1)

    assert counts(report)[4] == 1


def test_a_line_that_repeats_another_counts_as_unchanged(project):
    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,1\n301,A,ada,1\n")

    assert counts(report) == (2, 1, 0, 1, 0)
    assert current_judgments() == [("A", "ada", 1)]


def test_the_later_of_two_dated_judgments_is_current(project):
    report = load_records(
        project,
        JudgmentRecord("301", "A", "ada", 2, at=NOON),
        JudgmentRecord("301", "A", "ada", 1, at=MORNING),
    )

    assert counts(report) == (2, 2, 0, 0, 0)
    assert current_judgments() == [("A", "ada", 2)]
    assert Judgment.objects.get(relevance=1).ended_at == NOON


def test_another_relevance_supersedes_the_loaded_judgment(project):
    load(project, "judgments-csv", CSV)
    earlier = Judgment.objects.get(annotator__name="ben")

    report = load(project, "judgments-csv", CSV.replace("ben,1", "ben,0"))

    assert counts(report) == (3, 0, 1, 2, 0)
    assert current_judgments(annotator__name="ben") == [("A", "ben", 0)]
    later = Judgment.objects.current().get(annotator__name="ben")
    assert later.replaces == earlier


def test_going_back_to_the_first_file_is_a_change_again(project):
    other = CSV.replace("ben,1", "ben,0")
    load(project, "judgments-csv", CSV)
    load(project, "judgments-csv", other)

    back = load(project, "judgments-csv", CSV)
    again = load(project, "judgments-csv", CSV)

    assert (counts(back), counts(again)) == ((3, 0, 1, 2, 0), (3, 0, 0, 3, 0))
    assert current_judgments(annotator__name="ben") == [("A", "ben", 1)]
    assert Judgment.objects.filter(annotator__name="ben").count() == 3


def test_loading_again_keeps_later_judgments_from_pages(project, pair):
    ada = factories.member(project, "ada")
    load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    judging.judge(
        narrative=pair.current("altered"),
        candidate=Candidate.objects.get(document__doc_id="A"),
        relevance=0,
        by=ada,
    )

    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n")

    assert counts(report) == (1, 0, 0, 1, 0)
    assert current_judgments() == [("A", "ada", 0)]


def test_loading_again_after_a_rewriting_changes_nothing(project, pair):
    load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n301,B,ada,-1\n", no_grade=-1)
    factories.narrative(pair, text="Only plants in rivers count.", version=2)

    report = load(project, "judgments-csv", f"{HEADER}301,A,ada,2\n301,B,ada,-1\n", no_grade=-1)

    assert counts(report) == (2, 0, 0, 2, 0)
    assert current_judgments(narrative__version=2) == []


def test_a_dated_judgment_older_than_the_current_one_is_superseded(project, pair):
    ada = factories.member(project, "ada")
    candidate = Candidate.objects.get(document__doc_id="A")
    factories.judgment(pair.current("altered"), candidate, ada, 0, at=EVENING)

    report = load(project, "judgments-jsonl", jsonl(record(at=MORNING.isoformat())))

    assert counts(report) == (1, 1, 0, 0, 0)
    assert current_judgments() == [("A", "ada", 0)]
    assert Judgment.objects.get(relevance=2).ended_at == EVENING


def test_a_known_uuid_changes_nothing(project, pair):
    line = jsonl(record(uuid=KEY, at=MORNING.isoformat()))
    load(project, "judgments-jsonl", line)

    report = load(project, "judgments-jsonl", line)

    assert counts(report) == (1, 0, 0, 1, 0)


def test_a_known_uuid_with_other_content_is_refused(project, pair):
    load(project, "judgments-jsonl", jsonl(record(uuid=KEY)))

    report = load(project, "judgments-jsonl", jsonl(record(uuid=KEY, relevance=1)))

    assert problems(report) == [
        f"file.txt:1: a judgment with the UUID {KEY} already exists with other content"
    ]


def test_a_uuid_twice_in_a_file_for_different_things_is_refused(project, pair):
    report = load(project, "judgments-jsonl", jsonl(record(uuid=KEY), record(uuid=KEY, doc_id="B")))

    assert problems(report) == [f"file.txt:2: the UUID {KEY} is that of another judgment on line 1"]


def test_a_uuid_of_another_project_is_refused_with_advice(project, pair):
    lines = jsonl(record(uuid=KEY), flag(uuid=OTHER_KEY, doc_id="B"))
    load(factories.project("lakes"), "judgments-jsonl", lines)

    report = load(project, "judgments-jsonl", lines)
    again = load(
        project, "judgments-jsonl", lines.replace(f'"{KEY}"', "null").replace(OTHER_KEY, "")
    )

    elsewhere = (
        "is already in another project of this installation, and a UUID can exist only once: "
        "remove the field uuid from every line, and they become new"
    )
    assert problems(report) == [
        f"file.txt:1: the judgment with the UUID {KEY} {elsewhere} judgments of this project",
        f"file.txt:2: the flag with the UUID {OTHER_KEY} {elsewhere} flags of this project",
    ]
    assert counts(again) == (2, 2, 0, 0, 0)


def test_a_judgment_that_ended_in_the_file_ends_in_the_project(project, pair):
    load(project, "judgments-jsonl", jsonl(record(uuid=KEY)))

    report = load(
        project,
        "judgments-jsonl",
        jsonl(record(uuid=KEY, superseded_at=NOON.isoformat(), withdrawn_at=NOON.isoformat())),
    )

    assert counts(report) == (1, 0, 1, 0, 0)
    assert current_judgments() == []
    judgment = Judgment.objects.get()
    assert (judgment.ended_at, judgment.withdrawn_at) == (NOON, NOON)


# --- flags ----------------------------------------------------------------------------------------


def flag(**fields: object) -> dict[str, Any]:
    return {
        "type": "flag",
        "query_id": "301",
        "doc_id": "A",
        "annotator": "ada",
        "kind": "problem",
        "words": "Cut off.",
        **fields,
    }


def test_a_flag_supersedes_a_judgment_and_another_flag(project, pair):
    load(project, "judgments-jsonl", jsonl(record(), flag(doc_id="B", kind="later", words="")))

    report = load(project, "judgments-jsonl", jsonl(flag(), flag(doc_id="B")))

    assert counts(report) == (2, 0, 2, 0, 0)
    assert current_judgments() == []
    current = Flag.objects.current()
    assert sorted(current.values_list("candidate__document__doc_id", "flag")) == [
        ("A", "problem"),
        ("B", "problem"),
    ]


def test_a_judgment_clears_the_flag(project, pair):
    load(project, "judgments-jsonl", jsonl(flag()))

    load(project, "judgments-jsonl", jsonl(record()))

    assert Flag.objects.current().count() == 0
    assert current_judgments() == [("A", "ada", 2)]


def test_a_cleared_flag_is_not_restored_by_loading_again(project, pair):
    load(project, "judgments-jsonl", jsonl(flag()))
    Flag.objects.update(ended_at=NOON)

    report = load(project, "judgments-jsonl", jsonl(flag()))

    assert counts(report) == (1, 0, 0, 1, 0)
    assert Flag.objects.current().count() == 0


def test_a_flag_with_a_known_uuid_is_the_same_flag(project, pair):
    load(project, "judgments-jsonl", jsonl(flag(uuid=KEY, made_at=MORNING.isoformat())))

    report = load(
        project,
        "judgments-jsonl",
        jsonl(flag(uuid=KEY, words="Cut off, indeed.", cleared_at=NOON.isoformat())),
    )

    assert counts(report) == (1, 0, 1, 0, 0)
    stored = Flag.objects.get()
    assert (stored.uuid, stored.made_at, stored.ended_at) == (uuid.UUID(KEY), MORNING, NOON)


def test_a_flag_without_a_uuid_is_recognized_by_its_content(project, pair):
    load(project, "judgments-jsonl", jsonl(flag(at=MORNING.isoformat())))

    report = load(project, "judgments-jsonl", jsonl(flag(at=MORNING.isoformat(), uuid=KEY)))

    assert counts(report) == (1, 0, 0, 1, 0)
    assert Flag.objects.count() == 1


def test_a_known_uuid_of_a_flag_with_other_content_is_refused(project, pair):
    load(project, "judgments-jsonl", jsonl(flag(uuid=KEY)))

    report = load(project, "judgments-jsonl", jsonl(flag(uuid=KEY, kind="later")))

    assert problems(report) == [
        f"file.txt:1: a flag with the UUID {KEY} already exists with other content"
    ]


# --- spans and verdicts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"evidence": [{"start": 0, "end": 4}, {"start": 5, "end": 11}]},
            "the evidence goes to character 11, but the text of document A has 10",
        ),
        (
            {"clauses": [{"start": 0, "end": 26}]},
            (
                "the clauses go to character 26, but version 1 of the altered narrative of 301 "
                "has 25"
            ),
        ),
        (
            {"evidence": [{"start": n, "end": n + 1} for n in range(0, 102, 2)]},
            "51 passages are marked; at most 50 are allowed. Remove some.",
        ),
    ],
)
def test_spans_outside_the_text_are_refused(project, pair, fields, sentence):
    report = load(
        project,
        "judgments-jsonl",
        jsonl(record(), record(doc_id="B"), record(annotator="ben", **fields)),
    )

    assert problems(report) == [f"file.txt:3: {sentence}"]
    assert Judgment.objects.count() == 0


def test_spans_are_counted_in_characters_and_not_in_bytes(project, pair):
    query = pair.query
    factories.candidate(query, "Z", text="潮汐能 😀.")

    report = load(
        project, "judgments-jsonl", jsonl(record(doc_id="Z", evidence=[{"start": 4, "end": 6}]))
    )

    assert counts(report) == (1, 1, 0, 0, 0)


def test_spans_of_an_unknown_text_are_saved_unchanged(project, pair):
    load(project, "judgments-jsonl", jsonl(record(doc_id="new", evidence=[{"start": 7, "end": 9}])))

    assert Judgment.objects.get().evidence == [{"start": 7, "end": 9}]


def test_spans_are_sorted_and_merged(project, pair):
    spans = [{"start": 6, "end": 8}, {"start": 2, "end": 4}, {"start": 0, "end": 2}]

    load(project, "judgments-jsonl", jsonl(record(evidence=spans)))

    assert Judgment.objects.get().evidence == [{"start": 0, "end": 4}, {"start": 6, "end": 8}]


@pytest.fixture
def two_conditions(pair):
    """Two conditions of the altered narrative."""
    narrative = factories.altered(pair)
    for number, text in enumerate(("At sea.", "In use."), 1):
        Condition.objects.create(narrative=narrative, number=number, text=text)
    return narrative


def verdicts(*answers: str) -> list[dict[str, object]]:
    return [{"condition": number, "answer": answer} for number, answer in enumerate(answers, 1)]


def saved_verdicts() -> list[tuple[str, int, int, str]]:
    fields = ("statement__annotator__name", "statement__relevance", "condition__number", "answer")
    return sorted(Verdict.objects.values_list(*fields))


def test_verdicts_come_with_their_judgment(project, two_conditions):
    lines = jsonl(
        record(verdicts=verdicts("met", "not_met"), uuid=KEY),
        record(annotator="ben", relevance=1, verdicts=[{"condition": 2, "answer": "cant_tell"}]),
    )

    report = load(project, "judgments-jsonl", lines)
    again = load(project, "judgments-jsonl", lines)

    assert saved_verdicts() == [
        ("ada", 2, 1, "met"),
        ("ada", 2, 2, "not_met"),
        ("ben", 1, 2, "cant_tell"),
    ]
    assert (rows(report)["verdicts"], rows(again)["verdicts"]) == ((3, 0, 0), (0, 0, 3))
    assert counts(again) == (2, 0, 0, 2, 0)


def test_a_verdict_on_a_missing_condition_is_refused(project, two_conditions):
    report = load(
        project,
        "judgments-jsonl",
        jsonl(
            record(),
            record(annotator="ben", verdicts=verdicts("met", "met", "met")),
            record(annotator="dan", side="original", verdicts=verdicts("met")),
        ),
    )

    assert problems(report) == [
        (
            "file.txt:2: there is a verdict on condition 3, but version 1 of the altered "
            "narrative of 301 has 2 conditions"
        ),
        (
            "file.txt:3: there is a verdict on condition 1, but version 1 of the original "
            "narrative of 301 has no conditions"
        ),
    ]
    assert Judgment.objects.count() == 0


def test_a_known_uuid_with_other_verdicts_is_refused(project, two_conditions):
    load(project, "judgments-jsonl", jsonl(record(uuid=KEY, verdicts=verdicts("met"))))

    report = load(project, "judgments-jsonl", jsonl(record(uuid=KEY, verdicts=verdicts("not_met"))))
    without = load(project, "judgments-jsonl", jsonl(record(uuid=KEY)))

    assert problems(report) == [
        f"file.txt:1: a judgment with the UUID {KEY} already exists with other content"
    ]
    assert counts(without) == (1, 0, 0, 1, 0)


def test_the_same_relevance_with_verdicts_is_a_change(project, two_conditions):
    load(project, "judgments-jsonl", jsonl(record()))

    report = load(project, "judgments-jsonl", jsonl(record(verdicts=verdicts("met", "met"))))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert len(saved_verdicts()) == 2
    assert Judgment.objects.current().get().verdicts.count() == 2


# --- adjudications --------------------------------------------------------------------------------


def adjudication(**fields: object) -> dict[str, Any]:
    return {
        "type": "adjudication",
        "query_id": "301",
        "doc_id": "A",
        "by": "carla",
        "relevance": 1,
        "reason": "A barrage stands in a river.",
        "cause": "edge",
        **fields,
    }


def test_an_adjudication_comes_with_who_and_why(project, pair):
    report = load(project, "judgments-jsonl", jsonl(adjudication(at=MORNING.isoformat())))

    assert rows(report)["adjudications"] == (1, 0, 0)
    settled = Adjudication.objects.get()
    assert (settled.by.name, settled.relevance, settled.cause, settled.at) == (
        "carla",
        1,
        "edge",
        MORNING,
    )
    assert settled.narrative == pair.current("altered")


def test_a_newer_adjudication_replaces_the_current_one(project, pair):
    load(project, "judgments-jsonl", jsonl(adjudication(at=MORNING.isoformat())))

    later = jsonl(adjudication(relevance=0, at=NOON.isoformat()))
    report, again = (load(project, "judgments-jsonl", later) for _ in range(2))

    assert (counts(report), counts(again)) == ((1, 0, 1, 0, 0), (1, 0, 0, 1, 0))
    withdrawn = Adjudication.objects.get(relevance=1)
    assert (withdrawn.withdrawn_at, withdrawn.withdrawn_by) == (NOON, withdrawn.by)
    assert Adjudication.objects.current().get().relevance == 0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"reason": " "}, "an adjudication needs a reason"),
        (
            {"cause": "mood"},
            "the cause is “mood”, not one of ambiguous, guideline, error, edge",
        ),
        (
            {"withdrawn_at": NOON.isoformat()},
            "a withdrawn adjudication must say by whom and when",
        ),
        ({"relevance": 5}, "5 is not a grade of this project; its grades are 0, 1, 2"),
    ],
)
def test_an_invalid_adjudication_is_refused(project, pair, fields, sentence):
    report = load(project, "judgments-jsonl", jsonl(adjudication(**fields)))

    assert problems(report) == [f"file.txt:1: {sentence}"]
    assert Adjudication.objects.count() == 0


def test_two_adjudications_of_one_document_are_refused_with_both_lines(project, pair):
    report = load(project, "judgments-jsonl", jsonl(adjudication(), adjudication(relevance=0)))

    assert problems(report) == ["file.txt:2: document A was settled differently on line 1"]


# --- claims ---------------------------------------------------------------------------------------


def test_claims_are_a_machines_judgments_of_the_narrative_they_came_with(project):
    pairs = jsonl(
        {"pair_id": "110_0", "query_id": "110", "origin": "llm", "altered": "Only in winter."},
        *(
            {"type": "claim", "pair_id": "110_0", "doc_id": doc, "relevance": n, "rater": "claims"}
            for doc, n in (("A", 1), ("B", 0))
        ),
    )
    first = load(project, "pairs-jsonl", pairs)
    pair = InstructionPair.objects.get()
    factories.narrative(pair, text="Only in January.", version=2)

    again = load(project, "pairs-jsonl", pairs)

    assert (counts(first), counts(again)) == ((3, 3, 0, 0, 0), (3, 0, 0, 3, 0))
    assert current_judgments(narrative__version=1) == [("A", "claims", 1), ("B", "claims", 0)]
    assert Membership.objects.get(name="claims").is_machine is True
    assert Narrative.objects.get(side="original").text == ""


def test_a_generator_claims_again_for_its_new_version(project):
    def answer(version, text):
        return jsonl(
            {
                "pair_id": "110_0",
                "query_id": "110",
                "origin": "llm",
                "narratives": [{"side": "altered", "version": version, "text": text}],
            },
            *(
                {"type": "claim", "pair_id": "110_0", "doc_id": doc, "relevance": n, "rater": "m"}
                for doc, n in (("A", 1), ("B", 2 - version))
            ),
        )

    load(project, "pairs-jsonl", answer(1, "Only in winter."))
    second = load(project, "pairs-jsonl", answer(2, "Only in January."))
    again = load(project, "pairs-jsonl", answer(2, "Only in January."))
    oldest = load(project, "pairs-jsonl", answer(1, "Only in winter."))

    assert counts(second) == (3, 2, 1, 0, 0)
    assert counts(again) == counts(oldest) == (3, 0, 0, 3, 0)
    assert current_judgments(narrative__version=1) == [("A", "m", 1), ("B", "m", 1)]
    assert current_judgments(narrative__version=2) == [("A", "m", 1), ("B", "m", 0)]


@pytest.mark.parametrize(
    ("name", "text", "rater", "note"),
    [
        ("trec-labels", "301 Q0 A 2 0.85 my-judge\n", "my-judge", "confidence 0.85"),
        (
            "umbrela-json",
            '{"query": {"qid": "301"}, "candidates": [{"docid": "A", "judgment": 2}]}\n',
            *("umbrela", ""),
        ),
        (
            "lara-csv",
            "topic_id,doc_id,annotation,prob_0,prob_1,prob_2\n301,A,2,0.1,0.2,0.7\n",
            *("llama-8b", "confidence 0.7"),
        ),
    ],
)
def test_labels_of_a_machine_are_judgments_that_count_for_no_person(
    project, pair, name, text, rater, note
):
    load(project, name, text, "llama-8b.csv")

    judgment = Judgment.objects.select_related("annotator").get()
    assert (judgment.annotator.name, judgment.annotator.is_machine) == (rater, True)
    assert (judgment.relevance, judgment.note) == (2, note)
    assert not Judgment.objects.of_people().exists()
    assert load(project, name, text, "llama-8b.csv").new == 0


def test_another_confidence_of_a_machine_supersedes_the_first(project, pair):
    load(project, "trec-labels", "301 Q0 A 2 0.85 my-judge\n")

    load(project, "trec-labels", "301 Q0 A 2 0.4 my-judge\n")

    assert [one.note for one in Judgment.objects.current()] == ["confidence 0.4"]
    assert Judgment.objects.count() == 2
