"""A release is cited with its creators, version, date and sum, and with what counts in it."""

from __future__ import annotations

import json
import re

import pytest

from exporters.exports.publishing import set_publication
from exporters.models import Publication
from exporters.releases import contents
from tests import factories
from tests.exports.conftest import content_of, make_release

pytestmark = pytest.mark.django_db

CREATORS = "Curie, Marie\nMeitner, Lise"


@pytest.fixture
def citable(tides):
    """A project with the settings that a citation needs."""
    changes = {"creators": CREATORS, "publisher": "Zenodo", "year": 2025, "licence": "CC-BY-4.0"}
    set_publication(
        project=tides.project, changes={**changes, "layouts": ["citation"]}, by=tides.carla
    )
    return tides


def test_the_sentence_has_creators_version_date_and_sum(citable):
    release = make_release(citable, "v1.0")
    release.refresh_from_db()

    words = contents.citation(release)

    assert words.startswith("Curie, Marie; Meitner, Lise. Tides, release v1.0 (")
    assert f"({release.at:%Y-%m-%d};" in words
    assert words.endswith(f"sha256 {release.sha256}.")


def test_answers_that_no_longer_count_are_not_cited(citable):
    """9 of 11 judgments count: 7 of 301, and 2 of 302, which has the decision and the claim."""
    before = contents.citation(make_release(citable, "v1.0"))
    pair = citable.project.pairs.get(pair_id="302")
    factories.narrative(pair, text="Anew.", version=factories.altered(pair).version + 1)
    after = contents.citation(make_release(citable, "v1.1"))

    assert "9 judgments by people, 1 settling decision by leads, 1 label claimed by" in before
    assert "7 judgments by people, 0 settling decisions by leads, 0 labels claimed by" in after


def test_the_files_for_github_and_zenodo_name_version_and_date(citable, empty_storage):
    release = make_release(citable, "v1.0")
    release.refresh_from_db()

    cff = content_of(empty_storage, release, "citation/CITATION.cff").decode()
    record = json.loads(content_of(empty_storage, release, "citation/.zenodo.json"))

    assert re.search(r'^version: "?v1\.0"?$', cff, re.MULTILINE)
    assert f"date-released: {release.at:%Y-%m-%d}\n" in cff
    assert (record["version"], record["publication_date"]) == ("v1.0", f"{release.at:%Y-%m-%d}")
    assert record["creators"] == [{"name": "Curie, Marie"}, {"name": "Meitner, Lise"}]


def test_croissant_of_a_release_names_version_and_date(citable, empty_storage):
    Publication.objects.update(layouts=["hf"])
    release = make_release(citable, "v1.0")
    release.refresh_from_db()

    described = json.loads(content_of(empty_storage, release, "hf/croissant.json"))

    date = f"{release.at:%Y-%m-%d}"
    assert (described["version"], described["datePublished"]) == ("v1.0", date)


def test_an_export_outside_a_release_has_the_year_alone(citable, write):
    files = write(citable.project, "citation")
    described = json.loads(write(citable.project, "hf")["croissant.json"])

    assert "version" not in described
    assert described["datePublished"] == "2025"

    assert "version:" not in files["CITATION.cff"].replace("cff-version:", "")
    assert "date-released" not in files["CITATION.cff"]
    assert json.loads(files[".zenodo.json"])["publication_date"] == "2025"
