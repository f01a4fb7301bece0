"""Comparing two parts of a project: pairing, differences and refusals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from annotate.models import Guideline
from annotate.pools.removal import DOCUMENTS
from audit.models import AgreementReport
from audit.reports.actions import compute_agreement, request_comparison
from audit.reports.comparison import COMPARED, comparison_of
from audit.reports.scopes import WHOLE, Scope
from audit.reports.statements_since import count_changes_since
from base.errors import Refused
from jobs.runner import Progress
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

# Monday.
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Version 1 of the guidelines from noon, 2 a day later. Of twenty documents, ada and ben differ
    on ten under version 1; under version 2 ben agrees on eight of them, and both judge ten more, on
    which they agree.
    """
    scene = scene_of_file
    for version in (1, 2):
        Guideline.objects.create(
            project=scene.project,
            version=version,
            text="Words.",
            author=scene.carla,
            created_at=NOON + (version - 1) * DAY,
        )
    later = NOON + DAY + timedelta(hours=1)
    for number in range(20):
        candidate = factories.candidate(scene.query, f"d{number:02}")
        grade = number % 2
        factories.judgment(scene.narrative, candidate, scene.ada, grade, at=NOON)
        apart = number < 10
        first = factories.judgment(
            scene.narrative, candidate, scene.ben, 1 - grade if apart else grade, at=NOON
        )
        if number < 8:
            first.ended_at = later
            first.save()
            factories.judgment(
                scene.narrative, candidate, scene.ben, grade, at=later, replaces=first
            )
            ada = candidate.statements.get(annotator=scene.ada)
            ada.ended_at = later
            ada.save()
            factories.judgment(scene.narrative, candidate, scene.ada, grade, at=later, replaces=ada)
    for number in range(10):
        candidate = factories.candidate(scene.query, f"e{number}")
        for member in (scene.ada, scene.ben):
            factories.judgment(scene.narrative, candidate, member, number % 2, at=later)
    scene.url = reverse("audit:agreement_comparison", args=[scene.project.slug])
    return scene


@pytest.fixture
def guided(scene, client):
    """The scene, seen by carla."""
    client.force_login(scene.carla.user)
    return scene


def compared(scene, scope, against):
    return comparison_of(scene.project, scope, against, seed=1, resamples=200, now=NOON)


def test_before_and_after_new_guidelines(guided):
    found = compared(guided, Scope(guideline=2), Scope(guideline=1))

    assert (found["first"]["units"], found["second"]["units"], found["paired"]) == (18, 20, 8)
    percent = found["differences"]["percent"]
    # They agree on all 18 under version 2, and on ten of twenty under version 1.
    assert percent["value"] == pytest.approx(0.5)
    low, high = percent["interval"]
    assert 0 < low < 0.5 < high
    assert list(found["differences"]) == list(COMPARED)


def test_swapping_the_parts_changes_the_sign(guided):
    found = compared(guided, Scope(guideline=1), Scope(guideline=2))

    assert found["differences"]["percent"]["value"] == pytest.approx(-0.5)


def test_two_categories_share_nothing(guided):
    other = factories.pair(factories.query(guided.project, "302"), category="C1")
    narrative = factories.altered(other)
    guided.pair.category = "S1"
    guided.pair.save()
    for number in range(4):
        candidate = factories.candidate(other.query, f"f{number}")
        for member in (guided.ada, guided.dan):
            factories.judgment(narrative, candidate, member, number % 2)

    found = compared(guided, Scope(category="C1"), Scope(category="S1"))

    assert (found["first"]["raters"], found["second"]["raters"]) == (["ada", "dan"], ["ada", "ben"])
    assert (found["first"]["units"], found["second"]["units"], found["paired"]) == (4, 30, 0)
    assert found["differences"]["percent"]["value"] == pytest.approx(1 - 28 / 30)


def test_difference_is_undefined_if_one_part_is(guided):
    found = compared(guided, Scope(side="original"), WHOLE)

    assert found["differences"]["alpha_ordinal"]["value"] is None
    assert found["differences"]["alpha_ordinal"]["note"].startswith("undefined: the first")


def test_the_same_answers_have_the_same_sum(guided):
    first = compared(guided, Scope(guideline=2), Scope(guideline=1))["sha256"]

    assert first == SUM
    assert compared(guided, Scope(guideline=1), Scope(guideline=2))["sha256"] != SUM


SUM = "9daf88f8ae05cc798ce03d749c437f459f0941c4789a8f47532a3dca8779a8c8"


def test_a_comparison_is_computed_by_a_job_and_shown(guided, client):
    address = f"{guided.url}?of=guideline%3D2&against=guideline%3D1"
    assert shows(text(client.get(address)), "These two have not been compared yet")

    assert client.post(address).url == address
    report = AgreementReport.objects.get()
    assert (report.compares, report.scope, report.against) == (True, "guideline=2", "guideline=1")
    assert report.get_absolute_url() == address
    assert client.get(address).status_code == 200
    compute_agreement(report, Progress())
    AgreementReport.objects.update(state="done", finished_at=NOON)

    page = text(client.get(address))
    for shown in (
        "Answers under version 2 of the guidelines",
        "18 and 20, of which 8 are in both",
        "0.500",
        "yes, higher",
    ):
        assert shows(page, shown)


def text(response):
    return response.getvalue().decode()


def test_repeated_request_returns_the_same_comparison(guided):
    def ask():
        return request_comparison(
            project=guided.project,
            scope=Scope(guideline=2),
            against=Scope(guideline=1),
            by=guided.carla,
        )

    assert ask() == ask()
    assert not AgreementReport.objects.of("guideline=2").exists()


@pytest.mark.parametrize(
    ("scope", "against", "sentence"),
    [
        (WHOLE, WHOLE, "Choose two different parts"),
        (Scope(criterion="x"), WHOLE, "Only judgments can be compared, not reviews"),
    ],
)
def test_invalid_comparison_is_refused(guided, scope, against, sentence):
    with pytest.raises(Refused, match=sentence):
        request_comparison(project=guided.project, by=guided.carla, scope=scope, against=against)
    assert not AgreementReport.objects.exists()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?of=&against=", "Choose two different parts"),
        ("?of=guideline%3D9&against=", "There is no such part of this project"),
    ],
)
def test_unknown_parts_are_explained(guided, client, query, sentence):
    for response, status in (
        (client.get(guided.url + query), 200),
        (client.post(guided.url + query), 422),
    ):
        assert response.status_code == status
        assert sentence in text(response)
    assert not AgreementReport.objects.exists()


def test_a_comparison_without_parts_is_explained(guided, client):
    response = client.post(guided.url)

    assert response.status_code == 422
    assert "Choose two different parts" in text(response)


def test_earlier_parts_are_offered(guided, client):
    AgreementReport.objects.create(project=guided.project, scope="query=301&blind=1")

    page = text(client.get(guided.url))

    assert '<option value="query=301&amp;blind=1">Query 301, blind judgments only</option>' in page
    assert "Choose two parts" in page


def test_comparisons_are_listed_and_link_to_their_page(guided, client):
    report = request_comparison(
        project=guided.project, by=guided.carla, scope=WHOLE, against=Scope(blind=True)
    )
    compute_agreement(report, Progress())
    AgreementReport.objects.update(state="done", finished_at=NOON)

    page = text(client.get(reverse("audit:agreement_reports", args=[guided.project.slug])))

    assert shows(page, "The whole project against blind judgments only")
    past = text(client.get(reverse("audit:agreement_past", args=[guided.project.slug, report.pk])))
    assert "This is one report as it was computed" in past
    assert f'href="{guided.url}?of=&amp;against=blind%3D1"' in past


def test_an_earlier_comparison_is_shown_as_it_was_computed(guided, client):
    def compare():
        report = request_comparison(
            project=guided.project, by=guided.carla, scope=WHOLE, against=Scope(query="301")
        )
        compute_agreement(report, Progress())
        AgreementReport.objects.filter(pk=report.pk).update(state="done", finished_at=NOON)
        return report.pk

    first = compare()
    DOCUMENTS.remove(
        project=guided.project,
        keys=list(guided.query.candidates.values_list("pk", flat=True)[:10]),
        reason="Twins.",
        by=guided.carla,
    )
    second = compare()

    def units(report):
        page = client.get(reverse("audit:agreement_past", args=[guided.project.slug, report]))
        return page.context["figures"]["first"]["units"]

    # S1 and S2, which nobody judged, are among the ten.
    assert (units(first), units(second)) == (30, 22)


def test_parts_that_only_a_comparison_names_can_be_shown(guided, client):
    report = request_comparison(
        project=guided.project,
        by=guided.carla,
        scope=Scope(query="301"),
        against=Scope(side="altered", blind=True),
    )

    page = client.get(report.get_absolute_url())

    assert page.context["form"].is_valid()


def test_changes_since_are_counted_in_both_parts(guided):
    report = AgreementReport.objects.create(
        project=guided.project,
        compares=True,
        scope="query=301",
        against="query=302",
        figures=compared(guided, Scope(query="301"), Scope(query="302")),
    )
    query = factories.query(guided.project, "303")
    other = factories.altered(factories.pair(query))
    factories.judgment(other, factories.candidate(query, "g"), guided.ada, 1)
    narratives_of_others = count_changes_since(report).narratives
    factories.judgment(guided.narrative, guided.first, guided.ada, 1)

    assert (narratives_of_others, count_changes_since(report).judgments) == (0, 1)
