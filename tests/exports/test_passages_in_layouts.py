"""A layout holds passages if the lead chose so: all of them, or only those around evidence."""

from __future__ import annotations

import pytest

from annotate.collection.passages import passage_rule_of, set_passage_rule
from annotate.models import AuditEvent, DocumentText
from base.errors import Refused
from exporters.exports.models import Publication
from formats.passages import document_of
from tests import factories

pytestmark = pytest.mark.django_db

WORDS = " ".join(f"w{n}" for n in range(1, 11))


@pytest.fixture
def published(tides):
    """The project of tides, whose texts may be published; B has ten words of text."""
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    document = tides.pool["B"].document
    DocumentText.objects.filter(document=document).update(text=WORDS, length=len(WORDS))
    document.length = len(WORDS)
    document.save()
    return tides


def change(tides, **changes):
    return set_passage_rule(project=tides.project, changes=changes, by=tides.carla)


def test_passage_ids_of_a_corpus_contain_the_document_ids(published, write):
    change(published, published="passages", words=4, overlap=2)

    folder = write(published.project, "beir")

    rows = folder.records("corpus.jsonl")
    assert [(row["_id"], row["text"]) for row in rows][:4] == [
        ("B_1", "w1 w2 w3 w4"),
        ("B_2", "w3 w4 w5 w6"),
        ("B_3", "w5 w6 w7 w8"),
        ("B_4", "w7 w8 w9 w10"),
    ]
    assert {document_of(row["_id"]) for row in rows} == {
        "B",
        "C",
        "D",
        "FT-10",
        "FT-9",
        "Z",
        "a",
        "é",
    }
    # Qrels still name documents.
    assert "301-og\tB\t1\n" in folder["qrels/original.tsv"]
    assert any("passages of 4 words with an overlap of 2" in n for n in folder.manifest["notes"])


def test_mteb_holds_whole_documents_and_says_where_passages_are(published, write):
    change(published, published="passages", words=4, overlap=2)

    folder = write(published.project, "mteb")

    assert folder.records("corpus.jsonl")[0] == {"_id": "B", "title": "", "text": WORDS}
    assert any("Passages are in beir and ir-datasets." in n for n in folder.manifest["notes"])


@pytest.mark.parametrize("layout", ["mteb", "beir"])
def test_passages_around_evidence_do_not_exceed_the_share_of_a_document(published, write, layout):
    candidate = published.pool["B"]
    narrative = factories.altered(candidate.query.pairs.get())
    start = WORDS.index("w5")
    narrative.statements.filter(candidate=candidate, annotator=published.ada).update(
        evidence=[{"start": start, "end": start + 2}]
    )
    change(published, published="evidence", share=40)

    folder = write(published.project, layout)

    # 30 characters, of which 40% are 12.
    texts = {row["_id"]: row["text"] for row in folder.records("corpus.jsonl")}
    assert texts["B"] == "w3 w4 w5 w6"
    # In "Text of é." the first word was marked; nobody marked anything in the others.
    assert texts.pop("é") == "Text"
    assert {text for doc_id, text in texts.items() if doc_id != "B"} == {""}
    assert any("at most 40% of its characters" in note for note in folder.manifest["notes"])


def test_trec_files_hold_no_text_beyond_the_evidence(published, write):
    change(published, published="evidence", share=40)

    folder = write(published.project, "trec")

    assert "w1" not in folder["documents.changed.jsonl"]
    assert "Text of" not in folder["documents.changed.jsonl"]


def test_whole_documents_are_published_unless_a_lead_chose_otherwise(published, write):
    assert passage_rule_of(published.project).published == "documents"
    assert write(published.project, "beir").records("corpus.jsonl")[0]["text"] == WORDS


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"words": 0}, "at least one word"),
        ({"words": 200, "overlap": 200}, "cannot overlap"),
        ({"share": 0}, "a percentage"),
        ({"published": "half"}, "is not a way to publish"),
    ],
)
def test_an_invalid_rule_is_refused_and_changes_nothing(published, changes, sentence):
    with pytest.raises(Refused, match=sentence):
        change(published, **changes)

    assert passage_rule_of(published.project).pk is None


def test_a_change_is_recorded_in_the_audit_log_once(published):
    change(published, words=100, overlap=50)
    change(published, words=100, overlap=50)

    [event] = AuditEvent.objects.filter(what="passages.changed")
    assert event.changes == {"words": [400, 100], "overlap": [200, 50]}
