"""Making projects."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotate.projects.audit_log import record
from annotate.projects.models import Grade, Link, Membership, Project
from base.append_only import thawed
from base.errors import Refused
from base.users import User

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

# What the usual scales call their grades; a lead gives them sentences and other names.
NAMES = {
    2: ("Not relevant", "Relevant"),
    3: ("Not relevant", "Relevant", "Highly relevant"),
    4: ("Not relevant", "Marginally relevant", "Relevant", "Highly relevant"),
}


def create_project(
    *, slug: str, grades: Sequence[int], name: str = "", by: User | None = None
) -> Project:
    """Make a project with its grades; `by`, if anyone, leads it.

    Refused: a short name that is taken or has other characters than small letters, digits, hyphens
    and underscores; fewer than two grades, or one of them twice.
    """
    if not SLUG.fullmatch(slug):
        raise Refused(
            _(
                "“%(slug)s” cannot be a project's short name: use small letters, digits and "
                "hyphens, beginning with a letter or digit, at most 80."
            )
            % {"slug": slug}
        )
    if len(grades) < 2 or len(set(grades)) != len(grades):
        raise Refused(_("A project needs at least two different grades, such as 0 and 1."))
    values = sorted(grades)
    names = NAMES.get(len(values), ()) if values[0] == 0 else ()
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name or slug)
            Grade.objects.bulk_create(
                Grade(
                    project=project,
                    value=value,
                    name=names[place] if names else f"Grade {value}",
                )
                for place, value in enumerate(values)
            )
            if by is not None:
                Membership.objects.create(
                    project=project, user=by, name=by.get_username(), role=Membership.Role.LEAD
                )
            record(project=project, what="project.made", about=project, by=by)
    except IntegrityError as error:
        raise Refused(
            _("There is a project “%(slug)s” already. Choose another short name.") % {"slug": slug}
        ) from error
    return project


def unmake_project(*, project: Project) -> None:
    """Take a project back that was made a moment ago and holds nothing: as if it had never been,
    in the audit log as well. What holds anything is a ProtectedError, and stays.
    """
    with thawed():
        project.audit_events.all().delete()
        Link.objects.filter(project=project, kind="deed").delete()
        project.delete()
