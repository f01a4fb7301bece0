"""Reports of a part of a project: requested by the address, stored with it, listed, shown."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.models import Guideline
from audit.models import AgreementReport
from audit.reports.actions import compute_agreement, request_agreement
from audit.reports.reliability import agreement_of
from audit.reports.scopes import Scope, stored_scope
from jobs.runner import Progress
from tests import factories

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def led(disputed, client):
    """Ada and ben differ on one of two documents of 301, and agree on the one of 302."""
    client.force_login(disputed.carla.user)
    query = factories.query(disputed.project, "302")
    disputed.other = factories.altered(factories.pair(query, category="C1"))
    candidate = factories.candidate(query, "N1")
    for member in (disputed.ada, disputed.ben):
        factories.judgment(disputed.other, candidate, member, 2)
    disputed.url = reverse("audit:agreement", args=[disputed.project.slug])
    return disputed


def computed(scene, scope=""):
    figures = agreement_of(
        scene.project, seed=1, resamples=100, now=NOON, scope=stored_scope(scope)
    )
    return AgreementReport.objects.create(
        project=scene.project,
        scope=scope,
        state="done",
        finished_at=NOON,
        sha256=figures["sha256"],
        figures=figures,
    )


def text(response):
    return response.getvalue().decode()


def test_part_in_the_address_is_computed_and_stored(led, client):
    response = client.post(led.url + "?query=302&blind=1")

    report = AgreementReport.objects.get()
    assert report.scope == "query=302&blind=1"
    assert response.url == f"{led.url}?query=302&blind=1" == report.get_absolute_url()

    compute_agreement(report, Progress())
    assert report.figures is not None
    assert report.figures["judgments"]["all"]["units"] == 1
    assert report.sha256 == report.figures["sha256"]


def test_each_part_has_its_own_report(led):
    whole = request_agreement(project=led.project, by=led.carla)
    part = request_agreement(project=led.project, by=led.carla, scope=Scope(query="302"))

    assert whole != part
    assert request_agreement(project=led.project, by=led.carla, scope=Scope(query="302")) == part


def test_the_page_shows_the_report_of_the_part_and_not_of_the_whole(led, client):
    computed(led)
    computed(led, "query=302")

    page = text(client.get(led.url + "?query=302"))

    assert "Only a part: query 302." in page
    assert "1.000" in page
    assert "0.667" not in page
    assert "0.667" in text(client.get(led.url))


def test_a_part_without_report_says_so_and_offers_to_compute_it(led, client):
    computed(led)

    page = text(client.get(led.url + "?category=C1"))

    assert "This part has not been computed yet" in page
    assert f'action="{led.url}?category=C1"' in page


def test_part_without_answers_says_what_to_do(led, client):
    computed(led, "side=original")

    page = text(client.get(led.url + "?side=original"))

    assert "Nobody has answered anything in this part" in page
    assert "Clear a field of the form" in page


def test_one_rater_alone_is_named_with_what_to_do(led, client):
    led.narrative.statements.all().delete()
    led.other.statements.filter(annotator=led.ben).delete()
    computed(led)

    page = text(client.get(led.url))

    assert "Only ada has answered here" in page
    assert "Give a second person a task" in page
    assert "undefined" not in page


def test_people_who_share_nothing_are_counted(led, client):
    led.narrative.statements.filter(annotator=led.ada).delete()
    led.other.statements.filter(annotator=led.ben).delete()
    computed(led)

    assert "2 people answered here, but no two of them on the same document or instruction" in text(
        client.get(led.url)
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?query=999", "There is no query 999 in this project."),
        ("?guideline=7", "This project has no guidelines yet"),
        ("?one=ada", "Choose both, or leave both open."),
        ("?week=soon", "soon is not a date."),
        ("?query=" + "x" * 300, "at most 255 characters"),
    ],
)
def test_unknown_part_is_explained_and_computes_nothing(led, client, query, sentence):
    for response, status in (
        (client.get(led.url + query), 200),
        (client.post(led.url + query), 422),
    ):
        assert response.status_code == status
        assert sentence in text(response)
        assert 'id="compute"' not in text(response)
    assert not AgreementReport.objects.exists()


def test_each_line_of_a_split_opens_its_part(led, client):
    computed(led)

    page = text(client.get(led.url))

    for part in ("query=301", "one=ada&amp;other=ben"):
        assert f'href="{led.url}?{part}"' in page


def test_two_people_have_one_table_with_three_coefficients_and_the_rest_folded(led, client):
    computed(led)

    shown = text(client.get(led.url))

    assert "Judgments, by pair of people" not in shown
    first, _, _rest = shown.partition('id="agreement-judgments"')[2].partition("</section>")
    before, _, folded = first.partition("All coefficients")
    assert before.count("coefficients-title") == 3
    # Eleven coefficients of the two, with prevalence and bias.
    assert folded.count("coefficients-title") == 13


def test_the_project_page_shows_the_whole_and_never_a_part(led, client):
    computed(led, "query=302")

    page = text(client.get(reverse("annotate:project", args=[led.project.slug])))

    assert "Not computed yet" in page


def test_a_part_of_the_past_does_not_say_that_its_judgments_are_current(led, client):
    Guideline.objects.create(project=led.project, version=1, text="Words.", author=led.carla)
    computed(led, "guideline=0")

    page = text(client.get(f"{led.url}?guideline=0"))

    assert "as they were at the end of" in page
    assert "current judgments" not in page


def test_a_report_is_shown_as_it_was(led, client):
    first = computed(led)
    led.adas.delete()
    computed(led)
    url = reverse("audit:agreement_past", args=[led.project.slug, first.pk])

    page = text(client.get(url))

    assert "This is one report as it was computed." in page
    assert "0.667" in page
    assert 'id="compute"' not in page


def test_reports_are_listed_the_newest_first_with_their_parts(led, client):
    whole = computed(led)
    part = computed(led, "query=302")
    AgreementReport.objects.create(
        project=led.project, state="failed", finished_at=NOON, error="The disk is full."
    )

    page = text(client.get(reverse("audit:agreement_reports", args=[led.project.slug])))

    places = [
        page.index(reverse("audit:agreement_past", args=[led.project.slug, report.pk]))
        for report in (part, whole)
    ]
    assert places == sorted(places)
    assert "Query 302" in page
    assert "The whole project" in page
    assert "Failed" in page
    assert whole.figures["sha256"][:12] in page


def test_blind_lead_sees_no_figure_and_no_sum_in_the_list(led, client):
    shown = [computed(led).sha256[:12], '<td class="number">0.']
    url = reverse("audit:agreement_reports", args=[led.project.slug])
    before = text(client.get(url))
    factories.assignment(led.pair, led.carla)

    page = text(client.get(url))

    assert all(figure in before for figure in shown)
    assert "The whole project" in page
    assert not any(figure in page for figure in shown)


def test_list_of_reports_is_paged(led, client, django_assert_max_num_queries):
    figures = computed(led).figures
    for _ in range(50):
        AgreementReport.objects.create(
            project=led.project, state="done", finished_at=NOON, figures=figures
        )
    url = reverse("audit:agreement_reports", args=[led.project.slug])

    with django_assert_max_num_queries(12):
        page = text(client.get(url))

    assert page.count("row-link") == 50
    (oldest,) = AgreementReport.objects.order_by("pk")[:1]
    before = AgreementReport.objects.order_by("pk")[1].pk
    assert f"?before={before}" in page
    assert text(client.get(f"{url}?before={before}")).count("row-link") == 1
    assert str(oldest.pk) in text(client.get(f"{url}?before={before}"))


@pytest.mark.parametrize("before", ["x", "-1", "9" * 30, "²"])
def test_invalid_cursor_shows_the_first_page(led, client, before):
    computed(led)
    url = reverse("audit:agreement_reports", args=[led.project.slug])

    assert "The whole project" in text(client.get(f"{url}?before={before}"))


def test_the_list_says_what_will_appear_before_the_first_report(led, client):
    page = text(client.get(reverse("audit:agreement_reports", args=[led.project.slug])))

    assert "Nothing has been computed yet" in page
    assert led.url in page


def test_only_the_page_of_the_part_shows_the_progress_of_its_report(led, client):
    AgreementReport.objects.create(
        project=led.project,
        scope="query=302",
        state="running",
        claim="00000000-0000-4000-8000-000000000000",
        lease_until=NOON,
        started_at=NOON,
        done=3,
        total=12,
        step="Measuring agreement",
    )

    assert "3 of 12" in text(client.get(led.url + "?query=302"))
    assert "3 of 12" not in text(client.get(led.url))


def test_page_has_the_text_for_a_paper(led, client):
    computed(led)

    page = text(client.get(led.url))

    assert "2 people answered, and 3 documents had answers from at least two of them." in page
    assert r"95\% CI" in page


def command(*arguments):
    out = StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_takes_a_part(led):
    printed = command("tides", "--query", "302", "--by", "pair")

    assert "Agreement of tides (query 302)" in printed
    assert "ada and ben: 1 document shared" in printed
    assert "Judgments, by query" not in printed


def test_the_command_splits_as_asked(led):
    printed = command("tides", "--by", "query", "--by", "week")

    assert "Judgments, by query" in printed
    assert "Judgments, by pair" not in printed


def test_the_command_prints_machines_alone(led):
    factories.judgment(led.narrative, led.first, factories.machine(led.project, "gauge"), 0)

    assert "gauge" not in command("tides")
    printed = command("tides", "--by", "machine")
    assert "People against gauge" in printed
    assert "Judgments of people" not in printed


def test_command_explains_unknown_and_empty_parts(led):
    with pytest.raises(CommandError, match="There is no query 999 in this project"):
        command("tides", "--query", "999")
    assert "No machine has judged any of this." in command("tides", "--by", "machine")
    assert "Nobody has answered anything in this part." in command("tides", "--side", "original")
    assert "No two people answered the same; all answers are by ada." in command(
        "tides", "--people", "ada", "dan"
    )


def test_two_people_are_chosen_only_where_there_are_two(scene, client):
    project = factories.project("alone")
    client.force_login(factories.lead(project, "dora").user)
    url = reverse("audit:agreement", args=[project.slug])
    assert '<select name="one"' not in text(client.get(url))

    factories.member(project, "ada")
    assert '<select name="one"' in text(client.get(url))
