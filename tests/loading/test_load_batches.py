"""Several files are uploaded at once, checked each, and loaded in the right order."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotate.loading import load_jobs
from annotate.models import AuditEvent, Load, Query
from annotate.projects.project_jobs import cancel_job
from base.errors import Refused
from formats.registry import FORMATS
from jobs import runner
from tests import factories
from tests.programs import Program

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

TOPICS = (
    b"<top>\n<num> Number: 301\n<title> Tides\n<desc> Description:\nPower.\n"
    b"<narr> Narrative:\nAny.\n</top>\n"
)
QRELS = b"301 0 A 2\n301 0 B 0\n"
DOCS = b'{"_id": "A", "title": "Severn", "text": "Turbines."}\n'
RUN = b"301 Q0 A 1 2.5 bm25\n301 Q0 B 2 1.5 bm25\n"
PAIRS = (
    b'{"query_id": "301", "narratives": [{"side": "altered", "version": 1, "text": "At sea."}]}\n'
)
JUDGMENTS = (
    b'{"query_id": "301", "doc_id": "A", "annotator": "ada", "relevance": 1, "side": "altered", '
    b'"version": 1}\n'
)


def deliver(name: str, pk: int) -> None:
    """Deliver no job: the tests run them."""


@pytest.fixture(autouse=True)
def published(settings, storage):
    settings.JOBS_DELIVER = f"{__name__}.deliver"


@pytest.fixture
def carla(db):
    return factories.lead(factories.project("tides"))


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def upload(by, *files):
    return load_jobs.request_batch(files=[file(*one) for one in files], by=by)


def work() -> None:
    """Run all waiting jobs as a worker does, the oldest first."""
    while (load := Load.objects.filter(state="queued").order_by("pk").first()) is not None:
        runner.run(load.pk)


def states(by, batch):
    """Return for each file of a batch, in order: its name, whether it is loaded, its state."""
    found = []
    for preview in load_jobs.previews_of(by.project, batch):
        load = load_jobs.load_of(preview)
        found.append((preview.file_name, load is not None, (load or preview).state))
    return found


ALL = [("run.txt", RUN), ("qrels.txt", QRELS), ("docs.jsonl", DOCS), ("topics.txt", TOPICS)]


def test_files_are_put_in_the_order_of_what_they_refer_to(carla):
    batch = upload(carla, *ALL)

    assert [name for name, *_ in states(carla, batch)] == [
        "topics.txt",
        "docs.jsonl",
        "qrels.txt",
        "run.txt",
    ]


def test_every_format_has_a_place_in_the_order():
    ranks = {name: load_jobs.order_of(kind) for name, kind in FORMATS.items()}

    assert ranks["trec-topics"] < ranks["docs-jsonl"] < ranks["trec-qrels"]
    assert ranks["trec-qrels"] < ranks["pairs-jsonl"] < ranks["trec-run"]
    assert ranks["trec-run"] < ranks["judgments-jsonl"] == max(ranks.values())


def test_nothing_is_written_before_the_batch_is_confirmed(carla):
    batch = upload(carla, *ALL)
    work()

    assert {(loaded, state) for _name, loaded, state in states(carla, batch)} == {(False, "done")}
    assert not Query.objects.exists()


def test_confirmed_files_are_loaded_one_after_the_other(carla):
    batch = upload(carla, *ALL)
    work()

    assert load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla) == 4
    assert [loaded for _name, loaded, _state in states(carla, batch)] == [True, False, False, False]
    work()

    assert {(loaded, state) for _name, loaded, state in states(carla, batch)} == {(True, "done")}
    done = (
        AuditEvent.objects.filter(what="load.done").order_by("pk").values_list("about", flat=True)
    )
    assert [one.partition(" ")[0] for one in done] == [
        "topics.txt",
        "docs.jsonl",
        "qrels.txt",
        "run.txt",
    ]
    assert Query.objects.get().title == "Tides"


def test_confirming_twice_loads_once(carla):
    batch = upload(carla, *ALL[1:3])
    work()
    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    work()

    with pytest.raises(Refused, match="None of these files can be loaded"):
        load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    assert Load.objects.filter(dry_run=False).count() == 2


def test_a_bad_file_is_left_out_whole_and_the_others_are_loaded(carla):
    batch = upload(carla, ("topics.txt", TOPICS), ("qrels.txt", QRELS + b"301 0 C x\n"))
    work()

    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    work()

    assert states(carla, batch) == [("topics.txt", True, "done"), ("qrels.txt", False, "done")]
    assert not carla.project.documents.exists()


def test_what_was_refused_is_checked_again_after_the_files_before_it(carla):
    batch = upload(carla, ("judgments.jsonl", JUDGMENTS), ("pairs.jsonl", PAIRS))
    work()
    refused = load_jobs.previews_of(carla.project, batch)[1]
    assert refused.report
    assert refused.report["refused"] == 1

    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    work()

    again = load_jobs.previews_of(carla.project, batch)[1]
    assert again.pk != refused.pk
    assert again.report
    assert again.report["refused"] == 0
    assert load_jobs.can_load(again)


def test_the_rest_waits_if_a_file_was_not_loaded(carla):
    batch = upload(carla, ("topics.txt", TOPICS), ("qrels.txt", QRELS))
    work()
    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    first = Load.objects.get(dry_run=False)
    cancel_job(job=first, by=carla)
    work()

    assert states(carla, batch) == [("topics.txt", True, "cancelled"), ("qrels.txt", False, "done")]


def test_a_lead_loads_the_rest_after_a_file_that_was_not_loaded(carla):
    batch = upload(carla, ("topics.txt", TOPICS), ("docs.jsonl", DOCS), ("qrels.txt", QRELS))
    work()
    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    cancel_job(job=Load.objects.get(dry_run=False), by=carla)
    work()

    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    work()

    assert states(carla, batch) == [
        ("topics.txt", True, "cancelled"),
        ("docs.jsonl", True, "done"),
        ("qrels.txt", True, "done"),
    ]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([("a.txt", QRELS), ("b.txt", b"")], "b.txt is empty."),
        ([("a.txt", QRELS), ("b.txt", b"??")], "It is not clear from b.txt which format"),
        ([(f"{number}.txt", QRELS) for number in range(21)], "Upload at most 20 at once."),
    ],
)
def test_bad_uploads_are_refused_before_anything_is_stored(carla, files, sentence):
    with pytest.raises(Refused, match=sentence):
        upload(carla, *files)

    assert not Load.objects.exists()


def test_nothing_is_loaded_while_a_file_is_still_checked(carla):
    batch = upload(carla, *ALL)

    with pytest.raises(Refused, match="A file is still being checked"):
        load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)


def test_a_lead_who_was_removed_meanwhile_stops_the_loading_but_loses_nothing(carla):
    batch = upload(carla, ("topics.txt", TOPICS), ("qrels.txt", QRELS))
    work()
    load_jobs.confirm_batch(project=carla.project, batch=batch, by=carla)
    type(carla).objects.filter(pk=carla.pk).update(role="annotator")
    work()

    assert states(carla, batch) == [("topics.txt", True, "done"), ("qrels.txt", False, "done")]


def test_the_page_has_a_line_for_each_file_and_loads_them(carla, client):
    client.force_login(carla.user)
    sent = client.post(
        reverse("annotate:loads", args=["tides"]), {"file": [file(*one) for one in ALL]}
    )
    running = client.get(sent.url).content.decode()
    assert 'hx-trigger="every 1s"' in running
    assert "Load 4 files" not in running
    work()

    page = client.get(sent.url).content.decode()
    assert [page.index(name) for name, _ in reversed(ALL)] == sorted(
        page.index(name) for name, _ in ALL
    )
    assert "Load 4 files, in this order" in page
    client.post(f"{sent.url}confirmation/")
    work()

    after = client.get(sent.url).content.decode()
    assert after.count("Loaded") == 4
    assert "Load 4 files" not in after
    assert "Next: " not in page
    assert "Next: Measure systems" not in after
    members = reverse("annotate:members", args=["tides"])
    assert f'<a class="button button--primary" href="{members}">Next: Add members</a>' in after


def test_after_runs_alone_the_page_leads_to_measuring_them(carla, client):
    client.force_login(carla.user)
    upload(carla, ("topics.txt", TOPICS), ("qrels.txt", QRELS))
    work()
    batch = upload(carla, ("one.run", RUN), ("other.run", RUN))
    work()
    page = reverse("annotate:load_batch", args=["tides", batch])
    assert "2 new documents have no text yet" in client.get(page).text
    client.post(f"{page}confirmation/")
    work()

    url = reverse("exporters:evaluations", args=["tides"])
    link = f'<a class="button button--primary" href="{url}">Next: Measure systems</a>'
    assert link in client.get(page).text
    last = Load.objects.filter(dry_run=False).latest("pk")
    assert link in client.get(last.get_absolute_url()).text


def test_a_refused_upload_of_several_shows_why(carla, client):
    client.force_login(carla.user)

    page = client.post(
        reverse("annotate:loads", args=["tides"]),
        {"file": [file("a.txt", QRELS), file("b.txt", b"?")]},
    )

    assert page.status_code == 422
    assert "It is not clear from b.txt which format it has." in page.content.decode()


def test_a_program_uploads_several_and_loads_them(carla):
    lead = Program("carla", "lead")
    sent = lead.client.post(
        "/api/v1/projects/tides/loads/several/", {"files": [file(*one) for one in ALL]}
    )
    assert sent.status_code == 201, sent.content
    where = f"projects/tides/loads/{sent.json()['batch']}/"
    work()

    assert lead.get(where).json()["files"][0]["file_name"] == "topics.txt"
    assert lead.send("PUT", f"{where}confirmation/").status_code == 200
    work()

    assert {one["dry_run"] for one in lead.get(where).json()["files"]} == {False}


def test_a_program_says_for_several_files_which_value_means_no_grade(carla):
    client = Program("carla", "lead").client
    files = [file("a.txt", QRELS), file("b.txt", QRELS)]

    client.post(
        "/api/v1/projects/tides/loads/several/",
        {"files": files, "format": "trec-qrels", "no_grade": "0"},
    )

    assert list(Load.objects.values_list("format", "no_grade")) == [("trec-qrels", 0)] * 2


def test_of_several_files_only_those_with_grades_keep_the_value_that_means_no_grade(carla):
    files = [file("a.txt", QRELS), file("one.run", RUN)]

    load_jobs.request_batch(files=files, by=carla, no_grade=-1)

    assert list(Load.objects.order_by("pk").values_list("format", "no_grade")) == [
        ("trec-qrels", -1),
        ("trec-run", None),
    ]
