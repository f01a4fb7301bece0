"""The example project is loaded once and completely, and never changed again."""

from __future__ import annotations

import csv
import stat
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.db import transaction

from annotate.judging import actions as judging
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Condition,
    Document,
    DocumentText,
    Flag,
    Grade,
    Guideline,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Project,
    Query,
    Run,
    User,
    Verdict,
)
from annotate.pairs.pool import judged_narrative
from audit.models import AgreementReport, Decision, Rating, Review
from config.examples import tides as example
from config.examples.tides import Login, ensure_example
from tests.services.copied import Copied

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("idle_pulse")]

Task = Assignment.Task
EXAMPLE: Copied[list[Login]] = Copied("example")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any, own_storage: Path) -> Path:
    """The test's own data folder."""
    settings.DATA = tmp_path
    return tmp_path


@pytest.fixture
def logins(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Login]:
    """The example and its file of logins: made once, and copied for later tests."""
    return EXAMPLE.copy_or_make(ensure_example, tmp_path_factory, data)


@pytest.fixture
def project(logins: list[Login]) -> Project:
    return Project.objects.get(slug="example")


def member(project: Project, name: str) -> Membership:
    return project.memberships.get(name=name)


def pair(project: Project, pair_id: str) -> InstructionPair:
    return project.pairs.get(pair_id=pair_id)


def count_rows() -> dict[str, int]:
    """Return the number of rows in each table that the example fills."""
    models: tuple[type[Any], ...] = (
        *(Project, Grade, Guideline, Membership, User, Document, DocumentText, Query, Candidate),
        *(InstructionPair, Narrative, Condition, Assignment, Judgment, Verdict, Flag),
        Adjudication,
        *(Review, Rating, Decision, AgreementReport),
    )
    return {model.__name__: model.objects.count() for model in models}


def test_the_example_is_loaded_completely(project: Project) -> None:
    assert count_rows() == {
        "Project": 1,
        "Grade": 3,
        "Guideline": 1,
        "Membership": 5,
        "User": 4,
        "Document": 90,
        "DocumentText": 90,
        "Query": 9,
        "Candidate": 90,
        "InstructionPair": 15,
        "Narrative": 27,
        "Condition": 3,
        "Assignment": 20,
        "Judgment": 113,
        "Verdict": 33,
        "Flag": 2,
        "Adjudication": 2,
        "Review": 9,
        "Rating": 54,
        "Decision": 1,
        "AgreementReport": 1,
    }


def test_loading_the_example_again_changes_nothing(logins: list[Login]) -> None:
    before = (count_rows(), list(Judgment.objects.values()), list(User.objects.values("password")))

    again = ensure_example()

    assert again == logins
    assert (
        count_rows(),
        list(Judgment.objects.values()),
        list(User.objects.values("password")),
    ) == before


def test_everyone_can_sign_in_with_a_generated_password(logins: list[Login]) -> None:
    assert [login.username for login in logins] == ["ada", "ben", "carla", "dan"]
    assert len({login.password for login in logins}) == 4
    for login in logins:
        assert login.password is not None
        assert len(login.password) >= 16
        assert authenticate(username=login.username, password=login.password) is not None


def test_each_data_folder_has_other_passwords(data: Path) -> None:
    before = transaction.savepoint()
    first = ensure_example()
    # As in a new data folder; the file with the logins stays and must not matter.
    transaction.savepoint_rollback(before)

    second = ensure_example()

    assert {login.password for login in first}.isdisjoint({login.password for login in second})
    assert ensure_example() == second


def test_only_its_owner_can_read_the_file_with_the_logins(logins: list[Login], data: Path) -> None:
    path = data / "logins.txt"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_text(encoding="utf-8")
    assert all(login.password and login.password in content for login in logins)
    assert [path.name for path in data.glob("logins*")] == ["logins.txt"]


def test_a_changed_password_is_no_longer_shown(project: Project) -> None:
    ada = User.objects.get(username="ada")
    ada.set_password("one of her own")
    ada.save()

    again = dict(ensure_example())

    assert again["ada"] is None
    assert again["ben"] is not None


def test_a_rehashed_password_is_still_shown(logins: list[Login]) -> None:
    ada = User.objects.get(username="ada")
    ada.set_password(dict(logins)["ada"])
    ada.save()

    assert ensure_example() == logins


def test_no_logins_are_returned_without_the_file(project: Project, data: Path) -> None:
    (data / "logins.txt").unlink()
    before = count_rows()

    assert ensure_example() == []
    assert count_rows() == before


def test_an_existing_account_keeps_its_password() -> None:
    User.objects.create_user("carla", password="hers for a long time")
    User.objects.create_user("ben", password="his for a long time")

    logins = ensure_example()

    assert {login.username for login in logins if login.password is None} == {"ben", "carla"}
    assert authenticate(username="carla", password="hers for a long time") is not None
    assert authenticate(username="ben", password="his for a long time") is not None
    assert ensure_example() == logins


def test_loading_again_keeps_peoples_work(project: Project) -> None:
    ben = member(project, "ben")
    narrative = judged_narrative(pair(project, "904"))
    assert narrative is not None
    put_off = Flag.objects.get(annotator=ben, flag=Flag.Kind.LATER)
    made = judging.judge(narrative=narrative, candidate=put_off.candidate, relevance=2, by=ben)

    ensure_example()

    made.refresh_from_db()
    put_off.refresh_from_db()
    assert made.ended_at is None
    assert put_off.ended_at is not None
    assert Judgment.objects.count() == 114


def test_an_example_that_does_not_load_leaves_nothing_behind(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Judgments before the pairs they refer to.
    monkeypatch.setattr(example, "FILES", (*example.FILES[:5], example.FILES[6]))

    with pytest.raises(RuntimeError, match="does not load"):
        ensure_example()

    assert set(count_rows().values()) == {0}
    assert not (data / "logins.txt").exists()


def test_another_project_of_that_name_is_left_alone() -> None:
    Project.objects.create(slug="example", name="Somebody's own")

    assert ensure_example() == []
    assert Query.objects.count() == 0


def test_a_login_has_the_fields_that_the_demo_prints() -> None:
    assert Login._fields == ("username", "password")


def commands_of_the_readme() -> list[list[str]]:
    """Return the commands of the example's README for loading it by hand."""
    readme = (Path(__file__).parents[2] / "examples/tides/README.md").read_text(encoding="utf-8")
    return [line.split()[2:] for line in readme.splitlines() if line.startswith("    rejudge load")]


def test_the_commands_of_the_readme_load_the_example_into_another_project(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])

    for arguments in commands_of_the_readme():
        call_command("load", *arguments, stdout=StringIO())

    mine = Project.objects.get(slug="mine")
    for other in (mine, project):
        assert Judgment.objects.filter(annotator__project=other).count() == 113
        assert Flag.objects.filter(annotator__project=other).count() == 2
        assert Adjudication.objects.filter(by__project=other).count() == 2
        assert Rating.objects.filter(review__auditor__project=other).count() == 54
        assert Decision.objects.filter(by__project=other).count() == 1


def test_its_two_systems_have_the_measures_of_its_readme(project: Project) -> None:
    out = StringIO()

    call_command(
        "measure", "example", *Run.objects.values_list("name", flat=True), "--csv", stdout=out
    )

    found = {
        (row["system"], row["measure"]): round(float(row["value"]), 2)
        for row in csv.DictReader(StringIO(out.getvalue()))
    }
    assert (found["follows", "p-MRR"], found["ignores", "p-MRR"]) == (0.32, 0.03)
    assert (found["follows", "nDCG@10 after"], found["ignores", "nDCG@10 after"]) == (0.98, 0.65)


def test_loading_its_files_into_the_example_again_changes_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example.copy_with_recent_dates(tmp_path / "examples/tides")
    monkeypatch.chdir(tmp_path)
    before = count_rows()

    for _, kind, *rest in commands_of_the_readme():
        files = [argument for argument in rest if argument.startswith("examples/tides/")]
        call_command("load", "example", kind, *files, stdout=StringIO())

    assert count_rows() == before
