"""Who may take the tasks of a query (the people whom a lead named, or everybody), and when."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from django.db import transaction
from django.db.models import Q, QuerySet

from annotate.collection.models import Query
from annotate.pairs.models import Assignment, NamedPerson
from annotate.people.members import check_lead
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from annotate.projects.taxonomy import OVERTAKEN
from base.errors import Refused, Stale, state_token

Task = Assignment.Task


def pairs_open_to(task: str, members: Collection[Membership]) -> Q:
    """Return a filter for pairs whose query names one of these members for the task, or nobody who
    can sign in to the project.
    """
    named = NamedPerson.objects.filter(task=task)
    able = named.filter(member__in=Membership.objects.who_can_sign_in())
    mine = named.filter(member__in=[member.pk for member in members])
    return ~Q(query__in=able.values("query")) | Q(query__in=mine.values("query"))


def people_to_name(project: Project) -> QuerySet[Membership]:
    """Return the people who can be named: members of the project who can sign in, by name."""
    return project.memberships.who_can_sign_in().order_by("name")


def named_people(query: Query) -> dict[str, set[int]]:
    """Return the keys of the members named for each task of a query."""
    members: dict[str, set[int]] = {task.value: set() for task in Task}
    for task, member in query.named_people.values_list("task", "member_id"):
        members[task].add(member)
    return members


def people_token(named: Mapping[str, set[int]]) -> str:
    """Return a token of the members named for each task, which differs once they have changed."""
    return state_token({task: sorted(keys) for task, keys in named.items()})


def name_people(
    *, query: Query, people: Mapping[str, Iterable[int]], token: str = "", by: Membership
) -> bool:
    """Name the members (by key) who may take each task of a query; return whether anything changed.

    A task for which nobody is named is open to everybody. Existing assignments are not affected.
    Stale: `token` is that of others (`people_token`).
    """
    with transaction.atomic():
        project = lock_project(by.project_id, by)
        if query.project_id != project.pk:
            raise Refused("There is no such query in this project.")
        names = dict(people_to_name(project).values_list("pk", "name"))
        before = named_people(query)
        if token and token != people_token(before):
            raise Stale(OVERTAKEN)
        after = {task: set(people.get(task, ())) for task in before}
        if unknown := set().union(*after.values()) - set(names) - set().union(*before.values()):
            raise Refused(
                f"There is no such member in this project: {', '.join(map(str, sorted(unknown)))}."
            )
        if before == after:
            return False
        for task, keys in after.items():
            query.named_people.filter(task=task).exclude(member__in=keys).delete()
            NamedPerson.objects.bulk_create(
                NamedPerson(query=query, task=task, member_id=key)
                for key in sorted(keys - before[task])
            )
        names |= dict(project.memberships.values_list("pk", "name"))
        changes = {
            task: (
                sorted(names[key] for key in before[task]),
                sorted(names[key] for key in after[task]),
            )
            for task in before
        }
        record(project=project, what="query.people", about=query, changes=changes, by=by)
    return True


def set_urgent(*, query: Query, urgent: bool, by: Membership) -> None:
    """Hand the tasks of a query out before those of other queries, or no longer."""
    check_lead(by)
    with transaction.atomic():
        locked = Query.objects.select_for_update(no_key=True).get(
            pk=query.pk, project=by.project_id
        )
        if locked.is_urgent != urgent:
            changes = {"urgent": (locked.is_urgent, urgent)}
            locked.is_urgent = urgent
            locked.save(update_fields=["is_urgent"])
            record(project=by.project, what="query.urgent", about=locked, changes=changes, by=by)
    query.is_urgent = urgent
