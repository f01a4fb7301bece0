"""Figures of each category of instructions: criteria, sent back, removed, auditors' agreement."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.collection.removal import INSTRUCTIONS
from annotate.models import Assignment
from audit.models import Rating, Review
from audit.reports.coverage import by_category
from audit.reports.reliability import agreement_of
from audit.reports.scopes import rubric_of
from audit.reports.tables import tables
from audit.reviews.decisions import decide
from tests import factories

pytestmark = pytest.mark.both_databases


@pytest.fixture
def world(db):
    """Two instructions of C1 and one of S1, each reviewed by ada and ben."""
    project = factories.project()
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    carla = factories.lead(project)
    rubric = rubric_of(project)
    query = factories.query(project, "1")
    # The levels of ada and ben on the first criterion; on all others both say acceptable.
    levels_by_pair = {
        ("1_0", "C1"): ("poor", "poor"),
        ("1_1", "C1"): ("acceptable", "poor"),
        ("1_2", "S1"): ("excellent", "excellent"),
    }
    places = {level.value: place for place, level in enumerate(rubric.levels)}
    rejects = {level.value: level.rejects for level in rubric.levels}
    narratives = {}
    for (pair_id, category), levels in levels_by_pair.items():
        pair = factories.pair(query, pair_id=pair_id, category=category)
        narratives[pair_id] = factories.altered(pair)
        for auditor, first in zip((ada, ben), levels, strict=True):
            review = Review.objects.create(
                narrative=narratives[pair_id],
                auditor=auditor,
                rubric=rubric.name,
                submitted_at=timezone.now(),
            )
            for number, criterion in enumerate(rubric.criteria):
                level = "acceptable" if number else first
                Rating.objects.create(
                    review=review,
                    criterion=criterion.key,
                    level=level,
                    place=places[level],
                    rejects=rejects[level],
                )
    decide(narrative=narratives["1_0"], outcome="revise", reason="No.", by=carla)
    return project, carla, narratives


def test_criteria_decisions_and_agreement_are_counted_of_each_category(world):
    _project, carla, _narratives = world

    c1, s1 = by_category(carla).categories

    first = c1.criteria[0]
    assert (c1.key, s1.key) == ("C1", "S1")
    assert first.levels == {"excellent": 0, "acceptable": 1, "poor": 3}
    assert (first.rejecting, first.ratings, first.share) == (3, 4, 0.75)
    assert [one.rejecting for one in c1.criteria[1:]] == [0, 0, 0, 0, 0]
    assert (c1.sent_back_share, c1.removed_share, s1.sent_back_share) == (0.5, 0.0, 0.0)
    # 2 instructions x 6 criteria; they differ on one. By chance: both say acceptable 11/12 * 10/12,
    # both say poor 1/12 * 2/12.
    chance = (11 * 10 + 1 * 2) / 144
    assert c1.percent is not None
    assert c1.kappa is not None
    assert s1.percent is not None
    assert c1.percent.units == 12
    assert c1.percent.value == pytest.approx(11 / 12)
    assert c1.kappa.value == pytest.approx((11 / 12 - chance) / (1 - chance))
    assert (s1.percent.value, s1.percent.units) == (1.0, 6)


def test_page_lists_categories_and_csv_has_every_level(world, client):
    project, carla, _narratives = world
    client.force_login(carla.user)

    page = client.get(reverse("audit:collection", args=[project.slug])).content.decode()
    table = client.get(reverse("audit:categories_table", args=[project.slug])).content.decode()

    assert "Reviews by category" in page
    assert "75.0%" in page
    first, second = csv.DictReader(io.StringIO(table))
    assert (first["category"], first["instructions"], first["sent_back"]) == ("C1", "2", "1")
    assert (first["semantic_expansion_poor"], first["semantic_expansion_acceptable"]) == ("3", "1")
    assert (first["units"], first["percent_agreement"]) == ("12", "0.916667")
    assert second["category"] == "S1"


def test_api_returns_the_same_figures(world, client):
    project, carla, _narratives = world
    client.force_login(carla.user)

    c1, _s1 = client.get(reverse("audit:api_category_figures", args=[project.slug])).json()

    assert (c1["key"], c1["pairs"], c1["sent_back"], c1["removed"]) == ("C1", 2, 1, 0)
    assert c1["criteria"][0]["rejecting"] == 3
    assert c1["percent"]["units"] == 12


def test_an_instruction_that_a_decision_removed_counts(world):
    _project, carla, narratives = world
    decide(narrative=narratives["1_1"], outcome="removed", reason="No.", by=carla)

    c1, _s1 = by_category(carla).categories

    assert (c1.pairs, c1.removed, c1.criteria[0].ratings) == (2, 1, 4)


def test_an_instruction_that_was_taken_out_does_not_count(world):
    project, carla, narratives = world
    INSTRUCTIONS.remove(
        project=project, keys=[narratives["1_1"].pair_id], reason="A double.", by=carla
    )

    c1, _s1 = by_category(carla).categories

    assert (c1.pairs, c1.removed, c1.criteria[0].ratings) == (1, 0, 2)


def test_lead_who_has_yet_to_review_sees_no_figures(world, client):
    project, carla, narratives = world
    pair = narratives["1_2"].pair
    factories.assignment(pair, carla, Assignment.Task.REVIEW)
    client.force_login(carla.user)

    page = client.get(reverse("audit:collection", args=[project.slug]))

    assert page.context["by_category"] is None
    assert "75.0" not in page.content.decode()
    for name in ("audit:categories_table", "audit:api_category_figures"):
        assert client.get(reverse(name, args=[project.slug])).status_code == 403


def test_a_report_has_the_reviews_of_each_category(world):
    project, _carla, _narratives = world

    figures = agreement_of(project, seed=1, resamples=100, by=("category",))

    found = {one["category"]: one["units"] for one in figures["reviews"]["categories"]}
    assert found == {"C1": 12, "S1": 6}
    (table,) = [one for one in tables(figures) if one.key == "review-categories"]
    assert [(line.label, line.units) for line in table.lines] == [("C1", 12), ("S1", 6)]


def test_the_page_counts_the_decisions_of_each_category_once(world, client):
    project, carla, _narratives = world
    client.force_login(carla.user)

    with CaptureQueriesContext(connection) as queries:
        page = client.get(reverse("audit:collection", args=[project.slug]))

    decided = [row["sql"] for row in queries if 'AS "revised"' in row["sql"]]
    assert len(decided) == 1
    # Not by a subquery with the narratives of every project.
    assert "IN (SELECT" not in decided[0]
    assert [row.key for row in page.context["by_category"].categories] == ["C1", "S1"]
