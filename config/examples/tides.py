"""The example project: made once in a new data folder, by the same actions that pages use."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.utils import timezone

from annotate.collection import intake
from annotate.collection.models import Run
from annotate.guidelines import actions as guidelines
from annotate.judging.judging_session import read_judging_session
from annotate.judgments import assignments
from annotate.judgments.models import Flag, Judgment
from annotate.loading.load import load_rows
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.people import members
from annotate.projects import actions as projects
from annotate.projects import taxonomy
from annotate.projects.kinds import KindGrade
from annotate.projects.models import Membership, Project
from audit.reports import actions as reports_actions
from audit.reviews import actions as audit
from audit.reviews.decisions import decide
from base.extras import missing_extra
from base.users import User
from config.examples.making import OWN_FILES
from exporters.evaluations import actions as evaluations
from exporters.evaluations.systems import propose_systems
from formats.records import DecisionRecord, ReviewRecord
from formats.registry import lookup

SLUG = "example"
NAME = "Tides, bees and glaciers"
DESCRIPTION = (
    "An invented collection to try things on: nine queries, ninety documents, most of them short, "
    "narratives by people and instructions as a language model might write them."
)
GRADES = (
    KindGrade(
        0, "Not relevant", "Under this narrative it does not help, however good it was before."
    ),
    KindGrade(
        1, "Relevant", "It meets the narrative, but in passing, in part, or with little to go on."
    ),
    KindGrade(2, "Highly relevant", "It meets the narrative and is about just that."),
)
LEAD = "carla"
ANNOTATORS = ("ada", "ben", "dan")
# In this order: each file comes after those that it refers to.
FILES = (
    ("topics.trec", "trec-topics"),
    ("documents.trec", "trec-docs"),
    ("tables.jsonl", "docs-jsonl"),
    ("harbours.jsonl", "docs-jsonl"),
    ("qrels.txt", "trec-qrels"),
    ("pairs.jsonl", "pairs-jsonl"),
    ("judgments.jsonl", "judgments-jsonl"),
    ("follows.original.run", "trec-run"),
    ("follows.changed.run", "trec-run"),
    ("ignores.original.run", "trec-run"),
    ("ignores.changed.run", "trec-run"),
)
# The last day in the files with dates; it becomes the day before the example is made.
LAST_DAY = date(2026, 10, 9)
WITH_DATES = ("pairs.jsonl", "judgments.jsonl", "reviews.jsonl")
_TIME = re.compile(r'(?<=": ")\d{4}-\d\d-\d\dT[\d:.]+\+00:00(?=")')


class Login(NamedTuple):
    """An account of the example; `password` is None if the account has a password of its own."""

    username: str
    password: str | None


def ensure_example() -> list[Login]:
    """Make the example project if there is none yet, and return its logins.

    It is made in one transaction. If it exists already, nothing changes, and the passwords that
    were made with it are read back from `logins.txt` in the data folder, which only its owner can
    read.
    """
    if Project.objects.filter(slug=SLUG).exists():
        return _read_logins()
    with transaction.atomic(), TemporaryDirectory() as folder:
        logins = _make_project(copy_with_recent_dates(Path(folder)))
        # Before the commit: if the commit fails, new passwords can be made; if this failed after
        # it, nobody could sign in.
        _save_logins(logins)
    return logins


def copy_with_recent_dates(folder: Path) -> Path:
    """Copy the files to a folder, with their dates moved to the last weeks."""
    shutil.copytree(OWN_FILES, folder, dirs_exist_ok=True)
    later = timezone.now().astimezone(UTC).date() - timedelta(days=1) - LAST_DAY
    for name in WITH_DATES:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        recent = _TIME.sub(lambda at: (datetime.fromisoformat(at[0]) + later).isoformat(), text)
        path.write_text(recent, encoding="utf-8")
    return folder


def _make_project(folder: Path) -> list[Login]:
    logins = [_ensure_account(LEAD)]
    user = User.objects.get(username=LEAD)
    project = projects.create_project(
        slug=SLUG, name=NAME, grades=[grade.value for grade in GRADES], by=user
    )
    lead = project.memberships.get(user=user)
    for name in ANNOTATORS:
        logins.append(_ensure_account(name))
        members.add_member(username=name, role=Membership.Role.ANNOTATOR, by=lead)
    project = projects.change_rules(
        changes={"description": DESCRIPTION, "condition_rule": Project.ConditionRule.ALL_MET},
        grades=GRADES,
        by=lead,
    )
    text = (folder / "guideline.md").read_text(encoding="utf-8")
    guidelines.write_guideline(text=text, by=lead, based_on=0)
    taxonomy.add_taxonomy(name="FollowTable", by=lead)
    for name, kind in FILES:
        _load(project, folder / name, kind)
    _add_judging_assignments(project)
    _repeat_reviews(project, folder / "reviews.jsonl")
    reports_actions.request_agreement(project=project, by=lead)
    if missing_extra("evaluation", "The evaluation"):
        return sorted(logins)
    systems = propose_systems(list(Run.objects.filter(project=project).order_by("name")))
    evaluations.request_evaluation(project=project, measured=systems, by=lead)
    return sorted(logins)


def _ensure_account(name: str) -> Login:
    """Return the account of this name; create it with a random password if there is none."""
    if User.objects.filter(username=name).exists():
        return Login(name, None)
    password = secrets.token_urlsafe(12)
    User.objects.create_user(name, password=password)
    return Login(name, password)


def _load(project: Project, path: Path, kind: str) -> None:
    file = intake.file_on_disk(str(path))._replace(name=path.name)
    report = load_rows(project=project, kind=lookup(kind), file=file)
    if report.refused:
        raise RuntimeError(f"the example project does not load: {report.problems[0]}")


def _add_judging_assignments(project: Project) -> None:
    """Give each judge the assignments in which they would have judged.

    An assignment with documents left to judge stays open.
    """
    judged = Judgment.objects.of_people().filter(annotator__project=project)
    flagged = Flag.objects.filter(annotator__project=project)
    answers = (
        *judged.values_list("narrative__pair__pk", "annotator__pk", "at"),
        *flagged.values_list("narrative__pair__pk", "annotator__pk", "at"),
    )
    for pair, member, times in _judging_sessions(answers):
        narrative = pair.narratives.filter(side=Narrative.Side.ALTERED).latest("version")
        assignment = assignments.take(
            pair=pair,
            task=Assignment.Task.JUDGE,
            by=member,
            become_blind=True,
            now=min(times),
        )
        assignments.touch(assignment, done=False, now=min(times))
        done = read_judging_session(narrative=narrative, by=member).done
        assignments.touch(assignment, done=done, now=max(times))


def _judging_sessions(
    answers: Iterable[tuple[int, int, datetime]],
) -> Iterator[tuple[InstructionPair, Membership, list[datetime]]]:
    """Group (pair, member, time) by pair and member."""
    times: dict[tuple[int, int], list[datetime]] = {}
    for pair, member, at in answers:
        times.setdefault((pair, member), []).append(at)
    for (pair, member), member_times in sorted(times.items()):
        yield (
            InstructionPair.objects.get(pk=pair),
            Membership.objects.select_related("project").get(pk=member),
            member_times,
        )


def _repeat_reviews(project: Project, path: Path) -> None:
    """Repeat the reviews and decisions of the file, at the times it gives."""
    kind = lookup("judgments-jsonl")
    with kind.open(path) as source:
        for record in kind.read(source):
            if isinstance(record, ReviewRecord):
                _submit_review(project, record)
            elif isinstance(record, DecisionRecord):
                decide(
                    narrative=_find_narrative(project, record),
                    outcome=record.outcome,
                    reason=record.reason,
                    by=project.memberships.get(name=record.by),
                    now=record.at,
                )


def _submit_review(project: Project, record: ReviewRecord) -> None:
    narrative = _find_narrative(project, record)
    auditor = project.memberships.get(name=record.auditor)
    assignments.take(
        pair=narrative.pair,
        task=Assignment.Task.REVIEW,
        by=auditor,
        become_blind=True,
        now=record.started_at,
    )
    for rating in record.ratings:
        audit.save_rating(
            narrative=narrative,
            criterion=rating.criterion,
            level=rating.level,
            words=rating.words,
            by=auditor,
            now=record.started_at,
        )
    audit.submit_review(narrative=narrative, by=auditor, now=record.at)


def _find_narrative(project: Project, record: ReviewRecord | DecisionRecord) -> Narrative:
    return Narrative.objects.select_related("pair").get(
        pair__project=project,
        pair__pair_id=record.pair_id,
        side=record.side,
        version=record.version,
    )


# --- logins ---------------------------------------------------------------------------------------


def _save_logins(logins: list[Login]) -> None:
    """Write the generated passwords to a file that only its owner can read."""
    lines = ["# account, password, hash of the account's password entry when the password was made"]
    for user in User.objects.filter(username__in=[login.username for login in logins]):
        password = dict(logins)[user.username]
        lines.append(
            f"{user.username} {password} {_password_mark(user)}" if password else user.username
        )
    path = _logins_path()
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(sorted(lines)) + "\n")
    unfinished.replace(path)


def _read_logins() -> list[Login]:
    """Read the logins back, leaving out passwords that have been changed since."""
    path = _logins_path()
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    saved = {name: rest for name, *rest in map(str.split, lines) if not name.startswith("#")}
    users = User.objects.filter(username__in=saved, is_active=True).order_by("username")
    return [
        Login(user.username, _unchanged_password(user, *saved[user.username])) for user in users
    ]


def _unchanged_password(user: User, password: str | None = None, mark: str = "") -> str | None:
    # The mark avoids the slow password check at every start.
    if password and (mark == _password_mark(user) or check_password(password, user.password)):
        return password
    return None


def _password_mark(user: User) -> str:
    return hashlib.sha256(user.password.encode()).hexdigest()[:12]


def _logins_path() -> Path:
    return Path(settings.DATA) / "logins.txt"
