"""Change a project's taxonomy: the types of its instructions, each with a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Category, Membership, Project
from annotate.projects.taxonomies import TAXONOMIES, Kind
from base.control_characters import tidy
from base.errors import Refused, refuse_invalid_characters, refuse_invalid_names

MOST = 100


def set_categories(*, kinds: Sequence[Kind], by: Membership) -> list[Category]:
    """Make these the project's taxonomy, in this order; instructions keep the keys they have.

    The same taxonomy again changes nothing. Refused: a person who is not a lead, an archived
    project, a missing or repeated key, or too many types.
    """
    if not by.leads:
        raise Refused("Only leads of this project can change its taxonomy.")
    if len(kinds) > MOST:
        raise Refused(f"A taxonomy has at most {MOST} types.")
    keys = [kind.key for kind in kinds]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise Refused(f"The key “{twice}” is used twice. Give each type its own key.")
    if not all(keys):
        raise Refused("A type needs a key, which files use for it, such as C1.")
    refuse_invalid_names(*keys, *(kind.name for kind in kinds))
    for kind in kinds:
        refuse_invalid_characters(tidy(kind.sentence))
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        refuse_if_archived(project)
        before = _categories_for_log(project)
        project.categories.exclude(key__in=keys).delete()
        made = [
            Category.objects.update_or_create(
                project=project,
                key=kind.key,
                defaults={"name": kind.name, "sentence": kind.sentence, "place": place},
            )[0]
            for place, kind in enumerate(kinds)
        ]
        after = _categories_for_log(project)
        if before != after:
            record(
                project=project,
                what="categories.changed",
                about=project,
                changes={"types": (before, after)},
                by=by,
            )
    return made


def _categories_for_log(project: Project) -> list[list[str]]:
    """Return the taxonomy in the form that the audit log stores."""
    rows = project.categories.order_by("place", "key").values_list("key", "name", "sentence")
    return [list(row) for row in rows]


def add_taxonomy(*, name: str, by: Membership) -> list[Category]:
    """Add the types of a ready-made taxonomy; types whose key exists are not changed.

    Refused: as `set_categories`, and an unknown name.
    """
    if name not in TAXONOMIES:
        raise Refused(
            f"There is no taxonomy “{name}”. The taxonomies are: {', '.join(TAXONOMIES)}."
        )
    with transaction.atomic():
        # Locked, so that another lead's concurrent change is either read here or waits.
        project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
        here = [
            Kind(category.key, category.name, category.sentence)
            for category in project.categories.order_by("place", "key")
        ]
        keys = {kind.key for kind in here}
        return set_categories(
            kinds=[*here, *(kind for kind in TAXONOMIES[name] if kind.key not in keys)], by=by
        )
