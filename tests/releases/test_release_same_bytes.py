"""The export of a release always has the same bytes, whatever people do afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.core.management import call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.guidelines import actions as guidelines
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Grade,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
)
from annotate.projects import actions as projects
from annotate.projects.kinds import KindGrade
from annotate.rewriting import actions as rewriting
from audit.models import Decision, Rating
from audit.reviews import decisions
from audit.settling import adjudication
from base.errors import Refused
from exporters.exports import actions
from exporters.models import Release
from exporters.releases import actions as releasing
from exporters.releases import contents, file_store
from tests import factories
from tests.exports.conftest import Tides, make_release

pytestmark = pytest.mark.both_databases


def newest(tides: Tides) -> Narrative:
    return factories.altered(tides.pair)


def judge(tides: Tides, n: int) -> None:
    """Let ada or ben judge one of the documents again, perhaps with the same grade."""
    by = (tides.ada, tides.ben)[n % 2]
    assignments.take(pair=tides.pair, task=Assignment.Task.JUDGE, by=by)
    candidate = tides.pool[("B", "FT-9", "FT-10", "é")[n % 4]]
    judging.judge(narrative=newest(tides), candidate=candidate, relevance=n % 3, by=by)


def undo(tides: Tides, n: int) -> None:
    """Undo a judgment, which makes the superseded one current again."""
    by = (tides.ada, tides.ben)[n % 2]
    assignments.take(pair=tides.pair, task=Assignment.Task.JUDGE, by=by)
    judging.undo(narrative=newest(tides), by=by)


def flag(tides: Tides, n: int) -> None:
    assignments.take(pair=tides.pair, task=Assignment.Task.JUDGE, by=tides.ada)
    candidate = tides.pool[("B", "FT-9")[n % 2]]
    judging.flag(narrative=newest(tides), candidate=candidate, kind="later", by=tides.ada)


def settle(tides: Tides, n: int) -> None:
    adjudication.adjudicate(
        narrative=newest(tides),
        candidate=tides.pool["FT-9"],
        relevance=n % 3,
        reason="It says so.",
        cause="error",
        by=tides.carla,
    )


def unsettle(tides: Tides, n: int) -> None:
    standing = Adjudication.objects.current().order_by("pk").first()
    if standing is not None:
        adjudication.withdraw_adjudication(adjudication=standing, by=tides.carla)


def rewrite(tides: Tides, n: int) -> None:
    rewriting.rewrite_narrative(
        pair=tides.pair,
        text=f"Only plants at sea, number {n}.",
        by=tides.carla,
        based_on=newest(tides).version,
    )


def send_back(tides: Tides, n: int) -> None:
    rewriting.send_back(pair=tides.pair, by=tides.carla)


def remove_or_bring_back(tides: Tides, n: int) -> None:
    pair = InstructionPair.objects.get(pair_id="302")
    if pair.removed_at is None:
        rewriting.remove(pair=pair, by=tides.carla)
    else:
        rewriting.undo_decision(pair=pair, by=tides.carla)


def withdraw_decision(tides: Tides, n: int) -> None:
    standing = Decision.objects.current().order_by("pk").first()
    if standing is not None:
        decisions.withdraw_decision(decision=standing, by=tides.carla)


def rename(tides: Tides, n: int) -> None:
    Membership.objects.filter(pk=tides.ada.pk).update(name=f"ada {n}")


def change_rules(tides: Tides, n: int) -> None:
    grades = [
        KindGrade(grade.value, f"{grade.name}, {n}", "")
        for grade in Grade.objects.filter(project=tides.project).order_by("value")
    ]
    tides.carla.project.refresh_from_db()
    change: dict[str, object] = {
        "consensus": ("majority", "unanimous")[n % 2],
        "name": f"Tides {n}",
    }
    projects.change_rules(changes=change, grades=grades, by=tides.carla)


def write_guidelines(tides: Tides, n: int) -> None:
    based_on = tides.project.guidelines.count()
    guidelines.write_guideline(text=f"Read {n} times.", by=tides.carla, based_on=based_on)


def load(tides: Tides, n: int) -> None:
    """Load an earlier relevance for a document without one, and a new document."""
    with TemporaryDirectory() as folder:
        qrels = Path(folder, "qrels.txt")
        qrels.write_text(f"301 0 Z 2\n301 0 new-{n} 1\n")
        call_command("load", "tides", "trec-qrels", str(qrels), stdout=StringIO())


def release_again(tides: Tides, n: int) -> None:
    make_release(tides, f"again-{n}")


def write_rows(tides: Tides, n: int) -> None:
    """Overwrite every row of people's judgments and narratives, which no page can do."""
    Judgment.objects.update(relevance=n % 3, note="Otherwise.")
    Narrative.objects.update(text="Otherwise.")
    Rating.objects.update(words="Otherwise.")
    Candidate.objects.update(prior_relevance=n % 3, origin=Candidate.Origin.PRIOR)


CHANGING: list[Callable[[Tides, int], None]] = [
    *(judge, undo, flag, settle, unsettle, rewrite, send_back, remove_or_bring_back),
    *(withdraw_decision, rename, change_rules, load, write_rows),
]
STEPS = [*CHANGING, write_guidelines, release_again]


def kept_files(release: Release) -> dict[str, bytes]:
    """Return every file of a release as it would be sent now, after its check."""
    found = {}
    for name, entry in contents.files(Release.objects.get(pk=release.pk)).items():
        with file_store.open_checked(release.project_id, entry) as stream:
            found[name] = stream.read()
    return found


def exported_files(release: Release) -> dict[str, bytes]:
    """Return the files that `export --release` would write now."""
    found: dict[str, bytes] = {}
    for format_name in actions.FORMATS:
        with TemporaryDirectory() as folder:
            releasing.copy_format(Release.objects.get(pk=release.pk), format_name, Path(folder))
            found |= {
                f"{format_name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
                for path in Path(folder).rglob("*")
                if path.is_file()
            }
    return found


def digest_of_export(tides: Tides) -> str:
    """Return a digest of what would be exported now."""
    whole = hashlib.sha256()
    for format_name in actions.FORMATS:
        with TemporaryDirectory() as folder:
            actions.write(tides.project, format_name, Path(folder))
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    whole.update(path.read_bytes())
    return whole.hexdigest()


@pytest.mark.parametrize("step", CHANGING, ids=lambda step: step.__name__)
def test_later_changes_alter_the_next_export_but_never_the_release(tides, published, step):
    # There is a judgment that can be undone or settled.
    judge(tides, 3)
    release = make_release(tides, "v1.0")
    files, exported = kept_files(release), digest_of_export(tides)

    step(tides, 1)

    assert digest_of_export(tides) != exported
    assert kept_files(release) == files
    assert releasing.verify(release).faults == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 11)), min_size=1, max_size=10))
def test_a_release_keeps_its_bytes_whatever_people_do_afterwards(scene, steps):
    tides, release = scene.tides, scene.release

    with transaction.atomic():
        for step, n in steps:
            # A step that is not possible now is refused, but people may try it.
            with suppress(Refused), transaction.atomic():
                step(tides, n)

        assert kept_files(release) == scene.files
        assert exported_files(release) == scene.given_out
        transaction.set_rollback(True)
    tides.carla.refresh_from_db()


class Scene:
    """A release, and its files at the time when it was made."""

    def __init__(self, tides: Tides) -> None:
        # Both have the assignment, and there are judgments that can be undone.
        judge(tides, 2)
        judge(tides, 3)
        self.tides, self.release = tides, make_release(tides, "v1.0")
        self.files, self.given_out = kept_files(self.release), exported_files(self.release)


@pytest.fixture
def scene(tides, published):
    return Scene(tides)


def test_a_newer_version_of_rejudge_returns_the_same_bytes(scene, settings, monkeypatch):
    release, files = scene.release, scene.files
    settings.VERSION = "99.0"
    monkeypatch.setattr(
        "exporters.exports.layouts.paired_qrels.write_row",
        lambda stream, *fields: stream.write(b"new\n"),
    )
    monkeypatch.setattr("exporters.exports.manifest.manifest.VERSION", 99)

    assert kept_files(release) == files
    assert exported_files(release) == scene.given_out
    assert b"99.0" not in files["release.json"]
    assert (
        kept_files(make_release(scene.tides, "v2.0"))["trec/pairs.tsv"] != files["trec/pairs.tsv"]
    )


def test_the_same_rows_released_twice_give_the_same_files(tides):
    first, second = kept_files(make_release(tides, "v1.0")), kept_files(make_release(tides, "v1.1"))

    assert {name for name in first if first[name] != second[name]} == {"release.json"}
