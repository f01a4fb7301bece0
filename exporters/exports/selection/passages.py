"""Select the text of a document to publish: all of it, passages, or passages around evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from annotate.collection.models import PassageRule
from annotate.collection.passages import (
    evidence_passages_of_document,
    manifest_sentence,
    passage_rule_of,
    passages_of_document,
)
from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Judgment
from annotate.projects.models import Project
from exporters.exports.models import publication_of
from exporters.exports.selection.ordered_rows import stream_rows
from formats.records import Doc

if TYPE_CHECKING:
    from exporters.exports.layouts.published import Text

# Layouts whose corpus may hold passages. Readers of the other layouts look up the documents of the
# qrels in the corpus.
WITH_PASSAGES = ("beir", "ir-datasets")
# Formats with records of documents: whole, or passages around the evidence.
RECORDS = ("trec", "jsonl")
# The separator of two passages of one document.
BETWEEN = "\n\n"


def texts_to_publish(project: Project, texts: Iterable[Text]) -> Iterator[Text]:
    """Yield documents with the text to publish: only around evidence, if the lead chose so.

    The ids remain document ids.
    """
    rule = passage_rule_of(project)
    if rule.published != PassageRule.Published.EVIDENCE:
        yield from texts
        return
    evidence = _evidence(project)
    for text in texts:
        passages = evidence_passages_of_document(
            rule, text.doc_id, text.text, evidence.get(text.doc_id, ()), text.markup
        )
        yield text._replace(text=BETWEEN.join(passage.text for passage in passages))


def documents_to_publish(project: Project, documents: Iterable[Doc]) -> Iterator[Doc]:
    """Like `texts_to_publish`, for records: only the newest text, if only evidence is published."""
    rule = passage_rule_of(project)
    if rule.published != PassageRule.Published.EVIDENCE:
        yield from documents
        return
    evidence = _evidence(project)
    for doc_id, versions in groupby(documents, lambda document: document.doc_id):
        *_, newest = versions
        passages = evidence_passages_of_document(
            rule, doc_id, newest.text or "", evidence.get(doc_id, ()), newest.markup
        )
        text = BETWEEN.join(passage.text for passage in passages)
        yield newest._replace(text=text or None, text_version=None)


def corpus_rows(project: Project, texts: Iterable[Text]) -> Iterator[Text]:
    """Yield the rows of a corpus that may hold passages.

    If the lead chose so, these are all passages of each document under passage ids.
    """
    rule = passage_rule_of(project)
    if rule.published != PassageRule.Published.PASSAGES:
        yield from texts
        return
    for text in texts:
        for passage in passages_of_document(rule, text.doc_id, text.text, text.markup):
            yield text._replace(doc_id=passage.passage_id, text=passage.text)


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
        "with `manage.py maxp` before it is measured."
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
