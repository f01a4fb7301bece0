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
from audit.checks.queue import count_to_check
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


def again(member):
    """Return the membership as the next request loads it."""
    return type(member).objects.select_related("project", "user").get(pk=member.pk)


def test_a_paused_project_gives_out_no_task_and_offers_none(carla, ada):
    schedule.pause(by=carla)

    with pytest.raises(Refused, match="paused by a lead"):
        assignments.take_next(task=JUDGE, by=again(ada))
    pair = carla.project.pairs.get()
    with pytest.raises(Refused, match="paused by a lead"):
        assignments.take(pair=pair, task=JUDGE, by=again(ada))
    assert not open_pairs.is_any_open(task=JUDGE, by=again(ada))
    assert open_pairs.count_free_assignments(pair, JUDGE, again(ada)) == 0
    assert count_to_check([again(ada)]) == {ada.pk: 0}
    assert not Assignment.objects.exists()


def test_a_resumed_project_gives_out_tasks_again(carla, ada):
    schedule.pause(by=carla)
    schedule.resume(by=again(carla))

    assert assignments.take_next(task=JUDGE, by=again(ada)) is not None


def test_what_is_judged_in_a_task_counts_while_the_project_is_paused(carla, ada):
    assignments.take_next(task=JUDGE, by=ada)
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)

    judge_first_document(pair, again(ada))

    assert Judgment.objects.current().count() == 1


def test_what_a_browser_kept_offline_is_accepted_while_paused_even_without_a_task(carla, ada):
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)

    judge_first_document(pair, again(ada), late=True)

    assert Judgment.objects.current().count() == 1
    assert ada.assignments.filter(pair=pair, task=JUDGE).exists()


def judge_first_document(pair, by, *, late=False):
    candidate = pair.query.candidates.earliest("pk")
    narrative = factories.altered(pair)
    judge(narrative=narrative, candidate=candidate, relevance=1, uuid=uuid4(), by=by, late=late)


def test_pausing_twice_keeps_who_paused_first_and_when(carla):
    gina = factories.lead(carla.project, "gina")
    schedule.pause(by=carla, now=NOON)
    schedule.pause(by=again(gina))

    project = Project.objects.get()
    assert (project.paused_at, project.paused_by) == (NOON, carla.user)
    assert AuditEvent.objects.filter(what="project.paused").count() == 1


def test_a_pause_has_a_moment_and_a_person(carla):
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


def test_today_is_the_day_in_the_time_zone_that_the_reader_chose(monkeypatch):
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


def test_the_audit_log_says_what_the_due_date_was_before(carla):
    schedule.set_due_date(due_on=date(2027, 3, 31), by=carla, now=NOON)
    schedule.set_due_date(due_on=None, by=carla)

    found = AuditEvent.objects.filter(what="project.due").order_by("pk")
    assert [one.changes["due_on"] for one in found] == [
        [None, "2027-03-31"],
        ["2027-03-31", None],
    ]


def test_home_and_overview_say_that_a_lead_paused_and_how_many_days_are_left(client, carla, ada):
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


def test_the_judge_page_says_that_a_lead_paused(client, carla, ada):
    assignments.take_next(task=JUDGE, by=ada)
    pair = carla.project.pairs.get()
    schedule.pause(by=carla)
    client.force_login(ada.user)

    page = client.get(reverse("annotate:judging", args=[pair.pk]), follow=True)

    assert PAUSED in page.content.decode()


def test_settings_pause_resume_and_set_the_date(client, carla):
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


def test_programs_pause_resume_and_set_the_date(client, carla):
    client.force_login(carla.user)
    pause = reverse("annotate:api_pause", args=["tides"])
    due = reverse("annotate:api_due_date", args=["tides"])

    assert client.put(pause, content_type="application/json").json()["paused_at"] is not None
    assert client.delete(pause).json()["paused_at"] is None
    told = client.put(due, {"due_on": "2127-03-31"}, content_type="application/json").json()
    assert told["due_on"] == "2127-03-31"
