"""The pages of loading: upload a file, preview its changes, confirm, see the result."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotate.loading import load_jobs
from annotate.models import Candidate, Load
from annotate.projects.kinds import KINDS
from base.tags.components import choice_groups
from formats.registry import FORMATS
from jobs.runner import Progress
from tests import factories
from tests.formats.files import zip_files
from tests.pages import shows


@pytest.fixture(autouse=True)
def own_storage(storage):
    """Store uploads in the test's own folder."""


@pytest.fixture
def carla(db):
    return factories.lead(factories.project("tides"))


@pytest.fixture
def pages(client, carla):
    client.force_login(carla.user)
    return client


def url(name: str, *keys: object) -> str:
    return reverse(f"annotate:{name}", args=["tides", *keys])


def upload(pages, content: bytes = b"301 0 A 2\n301 0 B 0\n", kind: str = "trec-qrels", **fields):
    file = SimpleUploadedFile("qrels.txt", content)
    return pages.post(url("loads"), {"file": file, "format": kind, **fields})


def done(load: Load) -> Load:
    """Perform a load and return its row as a worker leaves it."""
    now = timezone.now()
    load_jobs.perform_load(load, Progress())
    Load.objects.filter(pk=load.pk).update(state="done", started_at=now, finished_at=now)
    load.refresh_from_db()
    return load


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_form_offers_every_format_with_its_title(pages):
    page = text(pages.get(url("loads")))

    for kind in FORMATS.values():
        assert f'value="{kind.name}"' in page
        assert kind.title in page
    assert 'enctype="multipart/form-data"' in page


def listed_formats(pages, **query: str) -> list[tuple[str, list[str]]]:
    """Return the groups of formats in the form: the heading and the names of each."""
    field = pages.get(url("loads"), query).context["form"]["format"]
    return [
        (heading, [choice.data["value"] for choice in choices])
        for heading, choices in choice_groups(field)
    ]


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.formats])
def test_the_form_lists_the_formats_of_the_kind_first(pages, carla, kind):
    carla.project.kind = kind.key
    carla.project.save()

    alone, (first, of_kind), (second, others) = listed_formats(pages)

    assert alone == ("", [""])
    assert (first, second) == (f"For {kind.name} projects", "Other formats")
    assert of_kind == list(kind.formats)
    assert others == [name for name in FORMATS if name not in kind.formats]


def test_the_form_of_a_project_without_a_paper_lists_all_formats(pages, carla):
    carla.project.kind = "own"
    carla.project.save()

    assert listed_formats(pages) == [("", [""]), ("All formats", list(FORMATS))]


def test_the_groups_of_formats_have_headings(pages, carla):
    carla.project.kind = "followtable"
    carla.project.save()

    page = text(pages.get(url("loads")))

    assert page.index("<legend>For FollowTable projects</legend>") < page.index(
        'value="followtable"'
    )
    assert page.index("<legend>Other formats</legend>") < page.index('value="trec-qrels"')


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [("followtable", "followtable"), ("trec-qrels", "trec-qrels"), ("json", ""), ("", "")],
)
def test_the_format_in_the_address_is_chosen_in_either_group(pages, carla, asked, chosen):
    carla.project.kind = "followtable"
    carla.project.save()

    field = pages.get(url("loads"), {"format": asked}).context["form"]["format"]

    assert [one.data["value"] for one in field if one.data["selected"]] == [chosen]


def test_uploading_a_file_redirects_to_its_page(pages, carla):
    response = upload(pages, no_grade="-1")

    load = Load.objects.get()
    assert response.url == url("load", load.pk)
    assert (load.by, load.format, load.no_grade, load.dry_run) == (carla, "trec-qrels", -1, True)
    assert "Waiting for the worker" in text(pages.get(response.url))


def test_a_file_without_a_chosen_format_shows_its_own(pages):
    upload(pages, kind="")

    assert Load.objects.get().format == "trec-qrels"


def test_a_file_that_does_not_show_its_format_is_not_stored(pages):
    file = SimpleUploadedFile("notes.txt", b"Nothing that is known.")

    page = text(pages.post(url("loads"), {"file": file, "format": ""}))

    assert "It is not clear from notes.txt which format it has. Choose the format." in page
    assert not Load.objects.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"%PDF-1.4\n", "notes.txt: this is a PDF; save its table as CSV or JSON lines."),
        ("301 0 A 1\n".encode("utf-16"), "notes.txt: this is saved as UTF-16; save it as UTF-8."),
        (b"caf\xe9\n", "notes.txt, line 1: not UTF-8: byte 4 of the line is 0xe9."),
        (zip_files({"readme.txt": "x"}), "notes.txt: this is a zip archive, and its files show no"),
        (zip_files({"../queries.jsonl": "x"}), "points outside the archive."),
    ],
    ids=["PDF", "UTF-16", "Latin-1", "archive of other files", "unsafe archive"],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(pages, content, sentence):
    page = pages.post(
        url("loads"), {"file": SimpleUploadedFile("notes.txt", content), "format": ""}
    )

    assert page.status_code == 422
    assert sentence in text(page)
    assert not Load.objects.exists()


def test_the_side_of_a_run_is_chosen_with_its_file(pages):
    upload(pages, kind="trec-run", side="reversed")

    assert Load.objects.get().side == "reversed"
    refused = upload(pages, side="reversed")
    assert "Only a run has a side." in text(refused)


def test_a_value_that_means_no_grade_is_refused_for_a_file_without_grades(pages):
    refused = upload(pages, kind="trec-run", no_grade="-1")

    assert refused.status_code == 422
    assert "Only judgments and qrels have a value that means no grade." in text(refused)
    assert not Load.objects.exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"content": b""}, "The submitted file is empty."),
        ({"kind": "nosuch"}, "Select a valid choice."),
        ({"no_grade": "x"}, "Enter a whole number."),
    ],
)
def test_an_invalid_form_is_shown_again_with_an_error(pages, fields, sentence):
    response = upload(pages, **fields)

    assert response.status_code == 422
    assert sentence in text(response)
    assert not Load.objects.exists()


def test_a_preview_shows_what_would_change_and_asks_for_confirmation(pages):
    upload(pages)
    load = done(Load.objects.get())

    page = text(pages.get(url("load", load.pk)))

    assert "What would change" in page
    assert (
        '<th scope="row">Candidates</th> <td class="number">2</td> <td class="number">2</td>'
        in page
    )
    assert f'action="{url("load_confirmation", load.pk)}"' in page
    assert Candidate.objects.count() == 0


def test_confirming_redirects_to_the_load_which_shows_its_counts(pages):
    upload(pages)
    preview = done(Load.objects.get())

    response = pages.post(url("load_confirmation", preview.pk))
    load = done(Load.objects.get(preview=preview))

    assert response.url == url("load", load.pk)
    page = text(pages.get(response.url))
    assert "What has changed" in page
    assert "Load another file" in page
    assert Candidate.objects.count() == 2
    assert url("load", load.pk) in text(pages.get(url("load", preview.pk)))


def test_the_list_shows_only_the_load_of_a_confirmed_preview(pages):
    upload(pages)
    preview = done(Load.objects.get())
    pages.post(url("load_confirmation", preview.pk))

    listed = pages.get(url("loads")).context["rows"]

    assert [row["load"].preview for row in listed] == [preview]


def test_the_preview_of_an_already_loaded_file_says_so(pages, carla):
    factories.candidate(factories.query(carla.project, "301"), "A", prior=2)
    upload(pages, b"301 0 A 2\n")
    load = done(Load.objects.get())

    page = text(pages.get(url("load", load.pk)))

    assert "loading it would change nothing" in page


def test_every_bad_line_is_shown_as_text_and_nothing_can_be_confirmed(pages):
    upload(pages, b"301 0 A 2\n301 <script>alert(1)</script> 0\n301 B 1\n")
    load = done(Load.objects.get())

    page = text(pages.get(url("load", load.pk)))

    assert "2 problems" in page
    assert "a qrels line has 4 columns" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert url("load_confirmation", load.pk) not in page


def test_confirming_an_unfinished_preview_shows_why_not(pages):
    upload(pages)
    load = Load.objects.get()

    response = pages.post(url("load_confirmation", load.pk), follow=True)

    assert "This file has not been checked yet." in text(response)


def test_a_preview_can_be_discarded(pages, storage):
    upload(pages)
    load = done(Load.objects.get())

    response = pages.post(url("load_leaving", load.pk), follow=True)

    assert "qrels.txt was discarded. Nothing of it was loaded." in text(response)
    assert Load.objects.get().file.name == ""


def outcome(pages, load: Load) -> tuple[str, ...]:
    """Return the badges in the list and on the file's own page."""
    listed = pages.get(url("loads")).context["rows"][0]["outcome"].words
    shown = pages.get(url("load", load.pk))
    assert not shows(text(shown), "> Done<")
    return listed, shown.context["outcome"].words


def test_a_refused_file_is_labelled_refused_and_can_be_uploaded_again(pages):
    upload(pages, b"301 0 A 2\n301 B 1\n")
    load = done(Load.objects.get())

    page = text(pages.get(url("load", load.pk)))

    assert outcome(pages, load) == ("Refused: 1 problem", "Refused: 1 problem")
    assert "Refused: 1 problem</span>" in page
    assert "Upload it again" in page


def refused_run(pages) -> Load:
    """Upload a run as qrels and check it."""
    upload(pages, b"301 Q0 A 1 2.5 bm25\n")
    return done(Load.objects.get())


def test_a_refused_file_is_offered_in_the_format_that_it_looks_like(pages):
    load = refused_run(pages)

    page = text(pages.get(url("load", load.pk)))

    assert "This one looks like TREC run: check it in that format" in page
    assert f'action="{url("load_recheck", load.pk)}"' in page
    assert "Check it as TREC run</button>" in page


def test_checking_a_file_in_the_suggested_format_redirects_to_the_new_check(pages):
    load = refused_run(pages)

    response = pages.post(url("load_recheck", load.pk))

    again = Load.objects.exclude(pk=load.pk).get()
    assert response.url == url("load", again.pk)
    assert (again.format, again.state) == ("trec-run", "queued")


def test_a_file_that_was_checked_again_links_to_its_new_check(pages):
    load = refused_run(pages)
    pages.post(url("load_recheck", load.pk))
    again = Load.objects.exclude(pk=load.pk).get()

    page = text(pages.get(url("load", load.pk)))

    assert shows(page, f'<a href="{url("load", again.pk)}">This file was checked again as TREC run')
    assert "Upload it again" not in page


def test_a_file_that_is_no_longer_kept_is_uploaded_again_in_the_suggested_format(pages):
    load = refused_run(pages)
    pages.post(url("load_leaving", load.pk))

    page = text(pages.get(url("load", load.pk)))

    assert url("load_recheck", load.pk) not in page
    assert f'href="{url("loads")}?format=trec-run"' in page


def test_checking_a_file_again_twice_shows_why_not(pages):
    load = refused_run(pages)
    pages.post(url("load_recheck", load.pk))

    response = pages.post(url("load_recheck", load.pk), follow=True)

    assert "is checked in another format already" in text(response)
    assert Load.objects.count() == 2


@pytest.mark.parametrize("content", [b"301 0 A 2\n", b"301 B 1\n"])
def test_no_other_format_is_offered_without_a_suggestion(pages, content):
    upload(pages, content)
    load = done(Load.objects.get())

    assert url("load_recheck", load.pk) not in text(pages.get(url("load", load.pk)))


@pytest.mark.parametrize("put_away", [False, True])
def test_an_unconfirmed_preview_is_labelled_not_loaded(pages, put_away):
    upload(pages)
    load = done(Load.objects.get())
    if put_away:
        pages.post(url("load_leaving", load.pk))

    assert outcome(pages, load) == ("Checked, not loaded", "Checked, not loaded")


def test_a_loaded_file_is_labelled_loaded_and_its_preview_checked(pages):
    upload(pages)
    preview = done(Load.objects.get())
    pages.post(url("load_confirmation", preview.pk))
    load = done(Load.objects.get(preview=preview))

    assert outcome(pages, load) == ("Loaded", "Loaded")
    assert outcome(pages, preview) == ("Loaded", "Checked")


def test_the_first_files_to_load_are_named_until_the_project_has_documents(pages, carla):
    query = factories.query(carla.project, "301")
    before = text(pages.get(url("loads")))
    factories.candidate(query, "A")

    after = text(pages.get(url("loads")))

    assert "Begin with the topics" in before
    assert "Begin with the topics" not in after
    assert "No file was uploaded on this page yet." in after


def test_the_first_files_to_load_depend_on_the_kind_of_project(pages, carla):
    carla.project.kind = "followtable"
    carla.project.save()

    page = text(pages.get(url("loads")))

    assert "Begin with the FollowTable folder: query_instruction.json and tables/" in page


def test_the_list_shows_the_newest_first_and_the_rest_behind_a_link(pages, carla):
    for n in range(60):
        Load.objects.create(
            project=carla.project, by=carla, format="trec-qrels", file_name=f"file-{n}.txt"
        )

    first = pages.get(url("loads"))
    oldest = Load.objects.order_by("-pk")[49]
    second = pages.get(url("loads"), {"before": oldest.pk})

    assert [row["load"].file_name for row in first.context["rows"]][:2] == [
        "file-59.txt",
        "file-58.txt",
    ]
    assert f'href="?before={oldest.pk}"' in text(first)
    assert [row["load"].file_name for row in second.context["rows"]][-1] == "file-0.txt"


def test_the_list_takes_few_queries_whatever_its_length(
    pages, carla, django_assert_max_num_queries
):
    for n in range(40):
        Load.objects.create(
            project=carla.project, by=carla, format="trec-qrels", file_name=f"file-{n}.txt"
        )

    with django_assert_max_num_queries(9):
        pages.get(url("loads"))


def test_annotators_get_403_and_strangers_404(client, carla):
    ada = factories.member(carla.project, "ada")
    eve = factories.lead(factories.project("other"), "eve")
    load = Load.objects.create(project=carla.project, by=carla, format="x", file_name="q")
    routes = [
        ("get", url("loads")),
        ("get", url("load", load.pk)),
        ("post", url("loads")),
        ("post", url("load_confirmation", load.pk)),
        ("post", url("load_leaving", load.pk)),
        ("post", url("load_recheck", load.pk)),
    ]

    statuses = {}
    for person in (ada, eve):
        client.force_login(person.user)
        statuses[person.name] = {getattr(client, verb)(path).status_code for verb, path in routes}

    assert statuses == {"ada": {403}, "eve": {404}}
    load.refresh_from_db()
    assert load.state == "queued"
