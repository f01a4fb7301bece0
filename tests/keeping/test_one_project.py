"""One project is backed up to one file and restored into any installation, beside others too."""

from __future__ import annotations

import uuid
import zipfile

import pytest
from django.apps import apps
from django.contrib.auth import authenticate

from annotate.models import AuditEvent, Draft, Judgment, Membership, Project, Repeat, User
from audit.models import AgreementReport, Check
from base.append_only import deletions_allowed
from base.errors import Refused
from exporters.models import Release
from exporters.releases import actions as releasing
from keeping import files, tables
from keeping.backup import back_up
from keeping.purge import held, purge
from keeping.restore import restore
from tests import factories
from tests.exports.conftest import AT
from tests.keeping.conftest import every_file, every_row, exported

pytestmark = pytest.mark.both_databases


@pytest.fixture
def backup(house, quiet, tmp_path):
    path = tmp_path / "tides.zip"
    back_up(path=path, project="tides", progress=quiet)
    return path


def archived(slug):
    Project.objects.filter(slug=slug).update(
        archived_at=AT, archived_by=User.objects.get(username="carla")
    )


def test_a_project_comes_into_an_empty_installation_with_its_keys(
    house, backup, move_house, quiet, tmp_path
):
    written, rows, stored = exported("tides", tmp_path), every_row(), every_file()
    move_house()

    back = restore(path=backup, progress=quiet)

    assert exported("tides", tmp_path) == written
    assert every_file() == stored
    now = every_row()
    of_the_project = set(tables.paths(apps)) - {"annotate.project"}
    eves = {"other"}
    assert {slug for _, slug, *_ in now["annotate.project"]}.isdisjoint(eves)
    for table in of_the_project:
        # People have other keys; everything else is unchanged.
        assert len(now[table]) <= len(rows[table])
    assert now["annotate.candidate"] == [
        row for row in rows["annotate.candidate"] if row in now["annotate.candidate"]
    ]
    assert (back.project, back.found) == ("tides", [])


def test_who_has_no_account_here_gets_one_without_a_password(house, backup, move_house, quiet):
    User.objects.filter(username="carla").update(is_superuser=True)
    move_house()
    factories.user("ben")

    back = restore(path=backup, progress=quiet)

    assert (back.found, back.made) == (["ben"], ["ada", "carla", "dan"])
    assert not User.objects.get(username="carla").has_usable_password()
    assert not User.objects.get(username="carla").is_superuser
    assert authenticate(username="ben", password=factories.PASSWORD) is not None
    ben = Membership.objects.get(name="ben")
    assert ben.user == User.objects.get(username="ben")


def test_a_backup_of_a_project_holds_nobody_elses_and_no_passwords(house, backup):
    eve, ada = User.objects.get(username="eve"), User.objects.get(username="ada")

    with zipfile.ZipFile(backup) as found:
        everything = b"".join(found.read(name) for name in found.namelist())

    assert b'"eve"' not in everything
    assert b"Another text." not in everything
    assert ada.password.encode() not in everything
    assert eve.password.encode() not in everything


def test_a_project_comes_in_beside_others_and_exports_the_same_bytes(
    house, backup, quiet, tmp_path
):
    written = exported("tides", tmp_path)
    # Every key of the backup is taken here, by rows that now belong to another project.
    old = {"project": house.project.pk, "condition": first_condition()}
    become_another("tides", "occupied")
    before = every_row()

    restore(path=backup, progress=quiet)

    assert exported("tides", tmp_path) == written
    came = Project.objects.get(slug="tides")
    assert came.pk != old["project"]
    after = every_row()
    for table, rows in before.items():
        assert [row for row in after[table] if row in rows] == rows
    # Keys inside JSON also refer to rows of this project.
    [repeat] = Repeat.objects.filter(annotator__project=came)
    assert keys(repeat.verdicts) == [repeat.narrative.conditions.get(number=1).pk]
    [check] = Check.objects.filter(checker__project=came)
    assert keys(check.verdicts) == [check.item.narrative.conditions.get(number=2).pk]
    [draft] = Draft.objects.filter(member__project=came)
    ids = dict(draft.pair.query.candidates.values_list("pk", "document__doc_id"))
    assert [ids[key] for key in draft.drops] == ["B"]
    assert [ids[key] for key in draft.overtaken[0]["drops"]] == ["a"]
    assert keys(repeat.verdicts) != [old["condition"]]


def test_its_files_lie_where_its_new_key_is(house, backup, quiet, tmp_path):
    old = house.project.pk
    archived("tides")
    purge(slug="tides", typed="tides")

    restore(path=backup, progress=quiet)

    came = Project.objects.get(slug="tides")
    assert came.pk > old
    assert files.named_by_rows(came.pk) == sorted(every_file())
    assert {name.split("/")[1] for name in every_file()} == {str(came.pk)}
    assert releasing.verify(Release.objects.get(project=came)).faults == []


def test_a_project_that_was_purged_comes_back_the_same(house, backup, quiet, tmp_path):
    written = exported("tides", tmp_path)
    archived("tides")
    purge(slug="tides", typed="tides")
    Project.objects.filter(slug="other").update(slug="tides")

    restore(path=backup, slug="tides-2", progress=quiet)

    again = exported("tides-2", tmp_path)
    assert again.keys() == written.keys()
    renamed = {name: data.replace(b'"tides-2"', b'"tides"') for name, data in again.items()}
    assert renamed == written


def test_the_newest_rows_a_report_has_seen_are_the_same_rows(house, quiet, tmp_path):
    last = Judgment.objects.filter(annotator__project=house.project).order_by("-pk")[0]
    AgreementReport.objects.create(
        project=house.project,
        state="done",
        finished_at=AT,
        figures={"through": {"judgment": last.pk, "narrative": 0, "repeat": 0}},
    )
    back_up(path=tmp_path / "seen.zip", project="tides", progress=quiet)
    archived("tides")
    purge(slug="tides", typed="tides")
    restore(path=tmp_path / "seen.zip", progress=quiet)

    [report] = AgreementReport.objects.all()
    assert report.figures is not None
    seen = report.figures["through"]
    assert Judgment.objects.get(pk=seen["judgment"]).uuid == last.uuid
    assert (seen["narrative"], seen["repeat"]) == (0, 0)


def test_people_go_on_in_a_project_that_came_back(house, backup, quiet):
    archived("tides")
    purge(slug="tides", typed="tides")
    restore(path=backup, progress=quiet)

    last = Judgment.objects.latest("pk")
    ada = Membership.objects.get(project__slug="tides", name="ada")
    new = factories.query(ada.project, "999")
    said = factories.judgment(
        factories.altered(factories.pair(new)), factories.candidate(new), ada, 1
    )

    assert said.pk > last.pk


# --- what is refused ------------------------------------------------------------------------------


def test_a_name_that_is_taken_asks_for_another(house, backup, quiet):
    rows = every_row()

    with pytest.raises(Refused, match="A project “tides” exists already"):
        restore(path=backup, progress=quiet)

    assert every_row() == rows


def test_a_project_that_is_here_under_another_name_is_not_doubled(house, backup, quiet):
    rows, stored = every_row(), every_file()

    with pytest.raises(Refused, match="under another short name"):
        restore(path=backup, slug="again", progress=quiet)

    assert every_row() == rows
    assert every_file() == stored


@pytest.mark.parametrize("slug", ["", "No", "../x", "a" * 81])
def test_a_name_that_is_none_is_refused(house, backup, quiet, slug):
    with pytest.raises(Refused, match="short name"):
        restore(path=backup, slug=slug, progress=quiet)


def test_there_is_no_backup_of_a_project_that_is_not_there(db, quiet, tmp_path):
    with pytest.raises(Refused, match="There is no project “moon”"):
        back_up(path=tmp_path / "moon.zip", project="moon", progress=quiet)

    assert list(tmp_path.glob("moon*")) == []


# --- purging --------------------------------------------------------------------------------------


def test_purging_takes_one_project_and_leaves_all_others(house):
    others = {
        tables.label(model): set(
            model._base_manager.filter(**{path: house.other.pk}).values_list("pk", flat=True)
        )
        for model, path in tables.tables_of_a_project(apps)
    }
    archived("tides")

    done = purge(slug="tides", typed="tides")

    left = {
        tables.label(model): set(
            # Rows without a project belong to the installation.
            model._base_manager.exclude(**{path: None}).values_list("pk", flat=True)
        )
        for model, path in tables.tables_of_a_project(apps)
    }
    assert left == others
    [audit_event] = AuditEvent.objects.filter(project=None)
    assert (audit_event.what, audit_event.about, audit_event.words) == (
        "project.purged",
        "tides",
        "Tides",
    )
    assert done.rows > 60
    assert every_file() == {}
    assert set(User.objects.values_list("username", flat=True)) == {
        *("ada", "ben", "carla", "dan", "eve")
    }


def test_what_is_held_is_said_before(house):
    archived("tides")

    said = held("tides")

    assert (said.name, said.people, said.files) == ("Tides", 4, len(every_file()))
    assert said.judgments == Judgment.objects.filter(annotator__project=house.project).count()


@pytest.mark.parametrize("typed", ["", "tide", "Tides", "tides "])
def test_whoever_types_another_name_deletes_nothing(house, typed):
    archived("tides")
    rows = every_row()

    with pytest.raises(Refused, match="Nothing was deleted"):
        purge(slug="tides", typed=typed)

    assert every_row() == rows


def test_a_project_in_use_is_not_purged(house):
    rows = every_row()

    with pytest.raises(Refused, match=r"is not archived\. A lead can archive it"):
        purge(slug="tides", typed="tides")

    assert every_row() == rows


def test_a_project_that_is_not_there_is_not_purged(db):
    with pytest.raises(Refused, match="There is no project “moon”"):
        purge(slug="moon", typed="moon")


def test_while_a_job_runs_nothing_is_purged(house):
    archived("tides")
    AgreementReport.objects.create(
        project=house.project,
        state="running",
        claim="00000000-0000-0000-0000-000000000001",
        lease_until=AT,
        started_at=AT,
    )
    rows = every_row()

    with pytest.raises(Refused, match="A job of this project is running"):
        purge(slug="tides", typed="tides")

    assert every_row() == rows


def first_condition():
    return Repeat.objects.get().narrative.conditions.get(number=1).pk


def keys(verdicts):
    return [int(key) for key in verdicts]


def become_another(slug, name):
    """Turn a project into a different one: change its name and every UUID in it."""
    Project.objects.filter(slug=slug).update(slug=name)
    project = Project.objects.get(slug=name)
    with deletions_allowed():
        project.audit_events.all().delete()
    for model, path in tables.tables_of_a_project(apps):
        if model is not AuditEvent and any(
            column.name == "uuid" for column in tables.columns(model)
        ):
            for row in model._base_manager.filter(**{path: project.pk}):
                model._base_manager.filter(pk=row.pk).update(uuid=uuid.uuid4())
