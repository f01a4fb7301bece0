"""Labels of machines in the files of other tools; the machine's name is its tag, model or file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from formats.csv_rows import read_csv
from formats.fields import Fields, parse_each, read_json
from formats.reading import count_columns, parse_relevance, reader, split_columns
from formats.records import FlagRecord, JudgmentRecord, Qrel
from formats.source import Source
from formats.texts import MAX_ID, check_id, excerpt

UMBRELA = "umbrela"
_CONFIDENCE = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]-?[0-9]{1,3})?")
_GRADES = {"prob_yes": 1, "prob_no": 0}


@reader("trec-labels", "label")
def read_labels(source: Source) -> Iterator[JudgmentRecord]:
    """Yield lines of `query_id Q0 doc_id judgment confidence tag`."""
    for line in source.lines():
        if columns := split_columns(line):
            try:
                label = _parse_columns(columns)
            except ValueError as error:
                source.refuse(str(error))
                continue
            yield label


def _parse_columns(columns: list[str]) -> JudgmentRecord:
    if len(columns) != 6:
        raise ValueError(
            "a label has 6 columns (query_id Q0 doc_id judgment confidence tag), "
            f"this has {count_columns(columns)}"
        )
    query_id, _, doc_id, judgment, confidence, tag = columns
    if re.fullmatch(r"-?[0-9.]+", tag):
        raise ValueError(f"column 6 is {excerpt(tag, 40)}; it must be the name of a machine")
    return JudgmentRecord(
        check_id(query_id, "query_id"),
        check_id(doc_id, "doc_id"),
        check_id(tag, "tag"),
        parse_relevance(judgment),
        note=_confidence_note(confidence),
        machine=True,
    )


def _confidence_note(value: object) -> str:
    """Return the note that keeps a confidence; raise ValueError if it is not from 0 to 1."""
    text = str(value)
    if len(text) > MAX_ID or not _CONFIDENCE.fullmatch(text) or float(text) > 1:
        raise ValueError(f"the confidence {excerpt(text, 40)!r} is not a number from 0 to 1")
    return f"confidence {text}"


@reader("umbrela-json", "judged candidate")
def read_umbrela(source: Source) -> Iterator[JudgmentRecord | FlagRecord]:
    """Yield the judgments of each query's candidates, by the model that gave them.

    A candidate with the `result_status` 0 has a fallback instead of a judgment: it is flagged.
    """
    for records in parse_each(source, read_json(source), _parse_candidates):
        yield from records


def _parse_candidates(fields: Fields) -> list[JudgmentRecord | FlagRecord]:
    query_id = fields.part("query").id("qid")
    model = fields.text("model", default=UMBRELA)
    records: list[JudgmentRecord | FlagRecord] = []
    for entry in fields.each("candidates"):
        doc_id, grade = entry.id("docid"), entry.relevance("judgment")
        rater, reason = entry.text("model", default=model), entry.text("reasoning")
        confidence = entry.value("confidence")
        parts = ("" if confidence is None else _confidence_note(confidence), reason)
        if entry.optional_integer("result_status") == 0:
            words = "\n".join(filter(None, ("no judgment in the machine's answer", *parts)))
            records.append(
                FlagRecord(query_id, doc_id, rater, "cannot_judge", words=words, machine=True)
            )
            continue
        note = "\n".join(filter(None, parts))
        records.append(JudgmentRecord(query_id, doc_id, rater, grade, note=note, machine=True))
    return records


@reader("lara-csv", "row")
def read_lara(source: Source) -> Iterator[JudgmentRecord | Qrel]:
    """Yield the grade with the highest probability as the machine's, `annotation` as a qrel.

    The columns are topic_id, doc_id, annotation and the probability of each grade: prob_yes and
    prob_no, or prob_0 … prob_k. The machine is named after the file.
    """
    table = read_csv(source, lower=True)
    if table is None:
        return
    grades = {
        name: _GRADES[name] if name in _GRADES else int(name[5:])
        for name in table.header
        if name in _GRADES or re.fullmatch(r"prob_[0-9]{1,4}", name)
    }
    missing = [name for name in ("topic_id", "doc_id") if name not in table.header]
    if missing or len(grades) < 2:
        missing += ["prob_0, prob_1 …"] if len(grades) < 2 else []
        source.refuse(f"the header line lacks {', '.join(missing)}")
        return
    rater = PurePath(source.name.removesuffix(".gz")).stem

    def parse(fields: Fields) -> list[JudgmentRecord | Qrel]:
        query_id, doc_id = fields.id("topic_id"), fields.id("doc_id")
        records: list[JudgmentRecord | Qrel] = []
        confidences = {name: _confidence_note(fields.required_text(name)) for name in grades}
        ranked = sorted(grades, key=lambda name: -float(confidences[name].split()[1]))
        if float(fields.values[ranked[0]]) == float(fields.values[ranked[1]]):
            source.leave_out("probabilities without a single highest one")
        else:
            grade, note = grades[ranked[0]], confidences[ranked[0]]
            records.append(JudgmentRecord(query_id, doc_id, rater, grade, note=note, machine=True))
        if fields.value("annotation") is not None:
            records.append(Qrel(query_id, doc_id, fields.relevance("annotation")))
        return records

    for records in parse_each(source, map(Fields, table.rows), parse):
        yield from records
