"""A lead finds documents in a large pool: by id, title, answers and earlier grade, in an order."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Flag
from base.texts import natural
from tests import factories
from tests.programs import Program


@pytest.fixture
def pool(db, client):
    """Five documents: A2 disputed, A10 judged by one, B flagged, C without text, D untouched."""
    project = factories.project("tides", overlap_judge=2, judge_scope="pool")
    carla = factories.lead(project)
    ada, ben = (factories.member(project, name) for name in ("ada", "ben"))
    query = factories.query(project, "7")
    narrative = factories.altered(factories.pair(query, altered="Only locks."))
    candidates = {
        "A10": factories.candidate(query, "A10", prior=1, title="Locks of the north"),
        "A2": factories.candidate(query, "A2", prior=2, title="Locks of the south"),
        "B": factories.candidate(query, "B", prior=0),
        "C": factories.candidate(query, "C", prior=None, text=None),
        "D": factories.candidate(query, "D", prior=2),
    }
    factories.judgment(narrative, candidates["A2"], ada, 0)
    factories.judgment(narrative, candidates["A2"], ben, 2)
    factories.judgment(narrative, candidates["A10"], ada, 1)
    Flag.objects.create(
        narrative=narrative,
        candidate=candidates["B"],
        annotator=ada,
        flag="problem",
        text_version=1,
    )
    client.force_login(carla.user)
    url = reverse("annotate:query", args=["tides", query.pk])

    def ids(**asked):
        rows = client.get(url, asked).context["candidates"]
        return [row.candidate.document.doc_id for row in rows]

    return SimpleNamespace(
        project=project, carla=carla, ada=ada, query=query, url=url, ids=ids, narrative=narrative
    )


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, ["A10", "A2", "B", "C", "D"]),
        ({"search": "A"}, ["A10", "A2"]),
        ({"search": "south"}, ["A2"]),
        ({"state": "judged"}, ["A10", "A2"]),
        ({"state": "unjudged"}, ["B", "C", "D"]),
        ({"state": "disputed"}, ["A2"]),
        ({"state": "flagged"}, ["B"]),
        ({"state": "relevant"}, ["A10", "A2", "D"]),
        ({"state": "not_relevant"}, ["B", "C"]),
        ({"state": "without_text"}, ["C"]),
        ({"sort": "id"}, ["A2", "A10", "B", "C", "D"]),
        ({"sort": "prior"}, ["A2", "D", "A10", "B", "C"]),
        ({"search": "Locks", "state": "judged", "sort": "id"}, ["A2", "A10"]),
        ({"state": "unheard"}, ["A10", "A2", "B", "C", "D"]),
    ],
)
def test_documents_are_found_and_ordered(pool, asked, ids):
    assert pool.ids(**asked) == ids


def test_what_a_machine_says_of_a_document_is_no_judgment_and_no_flag(pool):
    model = factories.machine(pool.project)
    by_id = {row.document.doc_id: row for row in pool.query.candidates.select_related("document")}
    factories.judgment(pool.narrative, by_id["C"], model, 2)
    Flag.objects.create(
        narrative=pool.narrative,
        candidate=by_id["D"],
        annotator=model,
        flag="cannot_judge",
        text_version=1,
    )

    assert pool.ids(state="judged") == ["A10", "A2"]
    assert pool.ids(state="unjudged") == ["B", "C", "D"]
    assert pool.ids(state="flagged") == ["B"]


def test_a_filter_without_a_match_says_so(pool, client):
    page = client.get(pool.url, {"search": "nowhere"}).content.decode()

    assert "No document matches" in page
    assert f'href="{pool.url}"' in page


def test_annotators_have_no_filter(pool, client):
    client.force_login(pool.ada.user)

    response = client.get(pool.url, {"state": "disputed"})

    assert response.context["form"] is None
    assert len(response.context["candidates"]) == 5


def test_a_lead_who_judges_cannot_filter_by_what_is_hidden(pool, client):
    pool.project.show_prior = False
    pool.project.save()
    pool.narrative.pair.assignments.create(member=pool.carla, task="judge", seat=1)

    form = client.get(pool.url).context["form"]

    assert "relevant" not in dict(form.fields["state"].choices)
    assert pool.ids(state="relevant") == ["A10", "A2", "B", "C", "D"]
    assert pool.ids(state="disputed") == []


def test_programs_find_the_same_documents(pool):
    program = Program("carla")

    def ids(asked):
        answer = program.get(f"projects/tides/queries/{pool.query.pk}/candidates/?{asked}")
        return [row["doc_id"] for row in answer.json()["results"]]

    assert ids("state=disputed") == ["A2"]
    assert ids("search=Locks") == ["A10", "A2"]


@pytest.mark.parametrize("asked", ["state=disputed", "search=A"])
def test_programs_of_annotators_cannot_filter(pool, asked):
    path = f"projects/tides/queries/{pool.query.pk}/candidates/?{asked}"

    assert Program("ada").get(path).status_code == 403


def judge_blind(pool):
    assignments.take(
        pair=pool.narrative.pair, task=Assignment.Task.JUDGE, by=pool.carla, become_blind=True
    )


def shown_names(client, pool, **asked):
    page = client.get(pool.url, asked).context
    names = [page["names"][row.candidate.pk] for row in page["candidates"]]
    return [name.doc_id or name.label for name in names]


@pytest.mark.parametrize("words", ["A2", "A1", "D"])
def test_a_lead_who_has_yet_to_judge_does_not_find_hidden_ids(pool, words):
    judge_blind(pool)

    assert pool.ids(search=words) == []
    assert pool.ids(search="south") == ["A2"]


def test_a_lead_finds_the_id_of_a_document_that_they_judged(pool):
    judge_blind(pool)
    candidate = pool.query.candidates.get(document__doc_id="D")
    factories.judgment(pool.narrative, candidate, pool.carla, 1)

    assert pool.ids(search="D") == ["D"]


def test_hidden_ids_do_not_decide_the_order_of_documents(pool, client):
    judge_blind(pool)
    candidate = pool.query.candidates.get(document__doc_id="D")
    factories.judgment(pool.narrative, candidate, pool.carla, 1)

    first, *others = shown_names(client, pool, sort="id")

    assert first == "D"
    assert others == sorted(others, key=natural)


def test_programs_do_not_find_hidden_ids_either(pool):
    judge_blind(pool)

    path = f"projects/tides/queries/{pool.query.pk}/candidates/?search=A2"

    assert Program("carla").get(path).json()["results"] == []
