"""Names of people in published files: numbers, or real names of those who agreed to be named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, TypeVar

from annotate.projects.models import Membership, Project

# The fields of records that hold a person's name.
FIELDS = frozenset({"annotator", "author", "auditor", "by", "withdrawn_by"})

Record = TypeVar("Record")


def number_people(project: Project) -> dict[int, int]:
    """Return the number of each person, by key, in the order in which they joined.

    A number whose pseudonym is a published name is skipped: a member may be called "annotator 2".
    """
    people = list(
        Membership.objects.people()
        .filter(project=project)
        .order_by("joined_at", "pk")
        .values_list("pk", "name", "named_at")
    )
    machines = Membership.objects.filter(project=project, is_machine=True)
    taken = {name for _, name, named_at in people if named_at}
    taken |= set(machines.values_list("name", flat=True))
    free = (number for number in count(1) if pseudonym_of(number) not in taken)
    return {pk: next(free) for pk, _, _ in people}


def pseudonym_of(number: int) -> str:
    """Return the pseudonym of a person who did not agree to be named.

    >>> pseudonym_of(3)
    'annotator 3'
    """
    return f"annotator {number}"


def published_names(project: Project) -> dict[str, str]:
    """Return the pseudonym of each person who did not agree to be named, by name."""
    number_of = number_people(project)
    rows = Membership.objects.people().filter(project=project, named_at=None)
    return {name: pseudonym_of(number_of[pk]) for pk, name in rows.values_list("pk", "name")}


def with_published_names(records: Iterable[Record], names: Mapping[str, str]) -> Iterator[Record]:
    """Yield the records with these names replaced in every field that holds a person's name."""
    for record in records:
        yield _rename(record, names) if names else record


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {field: _rename_field(field, item, names) for field, item in value.items()}
    if not isinstance(value, tuple):
        return value
    fields = getattr(value, "_fields", None)
    if fields is None:
        return tuple(_rename(item, names) for item in value)
    renamed = {f: _rename_field(f, item, names) for f, item in zip(fields, value, strict=True)}
    return value._replace(**renamed)  # type: ignore[attr-defined]


def _rename_field(field: str, item: Any, names: Mapping[str, str]) -> Any:
    if field in FIELDS and isinstance(item, str):
        return names.get(item, item)
    if isinstance(item, list):
        return [_rename(part, names) for part in item]
    # The keys of an object inside a record are no fields.
    return item if isinstance(item, dict) else _rename(item, names)
