"""Every format by name: its title on screen, its records, its reader and its writer.

To register a format, add an entry to `_ALL`. docs/formats.md lists the same names. One test
compares the two lists, another reads every writer's output back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any, Literal, NamedTuple

from formats import (
    beir,
    collection,
    followtable,
    infosearch,
    jsonl,
    jsonl_pairs,
    judgments_csv,
    machine_filter,
    machine_labels,
    multi_infosearch,
    multiconir,
    published,
    rubrics,
    smart,
    topics_json,
    trec_docs,
    trec_qrels,
    trec_run,
    trec_topics,
    trec_topics_xml,
)
from formats.folders import Folder, open_folder
from formats.records import (
    AdjudicationRecord,
    Claim,
    CollectionRecord,
    DecisionRecord,
    Doc,
    FilterRecord,
    FlagRecord,
    Generated,
    JudgmentRecord,
    PairRecord,
    Pooled,
    Qrel,
    Record,
    ReviewRecord,
    RubricRecord,
    RunLine,
    Topic,
)
from formats.source import Source, open_source


class UnknownFormat(KeyError):
    """A format name that is not in FORMATS; the message lists those that are."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def __str__(self) -> str:
        return f"unknown format {self.name!r}; the formats are: {', '.join(FORMATS)}"


class Format(NamedTuple):
    """One format. `read` takes a Source (kind "file") or a Folder (kind "folder").

    `write(records, stream)` takes a binary stream, returns how many records it wrote, and raises
    CannotHold for a record the format cannot represent (white space in an id). A folder is written
    as a zip archive. None: this format is only read.

    `unknown` says what happens to a field that the format does not know: Rejudge's own formats
    refuse it; in formats of other tools it is counted and reported as left out ("reported").
    """

    name: str
    title: str
    description: str
    kind: Annotated[Literal["file", "folder"], "A folder is uploaded as one zip archive."]
    reads: tuple[type[Any], ...]
    read: Callable[[Any], Iterator[Record]]
    write: Callable[[Iterable[Any], IO[bytes]], int] | None
    suffixes: tuple[str, ...]
    unknown: Literal["refused", "reported"]
    # What whoever loads such a file has to know: a sentence without its full stop, or "".
    note: str = ""

    def open(self, path: str | Path, *, collect: bool = False) -> Source | Folder:
        """Open `path` for this format's `read`; raise FormatError with a sentence."""
        if self.kind == "folder":
            return open_folder(path, collect=collect)
        return open_source(path, collect=collect)


_ALL = (
    Format(
        "trec-topics",
        "TREC topics (SGML)",
        "Queries with title, description and narrative, as TREC's ad hoc tracks have them.",
        "file",
        (Topic,),
        trec_topics.read_topics,
        trec_topics.write_topics,
        (".txt", ".topics", ".sgml"),
        "reported",
    ),
    Format(
        "trec-topics-xml",
        "TREC topics (XML)",
        "Queries as <topic number>, as TREC-COVID and the web track have them.",
        "file",
        (Topic,),
        trec_topics_xml.read_topics_xml,
        trec_topics_xml.write_topics_xml,
        (".xml",),
        "reported",
    ),
    Format(
        "topics-json",
        "Topics (JSON)",
        "Queries, one JSON object per line or a list: query_id, title, description, narrative.",
        "file",
        (Topic,),
        topics_json.read_topics,
        topics_json.write_topics,
        (".jsonl", ".json"),
        "reported",
    ),
    Format(
        "trec-qrels",
        "TREC qrels",
        "Earlier relevance: query, iteration, document, relevance.",
        "file",
        (Qrel,),
        trec_qrels.read_qrels,
        trec_qrels.write_qrels,
        (".txt", ".qrels", ".test"),
        "refused",
    ),
    Format(
        "trec-run",
        "TREC run",
        "A system's ranking: query, Q0, document, rank, score, tag.",
        "file",
        (RunLine,),
        trec_run.read_run,
        trec_run.write_run,
        (".run", ".txt", ".test"),
        "reported",
    ),
    Format(
        "trec-docs",
        "TREC documents",
        "Documents in SGML: <DOC>, <DOCNO>, <TEXT>.",
        "file",
        (Doc,),
        trec_docs.read_docs,
        trec_docs.write_docs,
        (".sgml", ".trec", ".txt"),
        "reported",
    ),
    Format(
        "docs-jsonl",
        "Documents (JSONL)",
        "Documents as one JSON object per line: doc_id, title, text, markup.",
        "file",
        (Doc,),
        jsonl.read_docs,
        jsonl.write_docs,
        (".jsonl",),
        "reported",
    ),
    Format(
        "beir",
        "BEIR folder",
        "Queries, documents and qrels together: queries.jsonl, corpus.jsonl, qrels/*.tsv.",
        "folder",
        (Topic, Doc, Qrel, PairRecord, Pooled, JudgmentRecord),
        published.read_beir,
        beir.write_beir,
        (".zip",),
        "reported",
    ),
    Format(
        "mteb",
        "MTEB folder",
        "An instruction reranking set: queries before and after the change, qrels, candidates.",
        "folder",
        (PairRecord, Doc, Pooled, Qrel, JudgmentRecord),
        published.read_mteb,
        None,
        (".zip",),
        "reported",
    ),
    Format(
        "hf",
        "Hugging Face folder",
        "The same files as in mteb, with a dataset card.",
        "folder",
        (PairRecord, Doc, Pooled, Qrel, JudgmentRecord),
        published.read_hf,
        None,
        (".zip",),
        "reported",
    ),
    Format(
        "followtable",
        "FollowTable folder",
        "Queries, tables, instructions and claimed positives: query_instruction.json and tables/.",
        "folder",
        (Topic, Doc, Qrel, PairRecord, Generated, Claim),
        followtable.read_followtable,
        None,
        (".zip",),
        "reported",
    ),
    Format(
        "infosearch",
        "InfoSearch folder",
        "Queries with instruction and reverse, documents, and the qrels of all three.",
        "folder",
        (Topic, Doc, Qrel, PairRecord, JudgmentRecord),
        infosearch.read_infosearch,
        None,
        (".zip",),
        "reported",
    ),
    Format(
        "infosearch-results",
        "InfoSearch list-wise results (JSON)",
        "A reranker's order: for each query its candidates, best first.",
        "file",
        (RunLine,),
        infosearch.read_results,
        None,
        (".json", ".jsonl"),
        "reported",
    ),
    Format(
        "multiconir",
        "MultiConIR (CSV)",
        "Queries with one to ten conditions, positives and hard negatives with what they satisfy.",
        "file",
        (Topic, Doc, Qrel, PairRecord, JudgmentRecord),
        multiconir.read_multiconir,
        None,
        (".csv",),
        "reported",
    ),
    Format(
        "multi-infosearch",
        "Multi-InfoSearch (JSONL)",
        "Instructions with attributes, and documents with the attributes they violate.",
        "file",
        (Topic, Doc, Qrel, PairRecord, JudgmentRecord),
        multi_infosearch.read_multi_infosearch,
        None,
        (".jsonl",),
        "reported",
    ),
    Format(
        "multi-infosearch-docs",
        "Multi-InfoSearch documents (JSON)",
        "Queries with the documents of query-doc.json, positive or hard negative.",
        "file",
        (Topic, Doc, Qrel),
        multi_infosearch.read_documents,
        None,
        (".json", ".jsonl"),
        "reported",
    ),
    Format(
        "multi-infosearch-folder",
        "Multi-InfoSearch folder",
        "Both files together: final_sorted.jsonl and query-doc.json.",
        "folder",
        (Topic, Doc, Qrel, PairRecord, JudgmentRecord),
        multi_infosearch.read_folder,
        None,
        (".zip",),
        "reported",
    ),
    Format(
        "pairs-jsonl",
        "Instruction pairs (JSONL)",
        "Instructions, one JSON object per line: query_id, original, altered; or versions; claims.",
        "file",
        (PairRecord, Claim, Generated),
        jsonl_pairs.read_pairs,
        jsonl_pairs.write_pairs,
        (".jsonl",),
        "refused",
    ),
    Format(
        "judgments-csv",
        "Judgments (CSV)",
        "Judgments as a table: query_id, doc_id, annotator, relevance.",
        "file",
        (JudgmentRecord,),
        judgments_csv.read_judgments,
        judgments_csv.write_judgments,
        (".csv", ".tsv"),
        "refused",
    ),
    Format(
        "judgments-jsonl",
        "Judgments (JSONL)",
        "Judgments, flags, adjudications, reviews and decisions, one per line, complete.",
        "file",
        (JudgmentRecord, FlagRecord, AdjudicationRecord, ReviewRecord, DecisionRecord),
        jsonl.read_judgments,
        jsonl.write_judgments,
        (".jsonl",),
        "refused",
    ),
    Format(
        "trec-labels",
        "TREC labels of a machine",
        "A machine's labels: query, Q0, document, judgment, confidence, tag.",
        "file",
        (JudgmentRecord,),
        machine_labels.read_labels,
        None,
        (".txt", ".tsv", ".qrels"),
        "refused",
    ),
    Format(
        "umbrela-json",
        "Judgments of umbrela (JSON)",
        "A model's judgments: for each query its candidates, each with a judgment.",
        "file",
        (JudgmentRecord, FlagRecord),
        machine_labels.read_umbrela,
        None,
        (".json", ".jsonl"),
        "reported",
    ),
    Format(
        "lara-csv",
        "LARA (CSV)",
        "A model's probability of each grade: topic_id, doc_id, annotation, prob_0, prob_1 …",
        "file",
        (JudgmentRecord, Qrel),
        machine_labels.read_lara,
        None,
        (".csv",),
        "reported",
    ),
    Format(
        "rubric-json",
        "Rubric (JSON)",
        "Levels, best first, and criteria with examples for rating instructions.",
        "file",
        (RubricRecord,),
        rubrics.read_rubrics,
        rubrics.write_rubrics,
        (".json", ".jsonl"),
        "refused",
    ),
    Format(
        "filter-jsonl",
        "Filter by a machine (JSONL)",
        "Decisions of a machine to keep or discard: query_id, doc_id, machine, decision, reason.",
        "file",
        (FilterRecord,),
        machine_filter.read_filter,
        machine_filter.write_filter,
        (".jsonl",),
        "refused",
    ),
    Format(
        "filter-csv",
        "Filter by a machine (CSV)",
        "Decisions of a machine to keep or discard, as a table with the same columns.",
        "file",
        (FilterRecord,),
        machine_filter.read_filter_table,
        None,
        (".csv", ".tsv"),
        "refused",
    ),
    Format(
        "collection-jsonl",
        "Collection and what is taken out (JSONL)",
        "Queries and candidates that pairs and qrels do not have, and what is taken out, and why.",
        "file",
        (CollectionRecord,),
        collection.read_collection,
        collection.write_collection,
        (".jsonl",),
        "refused",
    ),
    Format(
        "smart-docs",
        "SMART documents",
        "Documents with .I, .T, .A, .B, .W sections, as Cranfield has them.",
        "file",
        (Doc,),
        smart.read_docs,
        None,
        (".1400", ".all", ".txt"),
        "reported",
    ),
    Format(
        "smart-queries",
        "SMART queries",
        "Queries with .I and .W sections, counted by position.",
        "file",
        (Topic,),
        smart.read_queries,
        None,
        (".qry", ".txt"),
        "reported",
    ),
    Format(
        "smart-qrels",
        "SMART qrels",
        "Query, document, code in three columns; Cranfield's 1 is the best.",
        "file",
        (Qrel,),
        smart.read_qrels,
        None,
        (".rel", ".txt"),
        "refused",
        "the three columns are read as query, document and relevance, and a higher number is more "
        "relevant. In Cranfield's file it is the reverse: there 1 is the best",
    ),
)

FORMATS: dict[str, Format] = {entry.name: entry for entry in _ALL}


def lookup(name: str) -> Format:
    """Return the format with this name; raise UnknownFormat with the list of known names."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(name) from None
