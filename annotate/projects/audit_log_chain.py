"""What of the trail goes into its chain."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.utils.translation import gettext as _

from annotate.projects.chain import Content, Kind, Row, moment
from annotate.projects.models import Deed, Project

KIND = "deed"


def content(deed: Deed) -> Content:
    """All that a deed says, in the order in which it is summed; the keys of rows are no part."""
    return (
        deed.what,
        deed.name,
        deed.about,
        deed.kind,
        deed.words,
        json.dumps(deed.changes, sort_keys=True),
        moment(deed.at),
    )


def _read(project: Project | None) -> Iterator[Row]:
    for deed in Deed.objects.filter(project=project).order_by("uuid").iterator():
        yield Row(deed.uuid, content(deed))


def _label(what: Content) -> str:
    return _("the deed “%(what)s” of %(name)s about %(about)s") % {
        "what": what[0],
        "name": what[1] or "-",
        "about": what[2],
    }


DEEDS = Kind(_read, _label)
