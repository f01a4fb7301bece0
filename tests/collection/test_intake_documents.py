"""Intake of documents with their texts; the text of a known id may come later."""

from __future__ import annotations

import pytest

from annotate.models import Document, DocumentText
from formats.records import Doc
from tests import factories
from tests.collection.arriving import counts, jsonl, load, load_records, problems, rows

pytestmark = pytest.mark.both_databases

DOCS = jsonl(
    {"doc_id": "A", "title": "Tides", "text": "Of tides."},
    {"doc_id": "B", "text": "| a | b |\n| --- | --- |\n| 1 | 2 |"},
    {"doc_id": "C", "title": "Only a title"},
)


@pytest.fixture
def project(db):
    return factories.project()


def text(doc_id: str) -> str | None:
    found = DocumentText.objects.current().filter(document__doc_id=doc_id).first()
    return found.text if found else None


def test_documents_come_with_title_markup_and_text(project):
    report = load(project, "docs-jsonl", DOCS)

    assert counts(report) == (3, 3, 0, 0, 0)
    assert rows(report) == {"documents": (3, 0, 0)}
    assert list(Document.objects.order_by("doc_id").values_list("title", "markup", "length")) == [
        ("Tides", "plain", 9),
        ("", "markdown", 33),
        ("Only a title", "plain", None),
    ]
    assert text("A") == "Of tides."
    assert text("C") is None


def test_loading_again_changes_nothing(project):
    load(project, "docs-jsonl", DOCS)

    report = load(project, "docs-jsonl", DOCS)

    assert counts(report) == (3, 0, 0, 3, 0)


def test_documents_known_by_id_get_their_text(project):
    load(project, "trec-qrels", "301 0 A 1\n301 0 B 0\n")

    report = load(project, "docs-jsonl", DOCS)

    assert counts(report) == (3, 1, 2, 0, 0)
    assert rows(report) == {"documents": (1, 2, 0)}
    assert text("A") == "Of tides."
    assert Document.objects.get(doc_id="A").length == 9


@pytest.mark.parametrize(
    "other",
    [
        {"doc_id": "A", "title": "Tides", "text": "Of waves."},
        {"doc_id": "A", "title": "Waves", "text": "Of tides."},
        {"doc_id": "A", "title": "Tides", "text": "Of tides.", "markup": "html"},
    ],
)
def test_another_text_title_or_markup_changes_the_document(project, other):
    load(project, "docs-jsonl", DOCS)

    report = load(project, "docs-jsonl", jsonl(other))
    again = load(project, "docs-jsonl", jsonl(other))

    assert counts(report) == (1, 0, 1, 0, 0)
    assert counts(again) == (1, 0, 0, 1, 0)
    found = Document.objects.get(doc_id="A")
    assert (found.title, found.markup, text("A")) == (
        other["title"],
        other.get("markup", "plain"),
        other["text"],
    )


def test_a_file_without_texts_keeps_the_known_texts(project):
    load(project, "docs-jsonl", DOCS)

    report = load(project, "docs-jsonl", jsonl({"doc_id": "A"}, {"doc_id": "B", "title": "New"}))

    assert counts(report) == (2, 0, 1, 1, 0)
    assert text("A") == "Of tides."
    found = Document.objects.get(doc_id="B")
    assert (found.title, found.markup, found.length) == ("New", "markdown", 33)


def test_an_id_with_two_texts_is_refused_even_if_the_reader_misses_it(project):
    report = load_records(project, Doc("A", text="x"), Doc("A", text="x"), Doc("A", text="y"))

    assert problems(report) == ["file.txt:3: document A was already on line 1, with another text"]
    assert Document.objects.count() == 0


@pytest.mark.parametrize(
    "table",
    [
        "| " + " | ".join(f"c{n}" for n in range(1_331)) + " |\n" + "|---" * 1_331 + "|\n",
        "<table>" + "<tr><td>cell</td></tr>" * 20_000 + "</table>",
    ],
    ids=["1,331 columns", "441 KB"],
)
def test_wide_and_long_tables_can_be_loaded(project, table):
    report = load(project, "docs-jsonl", jsonl({"doc_id": "T", "text": table}))

    assert counts(report) == (1, 1, 0, 0, 0)
    assert text("T") == table


def test_texts_of_any_size_and_script_are_stored_unchanged(project):
    texts = {
        "long": "wave " * 1_000_000,
        "scripts": "文書\tمد وجزر\n\\N \\. \u2028 \U0001f30a",
        "empty": "",
    }

    load(project, "docs-jsonl", jsonl(*({"doc_id": k, "text": v} for k, v in texts.items())))

    assert {key: text(key) for key in texts} == texts
