"""A lead pauses and resumes a project, and sets its due date."""

from __future__ import annotations

from datetime import UTC, date, datetime
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.judging.actions import judge
from annotate.judgments import assignments, open_pairs
from annotate.models import Assignment, AuditEvent, Judgment, Project
from annotate.projects import schedule
from audit.checks.queue import waiting_to_check
from base.errors import Refused
from tests import factories

JUDGE = Assignment.Task.JUDGE
PAUSED = "Paused by a lead: no new tasks are given out."
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def carla(db):
    """The lead of a project that has one pair to judge."""
    project = factories.project(overlap_rewrite=0, overlap_review=0)
    query = factories.query(project)
    factories.candidate(query)
    factories.pair(query)
    return factories.lead(project)


@pytest.fixture
def ada(carla):
    return factories.member(carla.project, "ada")


def reloaded(member):
    """Return the membership as the next request loads it."""
    return type(member).objects.select_related("project", "user").get(pk=member.pk)


def test_a_paused_project_gives_out_no_task_and_offers_none(carla, ada):
    schedule.pause(by=carla)

    with pytest.raises(Refused, match="paused by a lead"):
        assignments.take_next(task=JUDGE, by=reloaded(ada))
    pair = carla.project.pairs.get()
    with pytest.raises(Refused, match="paused by a lead"):
        assignments.take(pair=pair, task=JUDGE, by=reloaded(ada))
    assert not open_pairs.is_any_open(task=JUDGE, by=reloaded(ada))
    assert open_pairs.count_free_assignments(pair, JUDGE, reloaded(ada)) == 0
    assert waiting_to_check([reloaded(ada)]) == {ada.pk: (0, None)}
    assert not Assignment.objects.exists()


def test_a_resumed_project_gives_out_tasks_again(carla, ada):
    schedule.pause(by=carla)
    schedule.resume(by=reloaded(carla))

    assert assignments.take_next(task=JUDGE, by=reloaded(ada)) is not None


def test_judgments_in_a_task_count_while_the_project_is_paused(carla, ada):
    assignments.take_next(task=JUDGE, by=ada)
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)

    judge_first_document(pair, reloaded(ada))

    assert Judgment.objects.current().count() == 1


def test_judgments_from_an_offline_browser_are_accepted_while_paused(carla, ada):
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)

    judge_first_document(pair, reloaded(ada), late=True)

    assert Judgment.objects.current().count() == 1
    assert ada.assignments.filter(pair=pair, task=JUDGE).exists()


def judge_first_document(pair, by, *, late=False):
    candidate = pair.query.candidates.earliest("pk")
    narrative = factories.altered(pair)
    judge(narrative=narrative, candidate=candidate, relevance=1, uuid=uuid4(), by=by, late=late)


def test_pausing_twice_keeps_who_paused_first_and_when(carla):
    gina = factories.lead(carla.project, "gina")
    schedule.pause(by=carla, now=NOON)
    schedule.pause(by=reloaded(gina))

    project = Project.objects.get()
    assert (project.paused_at, project.paused_by) == (NOON, carla.user)
    assert AuditEvent.objects.filter(what="project.paused").count() == 1


def test_the_database_requires_who_paused_and_when(carla):
    with pytest.raises(IntegrityError, match="project_paused_by_and_at"), transaction.atomic():
        Project.objects.update(paused_at=NOON)


@pytest.mark.parametrize(
    ("due_on", "days", "state"),
    [
        (date(2026, 11, 30), 7, "ahead"),
        (date(2026, 11, 23), 0, "today"),
        (date(2026, 11, 21), 2, "overdue"),
    ],
)
def test_a_due_date_says_how_many_days_are_left_or_have_passed(due_on, days, state):
    assert schedule.due(Project(due_on=due_on), now=NOON) == (due_on, days, state)


def test_today_is_in_the_readers_time_zone(monkeypatch):
    monkeypatch.setattr(
        "base.reader_preferences.zone_of_reader", lambda: ZoneInfo("Pacific/Auckland")
    )

    # Noon UTC is 1 a.m. of the next day in Auckland.
    found = schedule.due(Project(due_on=date(2026, 11, 24)), now=NOON)
    assert found is not None
    assert found.state == "today"


def test_only_leads_pause_and_set_dates(ada):
    for act in (
        lambda: schedule.pause(by=ada),
        lambda: schedule.resume(by=ada),
        lambda: schedule.set_due_date(due_on=None, by=ada),
    ):
        with pytest.raises(Refused, match="Only leads"):
            act()


def test_the_audit_log_has_the_previous_due_date(carla):
    schedule.set_due_date(due_on=date(2027, 3, 31), by=carla, now=NOON)
    schedule.set_due_date(due_on=None, by=carla)

    found = AuditEvent.objects.filter(what="project.due").order_by("pk")
    assert [one.changes["due_on"] for one in found] == [
        [None, "2027-03-31"],
        ["2027-03-31", None],
    ]
    assert found[0].at == NOON


def test_home_and_overview_show_the_pause_and_the_due_date(client, carla, ada):
    client.force_login(ada.user)
    home, overview = reverse("annotate:home"), reverse("annotate:project", args=["tides"])
    assert "Start" in client.get(home).content.decode()
    Project.objects.update(paused_at=NOON, paused_by=carla.user, due_on=date(2001, 1, 1))

    for page in (home, overview):
        shown = client.get(page).content.decode()
        assert PAUSED in shown
        assert "Resume it" not in shown
        assert "Due 1 Jan 2001" in shown
        assert "overdue by" in shown
    assert 'name="task"' not in client.get(home).content.decode()
    client.force_login(carla.user)
    for page in (home, overview):
        assert "/projects/tides/settings/#pause-title" in client.get(page).content.decode()


def test_the_judge_page_shows_the_pause(client, carla, ada):
    assignments.take_next(task=JUDGE, by=ada)
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)
    client.force_login(ada.user)

    page = client.get(reverse("annotate:judging", args=[pair.pk]), follow=True)

    assert PAUSED in page.content.decode()


def test_the_settings_page_pauses_resumes_and_sets_the_date(client, carla):
    client.force_login(carla.user)
    settings = reverse("annotate:settings", args=["tides"])

    client.post(reverse("annotate:pause", args=["tides"]), {"paused": "yes"})
    client.post(reverse("annotate:due_date", args=["tides"]), {"due_on": "2127-03-31"})

    shown = client.get(settings).content.decode()
    assert "Paused by carla since" in shown
    assert 'value="2127-03-31"' in shown
    client.post(reverse("annotate:pause", args=["tides"]), {"paused": "no"})
    for day, sentence in (
        ("soon", "Write the date as year-month-day"),
        ("2001-01-01", "2001-01-01 has passed. Give today or a later day"),
    ):
        refused = client.post(
            reverse("annotate:due_date", args=["tides"]), {"due_on": day}, follow=True
        )
        assert sentence in refused.content.decode()
    project = Project.objects.get()
    assert (project.paused_at, project.due_on) == (None, date(2127, 3, 31))


def test_the_api_pauses_resumes_and_sets_the_date(client, carla):
    client.force_login(carla.user)
    pause = reverse("annotate:api_pause", args=["tides"])
    due = reverse("annotate:api_due_date", args=["tides"])

    assert client.put(pause, content_type="application/json").json()["paused_at"] is not None
    assert client.delete(pause).json()["paused_at"] is None
    answer = client.put(due, {"due_on": "2127-03-31"}, content_type="application/json").json()
    assert answer["due_on"] == "2127-03-31"
