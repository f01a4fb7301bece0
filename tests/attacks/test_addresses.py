"""Query parameters and form fields that a page does not offer have no effect.

The parameters are those in the pages' links, the columns those of the models.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.apps import apps
from django.db import connection, models
from django.http import QueryDict

from tests.attacks.test_every_door import writes
from tests.attacks.test_parameters import (
    HOSTILE,
    PEOPLE,
    TOKEN,
    Seen,
    client_of,
    digest_of,
    faults,
    forms_of,
    route_of,
    seen_by_address,
    sent,
)
from tests.services.database import rolled_back
from tests.test_blindness import AnswerSet, answer, give_answers
from tests.test_permissions import APPS

pytestmark = pytest.mark.long

# Names of ORM lookups and the like; none may have an effect in an address.
LOOKUPS = {
    "user__password__startswith": "pbkdf2",
    "annotator__user__username": "ben",
    "project__slug": "other",
    "order_by": "user__password",
    "ordering": "-annotator__name",
    "sort": "relevance__gte",
    "pk__in": "1,2,3",
    "search__regex": ".*",
    "fields": "password",
    "include": "statements__note",
    "format": "json",
    "user": "1",
    "by": "1",
    "annotator": "1",
}
# The parameter by which API addresses negotiate the format.
NEGOTIATED = {"format"}
# Parameters of many pages, tried even if no link with them was found.
COMMON = {"after", "before", "at", "show", "search", "query", "person", "version", "name", "case"}


class Recorded(QueryDict):
    """Query parameters that record which of them were read."""

    read: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def getlist(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().getlist(key, default)

    def __getattribute__(self, name: str) -> Any:
        # These methods read all parameters at once.
        if name in {"items", "lists", "keys", "values", "dict", "urlencode", "copy", "__iter__"}:
            Recorded.read.add(ALL_OF_THEM)
        return super().__getattribute__(name)

    def __iter__(self) -> Iterator[str]:
        self.read.add(ALL_OF_THEM)
        return super().__iter__()


ALL_OF_THEM = "*"


@pytest.fixture
def read_parameters(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of parameters that pages have read, and `ALL_OF_THEM` if one read all at once."""
    Recorded.read.clear()
    monkeypatch.setattr("django.core.handlers.wsgi.QueryDict", Recorded)
    return Recorded.read


def test_query_parameters_that_a_page_does_not_offer_have_no_effect(
    beside, read_parameters, repeated_requests, tmp_path_factory, record_property
):
    tried, reading = 0, 0
    failures: dict[tuple[str, ...], Any] = {}
    # The routes that somebody was shown, with the parameters that their links have.
    done: set[tuple[str, frozenset[str]]] = set()
    with rolled_back():
        give_answers(beside, AnswerSet(1))
        for name in ("carla", "ada"):
            client = client_of(beside, name)
            seen = seen_by_address(beside, name, tmp_path_factory)
            for route, path, offered in routes_of(seen):
                if (route, offered) in done:
                    continue
                lookups = {key: value for key, value in LOOKUPS.items() if key not in offered}
                tried += 1
                read_parameters.clear()
                with_lookups = answer(client.get(path, lookups))
                if with_lookups[0] == 200:
                    done.add((route, offered))
                # A page with a link back to itself repeats its address with all parameters.
                if (
                    (path not in seen or digest_of(with_lookups) != seen[path].digest)
                    and digest_of(with_lookups) != digest_of(answer(client.get(path)))
                    and b"password__startswith" not in with_lookups[2]
                ):
                    failures[name, route, "lookups"] = "another answer"
                reads = bool(read_parameters - NEGOTIATED)
                reading += reads
                parameters = (offered | COMMON | read_parameters) - {ALL_OF_THEM}
                # A page that reads no parameter may still link to its own address.
                for what, value in HOSTILE.items() if reads else [("words", HOSTILE["words"])]:
                    tried += 1
                    with rolled_back():
                        if found := faults(client, "get", path, dict.fromkeys(parameters, value)):
                            failures[name, route, what] = found
    record_property(
        "tried",
        f"addresses: {len(done)} routes, {reading} times with parameters that the page reads, "
        f"{tried:,} requests",
    )

    assert failures == {}
    assert len(done) > 200
    assert reading > 100


def routes_of(seen: dict[str, Seen]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield each route that a member met, with one path and the parameters of links to it."""
    offered: dict[str, set[str]] = {}
    for url in seen:
        parts = urlsplit(url)
        offered.setdefault(parts.path, set()).update(key for key, _ in parse_qsl(parts.query))
    done = set()
    for path, keys in offered.items():
        if (route := route_of(path)) not in done:
            done.add(route)
            yield route, path, frozenset(keys)


# Fields that the page's script adds, which are accepted although the form does not show them.
OF_SCRIPTS = {"annotate:judgment": {"evidence", "clauses", "active_ms", "pressed"}}


def all_rows() -> dict[str, list[str]]:
    """Return every row without random or sequential values: keys, UUIDs."""
    found = {}
    for room in APPS:
        for model in apps.get_app_config(room).get_models():
            if model._meta.label in {"annotate.Link", "annotate.Revision"}:
                # Hashes that include UUIDs; random numbers.
                continue
            names = [
                field.attname
                for field in model._meta.concrete_fields
                if not isinstance(field, models.AutoField | models.BigAutoField | models.UUIDField)
                and field.name
                not in {"last_login", "password", "place", "file", "folder", "digest"}
            ]
            found[model._meta.label] = sorted(map(repr, model._default_manager.values_list(*names)))
    return found


def columns() -> dict[str, str]:
    """Return every column with a value that it would accept."""
    values = {}
    for room in APPS:
        for model in apps.get_app_config(room).get_models():
            for field in model._meta.concrete_fields:
                value = "1"
                if isinstance(field, models.DateTimeField | models.DateField):
                    value = "2001-02-03T04:05:06Z"
                elif isinstance(field, models.UUIDField):
                    value = str(uuid.UUID(int=5))
                elif field.choices:
                    value = str(list(dict(field.flatchoices))[-1])
                values[field.name] = value
                values[field.attname] = value
    return {**values, "is_superuser": "1", "is_staff": "1", "groups": "1", "user_permissions": "1"}


@contextmanager
def with_the_same_keys() -> Iterator[None]:
    """Undo everything inside, and let the next rows get the same keys again.

    PostgreSQL's sequences are not rolled back, so they are reset.
    """
    with connection.cursor() as cursor:
        counters: list[tuple[str, int, bool]] = []
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT format('%I.%I', schemaname, sequencename), "
                "COALESCE(last_value, start_value), last_value IS NOT NULL "
                "FROM pg_sequences WHERE schemaname = current_schema()"
            )
            counters = cursor.fetchall()
        with rolled_back():
            yield
        if counters:
            together = ", ".join(["setval(%s::regclass, %s, %s)"] * len(counters))
            cursor.execute(f"SELECT {together}", [part for one in counters for part in one])


def test_fields_that_a_form_does_not_have_change_nothing(
    beside, repeated_requests, tmp_path_factory, record_property
):
    extra = columns()
    tried = changing = 0
    failures: dict[tuple[str, ...], Any] = {}
    with rolled_back():
        give_answers(beside, AnswerSet(1))
        # Each form once with each set of fields that a person is offered at its route.
        done: set[tuple[str, str, str, frozenset[str]]] = set()
        for name in PEOPLE:
            client = client_of(beside, name)
            offered = forms_of(beside, name, tmp_path_factory)
            declared = {route: set(OF_SCRIPTS.get(route, ())) for _, route, _ in offered}
            for (_, route, _), (_, form) in offered.items():
                declared[route].update(form.fields, form.files, form.buttons)
            for (method, route, shape), (url, form) in offered.items():
                attack = (method, route, shape, frozenset(declared[route]))
                if method != "post" or attack in done:
                    continue
                done.add(attack)
                form_values = {key: value for key, value in sent(form).items() if key != TOKEN}
                more = {key: value for key, value in extra.items() if key not in declared[route]}
                tried += len(more)
                states = []
                for body in (form_values, {**more, **form_values}):
                    with with_the_same_keys():
                        with writes() as written:
                            client.post(url, body)
                        states.append(all_rows() if written else {})
                changing += bool(states[0])
                if states[0] != states[1]:
                    failures[name, route, shape] = {
                        label: [
                            sorted(set(states[1].get(label, ())) - set(states[0].get(label, ()))),
                            sorted(set(states[0].get(label, ())) - set(states[1].get(label, ()))),
                        ]
                        for label in {**states[0], **states[1]}
                        if states[0].get(label) != states[1].get(label)
                    }
    record_property("tried", f"fields nobody asked for: {tried:,} in {len(done)} forms")

    assert failures == {}
    assert changing > 10
