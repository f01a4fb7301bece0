"""The list of flags, for leads; and each person's own page, with nothing about others."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Flag, Project, RejudgeRequest
from annotate.pools.removal import DOCUMENTS
from tests import factories
from tests.pages import shows

JUDGE = Assignment.Task.JUDGE


@pytest.fixture(scope="module")
def tides_of_file(rows_of_file):
    """Ada and ben judge four documents, and flag some of them; carla leads."""
    project = factories.project()
    query = factories.query(project)
    made = SimpleNamespace(
        project=project,
        pair=factories.pair(query),
        docs=[factories.candidate(query, f"D{number}") for number in range(4)],
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        carla=factories.lead(project),
        url=reverse("annotate:flags", args=["tides"]),
    )
    made.narrative = factories.altered(made.pair)
    for by in (made.ada, made.ben):
        assignments.take(pair=made.pair, task=JUDGE, by=by)
    flag(made, 0, made.ada, "problem", "The second half is missing.")
    flag(made, 1, made.ada, "later")
    flag(made, 0, made.ben, "cannot_judge", "It is in Finnish.")
    flag(made, 2, made.ben, "problem", "Taken back.", ended_at=timezone.now())
    return made


@pytest.fixture
def tides(tides_of_file, copy_rows):
    return copy_rows(tides_of_file)


def flag(of, number, by, kind, words="", **fields):
    return Flag.objects.create(
        narrative=of.narrative,
        candidate=of.docs[number],
        annotator=by,
        flag=kind,
        note=words,
        **fields,
    )


def test_flags_are_counted_by_kind_and_listed_with_their_words(tides, client):
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    counts = {one["kind"]: one["count"] for one in page.context["flag_counts"]}
    assert counts == {"later": 1, "cannot_judge": 1, "problem": 1}
    assert [one.note for one in page.context["flags"]] == [
        "The second half is missing.",
        "",
        "It is in Finnish.",
    ]
    assert "Taken back." not in page.content.decode()


def test_the_list_says_which_flags_somebody_was_asked_to_look_at_again(tides, client):
    asked = Flag.objects.current().get(annotator=tides.ada, flag="problem")
    RejudgeRequest.objects.create(statement=asked, words="Reload it.", by=tides.carla)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)
    program = client.get("/api/v1/projects/tides/flags/").json()["results"]

    assert [flag.waits for flag in page.context["flags"]] == [True, False, False]
    assert page.content.decode().count("asked to look again") == 1
    assert [flag["waits"] for flag in program] == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "person", "found"),
    [
        ("problem", "", ["The second half is missing."]),
        ("", "ben", ["It is in Finnish."]),
        ("problem", "ben", []),
        ("gone", "", ["The second half is missing.", "", "It is in Finnish."]),
    ],
)
def test_the_address_filters_the_flags(tides, client, kind, person, found):
    client.force_login(tides.carla.user)
    key = getattr(tides, person).pk if person else ""

    page = client.get(tides.url, {"kind": kind, "person": key})

    assert [one.note for one in page.context["flags"]] == found


def test_flags_come_in_pages(tides, client, monkeypatch):
    monkeypatch.setattr("annotate.overview.flags.SIZE", 2)
    client.force_login(tides.carla.user)

    first = client.get(tides.url)
    second = client.get(tides.url + first.context["next_url"])

    assert len(first.context["flags"]) == 2
    assert [one.note for one in second.context["flags"]] == ["It is in Finnish."]


def test_flags_under_an_older_narrative_are_not_listed(tides, client):
    factories.narrative(tides.pair, version=2)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    assert page.context["flags"] == []
    assert "Nothing is flagged" in page.content.decode()


def test_flags_on_a_document_that_was_taken_out_are_not_listed(tides, client):
    DOCUMENTS.remove(
        project=tides.project, keys=[tides.docs[0].pk], reason="A draft.", by=tides.carla
    )
    client.force_login(tides.carla.user)

    page = client.get(tides.url)
    program = client.get("/api/v1/projects/tides/flags/").json()["results"]

    assert [flag.candidate for flag in page.context["flags"]] == [tides.docs[1]]
    assert [flag["candidate"] for flag in program] == [tides.docs[1].pk]


def test_a_lead_who_judges_reads_a_flag_once_they_have_judged_the_document(tides, client):
    Project.objects.update(overlap_judge=3)
    tides.carla.project.refresh_from_db()
    assignments.take(pair=tides.pair, task=JUDGE, by=tides.carla, become_blind=True)
    client.force_login(tides.carla.user)

    before = client.get(tides.url)
    factories.judgment(tides.narrative, tides.docs[0], tides.carla)
    after = client.get(tides.url)

    assert before.context["flags"] == []
    assert [one["count"] for one in before.context["flag_counts"]] == [0, 0, 0]
    assert {one.candidate for one in after.context["flags"]} == {tides.docs[0]}


def test_flags_cost_the_same_however_many(tides, client, django_assert_max_num_queries):
    for by in (tides.ada, tides.ben):
        flag(tides, 3, by, "problem", "Both.")
    client.force_login(tides.carla.user)

    with django_assert_max_num_queries(11) as queries:
        client.get(tides.url)

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def own_page(of) -> str:
    return reverse("annotate:person", args=["tides", of.pk])


def test_the_own_page_shows_the_readers_work(tides, client):
    at = timezone.now() - timedelta(days=1)
    factories.judgment(tides.narrative, tides.docs[2], tides.ada, at=at, active_ms=40_000)
    factories.judgment(tides.narrative, tides.docs[3], tides.ben, at=at, active_ms=999_000)
    client.force_login(tides.ada.user)

    page = client.get(own_page(tides.ada))

    shown = page.content.decode()
    # One judgment and one final flag: document 0 is a problem, 1 was put off.
    assert page.context["answered"] == 2
    assert (page.context["effort"].seconds, page.context["effort"].each) == (40.0, 40.0)
    assert page.context["left"] == 2
    assert [(one["done"], one["total"]) for one in page.context["assignments"]] == [(2, 4)]
    assert "The second half is missing." in shown
    assert sum(day.made for day in page.context["days"]) == 2


@pytest.mark.parametrize("others", ["ben", "It is in Finnish.", "16 min"])
def test_the_own_page_says_nothing_about_others(tides, client, others):
    factories.judgment(tides.narrative, tides.docs[3], tides.ben, active_ms=999_000)
    client.force_login(tides.ada.user)

    assert others not in client.get(own_page(tides.ada)).content.decode()


def test_the_own_page_estimates_no_end_where_nothing_is_left_to_judge(tides, client):
    dan = factories.member(tides.project, "dan")
    assignments.take(pair=tides.pair, task=Assignment.Task.REVIEW, by=dan)
    client.force_login(dan.user)

    page = client.get(reverse("annotate:person", args=["tides", dan.pk])).content.decode()

    assert "tidal power" in page
    assert "Nothing to do yet" not in page


def test_another_persons_page_is_for_leads(tides, client):
    client.force_login(tides.ada.user)
    refused = client.get(own_page(tides.ben))
    client.force_login(tides.carla.user)
    shown = client.get(own_page(tides.ben))

    assert refused.status_code == 403
    assert "It is in Finnish." in shown.content.decode()


def test_a_lead_who_judges_does_not_read_anothers_flags_on_their_page(tides, client):
    Project.objects.update(overlap_judge=3)
    tides.carla.project.refresh_from_db()
    assignments.take(pair=tides.pair, task=JUDGE, by=tides.carla, become_blind=True)
    client.force_login(tides.carla.user)

    page = client.get(own_page(tides.ben))

    assert (page.context["flags_total"], page.context["flags"]) == (0, [])


def test_the_page_of_somebody_without_work_explains_what_will_appear(tides, client):
    dan = factories.member(tides.project, "dan")
    client.force_login(dan.user)

    page = client.get(own_page(dan)).content.decode()

    for words in ("No task with work left", "No activity yet", "Nothing is flagged"):
        assert words in page


def test_the_own_page_costs_the_same_however_much_was_done(
    tides, client, django_assert_max_num_queries
):
    for candidate in tides.docs[2:]:
        factories.judgment(tides.narrative, candidate, tides.ada, active_ms=1_000)
    client.force_login(tides.ada.user)

    with django_assert_max_num_queries(27) as queries:
        client.get(own_page(tides.ada))

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def test_the_overview_counts_documents_that_people_only_flagged(tides, client):
    # On the first document nobody gave a grade; "later" is no answer, and ben took his flag back.
    flag(tides, 3, tides.ada, "problem", "It ends in the middle.")
    factories.judgment(tides.narrative, tides.docs[3], tides.ben, 1)
    client.force_login(tides.carla.user)

    page = client.get(reverse("annotate:project", args=["tides"]))

    assert page.context["only_flagged"] == 1
    assert shows(page, f'<a href="{tides.url}">Documents that people only flagged: no grade</a>')


def test_a_settled_document_is_not_counted_as_only_flagged(tides, client):
    Adjudication.objects.create(
        narrative=tides.narrative,
        candidate=tides.docs[0],
        relevance=1,
        reason="Read again.",
        cause="edge",
        by=tides.carla,
    )
    client.force_login(tides.carla.user)

    page = client.get(reverse("annotate:project", args=["tides"]))

    assert page.context["only_flagged"] == 0


def test_the_overview_counts_documents_to_judge_without_a_text_for_leads(tides, client):
    factories.candidate(tides.pair.query, "D9", text=None)
    client.force_login(tides.carla.user)

    page = client.get(reverse("annotate:project", args=["tides"]))

    url = reverse("annotate:missing_texts", args=["tides"])
    assert shows(page, f'<a href="{url}">Documents to judge without a text</a> <strong>1</strong>')
    client.force_login(tides.ada.user)
    assert "without a text" not in client.get(reverse("annotate:project", args=["tides"])).text
