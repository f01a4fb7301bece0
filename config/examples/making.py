"""Making an example project: its files, its people, then each line of its script.

An example is a folder `examples/<kind>/` with `example.json` (`Example`) and `script.jsonl`, which
has one line for each action, in order. docs/kinds.md describes the lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.people import members
from annotate.projects import actions as projects
from annotate.projects.kinds import KINDS, KindGrade
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.users import User
from config.examples.actions import ACTIONS, Stage

FOLDER = Path(__file__).parents[2] / "examples"
# The files of the example project, which follows no kind (`config.examples.tides`).
OWN_FILES = FOLDER / "tides"
SCRIPT, ABOUT = "script.jsonl", "example.json"


@dataclass(frozen=True)
class Example:
    """An example, as `example.json` describes it.

    `lead` and `people` are names in the script; `raters` never sign in, not even in the demo.
    """

    kind: str
    name: str
    description: str
    lead: str
    people: tuple[str, ...]
    raters: tuple[str, ...]
    folder: Path

    api_fields = ("kind", "name", "description")


class Line(NamedTuple):
    """One line of a script: `did` names an action of `config.examples.actions.ACTIONS`.

    The action happened `days` days before the example is made, at the time `clock` (UTC).
    """

    number: int
    did: str
    by: str
    days: int
    clock: time
    fields: Mapping[str, Any]

    def at(self, made_at: datetime) -> datetime:
        """Return the time of the line in an example that is made at `made_at`."""
        day = made_at.astimezone(UTC).date() - timedelta(days=self.days)
        return datetime.combine(day, self.clock, UTC)


def kinds_with_examples() -> list[str]:
    """Return the kinds that have an example, in the order of `KINDS`."""
    return [kind for kind in KINDS if (FOLDER / kind / ABOUT).exists()]


def read_example(kind: str) -> Example:
    """Read the example of a kind. Raise KeyError if the kind has none."""
    if kind not in kinds_with_examples():
        raise KeyError(kind)
    description = json.loads((FOLDER / kind / ABOUT).read_text(encoding="utf-8"))
    people, raters = (tuple(description.pop(name)) for name in ("people", "raters"))
    return Example(kind=kind, people=people, raters=raters, folder=FOLDER / kind, **description)


def read_examples() -> list[Example]:
    """Read the examples of all kinds that have one."""
    return [read_example(kind) for kind in kinds_with_examples()]


def read_script(example: Example) -> Iterator[Line]:
    """Read the lines of an example's script."""
    text = (example.folder / SCRIPT).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        fields = json.loads(line)
        days, clock = fields.pop("at").split(" days before, ")
        yield Line(
            number=number,
            did=fields.pop("did"),
            by=fields.pop("by", example.lead),
            days=int(days),
            clock=time.fromisoformat(clock),
            fields=fields,
        )


# How long before the first line of its script a project is created.
BEFORE_THE_SCRIPT = timedelta(minutes=20)


def ensure_example_of(kind: str, *, by: User, now: datetime | None = None) -> Project:
    """Return the example of a kind under its default short name; make it if it does not exist.

    People in its script become members with the accounts of the same names, if those exist.
    """
    slug = own_slug(kind)
    project = Project.objects.filter(slug=slug).first()
    return project or make_example(kind=kind, slug=slug, by=by, with_accounts=True, now=now)


def make_example(
    *,
    kind: str,
    by: User,
    slug: str = "",
    with_accounts: bool = False,
    now: datetime | None = None,
) -> Project:
    """Make the example project of a kind in one transaction; `by` leads it.

    `slug`: a free one by default. `with_accounts`: accounts with the names in the script become
    members; without it, the people in the script are raters without an account, and nobody else
    can open the project. Refused: a kind without an example, a short name that is taken.
    """
    try:
        example = read_example(kind)
    except KeyError:
        raise Refused(
            f"There is no example of the kind “{kind}”. Kinds with an example: "
            f"{', '.join(kinds_with_examples())}."
        ) from None
    now = now or timezone.now()
    script = list(read_script(example))
    with transaction.atomic():
        created_at = script[0].at(now) - BEFORE_THE_SCRIPT
        project = projects.create_project(
            slug=slug or projects.free_slug(own_slug(kind)),
            name=example.name,
            kind=kind,
            by=by,
            now=created_at,
        )
        lead = project.memberships.select_related("project", "user").get(user=by)
        project = projects.change_rules(
            changes={"description": example.description},
            grades=[
                KindGrade(grade.value, grade.name, grade.sentence)
                for grade in project.grades.order_by("value")
            ],
            by=lead,
            now=created_at,
        )
        people = _add_people(example, lead, with_accounts=with_accounts, now=created_at)
        stage = Stage(project, example.folder, {example.lead: lead} | people)
        for line in script:
            perform(stage, line, now)
    return project


def own_slug(kind: str) -> str:
    """Return the short name of the first example of a kind."""
    return f"example-{kind}"


def _add_people(
    example: Example, lead: Membership, *, with_accounts: bool, now: datetime
) -> dict[str, Membership]:
    """Add the people of a script and return their memberships by name."""
    people = {}
    for name in (*example.people, *example.raters):
        user = User.objects.filter(username=name, is_active=True).first()
        if with_accounts and user is not None and name in example.people and user != lead.user:
            role = Membership.Role.ANNOTATOR
            people[name] = members.add_member(username=name, role=role, by=lead, now=now)
        elif name != lead.name:
            people[name] = members.add_rater(name=name, by=lead, now=now)
        else:
            # The person who makes the example has the same name as someone in it.
            people[name] = members.add_rater(name=f"{name}-2", by=lead, now=now)
    return people


def perform(stage: Stage, line: Line, made_at: datetime) -> None:
    """Perform the action of a line. Raise RuntimeError that names the line if it fails."""
    stage.by, stage.now = stage.people[line.by], line.at(made_at)
    try:
        ACTIONS[line.did](stage, **line.fields)
    except Exception as error:
        where = f"{stage.folder.name}/script.jsonl, line {line.number} ({line.did})"
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error
