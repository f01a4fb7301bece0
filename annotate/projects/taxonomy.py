"""A project's taxonomy: the types of its instructions, each with a sentence; ready-made ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import transaction

from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Category, Membership, Project
from base.errors import Refused, Stale, refuse_invalid_characters, refuse_invalid_names, state_token
from base.texts import tidy


class Kind(NamedTuple):
    """One type of instruction: the key that files use, its name, and its description."""

    key: str
    name: str
    sentence: str = ""


# FollowTable's types and InfoSearch's dimensions, in our own words.
TAXONOMIES: Mapping[str, tuple[Kind, ...]] = {
    "FollowTable": (
        Kind(
            "C1",
            "Content: about",
            "It asks what a table must be about, and excludes tables about related subjects.",
        ),
        Kind(
            "C2",
            "Content: only about",
            "It asks for tables about one subject only, with nothing else mixed in.",
        ),
        Kind("S1", "Schema: columns", "It asks what the columns are about."),
        Kind("S2", "Schema: rows", "It asks what each row represents."),
        Kind(
            "S3",
            "Schema: layout",
            "It asks how finely rows and columns divide the subject: by cases, ranges or steps.",
        ),
    ),
    "InfoSearch": (
        Kind("audience", "Audience", "It asks for whom a document is written."),
        Kind("keyword", "Keyword", "It asks for a word that a document contains."),
        Kind("format", "Format", "It asks in which form a document is written."),
        Kind("language", "Language", "It asks for the language of a document."),
        Kind("length", "Length", "It asks how long a document is."),
        Kind("source", "Source", "It asks where a document comes from."),
    ),
}


MOST = 100
ONLY_LEADS = "Only leads of this project can change its taxonomy."
OVERTAKEN = (
    "Somebody has changed this since you opened the page, so nothing was saved. What you entered "
    "is still here: compare it with their change in the audit log, then save again."
)


def set_categories(*, kinds: Sequence[Kind], token: str = "", by: Membership) -> list[Category]:
    """Make these the project's taxonomy, in this order; instructions keep the keys they have.

    The same taxonomy again changes nothing. Refused: a person who is not a lead, an archived
    project, a missing or repeated key, or too many types. Stale: `token` is that of another
    taxonomy (`taxonomy_token`).
    """
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
        project = lock_project(by.project_id, by, ONLY_LEADS)
        if token and token != taxonomy_token(project):
            raise Stale(OVERTAKEN)
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


def taxonomy_token(project: Project) -> str:
    """Return a token of the project's taxonomy, which differs once it has changed."""
    return state_token(_categories_for_log(project))


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
        project = lock_project(by.project_id, by, ONLY_LEADS)
        here = [
            Kind(category.key, category.name, category.sentence)
            for category in project.categories.order_by("place", "key")
        ]
        keys = {kind.key for kind in here}
        return set_categories(
            kinds=[*here, *(kind for kind in TAXONOMIES[name] if kind.key not in keys)], by=by
        )
