"""A report is requested, computed by a worker, shown with its scope, and downloaded."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotate.projects import actions as projects
from audit.models import AgreementReport
from audit.reports.actions import request_agreement
from audit.reports.reliability import agreement_of
from base.errors import Refused
from jobs.runner import run
from tests import factories
from tests.pages import shows
from tests.second_pass import make_scene

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def scene(db):
    """Not made once for the file: some of its tests are real transactions."""
    return make_scene()


@pytest.fixture
def published(settings):
    """Collect the messages to the broker in a list."""
    settings.JOBS_DELIVER = f"{__name__}.deliver"
    DELIVERED.clear()
    return DELIVERED


DELIVERED: list[tuple[str, int]] = []


def deliver(name: str, pk: int) -> None:
    DELIVERED.append((name, pk))


@pytest.fixture
def led(disputed, client):
    client.force_login(disputed.carla.user)
    disputed.url = reverse("audit:agreement", args=[disputed.project.slug])
    return disputed


def computed(scene):
    return AgreementReport.objects.create(
        project=scene.project,
        state="done",
        finished_at=NOON,
        code_version="1.2.3",
        figures=agreement_of(scene.project, seed=1, resamples=100, now=NOON),
    )


def text(response):
    return response.content.decode()


def test_a_request_is_a_row_and_a_message_once_it_is_committed(
    disputed, published, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        report = request_agreement(project=disputed.project, by=disputed.carla)

    assert (report.state, report.by, report.figures) == (
        "queued",
        disputed.carla,
        None,
    )
    assert published == [("jobs.run", report.pk)]


def test_repeated_request_returns_the_waiting_report(disputed, published):
    first = request_agreement(project=disputed.project, by=disputed.carla)

    assert request_agreement(project=disputed.project, by=disputed.carla) == first
    assert AgreementReport.objects.count() == 1


def test_request_while_a_report_is_being_cancelled_makes_another(disputed, published):
    first = request_agreement(project=disputed.project, by=disputed.carla)
    AgreementReport.objects.filter(pk=first.pk).update(cancel_requested_at=NOON)

    assert request_agreement(project=disputed.project, by=disputed.carla) != first


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_only_leads_of_the_project_request_reports(disputed, published, who):
    with pytest.raises(Refused, match="Only leads"):
        request_agreement(project=disputed.project, by=getattr(disputed, who))

    assert not AgreementReport.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_worker_fills_the_report(disputed, published, settings):
    with transaction.atomic():
        report = request_agreement(project=disputed.project, by=disputed.carla)

    run(report.pk)

    report.refresh_from_db()
    assert (report.state, report.code_version) == ("done", settings.VERSION)
    assert report.figures is not None
    assert report.figures["judgments"]["all"]["units"] == 2
    assert (report.done, report.total) == (12, 12)


@pytest.mark.django_db(transaction=True)
def test_computing_again_gives_the_same_figures(disputed, published):
    reports = []
    for _ in range(2):
        report = request_agreement(project=disputed.project, by=disputed.carla)
        run(report.pk)
        report.refresh_from_db()
        assert report.figures is not None
        reports.append({**report.figures, "computed_at": ""})

    assert reports[0] == reports[1]


def test_the_page_says_what_will_appear_before_the_first_report(led, client):
    page = text(client.get(led.url))

    assert shows(page, "How much people agree will appear here")
    assert shows(page, ">Compute<")


def test_asking_on_the_page_queues_a_report(led, client, published):
    response = client.post(led.url)

    assert response.url == led.url
    assert AgreementReport.objects.get().state == "queued"
    assert "Computing agreement" in text(client.get(led.url))


def test_the_page_shows_figures_and_what_they_were_computed_on(led, client):
    computed(led)

    page = text(client.get(led.url))

    for words in (
        "Krippendorff&#x27;s alpha, ordinal",
        "0.500",
        "ada and ben",
        "Judgments, by query",
        "version 1.2.3",
        "seed",
        "Scale: 0, 1, 2.",
    ):
        assert shows(page, words)
    assert not shows(page, "Reviews of instructions")


def test_the_page_says_why_there_is_no_value(led, client):
    led.adas.delete()
    computed(led)

    page = text(client.get(led.url))

    # One shared document on which both judged 1.
    assert "undefined: only one category was used" in page
    assert not shows(page, ">nan<")


def test_the_project_page_reads_only_the_figures_of_all_people_together(led, client):
    computed(led)

    shown = client.get(reverse("annotate:project", args=[led.project.slug]))

    assert shown.context["report"].get_deferred_fields() == {"figures"}
    assert shown.context["headline"]["units"] == 2


@pytest.fixture
def perfect(db, client):
    """Return a project in which two people agree on six documents."""
    project = factories.project("perfect", overlap_judge=2)
    carla = factories.lead(project)
    query = factories.query(project, "q")
    narrative = factories.altered(factories.pair(query, pair_id="q_1"))
    people = [factories.member(project, name) for name in ("ada", "ben")]
    for number, grade in enumerate((0, 1, 2, 0, 1, 2)):
        candidate = factories.candidate(query, f"d{number}", 1)
        for person in people:
            factories.judgment(narrative, candidate, person, grade)
    client.force_login(carla.user)
    return SimpleNamespace(project=project, carla=carla)


def test_page_and_command_say_that_an_interval_cannot_show_the_uncertainty(perfect, client):
    computed(perfect)
    out = StringIO()

    page = text(client.get(reverse("audit:agreement", args=["perfect"])))
    call_command("agreement", "perfect", stdout=out)

    row = page[page.index("1.000 to 1.000") :]
    assert "cannot show the uncertainty" in row[: row.index("</td>")]
    [line] = [line for line in out.getvalue().splitlines() if "alpha, ordinal" in line][:1]
    assert line.split("]")[1].strip() == "cannot show the uncertainty"
    home = text(client.get(reverse("annotate:project", args=["perfect"])))
    assert "(the interval cannot show the uncertainty)" in home


def test_the_page_says_what_changed_since_the_report(led, client):
    computed(led)
    factories.judgment(led.narrative, led.first, led.dan, 1)

    page = text(client.get(led.url))

    assert "Since then: 1 new judgment." in page


@pytest.mark.parametrize("added", ["judgment", "review", "narrative"])
def test_the_project_page_says_when_its_figure_is_older_than_the_newest_work(led, client, added):
    report = computed(led)
    # Computed now: the judgments of the fixture were made after NOON.
    report.figures["computed_at"] = timezone.now().isoformat()
    report.save()
    page = reverse("annotate:project", args=[led.project.slug])
    before = text(client.get(page))

    if added == "judgment":
        factories.judgment(led.narrative, led.first, led.dan, 1)
    elif added == "review":
        now = timezone.now()
        led.narrative.reviews.create(
            auditor=led.dan, rubric="followtable-1", started_at=now, submitted_at=now
        )
    else:
        factories.narrative(led.pair, text="Only fences count.", version=2)
    after = text(client.get(page))

    sentence = "Older than the newest judgments, reviews or narratives"
    assert [sentence in words for words in (before, after)] == [False, True]


def test_outdated_judgments_are_not_reported_as_withdrawn(led, client):
    computed(led)
    led.adas.text_replaced_at = timezone.now()
    led.adas.save()

    page = text(client.get(led.url))

    assert "Since then: 1 judgment outdated by a newer text." in page
    assert "withdrawn" not in page


def test_the_page_shows_the_progress_of_a_running_report(led, client):
    AgreementReport.objects.create(
        project=led.project,
        state="running",
        claim="00000000-0000-4000-8000-000000000000",
        lease_until=NOON,
        started_at=NOON,
        done=3,
        total=12,
        step="Measuring agreement",
    )

    assert "3 of 12" in text(client.get(led.url))


def test_failed_report_says_why_and_the_last_good_one_is_shown(led, client):
    computed(led)
    AgreementReport.objects.create(
        project=led.project, state="failed", finished_at=NOON, error="The disk is full."
    )

    page = text(client.get(led.url))

    assert "The disk is full." in page
    assert "ada and ben" in page
    assert "Compute again" in page


def test_the_figures_can_be_downloaded(led, client):
    report = computed(led)
    url = reverse("audit:agreement_report", args=[led.project.slug, report.pk])

    response = client.get(url)

    assert json.loads(text(response))["figures"] == report.figures
    assert response.headers["Content-Disposition"] == (
        f'attachment; filename="tides-agreement-{report.pk}.json"'
    )


def test_nothing_is_computed_in_an_archived_project(led, client, published):
    projects.archive(by=led.carla)

    page = text(client.post(led.url, follow=True))

    assert "archived" in page
    assert not AgreementReport.objects.exists()


def test_the_page_costs_a_fixed_number_of_queries(led, client, django_assert_max_num_queries):
    for number in range(4):
        query = factories.query(led.project, f"4{number}")
        narrative = factories.altered(factories.pair(query))
        candidate = factories.candidate(query, f"N{number}")
        factories.judgment(narrative, candidate, led.ada, 0)
        factories.judgment(narrative, candidate, led.ben, number % 2)
    computed(led)

    with django_assert_max_num_queries(23):
        client.get(led.url)


def command(*arguments):
    out = StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_json(disputed):
    found = json.loads(command("tides", "--json"))

    assert found["project"] == "tides"
    assert found["judgments"]["all"]["coefficients"]["percent"]["value"] == 0.5
    assert found["judgments"]["pairs"][0]["raters"] == ["ada", "ben"]
    assert set(found["reviews"]) == {"all", "criteria", "categories", "domains", "machines"}
    assert found["machines"] == []


def test_the_command_prints_tables(disputed):
    printed = command("tides")

    assert "Agreement of tides" in printed
    assert "ada and ben: 2 documents shared, 2 people" in printed
    assert "Percent agreement" in printed
    assert "0.500" in printed
    assert "2,000 resamples, seed 20260101. Scale: 0, 1, 2." in printed


def test_the_command_prints_first_what_the_page_shows_first(disputed):
    printed = command("tides").split("ada and ben:")[1].splitlines()[1:4]

    assert [line.split("  ")[2].strip() for line in printed] == [
        *("Percent agreement", "Cohen's kappa", "Krippendorff's alpha, ordinal")
    ]
    assert "All coefficients: --all; for programs: --json." in command("tides")
    assert "Scott's pi" not in command("tides")
    assert "Scott's pi" in command("tides", "--all")


def test_the_command_aligns_the_values_of_a_table(disputed):
    rows = command("tides", "--all").split("ada and ben:")[1].split("\n\n")[0].splitlines()[1:]

    assert any("Prevalence index, relevant is 1 or more" in row for row in rows)
    assert len({number.start() for row in rows if (number := re.search(r"\d\.\d{3}", row))}) == 1


def test_the_command_says_why_there_is_no_interval(scene):
    for member in (scene.ada, scene.ben):
        factories.judgment(scene.narrative, scene.first, member, 1)

    assert "1.000  no interval: resampling needs at least two units" in command("tides")


def test_the_command_says_when_there_is_nothing(scene):
    assert "Nobody has judged or reviewed anything yet." in command("tides")


def test_the_command_stores_nothing(disputed):
    command("tides")

    assert not AgreementReport.objects.exists()


def test_command_refuses_an_unknown_project(db):
    with pytest.raises(CommandError, match="There is no project “mars”"):
        command("mars")


def test_a_failed_report_says_that_it_has_no_figures(led, client):
    failed = AgreementReport.objects.create(
        project=led.project, state="failed", error="The disk is full.", finished_at=NOON
    )

    page = text(client.get(reverse("audit:agreement_past", args=[led.project.slug, failed.pk])))

    assert "This report has no figures" in page
    assert "will appear here" not in page
