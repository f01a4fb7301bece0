"""A release has people as numbers in every file, and by name only those who agreed to be named."""

from __future__ import annotations

import json

import pytest

from annotate.collection.removal import QUERIES
from annotate.people.members import set_named
from exporters.releases import contents
from tests.exports.conftest import content_of, make_release

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(tides):
    """A release of the project of tides, in which only ben agreed to be named.

    carla has taken query 303 out.
    """
    queries = QUERIES.keys_of(tides.project, ["303"])
    QUERIES.remove(project=tides.project, keys=queries, reason="A pilot.", by=tides.carla)
    for member in tides.project.memberships.filter(is_machine=False):
        member.name = f"person-{member.name}"
        member.save()
    set_named(named=True, by=tides.ben)
    return make_release(tides, "v1")


def test_no_file_names_who_did_not_agree(release, empty_storage):
    for name in contents.files(release):
        if not name.endswith(".zip"):
            content = content_of(empty_storage, release, name)
            for member in (b"ada", b"carla", b"dan"):
                assert b"person-" + member not in content, name


def test_each_record_has_the_number_of_about_json(release, empty_storage):
    judgments = content_of(empty_storage, release, "jsonl/judgments.jsonl").splitlines()
    about = json.loads(content_of(empty_storage, release, "about.json"))

    assert {json.loads(line)["annotator"] for line in judgments} == {
        *("annotator 2", "person-ben", "model"),
    }
    assert [(one["annotator"], one["name"]) for one in about["annotators"]] == [
        (2, None),
        (3, "person-ben"),
    ]


def test_leads_and_auditors_are_numbered_too(release, empty_storage):
    def records(name):
        return [
            json.loads(line)
            for line in content_of(empty_storage, release, f"jsonl/{name}.jsonl").splitlines()
        ]

    assert [one["by"] for one in records("adjudications")] == ["annotator 1"]
    assert [one["by"] for one in records("decisions")] == ["annotator 1"]
    assert [one["auditor"] for one in records("reviews")] == ["annotator 4"]
    taken_out = [one for one in records("collection") if "reason" in one]
    assert [(one["query_id"], one["by"]) for one in taken_out] == [("303", "annotator 1")]
    assert contents.of(release)["by"] == "annotator 1"
