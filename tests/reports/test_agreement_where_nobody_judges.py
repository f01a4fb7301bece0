"""In a project without judging, the agreement shown is that on its instructions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment
from audit.models import AgreementReport, Rating, Review
from audit.reports.reliability import agreement_of
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE
from tests import factories
from tests.pages import shows


@pytest.fixture(scope="module")
def project_of_file(rows_of_file):
    """Two auditors rate two instructions alike, one of them as poor on one criterion."""
    project = factories.project(overlap_judge=0, overlap_review=2)
    auditors = [factories.member(project, name) for name in ("ada", "ben")]
    for query_id, poor in (("301", ()), ("302", FOLLOWTABLE.keys[:1])):
        pair = factories.pair(factories.query(project, query_id))
        narrative = factories.altered(pair)
        answers = dict.fromkeys(FOLLOWTABLE.keys, ("excellent", ""))
        answers |= dict.fromkeys(poor, ("poor", "Weak."))
        for by in auditors:
            assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=by)
            save_ratings(narrative=narrative, answers=answers, by=by)
            submit_review(narrative=narrative, by=by)
    figures = agreement_of(project, seed=1, resamples=100)
    AgreementReport.objects.create(
        project=project,
        state="done",
        finished_at=datetime(2026, 11, 21, 12, tzinfo=UTC),
        code_version="1.2.3",
        figures=figures,
    )
    factories.lead(project, "carla")
    return project


@pytest.fixture
def audited(project_of_file, copy_rows, client):
    """The project, seen by carla."""
    project = copy_rows(project_of_file)
    client.force_login(project.memberships.get(name="carla").user)
    return project


def test_the_overview_shows_the_agreement_on_instructions(audited, client):
    page = client.get(reverse("annotate:project", args=[audited.slug])).content.decode()

    assert not shows(page, "no unit was judged")
    assert shows(page, "1.000")
    assert shows(
        page, "on 12 criteria of instructions that several of 2 people rated, computed <time"
    )


def test_list_of_reports_shows_the_agreement_on_instructions(audited, client):
    page = client.get(reverse("audit:agreement_reports", args=[audited.slug])).content.decode()

    assert "no unit was judged" not in page
    assert "1.000" in page


def test_dashboard_says_that_auditors_reject_the_same(audited, client):
    page = client.get(reverse("audit:differences", args=[audited.slug]))

    assert shows(
        page, "2 instructions were reviewed by two or more people, who agree on what to reject."
    )
    assert not shows(page, "Where people differ will appear here")


def test_dashboard_lists_criteria_on_which_auditors_differ(audited, client):
    Rating.objects.filter(review__auditor__name="ben").update(level="excellent", rejects=False)

    page = client.get(reverse("audit:differences", args=[audited.slug])).content.decode()

    assert "By criterion of the reviews" in page
    assert 'class="legend"' in page
    assert "Where people differ will appear here" not in page


def test_overview_without_judging_shows_the_progress_of_reviews(audited, client):
    response = client.get(reverse("annotate:project", args=[audited.slug]))
    page = " ".join(response.content.decode().split())

    assert "4 of 4 reviews; nobody is asked to judge" in page
    people = {one.member.name: one for one in response.context["people"]}
    assert [people[name].reviewed for name in ("ada", "ben", "carla")] == [2, 2, 0]
    newest = Review.objects.filter(auditor__name="ada").latest("submitted_at").submitted_at
    assert [people[name].last_at for name in ("ada", "carla")] == [newest, None]


def test_dashboard_without_judging_is_about_reviews(audited, client):
    response = client.get(reverse("annotate:progress", args=[audited.slug]))
    page = " ".join(response.content.decode().split())

    assert "Nothing is left" in page
    assert "reviews, of 4 wanted" in page
    assert "of active time left" not in page
    people = response.context["people"]
    reviewed = {person.member.name: person.reviewed for person in people if person.reviewed}
    assert reviewed == {"ada": 2, "ben": 2}
    newest = Review.objects.latest("submitted_at").submitted_at
    assert newest is not None
    assert {person.last_on for person in people} - {None} == {newest.date()}


def test_the_own_page_counts_the_own_reviews(audited, client):
    ada = audited.memberships.get(name="ada")
    client.force_login(ada.user)

    page = client.get(reverse("annotate:person", args=[audited.slug, ada.pk])).content.decode()

    assert "<div><dt>instructions reviewed</dt><dd>2</dd></div>" in page
