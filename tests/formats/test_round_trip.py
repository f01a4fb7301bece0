"""A format's reader reads the output of its writer back to the same records."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.reading import one_line, strip_lines
from formats.records import (
    ANSWERS,
    FILTER_DECISIONS,
    FLAG_KINDS,
    MARKUPS,
    OUTCOMES,
    PRESSED,
    SIDES,
    AdjudicationRecord,
    Claim,
    CollectionRecord,
    ConditionRecord,
    CriterionRecord,
    DecisionRecord,
    Doc,
    Evidence,
    FilterRecord,
    FlagRecord,
    Generated,
    JudgmentRecord,
    LevelRecord,
    NarrativeRecord,
    PairRecord,
    Qrel,
    RatingRecord,
    ReviewRecord,
    RubricRecord,
    RunLine,
    TextRead,
    Topic,
    VerdictRecord,
    fields_to_json,
    writer_of,
)
from formats.registry import FORMATS
from formats.trec_topics import _TOPIC_TAG
from tests.formats.files import open_content

# Letters of several scripts, characters with a meaning in formats, and no control characters.
LETTERS = st.characters(
    codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\uffff\ufffe"
)
TEXT = st.text(LETTERS | st.sampled_from("\n\t<>&\"',;|#:{}[]\\-"), max_size=60)
IDS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=20
).filter(lambda value: value.split() == [value])
NAMES = TEXT.map(one_line).filter(bool)
MOMENTS = st.none() | st.integers(0, 1_750_000_000_000_000).map(
    lambda microseconds: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
)
GRADES = st.integers(-32768, 32767)
VERSIONS = st.none() | st.integers(1, 1_000)
SIDE = st.none() | st.sampled_from(SIDES)

TOPICS = st.builds(Topic, IDS, TEXT, TEXT, st.none() | TEXT)
# In SGML and XML, white space at the edges of lines is layout.
LAID_OUT_TOPICS = st.builds(
    Topic, IDS, TEXT.map(one_line), TEXT.map(strip_lines), st.none() | TEXT.map(strip_lines)
)
SGML_TOPICS = LAID_OUT_TOPICS.filter(
    lambda topic: not any(_TOPIC_TAG.search(text or "") for text in topic[1:])
)
TEXT_VERSIONS = st.none() | st.integers(1, 9)
DOCS = st.builds(Doc, IDS, TEXT, st.none() | TEXT, st.sampled_from(MARKUPS), st.none())
JSONL_DOCS = DOCS | st.builds(Doc, IDS, TEXT, TEXT, st.sampled_from(MARKUPS), TEXT_VERSIONS)
SGML_DOCS = st.builds(
    Doc,
    IDS.filter(lambda doc_id: not set(doc_id) & set("<>&")),
    TEXT.map(one_line),
    st.none() | TEXT.map(str.strip),
    st.just("plain"),
    st.none(),
)
QRELS = st.builds(Qrel, IDS.filter(lambda query_id: query_id[0] != "#"), IDS, GRADES, IDS)
RUN_LINES = st.builds(
    RunLine,
    IDS,
    IDS,
    st.none() | st.integers(0, 999_999_999),
    st.floats(allow_nan=False, allow_infinity=False),
    IDS,
)
NARRATIVES = st.lists(
    st.builds(
        NarrativeRecord,
        st.sampled_from(SIDES),
        st.integers(1, 9),
        TEXT,
        st.none() | NAMES,
        MOMENTS,
        TEXT,
        st.lists(st.builds(ConditionRecord, TEXT, NAMES), max_size=3).map(tuple),
        st.just(""),
        st.just(""),
        withdrawn_by=st.none(),
        withdrawn_at=st.none() | MOMENTS,
    ),
    max_size=4,
    unique_by=lambda narrative: narrative[:2],
).map(lambda them: tuple(sorted(them, key=lambda one: (SIDES.index(one.side), one.version))))


def with_writers(pair: PairRecord, writers: list[tuple[str, str]]) -> PairRecord:
    """Name the writers of versions that do not follow from the pair: only these are written."""
    named = zip(pair.narratives, writers, strict=False)
    return pair._replace(
        narratives=tuple(
            one
            if writer_of(pair, one) == writer
            else one._replace(origin=writer[0], model=writer[1])
            for one, writer in named
        )
    )


WRITERS = st.lists(
    st.sampled_from([("human", ""), ("llm", ""), ("llm", "gpt")]), min_size=4, max_size=4
)
KEPT = st.dictionaries(NAMES, TEXT | st.lists(NAMES, max_size=2), max_size=2).map(fields_to_json)
PAIRS = st.builds(
    PairRecord,
    IDS,
    IDS,
    TEXT,
    TEXT,
    TEXT,
    st.just("llm"),
    TEXT,
    NARRATIVES,
    TEXT,
    st.just("") | IDS,
    TEXT,
    KEPT,
) | st.builds(
    *(PairRecord, IDS, IDS, TEXT, TEXT, TEXT, st.just("human"), st.just(""), NARRATIVES),
    *(TEXT, st.just(""), TEXT, KEPT),
)
PAIRS = st.builds(with_writers, PAIRS, WRITERS)
GENERATED = st.builds(Generated, IDS, IDS, st.none() | TEXT)
CLAIMS = st.builds(Claim, IDS, IDS, GRADES, NAMES, TEXT)
UUIDS = st.none() | st.uuids().map(str)
EVIDENCE = st.lists(
    st.builds(
        lambda start, length: Evidence(start, start + length),
        st.integers(0, 99),
        st.integers(1, 99),
    ),
    max_size=3,
).map(tuple)
VERDICTS = st.dictionaries(st.integers(1, 50), st.sampled_from(ANSWERS), max_size=3).map(
    lambda answers: tuple(VerdictRecord(*one) for one in sorted(answers.items()))
)
JUDGMENTS = st.builds(
    JudgmentRecord,
    query_id=IDS,
    doc_id=IDS,
    annotator=NAMES,
    relevance=GRADES,
    side=SIDE,
    pair_id=st.none() | IDS,
    version=VERSIONS,
    at=MOMENTS,
    note=TEXT,
    uuid=UUIDS,
    machine=st.booleans(),
    evidence=EVIDENCE,
    active_ms=st.none() | st.integers(0, 2**31 - 1),
    superseded_at=MOMENTS,
    withdrawn_at=MOMENTS,
    clauses=EVIDENCE,
    verdicts=VERDICTS,
    pressed=st.sampled_from(("", *PRESSED)),
    made_at=MOMENTS,
    text_version=TEXT_VERSIONS,
)
ROW_JUDGMENTS = st.builds(
    JudgmentRecord,
    query_id=IDS,
    doc_id=IDS,
    annotator=NAMES,
    relevance=GRADES,
    side=SIDE,
    pair_id=st.none() | IDS,
    version=VERSIONS,
    at=MOMENTS,
    note=TEXT,
    uuid=UUIDS,
    machine=st.booleans(),
    evidence=st.just(()),
    active_ms=st.none() | st.integers(0, 2**31 - 1),
    superseded_at=st.none(),
    withdrawn_at=st.none(),
    clauses=st.just(()),
    verdicts=st.just(()),
    pressed=st.sampled_from(("", *PRESSED)),
    made_at=MOMENTS,
    text_version=st.none(),
)
FLAGS = st.builds(
    FlagRecord, IDS, IDS, NAMES, st.sampled_from(FLAG_KINDS), SIDE, st.none() | IDS, VERSIONS,
    MOMENTS, TEXT, MOMENTS, UUIDS, MOMENTS, st.booleans(), TEXT_VERSIONS,
)  # fmt: skip
ADJUDICATIONS = st.builds(
    AdjudicationRecord, IDS, IDS, NAMES, GRADES, SIDE, st.none() | IDS, VERSIONS, MOMENTS, TEXT,
    TEXT, st.none() | NAMES, MOMENTS, TEXT_VERSIONS,
)  # fmt: skip
RATINGS = st.lists(st.builds(RatingRecord, NAMES, NAMES, TEXT), max_size=3).map(tuple)
TEXTS_READ = st.lists(
    st.builds(TextRead, IDS, st.integers(1, 9)), max_size=3, unique_by=lambda read: read.doc_id
).map(tuple)
REVIEWS = st.builds(
    ReviewRecord, IDS, IDS, NAMES, NAMES, st.sampled_from(SIDES), st.integers(1, 9), MOMENTS,
    MOMENTS, RATINGS, st.booleans(), TEXTS_READ,
)  # fmt: skip
DECISIONS = st.builds(
    DecisionRecord, IDS, IDS, NAMES, st.sampled_from(OUTCOMES), st.sampled_from(SIDES),
    st.integers(1, 9), MOMENTS, TEXT, st.none() | NAMES, MOMENTS,
)  # fmt: skip


def several(records: st.SearchStrategy[Any], *key: str) -> st.SearchStrategy[list[Any]]:
    """Return one to six records with different keys."""
    return st.lists(
        records,
        min_size=1,
        max_size=6,
        unique_by=lambda record: tuple(getattr(record, name) for name in key),
    )


SLUGS = st.text("abcxyz019_-", min_size=1, max_size=20).filter(lambda one: one[0] not in "_-")
WORDS = TEXT.map(str.strip)
LEVELS = st.lists(
    st.builds(LevelRecord, SLUGS, NAMES.map(lambda name: name[:40].strip()), WORDS, st.just(False)),
    min_size=2,
    max_size=9,
    unique_by=(lambda level: level.value, lambda level: level.name.casefold()),
).map(lambda levels: (*levels[:-1], levels[-1]._replace(rejects=True)))
CRITERIA = st.lists(
    st.builds(CriterionRecord, SLUGS, NAMES, NAMES, WORDS, WORDS, WORDS),
    min_size=1,
    max_size=4,
    unique_by=lambda criterion: criterion.key,
).map(tuple)
RUBRICS = st.builds(
    RubricRecord, NAMES.map(str.strip).filter(str.isprintable), NAMES, LEVELS, CRITERIA
)

FILTERED = st.builds(
    lambda query_id, machine, decision, reason, place, back: FilterRecord(
        *(query_id, machine, decision, reason, place[0], place[1]),
        brought_back=back and decision == "discard",
    ),
    IDS,
    NAMES.map(str.strip).filter(bool),
    st.sampled_from(FILTER_DECISIONS),
    NAMES.map(str.strip).filter(bool),
    st.sampled_from([(None, None), ("D1", None), (None, "P1")]),
    st.booleans(),
)

REASONS = NAMES.map(str.strip).filter(bool)
TAKEN_OUT = st.tuples(REASONS, MOMENTS, st.none() | REASONS, st.booleans())
REMOVALS = st.just(("", None, None, False)) | TAKEN_OUT
COLLECTION = (
    st.builds(
        lambda query_id, title, description, removal: CollectionRecord(
            "query", query_id, None, None, None, title, description, *removal
        ),
        *(IDS, TEXT, TEXT, REMOVALS),
    )
    | st.builds(
        lambda query_id, pair_id, removal: CollectionRecord(
            "instruction", query_id, pair_id, None, None, "", "", *removal
        ),
        *(IDS, IDS, TAKEN_OUT),
    )
    | st.builds(
        lambda query_id, doc_id, relevance, removal: CollectionRecord(
            "candidate", query_id, None, doc_id, relevance, "", "", *removal
        ),
        *(IDS, IDS, st.none() | GRADES, REMOVALS),
    )
)

RECORDS: dict[str, st.SearchStrategy[list[Any]]] = {
    "trec-topics": several(SGML_TOPICS, "query_id"),
    "trec-topics-xml": several(LAID_OUT_TOPICS, "query_id"),
    "topics-json": several(TOPICS, "query_id"),
    "trec-qrels": several(QRELS, "query_id", "doc_id"),
    "trec-run": several(RUN_LINES, "query_id", "doc_id"),
    "trec-docs": several(SGML_DOCS, "doc_id"),
    "docs-jsonl": several(JSONL_DOCS, "doc_id"),
    "beir": st.tuples(
        several(TOPICS, "query_id"),
        several(DOCS, "doc_id"),
        several(st.builds(Qrel, IDS, IDS, GRADES, st.just("0")), "query_id", "doc_id"),
    ).map(lambda parts: [record for part in parts for record in part]),
    "pairs-jsonl": st.tuples(
        several(PAIRS, "pair_id"),
        several(GENERATED, "pair_id", "doc_id"),
        several(CLAIMS, "pair_id", "doc_id", "rater"),
    ).map(lambda parts: parts[0] + parts[1] + parts[2]),
    "judgments-csv": several(ROW_JUDGMENTS, "query_id", "doc_id", "annotator"),
    "filter-jsonl": several(FILTERED, "query_id", "doc_id", "pair_id", "machine"),
    "collection-jsonl": several(COLLECTION, "type", "query_id", "pair_id", "doc_id"),
    "rubric-json": several(RUBRICS, "name"),
    "judgments-jsonl": st.lists(
        JUDGMENTS | FLAGS | ADJUDICATIONS | REVIEWS | DECISIONS, min_size=1, max_size=5
    ),
}


def test_every_format_with_a_writer_is_tested():
    assert set(RECORDS) == {name for name, entry in FORMATS.items() if entry.write is not None}


@pytest.mark.parametrize("name", RECORDS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_written_records_are_read_back_unchanged(name, data):
    records = data.draw(RECORDS[name])
    entry = FORMATS[name]
    stream = io.BytesIO()
    assert entry.write is not None

    count = entry.write(iter(records), stream)

    assert count == len(records)
    assert list(entry.read(open_content(name, stream.getvalue()))) == records


@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_same_records_are_written_to_the_same_bytes(name, data):
    records = data.draw(RECORDS[name])
    entry = FORMATS[name]
    first, second = io.BytesIO(), io.BytesIO()
    assert entry.write is not None

    entry.write(records, first)
    entry.write(records, second)

    assert first.getvalue() == second.getvalue()


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("bad", ["a b", "a\tb", "a\nb", "a\fb", ""])
def test_no_writer_accepts_an_id_with_white_space(name, bad):
    records: dict[type, Any] = {
        Topic: Topic(bad, "t"),
        Doc: Doc(bad),
        Qrel: Qrel("1", bad, 1),
        RunLine: RunLine("1", bad, 1, 1.0, "t"),
        PairRecord: PairRecord(bad, "1"),
        JudgmentRecord: JudgmentRecord("1", bad, "ada", 1),
    }
    entry = FORMATS[name]
    assert entry.write is not None
    for kind in entry.reads:
        if kind in records:
            with pytest.raises(ValueError):
                entry.write([records[kind]], io.BytesIO())
