"""The collection as records: topics, documents, runs and instruction pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import starmap
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate.collection.models import (
    Candidate,
    Document,
    DocumentText,
    FilterDecision,
    PassageRule,
    Query,
    Run,
)
from annotate.collection.passages import (
    evidence_passages_of_document,
    manifest_sentence,
    passage_rule_of,
    passages_of_document,
)
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Judgment
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Project
from base.bulk import in_byte_order
from exporters.exports.models import publication_of
from exporters.exports.selection.conditions import conditions_by_narrative, records_of
from exporters.exports.selection.ordered_rows import (
    CHUNK,
    ORDER_OF_SIDES,
    batches,
    narrative_texts,
    stream_named,
    stream_rows,
)
from exporters.exports.selection.selection import Pair
from formats.records import (
    CollectionRecord,
    Doc,
    FilterRecord,
    Generated,
    NarrativeRecord,
    PairRecord,
    Topic,
)

# Layouts whose corpus may hold passages. Readers of the other layouts look up the documents of the
# qrels in the corpus.
WITH_PASSAGES = ("beir", "ir-datasets")
# Formats with records of documents: whole, or passages around the evidence.
RECORDS = ("trec", "jsonl")
# The separator of two passages of one document.
BETWEEN = "\n\n"


# How many texts are fetched at once, and their characters, unless a single text has more.
TEXTS, TEXTS_AT_ONCE = 100, 2_000_000
# When, by whom and why something was taken out.
_REMOVAL = ("removed_reason", "removed_at", "removed_by__name", "removed_by__is_machine")


def corpus_rows(project: Project, documents: Iterable[Doc]) -> Iterator[Doc]:
    """Yield the rows of a corpus that may hold passages.

    If the lead chose so, these are all passages of each document under passage ids.
    """
    rule = passage_rule_of(project)
    if rule.published != PassageRule.Published.PASSAGES:
        yield from documents
        return
    for document in documents:
        for passage in passages_of_document(
            rule, document.doc_id, document.text or "", document.markup
        ):
            yield document._replace(doc_id=passage.passage_id, text=passage.text)


def note_on_texts(project: Project, layout: str) -> str:
    """Return the manifest's note on which texts a layout holds; "" if it holds them whole."""
    rule = passage_rule_of(project)
    if layout == "citation":
        return ""
    if rule.published == PassageRule.Published.EVIDENCE:
        return manifest_sentence(rule)
    texts = publication_of(project).texts
    if rule.published == PassageRule.Published.DOCUMENTS or layout in RECORDS or not texts:
        return ""
    if layout not in WITH_PASSAGES:
        return (
            "Texts are those of whole documents: readers of this layout look the documents of the "
            f"qrels up in the corpus. Passages are in {' and '.join(WITH_PASSAGES)}."
        )
    return manifest_sentence(rule) + (
        " Qrels and top_ranked name documents: turn a run over passages into one over documents "
        "with the command `maxp` before it is measured."
    )


def _evidence(project: Project) -> dict[str, list[tuple[int, int]]]:
    """Return the evidence that people marked in the newest text of each document, by doc_id."""
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(in_pools(), annotator__project=project)
        .exclude(evidence=[])
        .order_by()
    )
    spans_by_document: dict[str, list[tuple[int, int]]] = {}
    for doc_id, spans in stream_rows(rows, "candidate__document__doc_id", "evidence"):
        spans_by_document.setdefault(doc_id, []).extend(
            (span["start"], span["end"]) for span in spans
        )
    return spans_by_document


def original_topics(of: Sequence[Query], pairs: Iterable[Pair]) -> Iterator[Topic]:
    """Yield one topic for each query, with the current original narrative of its first pair."""
    first: dict[int, int] = {}
    for pair in pairs:
        if Narrative.Side.ORIGINAL in pair.versions:
            first.setdefault(pair.query.pk, pair.versions[Narrative.Side.ORIGINAL].pk)
    for batch in batches(of, TEXTS):
        texts = narrative_texts([first[query.pk] for query in batch if query.pk in first])
        for query in batch:
            narrative = texts[first[query.pk]] if query.pk in first else None
            yield Topic(query.query_id, query.title, query.description, narrative)


def pair_topics(of: Sequence[Pair], side: str) -> Iterator[Topic]:
    """Yield one topic for each pair, under the pair's id, with the current narrative on `side`.

    A pair without a narrative on that side gets a topic without a narrative.
    """
    for batch in batches(of, TEXTS):
        texts = narrative_texts([pair.versions[side].pk for pair in batch if side in pair.versions])
        for pair in batch:
            narrative = texts[pair.versions[side].pk] if side in pair.versions else None
            yield Topic(pair.pair_id, pair.query.title, pair.query.description, narrative)


def differing_originals(of: Iterable[Pair]) -> list[str]:
    """Return the ids of queries whose pairs have different original narratives."""
    first: dict[str, int] = {}
    differing: set[str] = set()
    side = Narrative.Side.ORIGINAL
    for batch in batches((pair for pair in of if side in pair.versions), TEXTS):
        texts = narrative_texts([pair.versions[side].pk for pair in batch])
        for pair in batch:
            text = hash(texts[pair.versions[side].pk])
            if first.setdefault(pair.query.query_id, text) != text:
                differing.add(pair.query.query_id)
    return sorted(differing)


def documents(project: Project, wanted: set[int], *, newest: bool = False) -> Iterator[Doc]:
    """Yield the documents with these keys in byte order of doc_id, with their texts if known.

    A document with several text versions has a record for each, with its version number; `newest`:
    only one of its newest text. If the lead chose so, the text is only passages around the evidence
    of the newest version; the ids remain document ids.
    """
    if not wanted:
        return
    rule = passage_rule_of(project)
    only_evidence = rule.published == PassageRule.Published.EVIDENCE
    version = F("document__text_version")
    versions = Q(version=version) if newest or only_evidence else Q(version__lte=version)
    evidence = _evidence(project) if only_evidence else {}
    for document in _documents(project, wanted, versions):
        if only_evidence:
            passages = evidence_passages_of_document(
                rule,
                document.doc_id,
                document.text or "",
                evidence.get(document.doc_id, ()),
                document.markup,
            )
            text = BETWEEN.join(passage.text for passage in passages)
            yield document._replace(text=text or None, text_version=None)
        else:
            yield document


def _documents(project: Project, wanted: set[int], versions: Q) -> Iterator[Doc]:
    rows = Document.objects.filter(project=project).order_by(in_byte_order("doc_id"))
    columns = ("pk", "doc_id", "title", "markup", "text_version", "length")
    wanted_rows = (row for row in stream_named(rows, *columns) if row.pk in wanted)
    for batch in _batches_by_length(wanted_rows):
        texts: dict[int, list[Any]] = {}
        of_batch = DocumentText.objects.filter(versions, document__in=[row.pk for row in batch])
        for text in stream_named(
            of_batch.order_by("version"), "document", "version", "markup", "text"
        ):
            texts.setdefault(text.document, []).append(text)
        for row in batch:
            if row.text_version is None:
                yield Doc(row.doc_id, row.title, None, row.markup)
            for text in texts.get(row.pk, ()):
                version = text.version if row.text_version > 1 else None
                yield Doc(row.doc_id, row.title, text.text, text.markup, version)


def _batches_by_length(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield documents in lists whose newest texts may be in memory at a time."""
    batch: list[Any] = []
    characters = 0
    for row in rows:
        length = row.length or 0
        if batch and (len(batch) == TEXTS or characters + length > TEXTS_AT_ONCE):
            yield batch
            batch, characters = [], 0
        batch.append(row)
        characters += length
    if batch:
        yield batch


def documents_with_newer_texts(
    project: Project, among: Collection[int] | None = None
) -> dict[str, int]:
    """Return the newest text version of each document that has several, by doc_id in byte order.

    `among`: limit the result to documents with these keys.
    """
    rows = Document.objects.filter(project=project, text_version__gt=1)
    return {
        doc_id: version
        for pk, doc_id, version in stream_rows(
            rows.order_by(in_byte_order("doc_id")), "pk", "doc_id", "text_version"
        )
        if among is None or pk in among
    }


def runs(project: Project) -> list[Run]:
    """Return the project's runs in byte order of their names."""
    return list(Run.objects.filter(project=project).order_by(in_byte_order("name")))


def generated_documents(project: Project) -> Iterator[Generated]:
    """Yield the documents that were written for one instruction, in byte order of their ids."""
    rows = Candidate.with_removed.filter(query__project=project, made_for__isnull=False).order_by(
        in_byte_order("made_for__pair_id"), in_byte_order("document__doc_id")
    )
    yield from starmap(Generated, stream_rows(rows, "made_for__pair_id", "document__doc_id"))


def pair_records(project: Project) -> Iterator[PairRecord]:
    """Yield every pair with every version of its narratives, in byte order of pair_id."""
    rows = InstructionPair.objects.filter(project=project).order_by(in_byte_order("pair_id"))
    for batch in batches(rows.select_related("query", "restates").iterator(CHUNK), TEXTS):
        narratives = _narratives_of_pairs(Narrative.objects.filter(pair__in=batch))
        for pair in batch:
            yield _pair_record(pair, narratives.get(pair.pk, []))


def current_pair_records(pairs: Sequence[Pair]) -> Iterator[PairRecord]:
    """Yield these pairs as records, with each current narrative as version 1, without authors."""
    written = {pair.pair_id for pair in pairs}
    for batch in batches(pairs, TEXTS):
        rows = InstructionPair.objects.select_related("query", "restates").in_bulk(
            [pair.pk for pair in batch]
        )
        current = [version.pk for pair in batch for version in pair.versions.values()]
        of_pair = _narratives_of_pairs(Narrative.objects.filter(pk__in=current))
        for pair in batch:
            narratives = [
                NarrativeRecord(
                    side=version.side,
                    version=1,
                    text=version.text,
                    conditions=version.conditions,
                    origin=version.origin,
                    model=version.model,
                )
                for version in of_pair.get(pair.pk, ())
            ]
            if Narrative.Side.ORIGINAL not in pair.versions:
                narratives.insert(0, NarrativeRecord(Narrative.Side.ORIGINAL, 1, ""))
            record = _pair_record(rows[pair.pk], narratives)
            yield record if record.restates in written else record._replace(restates="")


def _pair_record(pair: InstructionPair, narratives: Sequence[NarrativeRecord]) -> PairRecord:
    return PairRecord(
        pair_id=pair.pair_id,
        query_id=pair.query.query_id,
        title=pair.query.title,
        description=pair.query.description,
        category=pair.category,
        origin=pair.origin,
        model=pair.model,
        narratives=tuple(narratives),
        domain=pair.query.domain,
        restates=pair.restates.pair_id if pair.restates else "",
        # A core query derived from the title is derived again when the file is loaded.
        core=pair.query.core if pair.query.core_given else "",
        source_fields=pair.source_fields,
    )


def _narratives_of_pairs(versions: QuerySet[Narrative]) -> dict[int, list[NarrativeRecord]]:
    """Return these versions of narratives by pair, ordered by side and version."""
    conditions = conditions_by_narrative(versions.values_list("pk", flat=True))
    narratives: dict[int, list[NarrativeRecord]] = {}
    for version in versions.select_related("author", "withdrawn_by"):
        narratives.setdefault(version.pair_id, []).append(
            NarrativeRecord(
                side=version.side,
                version=version.version,
                text=version.text,
                author=version.author.name if version.author else None,
                at=version.created_at,
                note=version.note,
                conditions=records_of(conditions.get(version.pk, ())),
                origin=version.origin,
                model=version.model,
                withdrawn_by=version.withdrawn_by.name if version.withdrawn_by else None,
                withdrawn_at=version.withdrawn_at,
            )
        )
    for of_pair in narratives.values():
        of_pair.sort(key=lambda version: (ORDER_OF_SIDES[version.side], version.version))
    return narratives


def further_records(project: Project) -> Iterator[CollectionRecord]:
    """Yield what pair_records and the qrels of a project do not have, each in byte order of ids.

    They are queries without a pair, candidates without an earlier relevance, and whatever is taken
    out; with a query all of its candidates. A decision removes an instruction without a reason.
    """
    with_pairs = Exists(InstructionPair.objects.filter(query=OuterRef("pk")))
    queries = Query.objects.filter(~with_pairs | Q(removed_at__isnull=False), project=project)
    for query_id, title, description, *removal in stream_rows(
        queries.order_by(in_byte_order("query_id")), "query_id", "title", "description", *_REMOVAL
    ):
        yield CollectionRecord(
            "query", query_id, None, None, None, title, description, *_removal(*removal)
        )
    out = InstructionPair.objects.filter(project=project, removed_at__isnull=False)
    pairs = out.exclude(removed_reason="").exclude(
        query__removed_at=F("removed_at"), query__removed_reason=F("removed_reason")
    )
    for query_id, pair_id, *removal in stream_rows(
        pairs.order_by(in_byte_order("pair_id")), "query__query_id", "pair_id", *_REMOVAL
    ):
        yield CollectionRecord(
            "instruction", query_id, pair_id, None, None, "", "", *_removal(*removal)
        )
    removed = Q(removed_at__isnull=False) | Q(query__removed_at__isnull=False)
    candidates = Candidate.with_removed.filter(
        removed | Q(prior_relevance__isnull=True, made_for__isnull=True), query__project=project
    ).order_by(in_byte_order("query__query_id"), in_byte_order("document__doc_id"))
    for query_id, doc_id, relevance, *removal in stream_rows(
        candidates, "query__query_id", "document__doc_id", "prior_relevance", *_REMOVAL
    ):
        yield CollectionRecord(
            "candidate", query_id, None, doc_id, relevance, "", "", *_removal(*removal)
        )


def _removal(
    reason: str, at: datetime | None, by: str | None, machine: bool | None
) -> tuple[str, datetime | None, str | None, bool]:
    return reason, at, by, bool(machine)


def filter_records(project: Project) -> Iterator[FilterRecord]:
    """Yield the decisions of machines' filters, in byte order of query, pair, document, machine."""
    query_id = Coalesce(
        "query__query_id", "pair__query__query_id", "candidate__query__query_id", Value("")
    )
    rows = FilterDecision.objects.filter(project=project).order_by(
        in_byte_order(query_id),
        in_byte_order(Coalesce("pair__pair_id", Value(""))),
        in_byte_order(Coalesce("candidate__document__doc_id", Value(""))),
        in_byte_order("machine__name"),
    )
    for of_query, machine, discards, reason, doc_id, pair_id, *removed in stream_rows(
        rows.annotate(of_query=query_id),
        *("of_query", "machine__name", "discards", "reason"),
        *("candidate__document__doc_id", "pair__pair_id"),
        *("query__removed_at", "pair__removed_at", "candidate__removed_at"),
    ):
        yield FilterRecord(
            query_id=of_query,
            machine=machine,
            decision="discard" if discards else "keep",
            reason=reason,
            doc_id=doc_id,
            pair_id=pair_id,
            brought_back=discards and not any(removed),
        )
