"""Making an example project: its people, then each line of its script by the pages' actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotate.people import members
from annotate.projects import actions as projects
from annotate.projects.kinds import KindGrade
from annotate.projects.models import Membership, Project
from base.errors import Refused
from base.users import User
from config.kind_examples import auditing, leading, writing
from config.kind_examples.files import Example, Line, kinds_with_examples, read_example, read_script
from config.kind_examples.stage import Stage

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


ACTIONS: Mapping[str, Callable[..., None]] = {
    "load": leading.load,
    "write_guideline": leading.write_guideline,
    "draw_topics": leading.draw_topics,
    "remove_queries": leading.remove_queries,
    "remove_pairs": leading.remove_pairs,
    "remove_documents": leading.remove_documents,
    "rewrite": writing.rewrite,
    "draft": writing.draft,
    "judge": writing.judge,
    "adjudicate": writing.adjudicate,
    "settle_condition": writing.settle_condition,
    "review": auditing.review,
    "draw_for_review": auditing.draw_for_review,
    "decide": auditing.decide,
    "draw_sample": auditing.draw_sample,
    "pick_suspects": auditing.pick_suspects,
    "check": auditing.check,
    "settle_check": auditing.settle_check,
    "make_pool": leading.make_pool,
    "hard_negatives": leading.hard_negatives,
    "measure": leading.measure,
    "report_agreement": leading.report_agreement,
    "publish": leading.publish,
    "export": leading.export,
    "release": leading.release,
}
