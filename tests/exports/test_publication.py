"""Leads change the publication settings of a project, and the audit log records it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.models import AuditEvent
from annotate.people.members import set_named
from base.errors import Refused
from exporters.exports.models import Export, Publication, publication_of
from exporters.exports.proof import proving
from exporters.exports.publishing import preview, set_publication
from jobs.errors import JobError
from tests import factories
from tests.exports.conftest import make_release
from tests.pages import shows

pytestmark = pytest.mark.django_db


def test_texts_are_not_published_in_a_new_project():
    assert publication_of(factories.project()).texts is False


def test_a_lead_changes_settings_and_the_audit_log_records_the_change():
    project = factories.project()

    made = set_publication(
        project=project,
        changes={"texts": True, "licence": " CC-BY-4.0 "},
        by=factories.lead(project),
    )

    assert (made.texts, made.licence) == (True, "CC-BY-4.0")
    audit_event = AuditEvent.objects.get(what="publication.changed")
    assert audit_event.changes == {"texts": [False, True], "licence": ["", "CC-BY-4.0"]}


def test_settings_that_another_lead_saved_meanwhile_are_not_undone(client):
    project = factories.project()
    carla, dora = factories.lead(project), factories.lead(project, "dora")
    url = reverse("exporters:publication", args=[project.slug])
    client.force_login(dora.user)
    opened = client.get(url)
    typed = {**opened.context["form"].initial, "publisher": "Zenodo", "year": ""}
    set_publication(project=project, changes={"citation": "@misc{tides}"}, by=carla)

    stale = client.post(url, {**typed, "based_on": opened.context["based_on"]})
    assert stale.status_code == 422
    assert shows(stale.content.decode(), "Somebody has changed this since you opened the page")
    assert publication_of(project).citation == "@misc{tides}"

    # Dora has read it, and saves with the citation.
    again = {**typed, "citation": "@misc{tides}", "based_on": stale.context["based_on"]}
    client.post(url, again)
    saved = publication_of(project)
    assert (saved.citation, saved.publisher) == ("@misc{tides}", "Zenodo")


def test_setting_the_same_again_changes_nothing():
    project = factories.project()
    for _ in range(2):
        set_publication(project=project, changes={"licence": "MIT"}, by=None)

    assert AuditEvent.objects.filter(what="publication.changed").count() == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"texts": True}, "Texts are published under a licence."),
        ({"texts": True, "texts_licence": "CC-BY-4.0"}, "name their licence too"),
        ({"languages": "English"}, "“English” is not a language."),
        ({"year": 26}, "The year must be between 1900 and 2200."),
        ({"layouts": ["zip"]}, "“zip” is not a layout."),
        ({"licence": "CC-BY-9.0"}, "“CC-BY-9.0” is not the name of a licence."),
        (
            {"licence": "CC-BY-9.0", "year": 26},
            r"“CC-BY-9.0” is not the name of a licence\. .*The year must be between 1900 and",
        ),
    ],
)
def test_a_wrong_setting_is_refused_and_nothing_is_saved(changes, sentence):
    project = factories.project()

    with pytest.raises(Refused, match=sentence):
        set_publication(project=project, changes=changes, by=None)

    assert not Publication.objects.exists()


def test_a_refused_form_shows_every_fault_at_its_field(tides, client):
    client.force_login(tides.carla.user)
    sent = {"texts": "on", "languages": "English", "year": "26", "publisher": "A\u202eB"}

    form = client.post("/projects/tides/publication/", sent).context["form"]

    assert set(form.errors) == {"licence", "languages", "year", "publisher"}
    assert form.errors["languages"][0].startswith("“English” is not a language.")


def test_two_licences_are_named_apart_with_the_source_of_the_texts(tides, write):
    changes = {"texts": True, "licence": "CC-BY-4.0", "creators": "Curie, Marie", "year": 2026}
    changes |= {"texts_licence": "TREC news licence", "texts_source": "TREC Disks 4 and 5"}
    changes |= {"publisher": "Zenodo"}
    set_publication(project=tides.project, changes=changes, by=tides.carla)
    rights = "Texts of documents: TREC news licence, from TREC Disks 4 and 5."

    card = write(tides.project, "hf")["README.md"]
    cited = write(tides.project, "citation")
    manifest = write(tides.project, "mteb").manifest

    assert f"CC-BY-4.0 for instructions and labels. {rights}" in card
    assert "license: other\n" in card
    assert 'license: "CC-BY-4.0"\n' in cited["CITATION.cff"]
    assert rights in cited["CITATION.cff"]
    assert json.loads(cited[".zenodo.json"])["notes"] == rights
    says = {rule["about"]: rule["says"] for rule in manifest["rules"]}
    assert says["Texts"] == f"Titles and newest texts are published. {rights}"
    assert says["Licence"] == f"CC-BY-4.0 for instructions and labels. {rights}"


def test_without_texts_only_the_licence_of_the_labels_is_named(tides, write):
    changes = {"licence": "CC-BY-4.0", "texts_licence": "TREC news licence"}
    set_publication(project=tides.project, changes=changes, by=tides.carla)

    says = {one["about"]: one["says"] for one in write(tides.project, "mteb").manifest["rules"]}

    assert says["Licence"] == "CC-BY-4.0 for instructions and labels."


def test_the_page_names_the_licence_of_the_texts_beside_that_of_the_labels(tides, client):
    client.force_login(tides.carla.user)
    page = "/projects/tides/publication/"
    changes = {"licence": "CC-BY-4.0", "texts_licence": "CC-BY-NC-4.0", "texts": True}
    assert "Licence: " not in client.get(page).text

    set_publication(project=tides.project, changes=changes, by=tides.carla)

    sentence = "CC-BY-4.0 for instructions and labels. Texts of documents: CC-BY-NC-4.0."
    assert f"<p>Licence: {sentence}</p>" in client.get(page).text


def test_the_page_says_which_tools_this_server_can_prove_a_layout_with(tides, client, monkeypatch):
    monkeypatch.setattr(
        proving, "READERS", (proving.Reader("no-such-tool", ("beir",), proving.PLAIN["beir"]),)
    )
    client.force_login(tides.carla.user)

    page = client.get("/projects/tides/publication/")

    tools = {name: tools for layouts in page.context["layouts"] for name, _, tools in layouts}
    assert (tools["beir"].installed, tools["beir"].missing) == ([], ["no-such-tool"])
    assert "not installed here: no-such-tool" in page.text
    assert 'name="prove"' not in page.text


def test_the_page_proves_the_pair_of_qrels_too(tides, client):
    client.force_login(tides.carla.user)

    layouts, *_others = client.get("/projects/tides/publication/").context["layouts"]

    name, _words, tools = layouts[0]
    assert name == "trec"
    assert "ir_measures" in {tool.split()[0] for tool in tools.installed}


def test_an_annotator_and_a_lead_of_another_project_are_refused():
    project, other = factories.project(), factories.project("canals")

    for member in (factories.member(project, "ada"), factories.lead(other, "eve")):
        with pytest.raises(Refused):
            set_publication(project=project, changes={"licence": "MIT"}, by=member)


def test_the_database_holds_no_texts_without_a_licence():
    with pytest.raises(IntegrityError):
        Publication.objects.create(project=factories.project(), texts=True)


def test_the_command_sets_and_prints_the_settings():
    factories.project()
    out = StringIO()

    call_command(
        *("publication", "tides", "--texts", "--licence", "CC0-1.0", "--creator", "Curie, Marie"),
        "--json",
        stdout=out,
    )

    settings = json.loads(out.getvalue())
    assert (settings["texts"], settings["creators"]) == (True, "Curie, Marie")
    with pytest.raises(CommandError, match="Texts are published under a licence"):
        call_command("publication", "tides", "--licence", "")


def test_a_release_holds_the_layouts_that_were_chosen(tides, tmp_path):
    set_publication(project=tides.project, changes={"layouts": ["beir"]}, by=tides.carla)
    release = make_release(tides, "v1")

    call_command(
        *("export", "tides", "beir", "--release", "v1", "--output", str(tmp_path / "beir")),
        stdout=StringIO(),
    )

    assert release.manifest is not None
    names = {entry["name"] for entry in release.manifest["files"]}
    assert {"beir/qrels/changed.tsv", "beir.zip", "beir/manifest.json"} <= names
    assert (tmp_path / "beir" / "corpus.jsonl").exists()
    with pytest.raises(CommandError, match="v1 does not hold the format mteb"):
        call_command(
            *("export", "tides", "mteb", "--release", "v1", "--output", str(tmp_path / "mteb"))
        )


def test_the_page_says_what_is_published_and_changes_the_settings(tides, client):
    client.force_login(tides.carla.user)
    url = "/projects/tides/publication/"

    page = client.get(url).content.decode()

    assert "layouts have only the ids of documents, not their titles and texts" in page
    assert "What would be published now" in page
    sent = {"texts": "on", "licence": "CC-BY-4.0", "layouts": ["mteb"]}
    assert client.post(url, sent).status_code == 302
    made = publication_of(tides.project)
    assert (made.texts, made.layouts, made.instructions_in_queries) == (True, ["mteb"], False)


def test_the_page_counts_who_agreed_to_be_named_and_names_nobody(tides, client):
    set_named(named=True, by=tides.ada)
    client.force_login(tides.carla.user)

    page = client.get("/projects/tides/publication/").content.decode()

    assert "1 of 4 members, present or past, agreed to be named" in page
    assert not shows(page, ">ada<")


def test_the_page_speaks_of_one_document_in_the_singular(tides):
    document = tides.project.documents.get(doc_id="B")
    tides.project.documents.exclude(pk=document.pk).update(text_version=1, length=30)
    tides.project.documents.filter(pk=document.pk).update(text_version=None, length=None)
    set_publication(
        project=tides.project, changes={"texts": True, "licence": "MIT"}, by=tides.carla
    )

    assert preview(tides.project).checks[0] == (
        "1 document has no text in this project and would be written with an empty one."
    )


def test_pairs_of_a_query_that_was_taken_out_are_not_among_those_left_out(tides):
    before = dict(preview(tides.project).counts)
    taken_out = tides.project.queries.get(query_id="303")
    QUERIES.remove(project=tides.project, keys=[taken_out.pk], reason="Too vague.", by=tides.carla)

    after = dict(preview(tides.project).counts)

    assert before["instruction pairs that are left out"] == 2
    assert after["instruction pair that is left out"] == 1


def test_the_page_refuses_texts_without_a_licence_and_keeps_what_was(tides, client):
    client.force_login(tides.carla.user)

    answer = client.post("/projects/tides/publication/", {"texts": "on"})

    assert answer.status_code == 422
    assert "Texts are published under a licence." in answer.content.decode()
    assert not Publication.objects.exists()


@pytest.mark.parametrize("name", ["creators", "description", "citation"])
def test_page_and_program_refuse_the_same_long_text(tides, client, name):
    client.force_login(tides.carla.user)
    sent = {name: "x" * 20_001}

    page = client.post("/projects/tides/publication/", sent)
    answer = client.patch(
        "/api/v1/projects/tides/publication/", sent, content_type="application/json"
    )

    assert (page.status_code, list(page.context["form"].errors)) == (422, [name])
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, f"/{name}")
    assert not Publication.objects.exists()


def test_a_program_changes_what_it_sends_and_leaves_the_rest(tides, client):
    set_publication(project=tides.project, changes={"publisher": "Zenodo"}, by=tides.carla)
    client.force_login(tides.carla.user)
    url = "/api/v1/projects/tides/publication/"

    answer = client.patch(url, {"year": 2026}, content_type="application/json")

    assert answer.status_code == 200
    assert (answer.json()["year"], client.get(url).json()["publisher"]) == (2026, "Zenodo")
    refused = client.patch(url, {"texts": True}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "refused")


def test_the_button_of_a_layout_writes_it_as_a_job(tides, client, finish_jobs):
    set_publication(
        project=tides.project, changes={"texts": True, "licence": "CC0-1.0"}, by=tides.carla
    )
    client.force_login(tides.carla.user)

    page = client.post("/projects/tides/exports/", {"format": "mteb"})
    finish_jobs()

    shown = client.get(page.url).content.decode()
    assert "qrel_diff.jsonl" in shown
    assert "documents have a relevance before the change and none after it" in shown


def test_a_layout_that_cannot_be_written_fails_with_an_error_and_offers_no_files(
    tides, client, finish_jobs
):
    client.force_login(tides.carla.user)

    page = client.post("/projects/tides/exports/", {"format": "citation"})
    with pytest.raises(JobError):
        finish_jobs()

    shown = client.get(page.url).content.decode()
    assert "This cannot be written: a citation needs creators" in shown
    assert Export.objects.get().folder == ""


def test_a_lead_with_documents_left_to_judge_sees_no_counts(tides, client):
    factories.assignment(tides.pair, tides.carla)
    client.force_login(tides.carla.user)

    page = client.get("/projects/tides/publication/").content.decode()

    assert "You have judging or reviewing left" in page
    assert "What would be published now" not in page


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("followir", ["followtable", "infosearch", "multiconir", "multi-infosearch"]),
        ("infosearch", ["followtable", "multiconir", "multi-infosearch"]),
        ("own", []),
    ],
)
def test_layouts_of_other_kinds_stand_apart_and_can_still_be_chosen(tides, client, kind, others):
    tides.project.kind = kind
    tides.project.save()
    client.force_login(tides.carla.user)

    page = client.get("/projects/tides/publication/")
    sent = {"texts": "on", "licence": "CC-BY-4.0", "layouts": ["mteb", "followtable"]}
    saved = client.post("/projects/tides/publication/", sent)

    apart = [[name for name, _, _ in layouts] for layouts in page.context["layouts"]][1:]
    assert apart == ([others] if others else [])
    assert page.text.count("Layouts of other kinds") == (2 if others else 0)
    assert (saved.status_code, publication_of(tides.project).layouts) == (302, sent["layouts"])
    exports = client.get("/projects/tides/exports/")
    assert exports.text.count("Layouts of other kinds") == (1 if others else 0)


def test_the_settings_are_changed_on_the_page_of_a_new_release(tides, client):
    client.force_login(tides.carla.user)

    part = client.get("/projects/tides/publication/", headers={"hx-request": "true"})
    sent = {"licence": "CC-BY-4.0", "for_release": "yes"}
    saved = client.post("/projects/tides/publication/", sent)

    assert "<h1>" not in part.text
    assert 'name="for_release"' in part.text
    assert saved.url == "/projects/tides/releases/new/"
    assert publication_of(tides.project).licence == "CC-BY-4.0"


@pytest.mark.parametrize("field", ["licence", "texts_licence", "publisher", "languages"])
def test_a_setting_that_is_too_long_is_refused_in_every_way_of_changing_it(field):
    with pytest.raises(Refused, match="at most"):
        set_publication(
            project=factories.project(), changes={field: "MIT OR " * 100 + "MIT"}, by=None
        )

    assert not Publication.objects.exists()
