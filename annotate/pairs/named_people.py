"""Who takes the tasks of a query: the people whom a lead named, or everybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotate.collection.models import Query
from annotate.pairs.models import Assignment, NamedPerson
from annotate.people.members import check_lead
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused

Task = Assignment.Task


def open_to(task: str, member: int) -> Q:
    """Keep the pairs whose query names `member` for the task, or nobody who is still here."""
    named = NamedPerson.objects.filter(
        task=task, query=OuterRef("query_id"), member__left_at__isnull=True
    )
    return ~Exists(named) | Q(Exists(named.filter(member__in=[member])))


def people_to_name(project: Project) -> QuerySet[Membership]:
    """Return who can be named: people of the project who sign in, by name."""
    found = project.memberships.active().people().filter(user__isnull=False)
    return found.order_by("name")


def named_people(query: Query) -> dict[str, set[int]]:
    """Return the members named for each task of a query, by their keys."""
    found: dict[str, set[int]] = {task.value: set() for task in Task}
    for task, member in query.named_people.values_list("task", "member_id"):
        found[task].add(member)
    return found


def name_people(*, query: Query, people: Mapping[str, Iterable[int]], by: Membership) -> bool:
    """Name the members (by their keys) who take each task of a query; a task without any is open to
    everybody. Return whether anything changed.

    Tasks that somebody else holds already stay theirs.
    """
    check_lead(by)
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        if query.project_id != project.pk:
            raise Refused(_("There is no such query in this project."))
        names = dict(people_to_name(project).values_list("pk", "name"))
        before = named_people(query)
        after = {task: set(people.get(task, ())) for task in before}
        if unknown := set().union(*after.values()) - set(names) - set().union(*before.values()):
            raise Refused(
                _("There is no such member in this project: %(keys)s.")
                % {"keys": ", ".join(map(str, sorted(unknown)))}
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
