"""The overview estimates how much time the judgments left will take."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments import completion
from annotate.models import Project
from annotate.overview.pace import TimeEstimate, time_estimate
from tests import factories
from tests.pages import shows


@pytest.fixture
def carla(db):
    """The lead of a project in which two people judge each document."""
    return factories.lead(factories.project(overlap_judge=2))


def add_query(carla, *, altered="Only plants at sea count."):
    query = factories.query(carla.project)
    for number in (1, 2):
        factories.candidate(query, f"D-{number}")
    return factories.pair(query, altered=altered)


def estimated(carla):
    return time_estimate(carla, completion.judging(carla.project))


def test_the_estimate_assumes_a_minute_per_judgment_before_anything_is_judged(carla):
    add_query(carla)

    # Two documents, two people.
    assert estimated(carla) == TimeEstimate(4, 60.0, 0, planned=False)
    assert estimated(carla).seconds == 240


def test_the_estimate_counts_the_whole_pool_before_the_narratives_are_written(carla):
    add_query(carla, altered=None)
    # Nobody judges the documents of a query without an instruction.
    factories.candidate(factories.query(carla.project, "302"))

    assert estimated(carla) == TimeEstimate(4, 60.0, 0, planned=True)


def test_measured_times_give_the_pace_of_the_judgments_left(carla):
    pair = add_query(carla)
    narrative = factories.altered(pair)
    first, second = pair.query.candidates.order_by("pk")
    ada = factories.member(carla.project, "ada")
    factories.judgment(narrative, first, ada, active_ms=20_000)
    factories.judgment(narrative, second, ada, active_ms=40_000)
    # A machine's judgment does not count for the pace.
    factories.judgment(narrative, first, factories.machine(carla.project), active_ms=1)

    assert estimated(carla) == TimeEstimate(2, 30.0, 2, planned=False)


def test_a_lead_who_still_judges_does_not_learn_the_time_that_others_took(carla):
    pair = add_query(carla)
    ada = factories.member(carla.project, "ada")
    candidate = pair.query.candidates.earliest("pk")
    factories.judgment(factories.altered(pair), candidate, ada, active_ms=20_000)
    factories.assignment(pair, carla)

    assert estimated(carla).measured == 0


def test_nothing_is_estimated_where_nobody_is_asked_to_judge(carla):
    add_query(carla)
    Project.objects.update(overlap_judge=0)
    carla.project.refresh_from_db()

    assert estimated(carla) is None


def test_the_overview_says_that_it_is_an_estimate_to_leads_alone(client, carla):
    add_query(carla)
    sentence = "Estimate: 4 judgments take about 4 min, assuming 1 min per judgment"
    page = reverse("annotate:project", args=["tides"])

    for who, shown in ((carla, True), (factories.member(carla.project, "ada"), False)):
        client.force_login(who.user)
        assert shows(client.get(page), sentence) is shown


def test_programs_read_the_estimate(client, carla):
    add_query(carla)
    client.force_login(carla.user)

    estimate = client.get(reverse("annotate:api_pace", args=["tides"])).json()["time_estimate"]

    assert estimate == {
        "judgments": 4,
        "each": 60.0,
        "measured": 0,
        "planned": False,
        "seconds": 240.0,
    }
