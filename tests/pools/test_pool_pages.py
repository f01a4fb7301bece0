"""A lead counts and makes a pool on a page; people who judge see nothing of it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Candidate, Pool, Project
from jobs.runner import run
from tests import factories
from tests.pages import shows
from tests.pools.pooling import make, two_runs

pytestmark = pytest.mark.django_db
RULE = {"method": "union", "depth": "2", "runs": ["ance.run", "bm25.run"]}


@pytest.fixture
def project(db):
    project = factories.project(judge_scope=Project.Scope.POOL)
    two_runs(project)
    return project


@pytest.fixture
def carla(project, client):
    client.force_login(factories.lead(project).user)
    return client


def at(name, *keys):
    return reverse(f"annotate:{name}", args=["tides", *keys])


def test_the_page_counts_a_pool_and_then_makes_it(carla, project):
    page = carla.get(at("new_pool"), RULE)

    assert page.context["counts"]["new"] == 6
    assert b"Make it: 6 new documents" in page.content
    assert not Pool.objects.exists()

    again = {**RULE, "name": "first", "counted": page.context["counts"]["sha256"]}
    made = carla.post(at("new_pool"), again)

    pool = Pool.objects.get()
    assert made.url == pool.get_absolute_url()
    assert b"Making the pool" in carla.get(made.url).content
    run(pool.pk)
    assert b"What it held when it was made" in carla.get(made.url).content
    assert Candidate.objects.count() == 6


@pytest.mark.parametrize(
    ("invalid", "sentence"),
    [
        ({"depth": "0"}, "The depth of a pool"),
        ({"runs": []}, "Choose one or more"),
        ({"method": "sample", "strata": "x"}, "is not a stratum"),
    ],
)
def test_the_page_explains_an_invalid_rule(carla, invalid, sentence):
    page = carla.get(at("new_pool"), {**RULE, **invalid})

    assert page.status_code == 422
    assert sentence in page.content.decode()


def test_without_runs_the_page_says_how_to_load_one(client):
    client.force_login(factories.lead(factories.project()).user)

    page = client.get(at("new_pool")).content.decode()

    assert "No run is loaded yet." in page
    assert f'<a href="{reverse("annotate:loads", args=["tides"])}">Load a run</a>' in page
    assert not shows(page, "<legend>Runs</legend>")


def test_a_taken_pool_name_is_refused(carla, project):
    make(project, "First", runs=RULE["runs"], depth=1)

    page = carla.post(at("new_pool"), {**RULE, "name": "first"})

    assert page.status_code == 422
    assert "There is already a pool called first." in page.content.decode()
    # The count is still there, and the name can be changed.
    assert page.context["counts"]["documents"] == 6
    assert shows(page.content.decode(), 'id="pool-name" name="name" value="first"')
    assert Pool.objects.count() == 1


def test_the_page_of_pools_shows_labelled_at_k_of_each_run(carla, project):
    make(project, runs=RULE["runs"], depth=2)
    Candidate.objects.filter(document__doc_id="A").update(prior_relevance=1)

    page = carla.get(at("pools"))

    # ance ranks A first of four, bm25 third of four.
    assert [row.labelled[10] for row in page.context["judged"]] == [0.25, 0.25]
    assert b"first" in page.content


def test_leads_see_on_the_query_page_which_runs_rank_a_document(carla, project):
    make(project, runs=RULE["runs"], depth=2)
    query = project.queries.get(query_id="301")

    page = carla.get(at("query", query.pk)).content.decode()

    # B is second of ance and first of bm25.
    assert shows(page, "first: bm25.run at 1, ance.run at 2")
    table = carla.get(at("pool_documents", Pool.objects.get().pk)).getvalue().decode()
    assert "301,B,yes,ance.run,2\n301,B,yes,bm25.run,1\n" in table


def test_the_matrix_of_several_instructions_also_shows_the_runs(carla, project):
    make(project, runs=RULE["runs"], depth=2)
    query = project.queries.get(query_id="301")
    for number in (1, 2):
        factories.pair(query, pair_id=f"301_{number}")

    page = carla.get(at("query", query.pk)).content.decode()

    assert shows(page, 'class="table matrix"')
    assert shows(page, "first: bm25.run at 1, ance.run at 2")
    assert page.count('form="removal"') == 3


def test_annotators_see_no_runs_or_ranks(client, project):
    make(project, runs=RULE["runs"], depth=2)
    query = project.queries.get(query_id="301")
    client.force_login(factories.member(project, "ada").user)

    page = client.get(at("query", query.pk)).content.decode()

    assert "ance.run" not in page
    assert "removal" not in page
    assert client.get(at("pools")).status_code == 403


def test_a_lead_who_still_judges_sees_no_runs_or_ranks(carla, project):
    make(project, runs=RULE["runs"], depth=2)
    query = project.queries.get(query_id="301")
    factories.assignment(factories.pair(query), project.memberships.get(name="carla"))

    page = carla.get(at("query", query.pk)).content.decode()

    assert "ance.run" not in page
    for name in ("pools", "new_pool", "removed_candidates"):
        assert carla.get(at(name)).status_code == 403
    assert carla.get(at("pool", Pool.objects.get().pk)).status_code == 403


def test_many_documents_are_taken_out_at_once_and_brought_back(carla, project):
    make(project, runs=RULE["runs"], depth=2)
    query = project.queries.get(query_id="301")
    keys = list(query.candidates.values_list("pk", flat=True))[:2]

    carla.post(at("removal", "documents"), {"documents": keys, "reason": "Broken."})

    assert query.candidates.count() == 1
    removed = carla.get(at("removed_candidates")).content.decode()
    assert removed.count("Broken.") == 2
    carla.post(at("restoration", "documents"), {"documents": keys})
    assert query.candidates.count() == 3


@pytest.mark.parametrize("keys", [[], ["x"], ["999999"]])
def test_invalid_candidate_keys_take_nothing_out(carla, project, keys):
    make(project, runs=RULE["runs"], depth=2)

    carla.post(at("removal", "documents"), {"documents": keys, "reason": "Broken."})

    assert Candidate.objects.count() == 6


def test_a_lead_chooses_systems_for_hard_negatives(carla, project):
    carla.post(at("hard_negatives"), {"runs": ["ance.run"], "depth": "5"})

    page = carla.get(at("pools"))
    assert "Releases list the hard negatives of 1 system." in page.content.decode()
    form = page.context["negatives"]
    assert form.initial == {"runs": ["ance.run"], "depth": 5}


def test_a_lead_changes_how_passages_are_cut(carla, project):
    fields = {"words": "300", "overlap": "100", "published": "passages", "share": "30"}
    carla.post(at("passages"), fields)
    refused = carla.post(at("passages"), {**fields, "overlap": "300"})

    assert refused.status_code == 422
    assert project.passage_rule.words == 300
