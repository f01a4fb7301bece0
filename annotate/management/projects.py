"""The project that a command works on."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import CommandError

from annotate.projects.models import Project


def get_project(slug: str) -> Project:
    """Return the project with this short name; raise CommandError if there is none."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        slugs = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True))
        remedy = (
            f"Choose one of: {slugs}."
            if slugs
            else f"Make it: {settings.COMMAND} load {slug} FORMAT FILE --create"
        )
        raise CommandError(f"There is no project “{slug}”. {remedy}")
    return project
