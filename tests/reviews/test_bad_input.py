"""Invalid input in the second pass is answered with a sentence on the page and changes nothing."""

from __future__ import annotations

import html
from types import SimpleNamespace
from typing import Any

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Project, Run, RunLine
from annotate.rewriting import actions as rewriting
from audit.models import Rating, Review
from audit.reviews.decisions import decide
from tests import factories
from tests.second_pass import levels, submit_levels
from tests.test_permissions import rows

DRAW = "/projects/tides/checks/new/"
SAMPLE = {"name": "Labels", "claims": "prior", "stratify": "none", "per": "stratum"}
SUSPECTS = "/projects/tides/suspects/"


@pytest.fixture
def carla(scene, client):
    """Sign in the lead of the scene, whose two documents have claims from earlier qrels."""
    client.force_login(scene.carla.user)
    return client


def post_unchanged(client: Any, url: str, sent: dict[str, Any]) -> str:
    """Post `sent`, assert that nothing changed, and return the text of the resulting page."""
    before = rows()
    response = client.post(url, sent, follow=True)
    assert rows() == before
    return html.unescape(response.content.decode())


def test_a_sample_larger_than_its_frame(carla):
    page = post_unchanged(carla, DRAW, {**SAMPLE, "size": "3", "seed": "1"})

    assert "There are 2 to draw from, fewer than the 3 asked for." in page


def test_a_stratum_with_nothing_in_it(scene, carla):
    factories.pair(factories.query(scene.project, "302"))

    page = post_unchanged(carla, DRAW, {**SAMPLE, "stratify": "query", "size": "1", "seed": "1"})

    assert "“302” has none" in page


def test_runs_for_other_queries(scene, carla):
    run = Run.objects.create(project=scene.project, name="strange", sha256="0" * 64)
    other = factories.query(scene.project, "302")
    RunLine.objects.create(run=run, query=other, document=scene.first.document, rank=1, score=1.0)
    fields = {"claims": "prior", "runs": [run.pk], "depth": "10", "at_least": "1"}

    page = post_unchanged(carla, SUSPECTS, {**fields, "name": "Look again", "stratify": "none"})

    assert "has a query that is in so many of these runs." in page


RATED = {"criterion": "query_dependency", "level": "poor"}


@pytest.mark.parametrize("more", [RATED, {"submit": "yes"}], ids=["a draft", "handed in"])
def test_a_review_on_a_superseded_version(assigned, client, more):
    rewriting.rewrite_narrative(
        pair=assigned.pair, text="Only fences count.", based_on=1, by=assigned.carla
    )
    client.force_login(assigned.dan.user)

    page = post_unchanged(
        client, f"/pairs/{assigned.pair.pk}/review/", form(assigned, levels()) | more
    )

    assert "The narrative changed while you were reading. Read it again, then rate it." in page


def test_one_key_of_a_review_on_a_superseded_version(assigned, client):
    rewriting.rewrite_narrative(
        pair=assigned.pair, text="Only fences count.", based_on=1, by=assigned.carla
    )
    client.force_login(assigned.dan.user)
    entry = {
        "uuid": "00000000-0000-4000-8000-000000000001",
        "user": assigned.dan.user_id,
        "kind": "rating",
        "pair": assigned.pair.pk,
        "narrative": assigned.narrative.pk,
        "criterion": "semantic_expansion",
        "fields": {"level": "excellent"},
        "made_at": "2026-03-02T09:30:00Z",
    }
    before = rows()

    sent = client.post("/api/v1/journal/", {"entries": [entry]}, content_type="application/json")

    [answer] = sent.json()["answers"]
    assert answer["state"] == "refused"
    assert "The narrative changed while you were reading." in answer["sentence"]
    assert rows() == before


@pytest.mark.parametrize("outcome", ["accepted", "revise", "removed"])
def test_a_decision_before_any_review(scene, carla, outcome):
    url = f"/narratives/{scene.narrative.pk}/decision/"

    page = post_unchanged(carla, url, {"outcome": outcome, "reason": "Because."})

    assert "Nobody has reviewed this version yet, so there is nothing to decide." in page


def test_a_decision_after_another_leads_decision(assigned, client):
    for auditor in (assigned.dan, assigned.ben):
        submit_levels(assigned.narrative, auditor)
    decide(narrative=assigned.narrative, outcome="accepted", by=assigned.carla)
    client.force_login(factories.lead(assigned.project, "gina").user)
    url = f"/narratives/{assigned.narrative.pk}/decision/"

    page = post_unchanged(client, url, {"outcome": "removed", "reason": "Because."})

    assert "carla has decided this: accepted. Withdraw that decision first." in page


def test_accepting_before_every_auditor_has_reviewed(assigned, carla):
    submit_levels(assigned.narrative, assigned.dan)
    url = f"/narratives/{assigned.narrative.pk}/decision/"

    page = post_unchanged(carla, url, {"outcome": "accepted", "reason": ""})

    assert "1 of 2 reviews are in. Accept it once all are." in page


@pytest.mark.parametrize("grades", [{}, {"ada": 1, "ben": 1}], ids=["nobody", "both the same"])
def test_settling_without_a_disagreement(scene, carla, grades):
    for name, relevance in grades.items():
        factories.judgment(scene.narrative, scene.first, getattr(scene, name), relevance)
    url = f"/narratives/{scene.narrative.pk}/candidates/{scene.first.pk}/disagreement/"

    page = post_unchanged(carla, url, {"relevance": "1", "reason": "Because.", "cause": "edge"})

    assert "Nobody disagrees about this document." in page


def test_a_poor_rating_without_words_is_saved_in_the_draft(assigned, client):
    client.force_login(assigned.dan.user)
    url = f"/pairs/{assigned.pair.pk}/review/"
    answers = levels() | {"query_dependency": ("poor", "")}

    for key, (level, words) in answers.items():
        rated = {"criterion": key, "level": level, "words": words}
        client.post(url, {"narrative": assigned.narrative.pk, **rated})
    handed_in = client.post(url, form(assigned, answers) | {"submit": "yes"}, follow=True)
    later = client.get(url)

    assert "Say in words why it fails on: query dependency." in handed_in.content.decode()
    assert Review.objects.get().submitted_at is None
    assert Rating.objects.get(criterion="query_dependency").level == "poor"
    assert Rating.objects.count() == 6
    assert len(later.context["session"].rated) == 6


def test_a_review_in_an_archived_project(assigned, client):
    Project.objects.update(archived_at="2026-03-02T09:30Z", archived_by=assigned.carla.user)
    client.force_login(assigned.dan.user)

    rated = {"narrative": assigned.narrative.pk, **RATED}
    page = post_unchanged(client, f"/pairs/{assigned.pair.pk}/review/", rated)

    assert "This project is archived." in page


def test_an_assignment_where_all_are_taken(assigned, client):
    client.force_login(assigned.ada.user)

    page = post_unchanged(client, "/projects/tides/reviews/assignment/", {})

    assert "Every task is taken, or there is nothing to review now." in page
    assert not assignments.holds(pair=assigned.pair, task=Assignment.Task.REVIEW, by=assigned.ada)


def form(scene: SimpleNamespace, answers: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the data of the form below the summary of a review."""
    sent: dict[str, Any] = {"narrative": scene.narrative.pk}
    for key, (level, words) in answers.items():
        sent |= {f"level-{key}": level, f"words-{key}": words}
    return sent
