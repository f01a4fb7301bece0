"""Content that a layout cannot hold is refused with a sentence before anything is written."""

from __future__ import annotations

import pytest

from annotate.models import Candidate, Document, InstructionPair
from exporters.exports.models import Publication
from tests import factories

pytestmark = pytest.mark.django_db

LAYOUTS = ("mteb", "hf", "beir", "ir-datasets")


@pytest.fixture
def refused(write, tmp_path):
    """Try to write a layout, and return the error; no file may be written."""

    def refused(project, layout="mteb"):
        with pytest.raises(ValueError) as caught:
            write(project, layout)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        return str(caught.value)

    return refused


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_project_without_a_judged_pair_has_no_layout(layout, refused):
    assert refused(factories.project(), layout).startswith("no instruction pair can be published")


def test_pairs_without_changed_documents_measure_nothing(tides, refused):
    for name in ("B", "é"):
        tides.pool[name].prior_relevance = 0
        tides.pool[name].save()
    other = Candidate.objects.filter(query__query_id="302")
    other.update(prior_relevance=1)

    assert "of no document changed in any of the 2 pairs" in refused(tides.project)


@pytest.mark.parametrize("layout", [*LAYOUTS, "infosearch"])
def test_an_id_with_white_space_is_refused(layout, tides, refused):
    Document.objects.filter(doc_id="B").update(doc_id="a\u00a0b")

    assert "the id 'a\\xa0b' has white space" in refused(tides.project, layout)


@pytest.mark.parametrize("layout", [*LAYOUTS, "infosearch"])
def test_an_id_with_a_slash_is_written_where_it_is_no_name_of_a_file(layout, tides, write):
    Document.objects.filter(doc_id="B").update(doc_id="a/b")

    assert any(b"a/b" in content for content in write(tides.project, layout).bytes().values())


def test_an_id_with_a_slash_is_refused_where_a_table_is_a_file_of_its_name(tides, write):
    InstructionPair.objects.update(category="S1")
    Document.objects.filter(doc_id="B").update(doc_id="a/b")
    assert b"a/b.txt" in write(tides.project, "followtable").bytes()["query_instruction.json"]
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")

    with pytest.raises(ValueError, match="the id 'a/b' has white space or the character /"):
        write(tides.project, "followtable")


def test_texts_that_may_leave_must_be_here(tides, refused):
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    Document.objects.update(length=None, text_version=None)

    assert "none of the 8 candidates has a text in this project" in refused(tides.project)


def test_a_text_above_ten_million_characters_is_refused(tides, refused):
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    Document.objects.filter(doc_id="Z").update(length=10_000_001)

    assert "the text of document Z has 10,000,001 characters" in refused(tides.project)


def test_a_citation_needs_what_a_doi_needs(tides, refused):
    sentence = refused(tides.project, "citation")

    assert sentence.startswith("a citation needs creators, a publisher, a year, a licence.")


def test_an_id_with_a_quotation_mark_is_refused_by_beir(tides, refused):
    Document.objects.filter(doc_id="Z").update(doc_id='"Z"')

    assert 'has white space or the character "' in refused(tides.project, "beir")


def test_an_id_with_a_quotation_mark_is_written_in_json(tides, write):
    Document.objects.filter(doc_id="Z").update(doc_id='"Z"')

    assert write(tides.project, "mteb").records("corpus.jsonl")[0]["_id"] == '"Z"'
