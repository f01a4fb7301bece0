"""A lead can request a proof of a layout by the field's tools, and see its results."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError

from base.errors import Refused
from exporters.exports import actions
from exporters.exports.models import Export, Publication
from exporters.exports.proof import proving
from exporters.exports.proof.plain import Content
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_proof(tides, client, finish_jobs):
    """Request a layout with a proof on the Publish page, and return the export's URL."""

    def request_proof(layout):
        Publication.objects.get_or_create(project=tides.project, texts=True, licence="CC-BY-4.0")
        client.force_login(tides.carla.user)
        url = client.post("/projects/tides/exports/", {"format": layout, "prove": "on"}).url
        finish_jobs()
        return url

    return request_proof


def test_the_export_shows_tool_version_and_result(request_proof, client):
    page = client.get(request_proof("ir-datasets")).content.decode()

    assert shows(page, '<th scope="row">ir_datasets</th>')
    assert shows(page, "nDCG@10 after 1.0000")
    proof = Export.objects.get().proof
    assert proof is not None
    assert [one["result"] for one in proof["results"]] == ["same"]


def test_a_tool_that_is_not_installed_on_the_server_is_named(request_proof, client, monkeypatch):
    missing = proving.Reader("no-such-tool", ("beir",), lambda _: Content())
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [missing])

    page = client.get(request_proof("beir")).content.decode()

    assert "This server does not have it." in page
    assert "pip install" not in page


def test_the_publish_page_has_the_newest_proof_of_each_layout(request_proof, client):
    request_proof("beir")
    request_proof("infosearch")

    page = client.get("/projects/tides/publication/").content.decode()

    assert page.index("BEIR: corpus, queries") < page.index('<th scope="row">rejudge</th>')


def test_a_proof_is_followed_on_the_publish_page(tides, client, finish_jobs):
    client.force_login(tides.carla.user)
    sent = {"format": "infosearch", "prove": "on", "proving": "yes"}

    requested = client.post("/projects/tides/exports/", sent)
    waiting = client.get(requested.url)
    finish_jobs()
    done = client.get(requested.url)

    assert requested.url == "/projects/tides/publication/"
    assert 'hx-trigger="every 1s"' in waiting.text
    assert done.context["proving"] is None
    assert shows(done.text, '<th scope="row">rejudge</th>')


def test_the_proof_is_a_file_of_the_export_and_by_program(request_proof, client):
    url = request_proof("infosearch")
    export = Export.objects.get()

    stored = b"".join(client.get(f"{url}files/proof.json").streaming_content)

    assert json.loads(stored) == export.proof
    api = client.get(f"/api/v1/projects/tides/exports/{export.pk}/").json()
    assert [(one["tool"], one["result"]) for one in api["proof"]] == [("rejudge", "same")]


def test_an_export_without_a_proof_has_no_such_file(tides, client, finish_jobs):
    client.force_login(tides.carla.user)
    url = client.post("/projects/tides/exports/", {"format": "beir"}).url
    finish_jobs()

    assert Export.objects.get().proof is None
    assert client.get(f"{url}files/proof.json").status_code == 404


def test_a_layout_that_no_tool_reads_is_refused(tides):
    with pytest.raises(Refused, match="No tool reads the layout citation"):
        actions.request_export(
            project=tides.project, format_name="citation", prove=True, by=tides.carla
        )


def test_a_program_requests_a_proof(tides, client):
    client.force_login(tides.carla.user)

    client.post(
        "/api/v1/projects/tides/exports/",
        {"format": "beir", "prove": True},
        content_type="application/json",
    )

    assert Export.objects.get().prove is True


def test_a_lead_with_documents_left_to_judge_is_shown_no_proof(request_proof, tides, client):
    url = request_proof("infosearch")
    factories.assignment(tides.pair, tides.carla)

    for address in (url, "/projects/tides/publication/"):
        assert not shows(client.get(address), "rejudge</th>")
    assert client.get(f"/api/v1/projects/tides{url.partition('tides')[2]}").json()["proof"] == []


def test_the_database_holds_no_proof_that_nobody_asked_for(tides):
    with pytest.raises(IntegrityError):
        Export.objects.create(project=tides.project, by=tides.carla, format="beir", proof={})


@pytest.mark.parametrize("layout", ["followtable", "infosearch", "multiconir", "multi-infosearch"])
def test_the_papers_readers_read_every_text_and_grade(layout, write, shared_data):
    from exporters.exports.proof.proving import prove
    from tests.exports.test_paper_layouts import SAMPLES, load

    sample = next(path for name, path in SAMPLES if name == layout)
    folder = write(load(layout, shared_data / sample, "first"), layout).folder

    (result,) = prove(folder)["results"]

    assert (result["result"], result["says"]) == ("same", [])
    assert set(result["oracle"]) == {"nDCG@10 before", "nDCG@10 after", "p-MRR"}
