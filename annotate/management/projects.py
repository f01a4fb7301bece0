"""The project that a command is about."""

from __future__ import annotations

from django.core.management.base import CommandError

from annotate.projects.models import Project


def project_called(slug: str) -> Project:
    """Return the project of a short name; CommandError where there is none."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project called {slug!r}.")
    return project
