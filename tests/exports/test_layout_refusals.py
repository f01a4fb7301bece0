"""Content that a layout cannot hold is refused with a sentence before anything is written."""

from __future__ import annotations

import pytest

from annotate.models import Candidate, Document, InstructionPair
from exporters.exports.files import Writer
from exporters.exports.models import Publication
from formats.texts import CannotHold
from tests import factories

pytestmark = pytest.mark.django_db

LAYOUTS = ("mteb", "hf", "beir", "ir-datasets")


@pytest.fixture
def refusal_of(write, tmp_path):
    """Try to write a layout, and return the error; no file may be written."""

    def refusal_of(project, layout="mteb"):
        with pytest.raises(ValueError) as caught:
            write(project, layout)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        return str(caught.value)

    return refusal_of


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_project_without_a_judged_pair_has_no_layout(layout, refusal_of):
    assert refusal_of(factories.project(), layout).startswith(
        "no instruction pair can be published"
    )


def test_pairs_without_changed_documents_measure_nothing(tides, refusal_of):
    for name in ("B", "é"):
        tides.pool[name].prior_relevance = 0
        tides.pool[name].save()
    other = Candidate.objects.filter(query__query_id="302")
    other.update(prior_relevance=1)

    assert "of no document changed in 2 pairs" in refusal_of(tides.project)


@pytest.mark.parametrize("layout", [*LAYOUTS, "infosearch"])
def test_an_id_with_white_space_is_refused(layout, tides, refusal_of):
    Document.objects.filter(doc_id="B").update(doc_id="a\u00a0b")

    assert "the id 'a\\xa0b' has white space" in refusal_of(tides.project, layout)


@pytest.mark.parametrize("layout", [*LAYOUTS, "infosearch"])
def test_an_id_with_a_slash_is_written_if_it_is_not_a_file_name(layout, tides, write):
    Document.objects.filter(doc_id="B").update(doc_id="a/b")

    assert any(b"a/b" in content for content in write(tides.project, layout).bytes().values())


def test_an_id_with_a_slash_is_refused_if_it_becomes_a_file_name(tides, write):
    InstructionPair.objects.update(category="S1")
    Document.objects.filter(doc_id="B").update(doc_id="a/b")
    assert b"a/b.txt" in write(tides.project, "followtable").bytes()["query_instruction.json"]
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")

    with pytest.raises(ValueError, match="the id 'a/b' has white space or the character /"):
        write(tides.project, "followtable")


@pytest.mark.parametrize("doc_id", ["../../out", "x/y"])
def test_an_id_of_a_query_without_a_pair_cannot_lead_out_of_the_folder(doc_id, tides, refusal_of):
    InstructionPair.objects.update(category="S1")
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    lone = factories.query(tides.project, "lone")
    factories.candidate(lone, doc_id, 1, text="A table.")

    assert f"the id '{doc_id}' has white space or the character /" in refusal_of(
        tides.project, "followtable"
    )


def test_an_id_that_is_too_long_for_a_file_name_is_refused(tides, refusal_of):
    InstructionPair.objects.update(category="S1")
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    Document.objects.filter(doc_id="B").update(doc_id="é" * 126)

    assert "is longer than 250 bytes, which this layout cannot hold" in refusal_of(
        tides.project, "followtable"
    )


@pytest.mark.parametrize("name", ["../out.txt", "tables/../../out.txt", "/out.txt"])
def test_no_file_of_an_export_is_written_outside_of_its_folder(name, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()

    with pytest.raises(CannotHold), Writer(folder).file(name, ""):
        pass

    assert list(tmp_path.rglob("*.txt")) == []


def test_publishing_texts_needs_texts_in_the_project(tides, refusal_of):
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    Document.objects.update(length=None, text_version=None)

    assert "no candidate has a text in this project" in refusal_of(tides.project)


def test_a_text_above_ten_million_characters_is_refused(tides, refusal_of):
    Publication.objects.create(project=tides.project, texts=True, licence="CC0-1.0")
    Document.objects.filter(doc_id="Z").update(length=10_000_001)

    assert "the text of document Z has 10,000,001 characters" in refusal_of(tides.project)


def test_a_citation_needs_what_a_doi_needs(tides, refusal_of):
    sentence = refusal_of(tides.project, "citation")

    assert sentence.startswith(
        "a citation needs creators, a publisher, a year, a licence of instructions and labels."
    )


def test_an_id_with_a_quotation_mark_is_refused_by_beir(tides, refusal_of):
    Document.objects.filter(doc_id="Z").update(doc_id='"Z"')

    assert 'has white space or the character "' in refusal_of(tides.project, "beir")


def test_an_id_with_a_quotation_mark_is_written_in_json(tides, write):
    Document.objects.filter(doc_id="Z").update(doc_id='"Z"')

    assert write(tides.project, "mteb").records("corpus.jsonl")[0]["_id"] == '"Z"'
