"""The kinds of projects, one declaration each. To add a kind, add a module and list it here."""

from __future__ import annotations

from collections.abc import Mapping

from annotate.projects.kinds.declaration import KindGrade, PlannedCheck, ProjectKind
from annotate.projects.kinds.followir import FOLLOWIR
from annotate.projects.kinds.followtable import FOLLOWTABLE
from annotate.projects.kinds.infosearch import INFOSEARCH
from annotate.projects.kinds.multi_infosearch import MULTI_INFOSEARCH
from annotate.projects.kinds.multiconir import MULTICONIR
from annotate.projects.kinds.own import OWN

__all__ = ["KINDS", "KindGrade", "PlannedCheck", "ProjectKind", "kind_of"]

KINDS: Mapping[str, ProjectKind] = {
    kind.key: kind
    for kind in (FOLLOWIR, FOLLOWTABLE, INFOSEARCH, MULTICONIR, MULTI_INFOSEARCH, OWN)
}


def kind_of(key: str) -> ProjectKind:
    """Return the kind with this key; a kind that is no longer declared counts as own."""
    return KINDS.get(key, OWN)
