"""What differs between two releases: on the page, and as a table."""

from __future__ import annotations

import csv
import io

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from annotate.models import Adjudication, Candidate, Flag, InstructionPair
from exporters.releases import file_store
from tests import factories
from tests.exports.conftest import LATER, Tides, make_release
from tests.releases.test_release_pages import body, text, url


@pytest.fixture(scope="module")
def empty_storage(tmp_path_factory):
    """The storage of this file's releases."""
    options = {"location": str(tmp_path_factory.mktemp("storage"))}
    default = {**settings.STORAGES["default"], "OPTIONS": options}
    with override_settings(STORAGES={**settings.STORAGES, "default": default}):
        yield


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file, empty_storage):
    """v1.0, then changes: a grade settled, one disputed, one judged; a new narrative, which takes
    its pair out; a new query; and an earlier relevance removed. Then v1.1.
    """
    tides = Tides()
    make_release(tides, "v1.0")
    Flag.objects.filter(candidate=tides.pool["é"], annotator=tides.ben).update(ended_at=LATER)
    tides.judge(tides.narrative, tides.pool["é"], tides.ben, 0)
    tides.judge(tides.narrative, tides.pool["FT-10"], tides.dan, 1)
    Adjudication.objects.create(
        narrative=tides.narrative,
        candidate=tides.pool["FT-9"],
        relevance=1,
        reason="It says so.",
        by=tides.carla,
    )
    pair = InstructionPair.objects.get(pair_id="302")
    factories.narrative(pair, text="Only dykes at sea count.", version=2)
    factories.query(tides.project, "900", "sluices")
    Candidate.objects.filter(document__doc_id="a").update(prior_relevance=None, origin="run")
    make_release(tides, "v1.1")
    return tides


@pytest.fixture
def carla(scene, client):
    client.force_login(scene.carla.user)
    return client


def test_grades_that_changed_are_listed_document_by_document(carla):
    page = carla.get(url("comparison", "v1.0", "v1.1"))

    assert [tuple(row["change"]) for row in page.context["rows"]] == [
        ("grade", "altered", "301", "301", "FT-10", "2", "disputed"),
        ("grade", "altered", "301", "301", "FT-9", "disputed", "1"),
        ("grade", "altered", "301", "301", "a", "0", ""),
        ("grade", "before", "301", "", "a", "0", ""),
    ]
    assert page.context["totals"] == {
        "grades": 4,
        "queries": 2,
        "narratives": 1,
        "texts": 0,
        "listed": 2,
    }


def test_changes_are_counted_by_query(carla):
    page = carla.get(url("comparison", "v1.0", "v1.1"), {"show": "queries"})
    only = carla.get(url("comparison", "v1.0", "v1.1"), {"show": "grades", "query": "302"})

    assert [tuple(row) for row in page.context["rows"]] == [
        ("301", 4, 0, (3, 3), (1, 1), (0, 0)),
        ("302", 0, 1, (1, 0), (0, 0), (1, 0)),
    ]
    assert 'href="?show=grades&amp;query=301"' in text(page)
    assert only.context["rows"] == []
    assert only.context["totals"]["grades"] == 4


def test_narratives_that_changed_are_shown_with_the_words_marked(carla):
    page = text(carla.get(url("comparison", "v1.0", "v1.1"), {"show": "narratives"}))

    assert '<del>plants</del><ins class="instead">dykes</ins>' in page
    assert "version 1, then version 2" in page


def test_added_and_removed_queries_and_pairs_are_listed(carla):
    page = carla.get(url("comparison", "v1.0", "v1.1"), {"show": "listed"})

    assert [tuple(row) for row in page.context["rows"]] == [
        ("query", "", "900", "", "", "", "there"),
        ("pair", "", "302", "302", "", "there", "not judged"),
    ]
    assert "in the changed files" in text(page)


def test_swapping_the_releases_swaps_before_and_after(carla):
    there = table(carla.get(url("comparison_table", "v1.0", "v1.1")))
    back = table(carla.get(url("comparison_table", "v1.1", "v1.0")))

    assert {(*row[:5], row[6], row[5]) for row in there[1:]} == set(map(tuple, back[1:]))


def table(response) -> list[list[str]]:
    return list(csv.reader(io.StringIO(body(response).decode())))


def test_all_differences_are_a_table(carla):
    response = carla.get(url("comparison_table", "v1.0", "v1.1"))

    assert response["Content-Disposition"] == 'attachment; filename="tides-v1.0-v1.1.csv"'
    assert body(response).decode() == (
        "change,narrative,query_id,pair_id,doc_id,before,after\n"
        "query,,900,,,,there\n"
        "pair,,302,302,,there,not judged\n"
        "narrative,altered,302,302,,1,2\n"
        "grade,altered,301,301,FT-10,2,disputed\n"
        "grade,altered,301,301,FT-9,disputed,1\n"
        "grade,altered,301,301,a,0,\n"
        "grade,before,301,,a,0,\n"
    )


@pytest.mark.parametrize("query", ["show=nothing", "after=~%09~", "query=nowhere"])
def test_unknown_query_parameters_still_give_a_page(carla, query):
    assert carla.get(url("comparison", "v1.0", "v1.1") + f"?{query}").status_code == 200


def test_a_comparison_reads_few_rows_and_no_document(carla, monkeypatch):
    opened = []
    open_kept = file_store.open_stored

    def watched(of, entry):
        opened.append(entry["name"])
        return open_kept(of, entry)

    monkeypatch.setattr(file_store, "open_stored", watched)

    for parameters in ("", "?show=queries", "?show=narratives", "?show=listed"):
        with CaptureQueriesContext(connection) as queries:
            carla.get(url("comparison", "v1.0", "v1.1") + parameters)
        assert len(queries) <= 8, [query["sql"] for query in queries]
        assert not any("documenttext" in query["sql"] for query in queries)
        assert not any("annotate_statement" in query["sql"] for query in queries)

    assert "trec/qrels.changed.txt" in opened
    assert "trec/documents.changed.jsonl" not in opened
