"""The files of the example project: their promised content, and its consistency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from audit.reviews.criteria import FOLLOWTABLE, Level, straddles
from formats.records import (
    AdjudicationRecord,
    DecisionRecord,
    Doc,
    FlagRecord,
    JudgmentRecord,
    PairRecord,
    ReviewRecord,
)
from formats.registry import lookup
from formats.tables import Table, parse_table

EXAMPLE = Path(__file__).parents[2] / "examples/tides"
FILES = {
    "topics.trec": ("trec-topics", 9),
    "documents.trec": ("trec-docs", 60),
    "tables.jsonl": ("docs-jsonl", 20),
    "harbours.jsonl": ("docs-jsonl", 10),
    "qrels.txt": ("trec-qrels", 90),
    "pairs.jsonl": ("pairs-jsonl", 11),
    "judgments.jsonl": ("judgments-jsonl", 117),
    "reviews.jsonl": ("judgments-jsonl", 10),
    "follows.original.run": ("trec-run", 90),
    "follows.changed.run": ("trec-run", 110),
    "ignores.original.run": ("trec-run", 90),
    "ignores.changed.run": ("trec-run", 110),
}
QUERIES = ["901", "902", "903", "904", "905", "906", "907", "908", "909"]
PEOPLE = {"ada", "ben", "carla", "dan"}
ARABIC = re.compile("[\u0621-\u064a]")
CHINESE = re.compile("[\u4e00-\u9fff]")


@cache
def records(name: str) -> list[Any]:
    """Return all records of one file, and raise on a problem."""
    reader = lookup(FILES[name][0])
    with reader.open(EXAMPLE / name) as source:
        return list(reader.read(source))


@cache
def documents() -> dict[str, Doc]:
    names = ("documents.trec", "tables.jsonl", "harbours.jsonl")
    return {doc.doc_id: doc for name in names for doc in records(name)}


@cache
def prior() -> dict[tuple[str, str], int]:
    return {(line.query_id, line.doc_id): line.relevance for line in records("qrels.txt")}


def records_of(kind: type) -> list[Any]:
    return [record for record in records("judgments.jsonl") if isinstance(record, kind)]


def judgments(*, machine: bool = False) -> list[JudgmentRecord]:
    return [judgment for judgment in records_of(JudgmentRecord) if judgment.machine is machine]


def reviews() -> list[ReviewRecord]:
    return [record for record in records("reviews.jsonl") if isinstance(record, ReviewRecord)]


def pairs() -> dict[str, PairRecord]:
    return {pair.pair_id: pair for pair in records("pairs.jsonl")}


def altered(pair: PairRecord) -> list[str]:
    return [one.text for one in pair.narratives if one.side == "altered"]


def share(part: Iterable[object], whole: Iterable[object]) -> float:
    return len(list(part)) / len(list(whole))


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_read_by_its_format_without_a_problem(name: str) -> None:
    format_name, count = FILES[name]
    reader = lookup(format_name)

    with reader.open(EXAMPLE / name, collect=True) as source:
        found = list(reader.read(source))

    assert (source.problem_count, len(found)) == (0, count)


def test_the_readme_names_every_file_and_its_format() -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")

    rows = dict(re.findall(r"^\| `([^`]+)` \| `?([^`|]+?)`? \|", readme, re.MULTILINE))

    assert rows == {name: kind for name, (kind, _) in FILES.items()} | {"guideline.md": "text"}
    assert set(rows) | {"README.md"} == {path.name for path in EXAMPLE.iterdir()}


def test_every_topic_has_title_description_and_narrative() -> None:
    topics = records("topics.trec")

    assert [topic.query_id for topic in topics] == QUERIES
    for topic in topics:
        assert 3 <= len(topic.title.split()) <= 8
        assert topic.description.endswith("?")
        assert topic.narrative is not None
        assert 50 <= len(topic.narrative.split()) <= 100


def test_every_query_has_ten_documents_of_which_about_half_were_relevant() -> None:
    grades = {query: Counter[int]() for query in QUERIES}

    for (query, _), relevance in prior().items():
        grades[query][relevance] += 1

    for query, count in grades.items():
        assert set(count) == {0, 1, 2}, query
        assert count.total() == 10, query
        assert 5 <= count[1] + count[2] <= 7, query


def test_every_document_is_a_candidate_of_exactly_one_query() -> None:
    pooled = Counter(doc_id for _, doc_id in prior())

    assert pooled == Counter(documents().keys())
    assert len(pooled) == 90


def test_news_items_are_short_and_no_two_are_alike() -> None:
    texts = [doc.text or "" for doc in records("documents.trec")]

    assert len({text.partition("\n")[0] for text in texts}) == 60
    for text in texts:
        assert 120 <= len(text.split()) <= 300 or len(CHINESE.findall(text)) >= 300
        assert text.count("\n\n") >= 2


def test_one_news_item_is_arabic_and_one_is_chinese() -> None:
    texts = {doc.doc_id: doc.text for doc in records("documents.trec")}

    assert [i for i, text in texts.items() if ARABIC.search(text)] == ["CO-231104-12"]
    assert [i for i, text in texts.items() if CHINESE.search(text)] == ["TR-230828-12"]


def test_tables_are_arabic_and_chinese_too() -> None:
    texts = {doc.doc_id: doc.text for doc in records("tables.jsonl")}

    assert [i for i, text in texts.items() if ARABIC.search(text)] == ["TAB-0365"]
    assert [i for i, text in texts.items() if CHINESE.search(text)] == ["TAB-0533", "TAB-0729"]


def test_html_tables_have_merged_heads_and_markdown_tables_alignments() -> None:
    tables = {
        doc.doc_id: (doc.markup, parse_table(doc.text, doc.markup))
        for doc in records("tables.jsonl")
    }

    assert Counter(markup for markup, _ in tables.values()) == {"html": 13, "markdown": 7}
    for doc_id, (markup, table) in tables.items():
        if markup == "html":
            heads = [cell for cell in table.rows[0] if cell.header]
            assert any(cell.colspan > 1 for cell in heads), doc_id
            assert any(cell.rowspan > 1 for cell in heads), doc_id
        else:
            assert "right" in table.alignments, doc_id
        assert table.caption, doc_id
        assert not table.notes, doc_id


def test_every_row_of_a_table_is_as_wide_as_its_head() -> None:
    for doc in records("tables.jsonl"):
        table = parse_table(doc.text, doc.markup)

        covered = [[0] * table.width for _ in table.rows]
        for place, row in enumerate(table.rows):
            for cell in row:
                column = covered[place].index(0)
                for down in range(cell.rowspan):
                    for right in range(cell.colspan):
                        covered[place + down][column + right] += 1

        assert all(set(row) == {1} for row in covered), doc.doc_id
        assert all(cell.text for row in table.rows for cell in row if cell.header), doc.doc_id


def numbers(table: Table, columns: slice) -> list[list[float]]:
    """Return these cells of each body row as numbers."""
    body = [row for row in table.rows if not row[0].header]
    return [[float(cell.text.replace("\u2212", "-")) for cell in row[columns]] for row in body]


def test_winter_and_summer_add_up_to_the_year() -> None:
    table = parse_table(documents()["TAB-0612"].text or "", "html")

    rows = numbers(table, slice(-6, None))

    assert len(rows) == 6
    for winter, summer, year, winter_2, summer_2, year_2 in rows:
        assert winter + summer == pytest.approx(year, abs=0.001)
        assert winter_2 + summer_2 == pytest.approx(year_2, abs=0.001)


def test_the_stages_add_up_to_the_energy_of_the_plant() -> None:
    table = parse_table(documents()["TAB-0117"].text or "", "html")

    rows = numbers(table, slice(-5, None))

    assert len(rows) == 8
    for *stages, total in rows:
        assert sum(stages) == pytest.approx(total, abs=0.001)


def test_original_narratives_of_the_pairs_are_those_of_the_topics() -> None:
    topics = {topic.query_id: topic for topic in records("topics.trec")}

    for pair in pairs().values():
        topic = topics[pair.query_id]
        originals = [one.text for one in pair.narratives if one.side == "original"]
        assert originals == [topic.narrative]
        assert (pair.title, pair.description) == (topic.title, topic.description)


def test_half_of_the_queries_have_an_altered_narrative_and_one_has_two_versions() -> None:
    by_people = [pair for pair in pairs().values() if pair.origin == "human"]

    versions = {pair.pair_id: len(altered(pair)) for pair in by_people}

    assert versions == {"901": 1, "902": 2, "903": 1, "904": 1, "909": 1}
    for pair in by_people:
        authors = {one.author for one in pair.narratives if one.side == "altered"}
        assert len(authors) == 1
        assert authors <= {"ada", "ben"}


def test_an_altered_narrative_keeps_sentences_of_the_original() -> None:
    for pair_id in ("901", "902", "903", "904", "909"):
        original, *versions = [one.text for one in pairs()[pair_id].narratives]

        before = original.split(". ")
        kept_sentences = [[text for text in before if text in version] for version in versions]

        assert all(0 < len(one) < len(before) for one in kept_sentences), pair_id
        assert len({original, *versions}) == 1 + len(versions)


def test_six_instructions_of_a_language_model_cover_the_five_types() -> None:
    instructions = [pair for pair in pairs().values() if pair.origin == "llm"]

    types = Counter(pair.category for pair in instructions)

    assert types == {"C1": 2, "C2": 1, "S1": 1, "S2": 1, "S3": 1}
    assert {pair.model for pair in instructions} == {"example-model"}
    assert {pair.query_id for pair in instructions} == {"907", "908"}
    assert all(70 <= len(altered(pair)[0].split()) <= 130 for pair in instructions)


def test_the_overfitted_instruction_names_cells_of_the_one_table_it_is_claimed_for() -> None:
    values = re.findall("\u2212?\\d+\\.\\d\\d", altered(pairs()["908_1"])[0])
    table = documents()["TAB-0612"].text or ""
    claimed = [one.doc_id for one in judgments(machine=True) if one.pair_id == "908_1"]

    missing = [value for value in values if f"<td>{value}</td>" not in table]

    assert (len(values), missing, claimed) == (4, [], ["TAB-0612"])


def test_the_vacuous_instruction_is_claimed_for_everything_that_was_relevant() -> None:
    relevant = {doc_id for (query, doc_id), grade in prior().items() if query == "908" and grade}

    claimed = {one.doc_id for one in judgments(machine=True) if one.pair_id == "908_2"}

    assert claimed == relevant


def test_the_other_claims_leave_out_about_half_of_what_was_relevant() -> None:
    for pair_id in ("907_0", "907_1", "907_2", "908_0"):
        claims = [one for one in judgments(machine=True) if one.pair_id == pair_id]

        assert [one.relevance for one in claims] == [1, 1, 1], pair_id
        assert all(prior()[one.query_id, one.doc_id] >= 1 for one in claims)


def test_every_record_refers_to_an_existing_narrative() -> None:
    for record in records("judgments.jsonl") + records("reviews.jsonl"):
        pair = pairs()[record.pair_id]
        versions = [(one.side, one.version) for one in pair.narratives]

        assert record.query_id == pair.query_id
        assert (record.side, record.version) in versions


def test_people_are_of_the_cast_and_the_machine_is_marked() -> None:
    names = {one.annotator for one in judgments()} | {
        one.annotator for one in records_of(FlagRecord)
    }
    names |= {one.by for one in records_of(AdjudicationRecord)} | {one.auditor for one in reviews()}

    assert names == PEOPLE
    assert {one.annotator for one in judgments(machine=True)} == {"example-model"}


def test_every_judged_document_was_relevant_in_the_pool_of_its_query() -> None:
    for record in records("judgments.jsonl"):
        assert prior()[record.query_id, record.doc_id] >= 1, record


def test_nobody_answers_twice_for_one_document_under_one_version() -> None:
    spoken = Counter(
        (one.pair_id, one.version, one.doc_id, one.annotator)
        for one in judgments() + judgments(machine=True) + records_of(FlagRecord)
    )

    assert set(spoken.values()) == {1}


def test_judgments_carry_no_uuid_so_that_any_project_takes_them() -> None:
    assert {one.uuid for one in records_of(JudgmentRecord)} == {None}


def test_grades_are_those_of_the_project_and_none_rises() -> None:
    for one in records_of(JudgmentRecord):
        assert one.relevance in (0, 1, 2)
    for one in judgments():
        assert one.relevance <= max(prior()[one.query_id, one.doc_id], 1), one


def test_the_altered_narratives_narrow_to_about_half() -> None:
    judged = (("901", 1), ("902", 1), ("902", 2), ("903", 1), ("904", 1), ("909", 1))
    for pair_id, version in judged:
        relevant = {doc_id for (q, doc_id), grade in prior().items() if q == pair_id and grade}
        ada = {
            one.doc_id: one.relevance
            for one in judgments()
            if (one.annotator, one.pair_id, one.version) == ("ada", pair_id, version)
        }

        still_relevant = [doc_id for doc_id, relevance in ada.items() if relevance >= 1]

        assert set(ada) == relevant
        assert 0.4 <= share(still_relevant, relevant) <= 0.75, (pair_id, version)


def disputed_documents() -> dict[tuple[str | None, int | None, str], list[int]]:
    """Return where ada and ben differ: pair, version, document -> relevances."""
    grades: dict[tuple[str | None, int | None, str], list[int]] = {}
    for one in judgments():
        grades.setdefault((one.pair_id, one.version, one.doc_id), []).append(one.relevance)
    return {key: relevances for key, relevances in grades.items() if len(set(relevances)) > 1}


def test_ada_and_ben_agree_mostly_and_differ_somewhere() -> None:
    both = Counter((one.pair_id, one.version, one.doc_id) for one in judgments())
    shared = [key for key, count in both.items() if count == 2]

    assert set(disputed_documents()) == {
        ("901", 1, "CO-230627-05"),
        ("902", 1, "TR-230309-02"),
        ("902", 2, "MW-240917-03"),
        ("903", 1, "CO-230928-01"),
        ("903", 1, "HL-220714-03"),
        ("904", 1, "TR-230615-06"),
        ("909", 1, "HB-240206-03"),
    }
    assert share(disputed_documents(), shared) < 0.25


def test_two_of_the_differences_are_settled_and_the_rest_wait() -> None:
    settled = {
        (one.pair_id, one.version, one.doc_id): one for one in records_of(AdjudicationRecord)
    }

    assert set(settled) == {("901", 1, "CO-230627-05"), ("902", 1, "TR-230309-02")}
    assert set(settled) < set(disputed_documents())
    assert all(one.reason and one.by == "carla" for one in settled.values())


def test_evidence_is_a_passage_of_the_document() -> None:
    passages = [
        (documents()[one.doc_id].text or "")[span.start : span.end]
        for one in judgments()
        for span in one.evidence
    ]

    assert len(passages) == 22
    assert "The cause was a worn shaft seal." in passages
    assert "前后共四十二小时" in passages
    assert "ثماني وثلاثين ساعة" in passages
    assert all(passage.strip() == passage and len(passage) >= 8 for passage in passages)


def test_clauses_are_words_of_the_altered_narrative() -> None:
    [text] = altered(pairs()["909"])
    marked = Counter(text[span.start : span.end] for one in judgments() for span in one.clauses)

    assert marked == {
        "because of wind or waves": 1,
        "how long the harbour stayed closed": 6,
        "what became of the ships that could not enter or leave": 6,
    }


def test_one_narrative_has_three_conditions_and_everyone_answers_all_of_them() -> None:
    conditions = {
        pair.pair_id: [condition.name for condition in one.conditions]
        for pair in pairs().values()
        for one in pair.narratives
        if one.conditions
    }
    answered = [one for one in judgments() if one.verdicts]

    assert conditions == {"909": ["cause", "duration", "ships"]}
    assert answered == [one for one in judgments() if one.pair_id == "909"]
    assert {tuple(v.condition for v in one.verdicts) for one in answered} == {(1, 2, 3)}


def test_relevance_follows_from_the_verdicts_except_one_overruled_with_a_note() -> None:
    overruled = [
        one
        for one in judgments()
        if one.verdicts and one.relevance != 2 * all(v.answer == "met" for v in one.verdicts)
    ]

    assert [(one.annotator, one.doc_id) for one in overruled] == [("ben", "HB-240206-03")]
    assert overruled[0].note


def test_judgments_on_harbours_say_how_they_were_given() -> None:
    answers = [one for one in judgments() if one.pair_id == "909"]

    assert Counter(one.pressed for one in answers) == {"key": 9, "click": 2}
    assert all(one.made_at and one.at and one.made_at <= one.at for one in answers)
    assert all(one.active_ms for one in answers)


def test_documents_on_harbours_are_of_every_kind() -> None:
    docs = {doc.doc_id: doc for doc in records("harbours.jsonl")}
    wide = parse_table(docs["HB-TAB-2023"].text or "", "html")
    tall = parse_table(docs["HB-TAB-TOLL"].text or "", "markdown")

    assert len((docs["HB-LOG-2022"].text or "").split()) > 15_000
    assert [i for i, doc in docs.items() if ARABIC.search(doc.text or "")] == ["HB-220213-04"]
    assert [i for i, doc in docs.items() if CHINESE.search(doc.text or "")] == ["HB-230910-05"]
    assert "if wind < 14 and swell < 2.5:" in (docs["HB-210330-06"].text or "")
    assert (wide.width, len(wide.rows), [len(row) for row in wide.rows[:3]]) == (
        50,
        15,
        [6, 12, 48],
    )
    assert (tall.width, len(tall.rows)) == (8, 321)


def test_the_months_and_causes_of_the_wide_table_add_up_to_the_year() -> None:
    table = parse_table(documents()["HB-TAB-2023"].text or "", "html")

    for row in table.rows[3:]:
        *hours, year = [int(cell.text) for cell in row[1:]]
        assert (len(hours), sum(hours)) == (48, year)


def test_records_of_a_person_come_after_the_narrative_and_in_order() -> None:
    written = {
        (pair.pair_id, one.version): one.at
        for pair in pairs().values()
        for one in pair.narratives
        if one.side == "altered" and one.at
    }
    judging_sessions: dict[tuple[str | None, int | None, str], list[Any]] = {}
    for one in records("judgments.jsonl"):
        if not isinstance(one, AdjudicationRecord) and not getattr(one, "machine", False):
            judging_sessions.setdefault((one.pair_id, one.version, one.annotator), []).append(
                one.at
            )

    for (pair_id, version, _), times in judging_sessions.items():
        assert all(earlier < later for earlier, later in pairwise(times))
        assert written.get((pair_id or "", version or 0), times[0]) <= times[0]


def test_reviews_answer_all_six_criteria_and_poor_has_words() -> None:
    for review in reviews():
        assert tuple(rating.criterion for rating in review.ratings) == FOLLOWTABLE.keys
        assert review.rubric == FOLLOWTABLE.name
        for rating in review.ratings:
            assert rating.level != "poor" or rating.words


def test_auditors_straddle_poor_once_and_agree_on_poor_once() -> None:
    levels: dict[tuple[str, str], list[Level]] = {}
    for review in reviews():
        for rating in review.ratings:
            level = FOLLOWTABLE.levels[["excellent", "acceptable", "poor"].index(rating.level)]
            levels.setdefault((review.pair_id, rating.criterion), []).append(level)

    straddling = [key for key, rated in levels.items() if straddles(rated)]
    poor = [
        key
        for key, answers in levels.items()
        if [level.value for level in answers] == ["poor", "poor"]
    ]

    assert straddling == [("908_1", "constraint_abstraction")]
    assert poor == [("908_2", "semantic_expansion")]


def test_some_reviews_are_still_missing() -> None:
    done = Counter(review.pair_id for review in reviews())
    decided = [one for one in records("reviews.jsonl") if isinstance(one, DecisionRecord)]

    assert done == {"907_0": 2, "907_1": 2, "907_2": 1, "908_1": 2, "908_2": 2}
    assert [(one.pair_id, one.outcome, one.by) for one in decided] == [
        ("907_0", "accepted", "carla")
    ]
