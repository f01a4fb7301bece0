"""The form of a release says beforehand what the finished release would say of itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import AuditEvent, Load, Narrative, Project
from annotate.overview import steps
from annotate.projects.audit_log import record
from annotate.rewriting import actions as rewriting
from audit.models import Review
from exporters.models import Export, Publication, Release
from exporters.releases import contents
from exporters.releases.preview import try_release
from exporters.releases.project_since_release import changes_since
from jobs.errors import JobError
from tests import factories
from tests.collection.arriving import load
from tests.exports.conftest import AT, LATER, make_release


@pytest.fixture
def carla(tides, client):
    client.force_login(tides.carla.user)
    return client


def page(client) -> str:
    """Return the page with the trial, for which it asks by its script."""
    return str(client.get(reverse("exporters:new_release", args=["tides"]), {"trial": "1"}).text)


def publish_texts_without_a_text(tides) -> None:
    """Publish the texts of documents in a layout, though no document has one."""
    Publication.objects.create(
        project=tides.project, texts=True, licence="CC-BY-4.0", layouts=["beir"]
    )
    tides.project.documents.update(length=None)


def test_the_trial_has_the_warnings_rules_and_counts_of_the_release(tides, empty_storage):
    trial = try_release(tides.carla)

    held = contents.of(make_release(tides, "v1.0"))
    assert trial.manifest is not None
    assert trial.manifest["warnings"] == held["warnings"]
    assert trial.manifest["must_hold"] == held["must_hold"]
    assert trial.manifest["counts"] == held["counts"]["trec"]
    assert [one.name for one in trial.formats] == list(held["counts"])
    assert trial.problems == []


def count_statements(tides) -> int:
    with CaptureQueriesContext(connection) as statements:
        try_release(tides.carla)
    return len(statements)


def test_the_trial_costs_the_same_for_more_queries_and_little_for_more_layouts(
    tides, empty_storage
):
    before = count_statements(tides)
    for number in range(5):
        query = factories.query(tides.project, f"more-{number}")
        pair = factories.pair(query)
        candidate = factories.candidate(query, f"more-{number}")
        tides.judge(factories.altered(pair), candidate, tides.ada, 0)

    with_queries = count_statements(tides)

    Publication.objects.create(project=tides.project, layouts=["mteb"])
    with_one_layout = count_statements(tides)
    Publication.objects.update(layouts=["mteb", "hf", "beir", "ir-datasets"])
    assert with_queries == before
    assert count_statements(tides) <= with_one_layout + 3


def test_the_trial_keeps_nothing(tides, empty_storage):
    try_release(tides.carla)

    assert not Release.objects.exists()
    assert not Export.objects.exists()


def test_a_layout_that_cannot_be_written_is_named_before_the_release_fails(
    tides, empty_storage, finish_jobs
):
    publish_texts_without_a_text(tides)

    [problem] = try_release(tides.carla).problems

    Release.objects.create(project=tides.project, by=tides.carla, name="v1.0")
    assert problem.name == "beir"
    with pytest.raises(JobError) as failed:
        finish_jobs()
    assert problem.problem in str(failed.value)


def test_the_form_shows_every_check_before_its_button(tides, carla, empty_storage):
    publish_texts_without_a_text(tides)
    Project.objects.update(kind="followir")

    shown = page(carla)

    before = shown.partition("Release it</button>")[0]
    assert "This release would fail." in before
    assert "No document is relevant" in before
    assert "No document became relevant under the altered narrative." in before
    assert "A citation and a DOI also need" in before


def test_the_form_is_shown_before_the_trial_is_made(tides, carla, empty_storage):
    shown = carla.get(reverse("exporters:new_release", args=["tides"]))

    assert shown.context["trial"] is None
    assert "Release it</button>" in shown.text
    # The script asks for it; without one a link does.
    assert 'hx-get="?trial=1"' in shown.text
    assert '<a href="?trial=1">' in shown.text


def test_the_form_says_what_changed_since_the_last_release(tides, carla, empty_storage):
    release = make_release(tides, "v1.0")
    assert "Changed since v1.0" in page(carla)
    assert try_release(tides.carla).changes == []

    rewriting.rewrite_narrative(pair=tides.pair, text="On land.", by=tides.carla, based_on=2)

    assert release.at is not None
    assert changes_since(tides.project, release.at) == [
        "1 narrative",
        "stale by other narratives: 7 judgments, 1 flag",
    ]


def test_what_leads_changed_in_the_collection_since_is_counted(tides):
    at = timezone.now()
    load(tides.project, "trec-qrels", "301 0 Z 1\n")
    load(tides.project, "trec-qrels", "301 0 Z 1\n")
    record(project=tides.project, what="project.rules", about=tides.project, by=tides.carla)

    assert changes_since(tides.project, at) == ["1 loaded file", "1 change of the rules"]


def test_answers_given_and_withdrawn_since_are_counted(tides):
    at = LATER + timedelta(days=1)
    settled = tides.project.pairs.get(pair_id="302").current(Narrative.Side.ALTERED)
    tides.judge(tides.narrative, tides.pool["B"], tides.dan, 1, at=at + timedelta(hours=1))
    settled.adjudications.update(withdrawn_at=at + timedelta(hours=1), withdrawn_by=tides.carla)

    assert changes_since(tides.project, at) == ["1 judgment", "1 settlement"]


def test_an_answer_that_was_changed_is_counted_once(tides):
    at = LATER + timedelta(days=1)
    changed = tides.judge(
        tides.narrative, tides.pool["B"], tides.dan, 1, ended_at=at + timedelta(hours=1)
    )
    tides.judge(changed.narrative, changed.candidate, tides.dan, 0, at=at + timedelta(hours=1))

    assert changes_since(tides.project, at) == ["1 judgment"]


def test_reviews_submitted_since_are_counted(tides):
    at = LATER + timedelta(days=1)
    for auditor, submitted_at in (
        (tides.carla, at - timedelta(hours=1)),
        (tides.dan, at + timedelta(hours=1)),
        (tides.ada, None),
    ):
        Review.objects.create(
            narrative=tides.narrative,
            auditor=auditor,
            rubric="followtable-1",
            started_at=at - timedelta(hours=2),
            submitted_at=submitted_at,
        )

    assert changes_since(tides.project, at) == ["1 review"]


def test_the_overview_says_how_far_the_present_is_from_the_release(tides, carla, empty_storage):
    make_release(tides, "v1.0")
    address = reverse("annotate:project", args=["tides"])
    assert "nothing has changed since" in carla.get(address).content.decode()

    rewriting.rewrite_narrative(pair=tides.pair, text="On land.", by=tides.carla, based_on=2)

    response = carla.get(address)
    [release] = [one for one in response.context["steps"] if one.key == steps.Key.RELEASE]
    assert "changed since: 1 narrative, stale by other narratives" in response.content.decode()
    assert (release.state, release.count) == (steps.State.NOW, "changed since v1.0")


def test_the_overview_names_broken_rules(tides, carla):
    Project.objects.update(kind="followir")
    for judge in (tides.ada, tides.ben):
        tides.judge(tides.narrative, tides.pool["a"], judge, 2)

    shown = carla.get(reverse("annotate:project", args=["tides"])).content.decode()

    assert "Broken rules" in shown
    assert "The relevant set only shrinks" in shown


@pytest.mark.parametrize(
    "ended",
    [{"state": "failed", "error": "No room."}, {"state": "cancelled", "cancel_requested_at": AT}],
)
def test_a_release_that_was_not_made_is_discarded(tides, carla, ended):
    Release.objects.create(project=tides.project, name="v1.0", finished_at=LATER, **ended)

    carla.post(reverse("exporters:release_discarding", args=["tides", "v1.0"]))

    assert not Release.objects.exists()
    event = AuditEvent.objects.get()
    assert (event.what, event.about) == ("release.discarded", "v1.0")


def test_a_release_that_is_made_or_being_made_is_not_discarded(tides, carla, empty_storage):
    make_release(tides, "v1.0")
    Release.objects.create(project=tides.project, by=tides.carla, name="v1.1")

    for name in ("v1.0", "v1.1"):
        assert carla.delete(f"/api/v1/projects/tides/releases/{name}/").status_code == 422

    assert Release.objects.count() == 2


def test_a_program_reads_the_checks_and_discards_a_failed_release(tides, carla, empty_storage):
    publish_texts_without_a_text(tides)
    Release.objects.create(
        project=tides.project, name="v1.0", state="failed", error="No room.", finished_at=LATER
    )

    checks = carla.get("/api/v1/projects/tides/release-preview/").json()
    discarded = carla.delete("/api/v1/projects/tides/releases/v1.0/")

    assert [one["name"] for one in checks["formats"] if one["problem"]] == ["beir"]
    assert checks["last"] is None
    assert discarded.status_code == 204
    assert not Release.objects.exists()


def test_nothing_is_released_while_a_file_is_being_loaded(tides, carla, empty_storage):
    file = {"project": tides.project, "by": tides.carla, "format": "trec-qrels"}
    preview = Load.objects.create(**file, file_name="q.txt")
    Load.objects.create(**file, file_name="q.txt", dry_run=False, preview=preview)

    sent = {"name": "v1.0", "sure": "on"}
    refused = carla.post(reverse("exporters:new_release", args=["tides"]), sent)

    assert refused.context["form"].errors["__all__"] == [
        "q.txt is being loaded. Release once it is done, or cancel it under Load."
    ]
    assert not Release.objects.exists()
