"""`manage.py release` and `manage.py export --release` give the same release as the page."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import Assignment, Judgment, Project
from exporters.models import Release
from exporters.releases import contents, file_store
from exporters.releases.preview import preview
from tests import factories
from tests.exports.conftest import files_of, make_release

# The thread that renews a lease would use its own connection.
pytestmark = pytest.mark.usefixtures("finish_jobs")


def command(*args) -> str:
    out = StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


def test_the_command_makes_what_the_page_makes(tides):
    by_page = make_release(tides, "v1")

    printed = command("release", "tides", "v2", "--note", "For the paper.")

    release = Release.objects.get(name="v2")
    ours, theirs = contents.of(release), contents.of(by_page)
    assert (release.state, release.by, ours["note"]) == ("done", None, "For the paper.")
    assert ours["files"] == theirs["files"]
    assert f"sha256 {release.sha256}." in printed
    assert f"{len(contents.files(release))} files are kept." in printed
    assert "qrels.original.txt" not in printed


def test_the_files_of_a_release_are_printed_with_their_checksums(tides):
    for arguments in ((), ("--verify",)):
        printed = command("release", "tides", "v1", "--files", *arguments)

        held = list(contents.files(Release.objects.get()).values())
        assert [entry["name"] for entry in held[:2]] == ["release.json", "trec/qrels.original.txt"]
        checksums = "".join(f"{entry['sha256']}  {entry['name']}\n" for entry in held)
        assert checksums in printed


def test_the_command_prints_what_is_open_as_the_page_does(tides):
    warnings = preview(tides.carla).warnings

    printed = command("release", "tides", "v1")

    assert "1 document is disputed and would be left out of the qrels." in warnings
    assert printed.startswith("\n".join(warnings) + "\n")


def test_what_is_open_is_not_printed_if_every_lead_judges_blind(tides):
    Assignment.objects.create(pair=tides.pair, task="judge", seat=1, member=tides.carla)

    assert "disputed and would" not in command("release", "tides", "v1")


def test_the_content_of_a_release_is_printed_as_json(tides):
    printed = json.loads(command("release", "tides", "v1", "--json"))

    assert printed["name"] == "v1"
    assert printed["sha256"] == Release.objects.get().sha256


@pytest.mark.parametrize(
    ("project", "name", "sentence"),
    [
        ("nowhere", "v1", "There is no project “nowhere”."),
        ("tides", "v 1", "A release's name has letters, digits, dots"),
        ("tides", "made", "A release called made already exists, and releases never change."),
    ],
)
def test_an_invalid_release_command_reports_the_error(tides, project, name, sentence):
    make_release(tides, "made")

    with pytest.raises(CommandError) as refused:
        command("release", project, name)

    assert str(refused.value).startswith(sentence)
    assert Release.objects.count() == 1


def test_an_archived_project_is_not_released(tides):
    Project.objects.update(archived_at=timezone.now(), archived_by=tides.carla.user)

    with pytest.raises(CommandError, match="This project is archived"):
        command("release", "tides", "v1")


def test_a_release_that_cannot_be_written_reports_why(tides):
    newest = factories.narrative(tides.pair, text="Only <num> at sea.", version=3)
    tides.judge(newest, tides.pool["FT-9"], tides.ada, 1)

    with pytest.raises(CommandError, match="This cannot be written: the narrative of topic 301"):
        command("release", "tides", "v1")


def test_verifying_an_intact_release_reports_success(tides):
    release = make_release(tides, "v1")

    printed = command("release", "tides", "v1", "--verify")

    assert printed == (
        f"v1: {len(contents.files(release))} files, all as they were released.\n"
        f"sha256 {release.sha256}\n"
    )


def test_verifying_a_damaged_release_names_the_file_and_fails(tides, empty_storage, capsys):
    release = make_release(tides, "v1")
    entry = contents.files(release)["trec/qrels.changed.txt"]
    empty_storage.delete(file_store.path_of(tides.project.pk, entry["sha256"]))

    with pytest.raises(CommandError, match="v1 is not as it was released: 1 fault in"):
        command("release", "tides", "v1", "--verify")

    assert "trec/qrels.changed.txt is missing." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "known"), [(["v1"], "Its releases: v1."), ([], "It has no releases yet.")]
)
def test_an_unknown_release_is_named_in_the_error(tides, tmp_path, made, known):
    for name in made:
        make_release(tides, name)

    for arguments in (
        ("release", "tides", "v9", "--verify"),
        ("export", "tides", "trec", "--release", "v9", "--output", tmp_path / "out"),
    ):
        with pytest.raises(CommandError) as refused:
            command(*arguments)
        assert str(refused.value) == f"tides has no release called 'v9'. {known}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format_name", ["trec", "jsonl"])
def test_an_export_of_a_release_equals_the_export_at_that_time(tides, tmp_path, format_name):
    # With consent of all, names in a release are the same as in an export.
    tides.project.memberships.filter(user__isnull=False).update(named_at=timezone.now())
    command("export", "tides", format_name, "--output", tmp_path / "then")
    make_release(tides, "v1")
    Judgment.objects.update(relevance=1, note="Otherwise.")

    command("export", "tides", format_name, "--release", "v1", "--output", tmp_path / "out")
    command("export", "tides", format_name, "--output", tmp_path / "now")

    then, out, now = (files_of(tmp_path / name) for name in ("then", "out", "now"))
    if format_name == "jsonl":
        # The manifests differ in the rule about people's names.
        del then["manifest.json"], out["manifest.json"]
    assert out == then
    assert out != now


def test_a_damaged_release_is_not_exported_and_keeps_the_earlier_files(
    tides, tmp_path, empty_storage
):
    release = make_release(tides, "v1")
    command("export", "tides", "trec", "--release", "v1", "--output", tmp_path / "out")
    before = files_of(tmp_path / "out")
    entry = contents.files(release)["trec/topics.changed.txt"]
    Path(empty_storage.path(file_store.path_of(tides.project.pk, entry["sha256"]))).write_bytes(
        b"x"
    )

    with pytest.raises(CommandError, match=r"topics\.changed\.txt has changed"):
        command("export", "tides", "trec", "--release", "v1", "--output", tmp_path / "out")

    assert files_of(tmp_path / "out") == before


@pytest.mark.long
def test_a_real_collection_is_released_and_given_out_as_it_was(db, shared_data, tmp_path):
    topics = shared_data / "trec" / "topics.core17.txt"
    qrels = shared_data / "trec" / "qrels.core17.txt"
    command("load", "core17", "trec-topics", topics, "--create")
    command("load", "core17", "trec-qrels", qrels)
    command("release", "core17", "v1.0")
    project = Project.objects.get()
    query = project.queries.get(query_id="307")
    altered = factories.narrative(query.pairs.get(), text="Only projects in use count.")
    candidate = query.candidates.filter(prior_relevance__gt=0).earliest("pk")
    factories.judgment(altered, candidate, factories.member(project, "ada"), relevance=0)
    command("release", "core17", "v1.1")

    for name in ("v1.0", "v1.1"):
        command("export", "core17", "trec", "--release", name, "--output", tmp_path / name)

    assert (tmp_path / "v1.0" / "qrels.original.txt").read_bytes().count(b"\n") == 30_030
    assert (tmp_path / "v1.0" / "qrels.changed.txt").read_bytes() == b""
    changed = (tmp_path / "v1.1" / "qrels.changed.txt").read_text()
    assert f"307 0 {candidate.document.doc_id} 0\n" in changed
    assert "all as they were released" in command("release", "core17", "v1.0", "--verify")
