"""The project that a command works on."""

from __future__ import annotations

from django.core.management.base import CommandError

from annotate.projects.models import Project


def get_project(slug: str) -> Project:
    """Return the project with this short name; raise CommandError if there is none."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project “{slug}”.")
    return project
