"""Changing how a project is published: texts, licence, creators, layouts of releases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from exporters.exports.actions import LAYOUTS
from exporters.exports.models import Publication

FIELDS = (
    "texts",
    "licence",
    "languages",
    "creators",
    "publisher",
    "year",
    "description",
    "citation",
    "instructions_in_queries",
    "layouts",
)
# As MTEB names a language: three letters, a hyphen, the script.
LANGUAGE = re.compile(r"[a-z]{3}-[A-Z][a-z]{3}")
FIRST_YEAR, LAST_YEAR = 1900, 2200


def publication_of(project: Project) -> Publication:
    """Return the publication settings of a project; those of a new one are not saved yet."""
    found = Publication.objects.filter(project=project).first()
    return found or Publication(project=project)


def set_publication(
    *,
    project: Project,
    changes: Mapping[str, Any],
    by: Membership | None,
    now: datetime | None = None,
) -> Publication:
    """Change fields of a project's publication settings and return them.

    Refused: who does not lead, an archived project, texts without a licence, an unknown layout, a
    language that is not written as eng-Latn, a year that is none.
    """
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project can change how it is published."))
    unknown = sorted(set(changes) - set(FIELDS))
    if unknown:
        raise ValueError(f"no field of a publication: {', '.join(unknown)}")
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        refuse_if_archived(locked)
        publication = publication_of(locked)
        before = {name: getattr(publication, name) for name in FIELDS}
        for name, value in changes.items():
            setattr(publication, name, _trimmed(value))
        _check(publication)
        after = {name: getattr(publication, name) for name in FIELDS}
        if before == after:
            return publication
        publication.save()
        record(
            project=locked,
            what="publication.changed",
            about=locked,
            by=by,
            changes={name: (before[name], after[name]) for name in FIELDS},
            now=now,
        )
    return publication


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _check(publication: Publication) -> None:
    if publication.texts and not publication.licence:
        raise Refused(_("Texts are published under a licence. Name it, as in CC-BY-4.0."))
    for language in publication.languages.split():
        if not LANGUAGE.fullmatch(language):
            raise Refused(
                _(
                    "“%(language)s” is no language. Write its three letters and its script, as in "
                    "eng-Latn, with blanks between several."
                )
                % {"language": language}
            )
    if publication.year is not None and not FIRST_YEAR <= publication.year <= LAST_YEAR:
        raise Refused(
            _("A year lies between %(first)d and %(last)d.")
            % {"first": FIRST_YEAR, "last": LAST_YEAR}
        )
    for layout in publication.layouts:
        if layout not in LAYOUTS:
            raise Refused(
                _("“%(layout)s” is no layout. Known are: %(known)s.")
                % {"layout": layout, "known": ", ".join(LAYOUTS)}
            )
