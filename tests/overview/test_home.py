"""Home shows a person's work project by project, and what the next task is."""

from __future__ import annotations

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.judging import actions
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Membership
from annotate.people.preferences import change_preferences
from annotate.rewriting.actions import rewrite_narrative, send_back
from tests import factories
from tests.pages import shows


def add_query(project, query_id, *relevances, altered="Only plants at sea count."):
    """Create a query with a document for each relevance; return its pair."""
    query = factories.query(project, query_id)
    for place, relevance in enumerate(relevances):
        factories.candidate(query, f"D{query_id}-{place}", prior=relevance)
    return factories.pair(query, altered=altered)


@pytest.fixture
def ada(db, client):
    member = factories.member(factories.project("tides"), "ada")
    client.force_login(member.user)
    return member


def home(client):
    return client.get(reverse("annotate:home"))


def headings(page: str) -> list[str]:
    return [
        " ".join(re.sub(r"<[^>]+>", "", heading).split())
        for heading in re.findall(r"<h3>(.*?)</h3>", page, re.DOTALL)
    ]


def test_the_next_task_to_judge_says_how_many_documents_it_has(ada, client):
    # Two of the three were relevant before: only those are judged.
    add_query(ada.project, "301", 1, 2, 0)

    assert "Judge, 2 documents" in headings(home(client).content.decode())


def test_home_says_that_a_lead_gives_no_further_task(ada, client):
    add_query(ada.project, "301", 1)
    Membership.objects.filter(pk=ada.pk).update(most_tasks=0)

    assert "as many tasks as a lead gives you" in home(client).content.decode()


def test_two_instructions_of_one_query_are_distinguished(ada, client):
    pair = add_query(ada.project, "301", 1)
    other = factories.pair(pair.query, pair_id="301_2", altered="Only at night.")
    for one in (pair, other):
        assignments.take(pair=one, task=Assignment.Task.JUDGE, by=ada)
    assignments.take(pair=add_query(ada.project, "302", 1), task=Assignment.Task.JUDGE, by=ada)
    type(pair.query).objects.filter(query_id="302").update(title="Weirs")

    assert headings(home(client).content.decode())[:3] == [
        "Judge: tidal power (301)",
        "Judge: tidal power (301_2)",
        "Judge: Weirs",
    ]


def test_a_rewriting_that_was_sent_back_says_so(ada, client):
    pair = add_query(ada.project, "301", 1)
    factories.assignment(pair, ada, Assignment.Task.REWRITE)
    new = add_query(ada.project, "302", 1, altered=None)
    factories.assignment(new, ada, Assignment.Task.REWRITE)
    before = home(client).content.decode()

    send_back(pair=pair, by=factories.lead(ada.project))
    sent_back = home(client).content.decode()
    rewrite_narrative(pair=pair, text="Only at night.", based_on=1, by=ada)
    after = home(client).content.decode()

    assert [page.count("sent back") for page in (before, sent_back, after)] == [0, 1, 0]


@pytest.mark.both_databases
def test_the_next_task_to_judge_counts_what_the_member_has_left(ada, client):
    pair = add_query(ada.project, "301", 1, 2, 1)
    narrative = factories.altered(pair)
    judged, flagged, put_off = pair.query.candidates.order_by("pk")
    # Answered without a task, as answers from a file are.
    factories.judgment(narrative, judged, ada)
    fields = {"narrative": narrative, "annotator": ada}
    Flag.objects.create(candidate=flagged, flag=Flag.Kind.PROBLEM, note="Two in one.", **fields)
    Flag.objects.create(candidate=put_off, flag=Flag.Kind.LATER, **fields)

    assert "Judge, 1 document" in headings(home(client).content.decode())


def test_projects_with_work_come_first(ada, client):
    empty = factories.project("alps")
    other = factories.project("zebras")
    for project in (empty, other):
        project.memberships.create(user=ada.user, name="ada", role="annotator")
    add_query(other, "9", 1)

    page = home(client).content.decode()

    names = re.findall(r'<h2 id="project-\d+"><a[^>]*>(.*?)</a>', page)
    assert names == ["Zebras", "Alps", "Tides"]


def test_judgments_of_today_are_counted(ada, client):
    pair = add_query(ada.project, "301", 1, 1)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    candidate = pair.query.candidates.order_by("pk")[0]
    actions.judge(narrative=factories.altered(pair), candidate=candidate, relevance=1, by=ada)

    assert "1 judgment today" in home(client).content.decode()


def test_today_begins_at_midnight_in_the_time_zone_of_the_reader(ada, client):
    zone = "Pacific/Kiritimati"
    change_preferences(time_zone=zone, by=ada.user)
    pair = add_query(ada.project, "301", 1, 1)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    midnight = timezone.now().astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0)
    for minute, candidate in zip((-1, 0), pair.query.candidates.order_by("pk"), strict=True):
        actions.judge(
            narrative=factories.altered(pair),
            candidate=candidate,
            relevance=1,
            by=ada,
            now=midnight + timedelta(minutes=minute),
        )

    assert "1 judgment today" in home(client).content.decode()


def test_annotators_do_not_see_the_state_of_the_worker(ada, client):
    assert "worker_known" not in home(client).context


def test_leads_see_the_progress_of_their_project(ada, client):
    add_query(ada.project, "301", 1)
    client.force_login(factories.lead(ada.project).user)

    response = home(client)

    assert "0 of 2" in response.content.decode()


def test_one_query_names_the_documents_of_all_projects(ada, client):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            home(client)
        return sum("documents_left" in query["sql"] for query in captured)

    add_query(ada.project, "301", 1)
    before = queries()
    other = factories.project("zebras")
    other.memberships.create(user=ada.user, name="ada", role="annotator")
    add_query(other, "9", 1)

    assert (before, queries()) == (1, 1)


def test_what_needs_me_says_how_many_tasks_are_open(ada, client):
    for query_id in ("301", "302"):
        add_query(ada.project, query_id, 1)

    page = client.get(reverse("annotate:project", args=["tides"])).content.decode()

    assert re.search(r"Judge the next</button>\s*<span[^>]*>2 tasks open<", page)


def test_who_has_begun_a_task_is_offered_no_second_one_of_that_kind(ada, client):
    pair = add_query(ada.project, "301", 1)
    add_query(ada.project, "302", 1)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)

    page = client.get(reverse("annotate:project", args=["tides"])).content.decode()

    assert not shows(page, "Judge the next</button>")


def test_what_needs_me_has_a_line_for_each_kind_of_task(ada, client):
    for query_id in ("301", "302", "303"):
        pair = add_query(ada.project, query_id, 1)
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)

    page = client.get(reverse("annotate:project", args=["tides"]))

    assert [(todo.text, todo.counted) for todo in page.context["todo"]] == [("Judge", "3 tasks")]


def test_a_lead_alone_is_asked_to_add_members(ada, client):
    client.force_login(factories.lead(factories.project("zebras"), "zoe").user)

    page = client.get(reverse("annotate:project", args=["zebras"])).content.decode()

    assert "Nobody else can work in this project yet." in page
    assert "Nothing right now" not in page


def test_a_lead_with_members_is_not_asked_to_add_any(ada, client):
    client.force_login(factories.lead(ada.project).user)

    page = client.get(reverse("annotate:project", args=["tides"])).content.decode()

    assert "Nobody else can work in this project yet." not in page


def test_a_lead_with_too_few_judges_is_asked_to_add_members(ada, client):
    carla = factories.lead(ada.project)
    add_query(ada.project, "301", 1)
    client.force_login(carla.user)
    address = reverse("annotate:project", args=["tides"])

    page = " ".join(client.get(address).content.decode().split())
    assert "2 people judge each query; besides you, 1 can work here." in page
    assert "Nothing right now" not in page

    factories.member(ada.project, "ben")
    assert "people judge each query" not in client.get(address).content.decode()


def test_a_lead_reads_that_open_tasks_are_for_annotators(ada, client):
    add_query(ada.project, "301", 1)
    client.force_login(factories.lead(ada.project).user)

    assert "the open tasks are for annotators" in home(client).content.decode()
