"""One project is backed up to one file and restored into any installation, beside others too."""

from __future__ import annotations

import uuid
import zipfile

import pytest
from django.contrib.auth import authenticate

from annotate.models import (
    AuditEvent,
    Draft,
    Judgment,
    Membership,
    Narrative,
    Project,
    Repeat,
    User,
)
from audit.models import AgreementReport, Check, Review
from audit.reports.statements_since import through
from base.constraints import deletions_allowed
from base.errors import Refused
from exporters.models import Release
from exporters.releases import actions as releasing
from keeping import tables
from keeping.backup import back_up
from keeping.purge import purge, read_contents
from keeping.restore import restore
from tests import factories
from tests.exports.conftest import AT
from tests.keeping.conftest import all_files, all_rows, export_files

pytestmark = pytest.mark.both_databases


@pytest.fixture
def backup(installation, quiet, tmp_path):
    path = tmp_path / "tides.zip"
    back_up(path=path, project="tides", progress=quiet)
    return path


def archive_project(slug):
    Project.objects.filter(slug=slug).update(
        archived_at=AT, archived_by=User.objects.get(username="carla")
    )


def test_a_project_is_restored_into_an_empty_installation_with_its_keys(
    installation, backup, start_empty_installation, quiet, tmp_path
):
    written, rows, stored = export_files("tides", tmp_path), all_rows(), all_files()
    start_empty_installation()

    result = restore(path=backup, progress=quiet)

    assert export_files("tides", tmp_path) == written
    assert all_files() == stored
    now = all_rows()
    of_the_project = set(tables.project_paths()) - {"annotate.project"}
    eves = {"other"}
    assert {slug for _, slug, *_ in now["annotate.project"]}.isdisjoint(eves)
    for table in of_the_project:
        # People have other keys; everything else is unchanged.
        assert len(now[table]) <= len(rows[table])
    assert now["annotate.candidate"] == [
        row for row in rows["annotate.candidate"] if row in now["annotate.candidate"]
    ]
    assert (result.project, result.found) == ("tides", [])


def test_people_without_an_account_get_one_without_a_password(
    installation, backup, start_empty_installation, quiet
):
    User.objects.filter(username="carla").update(is_superuser=True)
    start_empty_installation()
    factories.user("ben")

    result = restore(path=backup, progress=quiet)

    assert (result.found, result.made) == (["ben"], ["ada", "carla", "dan"])
    assert not User.objects.get(username="carla").has_usable_password()
    assert not User.objects.get(username="carla").is_superuser
    assert authenticate(username="ben", password=factories.PASSWORD) is not None
    ben = Membership.objects.get(name="ben")
    assert ben.user == User.objects.get(username="ben")


def test_a_backup_of_a_project_has_no_other_projects_and_no_passwords(installation, backup):
    eve, ada = User.objects.get(username="eve"), User.objects.get(username="ada")

    with zipfile.ZipFile(backup) as found:
        everything = b"".join(found.read(name) for name in found.namelist())

    assert b'"eve"' not in everything
    assert b"Another text." not in everything
    assert ada.password.encode() not in everything
    assert eve.password.encode() not in everything


def test_a_project_restored_beside_others_exports_the_same_bytes(
    installation, backup, quiet, tmp_path
):
    written = export_files("tides", tmp_path)
    # Every key of the backup is taken here, by rows that now belong to another project.
    old = {"project": installation.project.pk, "condition": first_condition()}
    rename_and_renew_uuids("tides", "occupied")
    before = all_rows()

    restore(path=backup, progress=quiet)

    assert export_files("tides", tmp_path) == written
    restored = Project.objects.get(slug="tides")
    assert restored.pk != old["project"]
    after = all_rows()
    for table, rows in before.items():
        assert [row for row in after[table] if row in rows] == rows
    # Keys inside JSON also refer to rows of this project.
    [repeat] = Repeat.objects.filter(annotator__project=restored)
    assert list(repeat.answers()) == [repeat.narrative.conditions.get(number=1).pk]
    [check] = Check.objects.filter(checker__project=restored)
    assert keys(check.verdicts) == [check.item.narrative.conditions.get(number=2).pk]
    [draft] = Draft.objects.filter(member__project=restored)
    ids = dict(draft.pair.query.candidates.values_list("pk", "document__doc_id"))
    assert [ids[key] for key in draft.drops] == ["B"]
    assert [ids[key] for key in draft.overtaken[0]["drops"]] == ["a"]
    assert list(repeat.answers()) != [old["condition"]]


def test_its_files_are_in_the_folder_of_its_new_key(installation, backup, quiet, tmp_path):
    old = installation.project.pk
    archive_project("tides")
    purge(slug="tides", typed="tides")

    restore(path=backup, progress=quiet)

    restored = Project.objects.get(slug="tides")
    assert restored.pk > old
    assert tables.file_names_in_rows(restored.pk) == sorted(all_files())
    assert {name.split("/")[1] for name in all_files()} == {str(restored.pk)}
    assert releasing.verify(Release.objects.get(project=restored)).faults == []


def test_a_purged_project_is_restored_unchanged(installation, backup, quiet, tmp_path):
    written = export_files("tides", tmp_path)
    archive_project("tides")
    purge(slug="tides", typed="tides")
    Project.objects.filter(slug="other").update(slug="tides")

    restore(path=backup, slug="tides-2", progress=quiet)

    again = export_files("tides-2", tmp_path)
    assert again.keys() == written.keys()
    renamed = {name: data.replace(b'"tides-2"', b'"tides"') for name, data in again.items()}
    assert renamed == written


def test_the_newest_rows_that_a_report_covers_are_the_same_rows(installation, quiet, tmp_path):
    tides = installation.tides
    Review.objects.create(
        narrative=tides.narrative, auditor=tides.dan, rubric="followtable-1", started_at=AT
    )
    last = Judgment.objects.filter(annotator__project=installation.project).order_by("-pk")[0]
    AgreementReport.objects.create(
        project=installation.project,
        state="done",
        finished_at=AT,
        figures={"through": {**through(installation.project), "repeat": 0}},
    )
    back_up(path=tmp_path / "seen.zip", project="tides", progress=quiet)
    archive_project("tides")
    purge(slug="tides", typed="tides")
    restore(path=tmp_path / "seen.zip", progress=quiet)

    [report] = AgreementReport.objects.all()
    assert report.figures is not None
    seen = report.figures["through"]
    assert Judgment.objects.get(pk=seen["judgment"]).uuid == last.uuid
    assert Narrative.objects.latest("pk").pk == seen["narrative"]
    assert Review.objects.latest("pk").pk == seen["review"]
    assert seen["repeat"] == 0


def test_people_can_go_on_in_a_restored_project(installation, backup, quiet):
    archive_project("tides")
    purge(slug="tides", typed="tides")
    restore(path=backup, progress=quiet)

    last = Judgment.objects.latest("pk")
    ada = Membership.objects.get(project__slug="tides", name="ada")
    new = factories.query(ada.project, "999")
    judgment = factories.judgment(
        factories.altered(factories.pair(new)), factories.candidate(new), ada, 1
    )

    assert judgment.pk > last.pk


# --- what is refused ------------------------------------------------------------------------------


def test_a_restore_that_cannot_be_recorded_restores_nothing(
    installation, backup, quiet, monkeypatch
):
    archive_project("tides")
    purge(slug="tides", typed="tides")
    rows, files = all_rows(), all_files()

    def refuse(**event: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("keeping.restore.record", refuse)
    with pytest.raises(OSError, match="No space left"):
        restore(path=backup, progress=quiet)

    assert (all_rows(), all_files()) == (rows, files)


def test_a_taken_name_is_refused(installation, backup, quiet):
    rows = all_rows()

    with pytest.raises(Refused, match="A project “tides” exists already"):
        restore(path=backup, progress=quiet)

    assert all_rows() == rows


def test_a_project_that_exists_under_another_name_is_refused(installation, backup, quiet):
    rows, stored = all_rows(), all_files()

    with pytest.raises(Refused, match="This project is here already, as “tides”, and answers"):
        restore(path=backup, slug="again", progress=quiet)

    assert all_rows() == rows
    assert all_files() == stored


@pytest.mark.parametrize("slug", ["", "No", "../x", "a" * 81])
def test_an_invalid_name_is_refused(installation, backup, quiet, slug):
    with pytest.raises(Refused, match="short name"):
        restore(path=backup, slug=slug, progress=quiet)


def test_an_unknown_project_cannot_be_backed_up(db, quiet, tmp_path):
    with pytest.raises(Refused, match="There is no project “moon”"):
        back_up(path=tmp_path / "moon.zip", project="moon", progress=quiet)

    assert list(tmp_path.glob("moon*")) == []


# --- purging --------------------------------------------------------------------------------------


def test_purging_deletes_one_project_and_no_others(installation):
    others = {
        tables.label(model): set(
            model._base_manager.filter(**{path: installation.other.pk}).values_list("pk", flat=True)
        )
        for model, path in tables.tables_of_a_project()
    }
    archive_project("tides")

    done = purge(slug="tides", typed="tides")

    left = {
        tables.label(model): set(
            # Rows without a project belong to the installation.
            model._base_manager.exclude(**{path: None}).values_list("pk", flat=True)
        )
        for model, path in tables.tables_of_a_project()
    }
    assert left == others
    [audit_event] = AuditEvent.objects.filter(project=None)
    assert (audit_event.what, audit_event.about, audit_event.words) == (
        "project.purged",
        "tides",
        "Tides",
    )
    assert done.rows > 60
    assert all_files() == {}
    assert set(User.objects.values_list("username", flat=True)) == {
        *("ada", "ben", "carla", "dan", "eve")
    }


def test_the_contents_are_shown_before_purging(installation):
    archive_project("tides")

    contents = read_contents("tides")

    assert (contents.name, contents.people, contents.files) == ("Tides", 4, len(all_files()))
    assert (
        contents.judgments
        == Judgment.objects.filter(annotator__project=installation.project).count()
    )


@pytest.mark.parametrize("typed", ["", "tide", "Tides", "tides "])
def test_typing_another_name_deletes_nothing(installation, typed):
    archive_project("tides")
    rows = all_rows()

    with pytest.raises(Refused, match="Nothing was deleted"):
        purge(slug="tides", typed=typed)

    assert all_rows() == rows


def test_an_active_project_is_not_purged(installation):
    rows = all_rows()

    with pytest.raises(Refused, match=r"is not archived\. A lead can archive it"):
        purge(slug="tides", typed="tides")

    assert all_rows() == rows


def test_an_unknown_project_cannot_be_purged(db):
    with pytest.raises(Refused, match="There is no project “moon”"):
        purge(slug="moon", typed="moon")


def test_a_project_with_a_running_job_is_not_purged(installation):
    archive_project("tides")
    AgreementReport.objects.create(
        project=installation.project,
        state="running",
        claim="00000000-0000-0000-0000-000000000001",
        lease_until=AT,
        started_at=AT,
    )
    rows = all_rows()

    with pytest.raises(Refused, match="A job of this project is running"):
        purge(slug="tides", typed="tides")

    assert all_rows() == rows


def first_condition():
    return Repeat.objects.get().narrative.conditions.get(number=1).pk


def keys(verdicts):
    return [int(key) for key in verdicts]


def rename_and_renew_uuids(slug, name):
    """Turn a project into a different one: change its name and every UUID in it."""
    Project.objects.filter(slug=slug).update(slug=name)
    project = Project.objects.get(slug=name)
    with deletions_allowed():
        project.audit_events.all().delete()
    for model, path in tables.tables_of_a_project():
        if model is not AuditEvent and any(
            column.name == "uuid" for column in tables.columns(model)
        ):
            for row in model._base_manager.filter(**{path: project.pk}):
                model._base_manager.filter(pk=row.pk).update(uuid=uuid.uuid4())
