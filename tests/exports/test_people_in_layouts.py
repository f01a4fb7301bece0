"""A layout shows people as numbers, and by name only those who agreed to be named."""

from __future__ import annotations

import json

import pytest

from annotate.models import AuditEvent, Guideline
from annotate.people.members import set_named
from exporters.exports.layouts.about import about
from exporters.exports.models import Publication
from tests import factories

pytestmark = pytest.mark.django_db

LAYOUTS = ("mteb", "hf", "beir", "ir-datasets", "infosearch", "citation")


@pytest.fixture
def published(tides):
    """The project of tides, in which no member's name can be mistaken for another word."""
    Publication.objects.create(
        project=tides.project,
        texts=True,
        licence="CC-BY-4.0",
        creators="Curie, Marie",
        publisher="Zenodo",
        year=2026,
    )
    for member in tides.project.memberships.filter(is_machine=False):
        member.name = f"person-{member.name}"
        member.save()
    return tides


def contents(write, project, layout):
    """Return all bytes of a layout."""
    return b"\0".join(write(project, layout).bytes().values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_people_who_did_not_agree_are_not_named(layout, published, write):
    assert b"person-" not in contents(write, published.project, layout)


@pytest.mark.parametrize("layout", ["hf", "beir"])
def test_only_people_who_agreed_are_named(layout, published, write):
    set_named(named=True, by=published.ada)

    written = contents(write, published.project, layout)

    assert b"person-ada" in written
    assert b"person-ben" not in written


def test_withdrawing_consent_removes_the_name(published, write):
    before = contents(write, published.project, "hf")
    set_named(named=True, by=published.ada)

    set_named(named=False, by=published.ada)

    assert contents(write, published.project, "hf") == before


def test_about_counts_the_judgments_of_each_person_by_a_number(published):
    set_named(named=True, by=published.ben)

    assert about(published.project)["annotators"] == [
        {"annotator": 2, "name": None, "judgments": 6},
        {"annotator": 3, "name": "person-ben", "judgments": 5},
    ]


def test_a_number_that_is_a_published_name_is_skipped(published):
    published.ada.name = "annotator 3"
    published.ada.save()
    set_named(named=True, by=published.ada)

    assert [(one["annotator"], one["name"]) for one in about(published.project)["annotators"]] == [
        (2, "annotator 3"),
        (4, None),
    ]


def test_an_export_of_json_lines_carries_every_name(published, write):
    judgments = write(published.project, "jsonl").records("judgments.jsonl")

    assert {one["annotator"] for one in judgments} == {"person-ada", "person-ben", "model"}


def test_about_has_guidelines_agreement_and_what_checks_found(published, write):
    Guideline.objects.create(
        project=published.project, version=1, text="Read.", author=published.carla
    )

    found = json.loads(write(published.project, "ir-datasets")["about.json"])

    assert found["guidelines"] == {"version": 1, "text": "Read."}
    assert found["agreement"]["raters"] == 2
    assert [one["name"] for one in found["agreement"]["coefficients"]] == [
        "Krippendorff's alpha",
        "percent agreement",
    ]
    assert (found["checks"], [one["value"] for one in found["grades"]]) == ([], [0, 1, 2])


def test_consent_to_be_named_is_stored_with_its_time_and_in_the_audit_log():
    project = factories.project()
    ada = factories.member(project, "ada")

    first = set_named(named=True, by=ada)
    again = set_named(named=True, by=ada)

    assert first.named_at is not None
    assert again.named_at == first.named_at
    (audit_event,) = AuditEvent.objects.filter(what="member.named")
    assert (audit_event.about, audit_event.at) == ("ada", first.named_at)
