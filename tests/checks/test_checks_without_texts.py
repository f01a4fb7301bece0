"""Documents without a text are counted and left out before a sample is drawn."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Run, RunLine
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.suspects import find_suspects
from audit.models import Sample
from base.errors import Refused
from tests import factories
from tests.checks.checking import draw

pytestmark = pytest.mark.both_databases

NEVER = ClaimSelection(Sample.Source.NEVER)


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> SimpleNamespace:
    """FollowIR's spot check: of five documents that were not relevant, A and B have a text."""
    project = factories.project()
    query = factories.query(project, "301")
    narrative = factories.altered(factories.pair(query))
    candidates = [factories.candidate(query, doc_id, 0) for doc_id in "AB"]
    candidates += [factories.candidate(query, doc_id, 0, text=None) for doc_id in "CDE"]
    return SimpleNamespace(
        project=project,
        carla=factories.lead(project),
        query=query,
        narrative=narrative,
        candidates={one.document.doc_id: one for one in candidates},
        selection=NEVER,
    )


def test_a_sample_leaves_out_documents_without_a_text(scene):
    sample = draw(scene, stratify="none", size=5, fewer=True)

    assert set(sample.items.values_list("candidate__document__doc_id", flat=True)) == {"A", "B"}
    assert sample.frame == {"": 2}


def test_a_project_that_shows_ids_draws_them_too(scene):
    scene.project.show_ids = True
    scene.project.save()

    frame = build_frame(scene.project, NEVER)

    assert {claim.doc_id for claim in frame.claims} == set("ABCDE")
    assert frame.without_text == 0


def test_the_strata_count_what_is_left_out_before_anything_is_drawn(scene, client):
    client.force_login(scene.carla.user)
    sent = {"name": "Spot check", "claims": "never", "asks": "grade", "stratify": "none"}
    sent |= {"size": "2", "per": "stratum", "seed": "1"}

    page = client.post(
        reverse("audit:new_sample", args=[scene.project.slug]), {**sent, "preview": "yes"}
    )
    plan = client.post(
        reverse("audit:api_sample_plan", args=[scene.project.slug]),
        {"source": "never", "asks": "grade", "size": 2, "seed": 1},
        content_type="application/json",
    ).json()

    assert "Left out: 3 labels of documents without a text." in " ".join(page.text.split())
    assert f"{reverse('annotate:missing_texts', args=['tides'])}?show=pool" in page.text
    assert (plan["without_text"], plan["strata"][0]["size"]) == (3, 2)
    assert not Sample.objects.exists()


def test_the_planned_spot_check_counts_what_is_left_out_as_it_opens(scene, client):
    """FollowIR plans 100 labels, and only two of the five documents have a text."""
    scene.project.kind = "followir"
    scene.project.save()
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:new_sample", args=["tides"]), {"planned": 0})

    [(_mode, plan)] = page.context["plans"]
    assert (page.status_code, plan.without_text) == (200, 3)
    assert plan.strata == [("", 2, None)]
    assert "There are 2 to draw from, fewer than the 100 asked for." in page.text
    assert 'name="fewer" value="on">Take what there is' in page.text


def test_a_refused_draw_counts_what_is_left_out(scene, client):
    client.force_login(scene.carla.user)
    sent = {"name": "Spot check", "claims": "never", "asks": "grade", "stratify": "none"}

    page = client.post(
        reverse("audit:new_sample", args=["tides"]),
        {**sent, "size": "5", "per": "stratum", "seed": "1"},
    )

    assert page.status_code == 422
    assert "Left out: 3 labels of documents without a text." in " ".join(page.text.split())


def test_a_sample_of_documents_without_any_text_is_refused_with_the_way_on(scene):
    for doc_id in "AB":
        scene.candidates[doc_id].removed_at = scene.carla.joined_at
        scene.candidates[doc_id].removed_by = scene.carla
        scene.candidates[doc_id].removed_reason = "Broken."
        scene.candidates[doc_id].save()

    with pytest.raises(Refused, match="None of these documents has a text"):
        draw(scene, stratify="none", size=2)


def test_an_instruction_whose_documents_have_no_text_says_so(scene):
    other = factories.query(scene.project, "302")
    factories.pair(other)
    factories.candidate(other, "F", 0, text=None)

    with pytest.raises(Refused, match=r"“302” has none \(its documents have no text\)"):
        draw(scene, stratify="none", per="instruction", size=2)


def test_suspects_leave_them_out_and_count_them(scene):
    machine = factories.machine(scene.project)
    for doc_id in "ABC":
        factories.judgment(scene.narrative, scene.candidates[doc_id], machine, 1)
    run = Run.objects.create(project=scene.project, name="one", sha256="0" * 64)
    RunLine.objects.create(
        run=run, query=scene.query, document=scene.candidates["A"].document, rank=1, score=1
    )

    found = find_suspects(
        scene.project,
        ClaimSelection(Sample.Source.MACHINE, machine),
        runs=[run],
        depth=10,
        at_least=1,
    )

    assert [one.claim.doc_id for one in found.suspects] == ["B"]
    assert (found.gold, found.without_text) == (2, 1)
