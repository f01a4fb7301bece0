"""Nobody can change an archived project, by any route."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from annotate.guidelines import actions as guidelines
from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.loading import load_jobs
from annotate.models import Assignment, AuditEvent, Draft, Membership, Project
from annotate.people import invitations, members
from annotate.projects import actions as projects
from annotate.projects import taxonomy
from annotate.rewriting import actions as rewriting
from annotate.rewriting import drafts
from audit.checks import actions as checking
from audit.checks import samples
from audit.reviews import actions as auditing
from audit.reviews import decisions, rubrics
from audit.settling import adjudication, settle_many
from base.errors import Refused
from tests import factories

pytestmark = pytest.mark.both_databases

MODULES = (
    *(taxonomy, drafts, guidelines, invitations, judging, load_jobs, rejudge_requests, members),
    *(rewriting, projects, assignments, adjudication, auditing, settle_many, checking),
    *(settle_many, samples, decisions, rubrics),
)
# The functions by which an action checks; the last is for judging.
CHECKS = {"lock_project", "refuse_if_archived", "refuse_if_closed"}
# Actions that may write in an archived project, or do not write, and why.
EXEMPT = {
    "projects.archive": "puts it away",
    "projects.unarchive": "brings it back",
    "projects.create_project": "makes it",
    "members.set_named": "is a person's consent, which they may withdraw at any time",
    "drafts.end_draft": "a part of rewriting, which refuses",
    "drafts.refuse_unless_writer": "reads",
    "assignments.lock": "a part of judging, which refuses",
    "assignments.holds": "reads",
    "assignments.begin_work": "a part of rewriting, which refuses",
    "assignments.end_rewriting": "a part of rewriting, which refuses",
    "settle_many.preview": "reads",
    "checks.why_fixed": "reads",
    "invitations.check_admin": "reads",
    "invitations.invite_to_installation": "is of no project",
    "invitations.withdraw": "closes a door, and that may be done at any time",
}


def module_name(module: ModuleType) -> str:
    """Return the name of a module, or of its subject if the module is called `actions`."""
    *_, subject, name = module.__name__.split(".")
    return subject if name == "actions" else name


def actions() -> dict[str, Callable[..., Any]]:
    """Return every action of the modules: the public functions with a parameter `by`."""
    return {
        f"{module_name(module)}.{name}": function
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and "by" in inspect.signature(function).parameters
    }


def checks_archived(function: Callable[..., Any], seen: frozenset[str] = frozenset()) -> bool:
    """Return whether an action checks, itself or through others, if the project is archived."""
    code = function.__code__
    if not CHECKS.isdisjoint(code.co_names):
        return True
    near = vars(inspect.getmodule(function))
    used = [near.get(name) for name in code.co_names]
    for module in [one for one in used if one in MODULES]:
        used += [getattr(module, name, None) for name in code.co_names]
    return any(
        checks_archived(one, seen | {function.__qualname__})
        for one in used
        if inspect.isfunction(one)
        and one.__qualname__ not in seen
        and one.__module__.split(".")[0] in {"annotate", "audit"}
    )


def test_every_action_checks_whether_the_project_is_archived():
    """A new action fails here until it checks, or is listed above with a reason."""
    unchecked = {
        name
        for name, function in actions().items()
        if not checks_archived(inspect.unwrap(function))
    }

    assert unchecked == set(EXEMPT) & set(actions())
    assert set(EXEMPT) <= set(actions())


@pytest.fixture
def archived_lead(db) -> Membership:
    """carla, lead of an archived project with a taken assignment and a draft."""
    project = factories.project()
    carla = factories.lead(project)
    pair = factories.pair(factories.query(project))
    Assignment.objects.create(pair=pair, task=Assignment.Task.REWRITE, seat=1, member=carla)
    Draft.objects.create(pair=pair, side="altered", member=carla, text="Half")
    projects.archive(by=carla, now=datetime(2026, 3, 2, tzinfo=UTC))
    return Membership.objects.select_related("project").get(pk=carla.pk)


def test_an_assignment_is_not_given_back(archived_lead):
    with pytest.raises(Refused, match="archived"):
        assignments.give_back(assignment=Assignment.objects.get(), by=archived_lead)

    assert Assignment.objects.count() == 1


def test_a_draft_is_not_discarded(archived_lead, client):
    pair = Assignment.objects.get().pair
    client.force_login(archived_lead.user)

    with pytest.raises(Refused, match="archived"):
        drafts.discard_draft(pair=pair, side="altered", by=archived_lead)
    answer = client.post(f"/pairs/{pair.pk}/draft/", {"discard": "1"}, follow=True)

    assert "This project is archived." in answer.content.decode()
    assert Draft.objects.get().text == "Half"


def test_archiving_again_keeps_the_first_time_and_person(archived_lead):
    dan = factories.lead(archived_lead.project, "dan")

    projects.archive(by=dan)

    project = Project.objects.get()
    assert (project.archived_by, project.archived_at) == (
        archived_lead.user,
        datetime(2026, 3, 2, tzinfo=UTC),
    )
    assert AuditEvent.objects.filter(what="project.archived").count() == 1
