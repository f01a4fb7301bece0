"""The pages of releases: preview, request, files, and comparison of two."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.collection.removal import QUERIES
from annotate.models import (
    Adjudication,
    Assignment,
    Guideline,
    InstructionPair,
    Judgment,
    Project,
    Query,
)
from audit.models import Sample
from exporters.models import Publication, Release
from exporters.releases import contents, file_store, views
from tests import factories
from tests.exports.conftest import AT, LATER, make_release
from tests.pages import shows

SURE = {"name": "v1.0", "note": "For the paper.", "sure": "on"}


@pytest.fixture(autouse=True)
def nothing_published(published):
    """Send no job to a broker."""


@pytest.fixture
def carla(tides, client):
    client.force_login(tides.carla.user)
    return client


def url(name, *args):
    return reverse(f"exporters:{name}", args=["tides", *args])


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def text(response):
    return response.content.decode()


def test_an_empty_list_explains_itself_and_links_to_the_form(tides, carla):
    page = text(carla.get(url("releases")))

    assert "Releases will appear here" in page
    assert f'href="{url("new_release")}"' in page


def test_the_form_of_a_release_lists_what_is_open(tides, carla):
    page = text(carla.get(url("new_release")))

    assert "1 document is disputed and would be left out of the qrels." in page
    assert "1 document that should be judged is not judged and would be left out" in page
    assert "1 pair has no altered narrative, so it would be left out." in page
    assert "1 review is not submitted yet and would be left out." in page
    assert "There are no guidelines." in page
    assert "sent back" not in page
    assert page.index("is disputed") < page.index('name="name"')


def test_pairs_sent_back_and_undecided_instructions_are_open(tides, carla):
    Project.objects.update(overlap_review=1)
    decided = InstructionPair.objects.get(pair_id="302").narratives.get(side="altered")
    decided.decisions.update(withdrawn_at=LATER, withdrawn_by=tides.carla)
    InstructionPair.objects.get(pair_id="301").narratives.current().update(
        sent_back_at=timezone.now(), sent_back_by=tides.carla
    )
    Guideline.objects.create(project=tides.project, version=3, text="Read.", author=tides.carla)

    page = text(carla.get(url("new_release")))

    assert "1 pair is sent back and not rewritten, so it would be left out." in page
    assert "1 instruction waits for a decision." in page
    assert "and version 3 of the guidelines" in page
    assert "There are no guidelines." not in page


def test_the_form_of_a_release_counts_nothing_of_queries_that_are_taken_out(tides, carla):
    queries = list(Query.objects.values_list("pk", flat=True))
    QUERIES.remove(project=tides.project, keys=queries, reason="Too broad.", by=tides.carla)

    counts = dict(carla.get(url("new_release")).context["preview"].counts)

    assert {name: n for name, n in counts.items() if n} == {
        "queries taken out, with their instructions": 5,
    }


def test_the_form_of_a_release_says_that_nothing_is_open(db, client):
    carla = factories.lead(factories.project())
    pair = factories.pair(factories.query(carla.project))
    candidate = factories.candidate(pair.query)
    factories.judgment(
        factories.altered(pair), candidate, factories.member(carla.project, "ada"), 0
    )
    Guideline.objects.create(project=carla.project, version=1, text="Read.", author=carla)
    client.force_login(carla.user)

    page = text(client.get(url("new_release")))

    assert "Nothing: everything is judged, settled and decided." in page


def test_a_document_settled_without_judgments_is_not_open(tides, carla):
    Adjudication.objects.create(
        narrative=tides.narrative,
        candidate=tides.pool["B"],
        relevance=0,
        reason="It says so.",
        by=tides.carla,
    )
    Judgment.objects.filter(candidate=tides.pool["B"]).update(ended_at=LATER)

    page = text(carla.get(url("new_release")))

    # Only D of 302 is open, which only a machine judged.
    assert "1 document that should be judged is not judged" in page


def test_a_release_is_requested_followed_and_made(tides, carla, published, finish_jobs, client):
    response = carla.post(url("new_release"), SURE)
    release = Release.objects.get()
    waiting = text(carla.get(response.url))

    assert response.url == url("release", "v1.0")
    assert (release.state, release.by, release.note) == ("queued", tides.carla, "For the paper.")
    assert f'hx-get="{reverse("annotate:job", args=["tides", release.pk])}"' in waiting
    assert "Waiting for the worker." in waiting

    finish_jobs()

    page = text(carla.get(response.url))
    release.refresh_from_db()
    assert "released by carla" in page
    assert f"sha256 {release.sha256}." in page
    assert "Tides, release v1.0 (" in page
    for name in contents.files(release):
        assert url("release_file", "v1.0", name) in page


def test_a_release_says_whose_labels_it_has(tides, carla):
    release = make_release(tides, "v1.0")

    page = text(carla.get(release.get_absolute_url()))

    about = json.loads(body(carla.get(url("release_file", "v1.0", "about.json"))))
    assert contents.of(release)["labels"] == about["labels"]
    [machine] = about["labels"]["machines"]
    assert "Whose labels these are" in page
    assert machine["certificates"][0].startswith("There is no certificate")
    assert machine["certificates"][0] in page


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "v 1"}, "begins with a letter or a digit, as in v1.0."),
        ({"name": "../x"}, "begins with a letter or a digit, as in v1.0."),
        ({"name": "new"}, "“new” cannot be the name of a release."),
        ({"name": "a" * 61}, "at most 60 characters"),
        ({"note": "a" * 2001}, "at most 2000 characters"),
        ({"sure": ""}, "Tick the box if you are sure."),
        ({"name": "Made"}, "A release called made already exists, and releases never change."),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_release_form_shows_the_error_and_makes_nothing(tides, carla, sent, sentence):
    make_release(tides, "made")

    response = carla.post(url("new_release"), {**SURE, **sent})

    assert response.status_code == 422
    assert sentence in text(response)
    assert Release.objects.count() == 1


def test_an_archived_project_says_so_and_keeps_its_releases(tides, carla):
    make_release(tides, "v0")
    Project.objects.update(archived_at=timezone.now(), archived_by=tides.carla.user)

    response = carla.post(url("new_release"), SURE)

    assert response.status_code == 422
    assert "This project is archived." in text(response)
    assert Release.objects.count() == 1
    assert body(carla.get(url("release_file", "v0", "trec/qrels.changed.txt"))).startswith(b"301 ")


def test_files_are_sent_as_they_were_stored(tides, carla):
    release = make_release(tides, "v1.0")

    for name, entry in contents.files(release).items():
        response = carla.get(url("release_file", "v1.0", name))
        assert len(body(response)) == entry["bytes"], name
    archive = carla.get(url("release_file", "v1.0", "trec.zip"))

    assert archive["Content-Disposition"] == 'attachment; filename="tides-v1.0-trec.zip"'
    assert archive["X-Content-Type-Options"] == "nosniff"
    with zipfile.ZipFile(io.BytesIO(body(archive))) as packed:
        assert "tides-trec/manifest.json" in packed.namelist()
        assert packed.read("tides-trec/qrels.changed.txt").startswith(b"301 0 B 0\n")


@pytest.mark.parametrize("name", ["nothing.txt", "../../rejudge.sqlite3", "trec/../release.json"])
def test_only_files_of_the_release_are_sent(tides, carla, name):
    make_release(tides, "v1.0")

    assert carla.get(url("release", "v1.0") + "files/" + name).status_code == 404


def test_a_changed_file_is_never_sent(tides, carla, empty_storage):
    release = make_release(tides, "v1.0")
    make_release(tides, "v1.1")
    entry = contents.files(release)["trec/qrels.changed.txt"]
    Path(empty_storage.path(file_store.path_of(tides.project.pk, entry["sha256"]))).write_bytes(
        b"x"
    )

    for address in (
        url("release_file", "v1.0", "trec/qrels.changed.txt"),
        url("comparison", "v1.0", "v1.1"),
        url("comparison_table", "v1.0", "v1.1"),
    ):
        page = text(carla.get(address, follow=True))
        assert "trec/qrels.changed.txt has changed" in page
        assert "Restore it from a backup of the data folder." in page


def test_a_lead_who_has_yet_to_judge_sees_no_counts_or_files_and_cannot_release(tides, carla):
    make_release(tides, "v1.0")
    make_release(tides, "v1.1")
    Assignment.objects.create(pair=tides.pair, task="judge", seat=1, member=tides.carla)

    for name in ("releases", "new_release"):
        page = text(carla.get(url(name)))
        assert "would show you what others answered" in page
        assert "would be left out" not in page
    assert "disputed" not in text(carla.get(url("release", "v1.0")))
    for refused in (
        url("release_file", "v1.0", "release.json"),
        url("comparison", "v1.0", "v1.1"),
        url("comparison_table", "v1.0", "v1.1"),
    ):
        assert carla.get(refused).status_code == 403
    assert carla.post(url("new_release"), {**SURE, "name": "v2"}).status_code == 422
    assert Release.objects.count() == 2


def test_an_unfinished_release_offers_no_files(tides, carla):
    Release.objects.create(project=tides.project, by=tides.carla, name="v1.0")

    assert carla.get(url("release", "v1.0")).status_code == 200
    assert carla.get(url("release_file", "v1.0", "release.json")).status_code == 404
    assert carla.get(url("comparison", "v1.0", "v1.0")).status_code == 404


def test_a_failed_release_says_why_and_can_be_tried_again(tides, carla):
    Release.objects.create(
        project=tides.project, name="v1.0", state="failed", error="No room.", finished_at=LATER
    )

    page = text(carla.get(url("release", "v1.0")))
    again = text(carla.get(url("new_release") + "?name=v1.0"))
    response = carla.post(url("new_release"), SURE)

    assert "No room." in page
    assert f"{url('new_release')}?name=v1.0" in page
    assert 'value="v1.0"' in again
    assert "Waiting for the worker." in text(carla.get(response.url))


def test_the_list_has_the_newest_first_with_counts(tides, carla):
    Guideline.objects.create(project=tides.project, version=4, text="Read.", author=tides.carla)
    first = make_release(tides, "v1.0")
    make_release(tides, "v1.1", by=None)

    page = text(carla.get(url("releases")))

    assert page.index(url("release", "v1.1")) < page.index(url("release", "v1.0"))
    assert first.sha256[:12] in page
    assert ">4</td>" in page
    assert "the command" in page
    claimed = contents.all_counts(contents.of(first))["pairs_claimed"]
    assert f"{claimed} claimed" in page


def test_two_names_redirect_to_their_comparison(tides, carla):
    make_release(tides, "v1.0")
    make_release(tides, "v1.1")

    response = carla.get(url("releases"), {"before": "v1.0", "after": "v1.1"})
    same = carla.get(url("releases"), {"before": "v1.0", "after": "v1.0"})
    unknown = carla.get(url("releases"), {"before": "v1.0", "after": "v9"})

    assert response.url == url("comparison", "v1.0", "v1.1")
    assert (same.status_code, unknown.status_code) == (422, 422)
    assert "Choose two different releases." in text(same)
    assert "v9 is not one of the available choices" in text(unknown)
    assert carla.get(url("comparison", "v1.0", "v9")).status_code == 404
    back = carla.get(url("comparison", "v1.0", "v1.0"), follow=True)
    assert "Choose two different releases." in text(back)


def test_releases_of_the_same_rows_have_no_differences(tides, carla):
    make_release(tides, "v1.0")
    make_release(tides, "v1.1")

    page = text(carla.get(url("comparison", "v1.0", "v1.1")))

    assert "Nothing: queries, pairs, narratives, texts and grades are the same in both." in page


def test_changed_rules_and_guidelines_are_compared(tides, carla):
    make_release(tides, "v1.0")
    Project.objects.update(consensus="majority")
    Guideline.objects.create(project=tides.project, version=1, text="Read.", author=tides.carla)
    make_release(tides, "v1.1")

    page = carla.get(url("comparison", "v1.0", "v1.1"))

    assert [about for about, _, _ in page.context["rules"]] == ["Consensus"]
    assert page.context["guidelines_differ"]
    counts = {row.key: (row.before, row.after) for row in page.context["counts"]}
    assert counts["disputed"] == (1, 1)


def test_a_changed_rule_is_listed_though_another_format_has_one_about_the_same(tides, carla):
    """MTEB and FollowTable have a rule each about relevance: only that of MTEB changes."""
    Publication.objects.create(project=tides.project, layouts=["mteb", "followtable"])
    InstructionPair.objects.update(category="S1")
    make_release(tides, "v1.0")
    Publication.objects.update(claims=True)
    make_release(tides, "v1.1")

    rules = carla.get(url("comparison", "v1.0", "v1.1")).context["rules"]

    (relevance,) = [rule for rule in rules if rule.about == "Relevance"]
    assert relevance.before.endswith("the relevance of qrels.changed.txt in the format trec.")
    assert relevance.after == ""


def test_pages_of_long_lists_cover_all_rows(tides, carla, monkeypatch):
    monkeypatch.setattr("exporters.releases.views.SIZES", {**dict.fromkeys(SIZES, 2), "texts": 2})
    make_release(tides, "v1.0")
    Judgment.objects.filter(narrative=tides.narrative).update(relevance=1)
    factories.query(tides.project, "900")
    factories.query(tides.project, "901")
    factories.query(tides.project, "902")
    make_release(tides, "v1.1")

    for show in SIZES:
        seen, where = [], f"?show={show}"
        while where:
            page = carla.get(url("comparison", "v1.0", "v1.1") + where)
            seen += page.context["rows"]
            where = page.context["next_url"]
        assert len(seen) == page.context["totals"][show]
    assert page.context["totals"]["listed"] == 3
    # B, FT-10, é, and FT-9, which is no longer disputed.
    assert page.context["totals"]["grades"] == 4


SIZES = ("grades", "queries", "narratives", "listed")


def test_the_pages_cost_the_same_however_many_there_are(
    tides, carla, django_assert_max_num_queries
):
    for number in range(4):
        make_release(tides, f"v{number}")

    with django_assert_max_num_queries(9):
        carla.get(url("releases"))
    with django_assert_max_num_queries(8):
        carla.get(url("release", "v3"))
    # It also writes the qrels once, as the release does, and deletes them.
    with django_assert_max_num_queries(122):
        carla.get(url("new_release"))


def test_a_release_says_each_thing_once_and_has_one_part_for_each_format(tides, carla):
    Publication.objects.create(project=tides.project, layouts=["beir", "mteb", "hf"])

    held = contents.of(make_release(tides, "v1.0"))

    page = text(carla.get(url("release", "v1.0")))
    assert len(held["warnings"]) == len(set(held["warnings"]))
    assert [words for words in held["warnings"] if words.startswith("mteb, hf, beir: ")]
    assert all(held["rules"].count(rule) == 1 for rule in held["rules"])
    for name in ("trec", "jsonl", "beir", "mteb", "hf"):
        assert page.count(f"<summary>Files of {name}</summary>") == 1
        assert page.count(f'All in one archive<span class="visually-hidden">: {name}</span>') == 1


def test_a_release_counts_what_layouts_hold_apart_where_they_differ(tides, carla):
    """FollowTable leaves out the pair of 302, which has no category: MTEB holds both."""
    Publication.objects.create(project=tides.project, layouts=["mteb", "followtable"])
    release = make_release(tides, "v1.0")

    counts = contents.all_counts(contents.of(release))
    page = carla.get(url("release", "v1.0"))

    assert not [key for key in counts if key.startswith("layout")]
    assert counts["pairs"] == 4
    held = {
        part["name"]: dict(dict(part["published"]).get("Published", ()))
        for part in (page.context["formats"])
    }
    assert held["mteb"]["instruction pairs"] == 2
    assert held["followtable"]["instruction pair"] == 1
    assert held["trec"] == {}


def test_documents_with_newer_texts_are_counted_in_the_whole_project(tides):
    """A layout counts only those that it holds."""
    released: Any = {
        "counts": {
            "mteb": {"documents_with_newer_texts": 1},
            "trec": {"documents_with_newer_texts": 3},
            "jsonl": {"documents_with_newer_texts": 3},
        }
    }

    counts = contents.all_counts(released)

    assert counts == {"documents_with_newer_texts": 3}


def test_a_release_leads_to_the_evaluation_form_with_itself_chosen(tides, carla):
    make_release(tides, "v1.0")
    evaluation = reverse("exporters:evaluations", args=["tides"]) + "?release=v1.0"

    page = carla.get(url("release", "v1.0"))
    form = carla.get(evaluation).context["form"]

    assert shows(page, f'<a class="button" href="{evaluation}">Measure systems on it</a>')
    assert form["release"].value() == "v1.0"


def test_user_text_is_escaped(tides, carla):
    make_release(tides, "v1.0", note="<b>note</b>")

    page = text(carla.get(url("release", "v1.0")))

    assert "&lt;b&gt;note" in page
    assert "<b>note" not in page


def test_the_project_page_shows_the_last_release_to_its_lead(tides, carla):
    before = text(carla.get(tides.project.get_absolute_url()))
    make_release(tides, "v1.0")
    after = text(carla.get(tides.project.get_absolute_url()))

    assert "Nothing is released yet" in before
    assert f'Last release: <a href="{url("release", "v1.0")}">v1.0</a>' in after


def test_release_json_is_the_content_shown_on_the_page(tides, carla):
    release = make_release(tides, "v1.0")

    sent = json.loads(body(carla.get(url("release_file", "v1.0", "release.json"))))

    assert sent == contents.of(release)


def test_the_form_of_a_release_names_a_planned_sample_that_is_not_drawn(tides, carla):
    sentence = (
        "The kind of project plans a sample of labels to check, and none is drawn: see Checks."
    )
    assert sentence not in text(carla.get(url("new_release")))
    Project.objects.filter(pk=tides.project.pk).update(kind="followir")
    assert sentence in text(carla.get(url("new_release")))

    Sample.objects.create(
        project=tides.project,
        name="Spot check",
        source=Sample.Source.NEVER,
        seed=1,
        size=1,
        created_by=tides.carla,
    )

    assert sentence not in text(carla.get(url("new_release")))


def test_the_older_releases_are_on_further_pages_of_the_list(tides, client):
    client.force_login(factories.user("carla"))
    for number in range(views.SHOWN + 1):
        Release.objects.create(
            project=tides.project,
            name=f"v{number}",
            by=tides.carla,
            state="failed",
            error="It failed.",
            started_at=AT,
            finished_at=LATER,
        )
    newest = Release.objects.latest("pk")
    page = reverse("exporters:releases", args=["tides"])

    first = client.get(page)
    older = client.get(page + first.context["next_url"])

    assert first.context["releases"][0]["release"] == newest
    assert [row["release"].name for row in older.context["releases"]] == ["v0"]
    assert client.get(page + older.context["previous_url"]).status_code == 200
