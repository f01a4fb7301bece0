"""The audit log's page and table: for leads only, filtered by who, what and when."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from io import StringIO
from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Preferences
from annotate.projects.audit_log import record
from tests import factories
from tests.pages import shows


@pytest.fixture
def tides(db, client):
    """A project with events of the leads carla and fay on three days, and of a command."""
    project = factories.project()
    made = SimpleNamespace(
        project=project,
        ada=factories.member(project, "ada"),
        carla=factories.lead(project),
        fay=factories.lead(project, "fay"),
        client=client,
        url=reverse("annotate:audit_log", args=["tides"]),
        table=reverse("annotate:audit_log_table", args=["tides"]),
    )
    for day, what, about, by, more in (
        (1, "project.rules", project, made.carla, {"changes": {"overlap_judge": (2, 3)}}),
        (2, "member.role", made.ada, made.fay, {"words": "<b>She</b> asked."}),
        (2, "load.done", "qrels.txt", None, {}),
        (3, "judgment.settled", "301 · altered 1 · A", made.carla, {}),
    ):
        at = datetime(2026, 5, day, 23, 30, tzinfo=UTC)
        record(project=project, what=what, about=about, by=by, now=at, **more)
    other = factories.project("other")
    record(project=other, what="project.made", about=other, by=factories.lead(other, "eve"))
    client.force_login(made.carla.user)
    return made


def list_events(tides, query: str = "") -> list[str]:
    page = tides.client.get(f"{tides.url}{query}")
    assert page.status_code == 200
    return [line.audit_event.what for line in page.context["lines"]]


def test_events_of_the_project_are_listed_newest_first(tides):
    assert list_events(tides) == ["judgment.settled", "load.done", "member.role", "project.rules"]


def test_changes_and_reasons_are_shown_as_text(tides):
    page = tides.client.get(tides.url).content.decode()

    assert shows(page, "People who judge each document: 2 → 3")
    assert "&lt;b&gt;She&lt;/b&gt; asked." in page
    assert "A command" in page


def test_lists_and_lines_are_shown_in_words(tides):
    record(
        project=tides.project,
        what="publication.changed",
        about=tides.project,
        by=tides.carla,
        changes={"layouts": ([], ["mteb", "beir"]), "creators": ("", "Curie, Marie\nBohr, Niels")},
    )

    page = tides.client.get(tides.url).text

    assert shows(page, "Layouts: – → mteb, beir<")
    assert shows(page, "Creators: – → Curie, Marie · Bohr, Niels<")


def test_grades_and_empty_values_are_shown_in_words(tides):
    changes = {
        "grades": ([[0, "No", ""]], [[0, "No", "Never."], [1, "Yes", ""]]),
        "description": ("", "Tides."),
        "show_prior": (False, True),
        "consensus": ("unanimous", "majority"),
    }
    record(
        project=tides.project,
        what="project.rules",
        about=tides.project,
        changes=changes,
        by=tides.carla,
    )

    first = tides.client.get(tides.url).context["lines"][0]

    assert [tuple(change) for change in first.changes] == [
        (
            "When several people judged",
            "All agree, else disputed",
            "More than half agree, else disputed",
        ),
        ("Description", "–", "Tides."),
        ("Grades", "0 No", "0 No, 1 Yes"),
        ("Show judges the relevance a document came with", "no", "yes"),
    ]


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (
            [["C1", "About", "Short."], ["C2", "Only about", "Long."]],
            ("C1 About: Brief.", "C1 About: Short."),
        ),
        (
            [["C2", "Only about", "Long."], ["C1", "About", "Brief."]],
            ("C1 About, C2 Only about", "C2 Only about, C1 About"),
        ),
        (
            [["C1", "About", ""], ["C2", "Only about", "Longer."]],
            ("C1 About: Brief. · C2 Only about: Long.", "C1 About · C2 Only about: Longer."),
        ),
        ([["C1", "About", "Brief."]], ("C2 Only about", "–")),
    ],
    ids=["another sentence", "another order", "two sentences", "one less"],
)
def test_of_changed_types_only_what_differs_is_shown(tides, after, shown):
    before = [["C1", "About", "Brief."], ["C2", "Only about", "Long."]]
    record(
        project=tides.project,
        what="categories.changed",
        about=tides.project,
        changes={"types": (before, after)},
        by=tides.carla,
    )

    first = tides.client.get(tides.url).context["lines"][0]

    assert first.changes == [("Types", *shown)]


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("?what=load.done", ["load.done"]),
        ("?who=command", ["load.done"]),
        ("?since=2026-05-02&until=2026-05-02", ["load.done", "member.role"]),
        ("?since=2026-05-03", ["judgment.settled"]),
        ("?until=2026-05-01", ["project.rules"]),
        ("?what=guidelines.written", []),
    ],
)
def test_the_list_is_filtered_by_who_what_and_when(tides, query, what):
    assert list_events(tides, query) == what


def test_the_list_is_filtered_by_person(tides):
    assert list_events(tides, f"?who={tides.fay.user_id}") == ["member.role"]
    assert list_events(tides, f"?who={tides.carla.user_id}&what=project.rules") == ["project.rules"]


def test_days_are_in_the_readers_time_zone(tides):
    Preferences.objects.create(user=tides.carla.user, time_zone="Europe/Berlin")

    assert list_events(tides, "?since=2026-05-03&until=2026-05-03") == ["load.done", "member.role"]


@pytest.mark.parametrize(
    "query", ["?who=999", "?what=nothing", "?since=yesterday", "?until=2026-13-01", "?who='"]
)
def test_an_invalid_filter_is_reported_and_everything_is_shown(tides, query):
    page = tides.client.get(f"{tides.url}{query}")

    assert page.context["form"].errors
    assert len(page.context["lines"]) == 4


def test_the_first_and_last_possible_day_are_valid(tides):
    assert len(list_events(tides, "?since=0001-01-01&until=9999-12-31")) == 4


def test_a_long_audit_log_comes_in_pages_at_the_same_cost(tides, django_assert_max_num_queries):
    for number in range(60):
        record(project=tides.project, what="load.done", about=f"F{number}", by=tides.carla)

    with django_assert_max_num_queries(8):
        first = tides.client.get(f"{tides.url}?what=load.done")
    assert [line.audit_event.about for line in first.context["lines"]][::49] == ["F59", "F10"]
    assert first.context["previous_url"] == ""
    rest = tides.client.get(f"{tides.url}{first.context['next_url']}")
    assert [line.audit_event.about for line in rest.context["lines"]][-2:] == ["F0", "qrels.txt"]
    assert rest.context["next_url"] == ""
    back = tides.client.get(f"{tides.url}{rest.context['previous_url']}")
    assert [line.audit_event.about for line in back.context["lines"]][::49] == ["F59", "F10"]


def test_a_lead_with_judging_left_does_not_see_what_was_settled(tides):
    query = factories.query(tides.project)
    factories.candidate(query)
    factories.assignment(factories.pair(query), tides.carla)

    page = tides.client.get(tides.url)

    assert [line.audit_event.what for line in page.context["lines"]] == [
        *("load.done", "member.role", "project.rules"),
    ]
    assert "You have judging or reviewing left" in page.content.decode()
    assert "judgment.settled" not in page.content.decode()
    assert page.context["form"].fields["what"].choices[0] == ("", "Everything")
    assert tides.client.get(f"{tides.url}?what=judgment.settled").context["form"].errors
    assert "judgment.settled" not in rows(tides, "")[1][3]
    tides.client.force_login(tides.fay.user)
    assert "judgment.settled" in list_events(tides)


def rows(tides, query: str) -> list[list[str]]:
    answer = tides.client.get(f"{tides.table}{query}")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(StringIO(b"".join(answer).decode())))


def test_the_table_has_all_of_it_oldest_first(tides):
    head, first, *others = rows(tides, "")

    assert head == ["uuid", "at", "who", "what", "about", "kind", "key", "words", "changes"]
    assert first[1:] == [
        "2026-05-01T23:30:00+00:00",
        "carla",
        "project.rules",
        "tides",
        "annotate.project",
        str(tides.project.pk),
        "",
        '{"overlap_judge": [2, 3]}',
    ]
    assert [row[3] for row in others] == ["member.role", "load.done", "judgment.settled"]


def test_the_table_is_filtered_like_the_page(tides):
    assert [row[3] for row in rows(tides, "?who=command")[1:]] == ["load.done"]
    assert tides.client.get(f"{tides.table}?since=yesterday").url == tides.url


def test_an_empty_audit_log_says_so(db, client):
    carla = factories.lead(factories.project("bees"))
    client.force_login(carla.user)

    page = client.get(reverse("annotate:audit_log", args=["bees"])).content.decode()

    assert "Nothing has been done yet" in page


def test_the_kinds_to_choose_from_are_grouped_by_what_they_are_about(tides):
    form = tides.client.get(tides.url).context["form"]
    groups = {name: dict(kinds) for name, kinds in form.fields["what"].choices[1:]}

    assert list(groups) == [
        *("Project", "People", "Files and pools", "Results"),
        "Judging, reviewing, settling",
    ]
    assert "project.rules" in groups["Project"]
    assert "member.role" in groups["People"]
    assert "judgment.settled" in groups["Judging, reviewing, settling"]
