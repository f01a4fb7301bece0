"""Loads and previews report fields of a file that are not stored."""

from __future__ import annotations

import pytest

from annotate.models import Judgment, Run
from tests import factories
from tests.collection.arriving import jsonl, load, problems

DOCS = jsonl(*({"doc_id": doc_id, "text": "t", "url": "u"} for doc_id in "ABC"))
RESULTS = '[{"query": {"qid": "301", "text": "q"}, "candidates": [{"docid": "B"}, {"docid": "A"}]}]'


@pytest.fixture
def project(db):
    return factories.project()


@pytest.mark.parametrize("dry_run", [True, False])
def test_fields_that_are_not_stored_are_counted_in_preview_and_load(project, dry_run):
    report = load(project, "docs-jsonl", DOCS, dry_run=dry_run)

    assert (report.new, report.notes) == (3, ["the field “url” of 3 records is not kept"])


def test_an_unknown_field_refuses_the_file(project):
    record = {"query_id": "301", "doc_id": "A", "annotator": "ada", "relevance": 1}

    report = load(project, "judgments-jsonl", jsonl(record, {**record, "machne": True}))

    assert (report.new, report.refused, Judgment.objects.count()) == (0, 1, 0)
    assert problems(report)[0].startswith(
        "file.txt:2: there is no field “machne”; the fields are type,"
    )


def test_list_wise_results_are_a_run_in_the_order_of_the_list(project, storage):
    report = load(project, "infosearch-results", RESULTS, name="Language-v1_ch.json")

    run = Run.objects.get()
    assert (run.name, report.new) == ("Language-v1_ch.json", 2)
    assert list(run.lines.order_by("rank").values_list("document__doc_id", flat=True)) == ["B", "A"]


def test_documents_of_multi_infosearch_come_with_their_type(project):
    documents = [{"doc_id": "doc_1", "type": "positive", "text": "t"}]

    load(
        project,
        "multi-infosearch-docs",
        jsonl({"query_id": "2654", "query": "q", "documents": documents}),
    )

    (candidate,) = project.queries.get().candidates.select_related("document")
    assert (candidate.document.doc_id, candidate.prior_relevance) == ("2654_doc_1", 1)
