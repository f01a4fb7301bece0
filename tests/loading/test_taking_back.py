"""A wrong file of qrels can be taken back while nothing stands on it."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotate.loading import load_jobs
from annotate.loading.taking_back import take_back
from annotate.models import AuditEvent, Candidate, Document, Load, LoadedCandidate, Query
from base.errors import Refused
from exporters.models import Release
from jobs import runner
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def nothing_published(published, storage):
    """Send no job to a broker."""


@pytest.fixture
def carla(db):
    """A lead of a project whose query 301 has the document A, relevant before."""
    lead = factories.lead(factories.project("tides"))
    pair = factories.pair(factories.query(lead.project))
    factories.candidate(pair.query, "A", prior=1)
    return lead


def load(by, content: bytes) -> Load:
    preview = load_jobs.request_load(
        format_name="trec-qrels", file=SimpleUploadedFile("qrels.txt", content), by=by
    )
    runner.run(preview.pk)
    confirmed = load_jobs.confirm_load(preview=preview, by=by)
    runner.run(confirmed.pk)
    confirmed.refresh_from_db()
    return confirmed


# A is changed; B and the bare query 999 are new.
WRONG = b"301 0 A 0\n301 0 B 2\n999 0 C 1\n"


def pool() -> dict[str, int | None]:
    rows = Candidate.with_removed.order_by("document__doc_id")
    return dict(rows.values_list("document__doc_id", "prior_relevance"))


def test_taking_a_file_back_restores_what_was_there(carla):
    wrong = load(carla, WRONG)
    assert pool() == {"A": 0, "B": 2, "C": 1}

    take_back(load=wrong, by=carla)

    assert pool() == {"A": 1}
    assert list(Query.objects.values_list("query_id", flat=True)) == ["301"]
    assert list(Document.objects.values_list("doc_id", flat=True)) == ["A"]
    assert not LoadedCandidate.objects.exists()
    event = AuditEvent.objects.latest("pk")
    assert (event.what, event.words) == (
        "load.taken_back",
        "2 candidates deleted, 1 changed back",
    )


def test_list_and_program_say_that_a_file_was_taken_back(carla, client):
    wrong = take_back(load=load(carla, WRONG), by=carla)
    client.force_login(carla.user)

    [row] = client.get(reverse("annotate:loads", args=["tides"])).context["rows"]
    program = client.get(f"/api/v1/projects/tides/loads/{wrong.pk}/").json()

    assert row["outcome"].words == "Taken back"
    assert program["taken_back_by"] == "carla"
    assert program["taken_back_at"] is not None


def test_the_right_file_can_be_loaded_afterwards(carla):
    take_back(load=load(carla, WRONG), by=carla)

    load(carla, b"301 0 B 1\n")

    assert pool() == {"A": 1, "B": 1}


@pytest.mark.parametrize("doc_id", ["A", "B"])
def test_a_file_is_not_taken_back_once_a_document_of_it_is_judged(carla, doc_id):
    wrong = load(carla, WRONG)
    candidate = Candidate.objects.get(document__doc_id=doc_id)
    narrative = factories.altered(carla.project.pairs.get())
    factories.judgment(narrative, candidate, factories.member(carla.project, "ada"))

    with pytest.raises(Refused, match="1 document of it is judged or used already"):
        take_back(load=wrong, by=carla)

    assert pool() == {"A": 0, "B": 2, "C": 1}


def test_a_later_file_is_taken_back_first(carla):
    wrong = load(carla, WRONG)
    later = load(carla, b"301 0 A 2\n")
    with pytest.raises(Refused, match="was loaded later"):
        take_back(load=wrong, by=carla)

    take_back(load=later, by=carla)
    take_back(load=wrong, by=carla)

    assert pool() == {"A": 1}


@pytest.mark.parametrize("format_name", ["trec-qrels", "trec-topics"])
def test_a_file_of_qrels_that_a_command_loaded_later_is_not_overwritten(
    carla, format_name, tmp_path
):
    wrong = load(carla, WRONG)
    file = tmp_path / "later.txt"
    topics = "<top><num> Number: 301\n<title> Harbours\n</top>\n"
    file.write_text("301 0 A 2\n" if format_name == "trec-qrels" else topics)
    call_command("load", "tides", format_name, str(file), stdout=StringIO())

    if format_name == "trec-topics":
        take_back(load=wrong, by=carla)
        assert pool() == {"A": 1}
    else:
        with pytest.raises(Refused, match=r"later\.txt · trec-qrels was loaded later by a command"):
            take_back(load=wrong, by=carla)
        assert pool() == {"A": 2, "B": 2, "C": 1}


def test_a_load_by_a_command_is_a_row_of_the_list_and_cannot_be_taken_back(carla, client, tmp_path):
    file = tmp_path / "later.txt"
    file.write_text("301 0 A 2\n")
    for _ in range(2):
        call_command("load", "tides", "trec-qrels", str(file), stdout=StringIO())

    # The second time it changed nothing.
    made = Load.objects.get(by=None)
    assert (made.state, made.file_name, (made.report or {})["changed"]) == ("done", "later.txt", 1)
    with pytest.raises(Refused, match="not those of a command"):
        take_back(load=made, by=carla)
    client.force_login(carla.user)
    for url in (reverse("annotate:loads", args=["tides"]), made.get_absolute_url()):
        page = client.get(url).content.decode()
        assert "later.txt" in page
        assert "the command" in page
    listed = client.get(reverse("annotate:api_loads", args=["tides"])).json()["results"]
    assert [one["by"] for one in listed if one["id"] == made.pk] == [None]


def test_a_file_is_not_taken_back_after_a_release(carla):
    wrong = load(carla, WRONG)
    Release.objects.create(
        project=carla.project,
        name="v1.0",
        state="done",
        started_at=timezone.now(),
        finished_at=timezone.now(),
        at=timezone.now(),
        sha256="a" * 64,
        code_version="1",
        manifest={},
    )

    with pytest.raises(Refused, match=r"v1\.0 was released since"):
        take_back(load=wrong, by=carla)


def test_a_file_is_taken_back_once_and_by_leads_only(carla):
    wrong = load(carla, WRONG)
    with pytest.raises(Refused, match="Only leads"):
        take_back(load=wrong, by=factories.member(carla.project, "ada"))
    take_back(load=wrong, by=carla)

    with pytest.raises(Refused, match="There is nothing to take back: this load was taken back"):
        take_back(load=wrong, by=carla)


def test_a_preview_remembers_nothing(carla):
    load_jobs.request_load(
        format_name="trec-qrels", file=SimpleUploadedFile("qrels.txt", WRONG), by=carla
    )

    assert not LoadedCandidate.objects.exists()


def test_the_page_and_a_program_take_a_file_back(carla, client):
    client.force_login(carla.user)
    wrong = load(carla, WRONG)
    page = client.get(wrong.get_absolute_url()).content.decode()
    client.post(reverse("annotate:load_taking_back", args=["tides", wrong.pk]))
    words = " ".join(page.split())
    assert "2 new candidates would be deleted, with the queries and documents" in words
    assert "1 candidate would get back the relevance that the file replaced" in words
    assert pool() == {"A": 1}

    again = load(carla, WRONG)
    answer = client.put(f"/api/v1/projects/tides/loads/{again.pk}/taking-back/")

    assert (answer.status_code, pool()) == (204, {"A": 1})
