"""Hostile form values cause no server error, and reveal or change nothing of another project.

Forms are taken from the pages themselves, so new fields are attacked without being listed here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from django.apps import apps
from django.db import connection, models
from django.test import Client
from django.urls import Resolver404, resolve

from annotate.models import Load, Membership, Pool
from jobs.models import Job
from tests.attacks.reading import ALL, MARK, Form, find_running_code, forms
from tests.attacks.test_every_door import writes
from tests.services.database import rolled_back
from tests.services.once import make_once
from tests.test_blindness import NOW, AnswerSet, addresses, answer, crawl, give_answers
from tests.test_permissions import APPS, World, world

pytestmark = pytest.mark.long

# No page of our own project may ever contain it.
SECRET = "sealedelsewhere"
# What could run somewhere; pages only repeat such words or search for them, so they go together.
WORDS = (
    f"1' OR '1'='1' -- {ALL} {{{{ settings.SECRET_KEY }}}}{{% debug %}} "
    "../../../../etc/passwd \u202etxt.exe"
)
HOSTILE = {
    "nothing": "",
    "NUL": "a\0b",
    "beyond the largest key": str(2**63),
    "negative": "-1",
    "not a number": "NaN",
    "infinite": "1e999",
    "digits of another script": "\u0661\u0662",
    "a square, which is no digit": "\u00b2",
    "words": WORDS,
    "a lookup": "user__password__startswith",
    "long and deep JSON": "[" * 5_000 + "x" * 15_000,
}
TOKEN = "csrfmiddlewaretoken"
# A lead, a judge and an auditor. What several of them are offered is attacked by the first.
PEOPLE = ("carla", "ada", "dan")
# The key of the first row of the other project in every table, and of none of this project.
FOREIGN_KEY = 5_001


def seal(other: World) -> None:
    """Put the secret into every text of another project."""
    for model in (type(other.project), type(other.pair.query)):
        field = "name" if model is type(other.project) else "title"
        model._default_manager.filter(**_of(model, other)).update(**{field: SECRET})
    for label, field, path in (
        ("annotate.Document", "title", "project"),
        ("annotate.DocumentText", "text", "document__project"),
        ("annotate.Narrative", "text", "pair__project"),
        ("annotate.Membership", "name", "project"),
        ("annotate.Load", "file_name", "project"),
        ("annotate.Guideline", "text", "project"),
        ("annotate.Condition", "text", "narrative__pair__project"),
        ("audit.Sample", "name", "project"),
    ):
        found = apps.get_model(label)._default_manager.filter(**{path: other.project})
        for row in found:
            type(row)._default_manager.filter(pk=row.pk).update(**{field: f"{SECRET}{row.pk}"})


def _of(model: type[models.Model], other: World) -> dict[str, Any]:
    return {"pk": other.project.pk} if model is type(other.project) else {"project": other.project}


@pytest.fixture
def beside(stage: SimpleNamespace) -> SimpleNamespace:
    """The project judged by everyone, and another project that its people must not see."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sqlite_sequence SET seq = %s", [FOREIGN_KEY - 1])
    stage.other = world("other", "eve", "frank")
    seal(stage.other)
    # It has no files, and no job may run during the tests.
    for model in (Load, Pool):
        model.objects.filter(project=stage.other.project).update(
            state=Job.State.CANCELLED, cancel_requested_at=NOW, finished_at=NOW
        )
    return stage


class Person(Client):
    """A browser that stays signed in whatever it sends; its requests are undone anyway."""

    def sign_in(self, user: Any) -> Person:
        """Sign in and remember the session cookie."""
        self.force_login(user)
        self.session_cookie = self.cookies.output(header="")
        return self

    def request(self, **arguments: Any) -> Any:
        """Send a request with the remembered session cookie."""
        self.cookies = SimpleCookie(self.session_cookie)
        return super().request(**arguments)


def client_of(stage: SimpleNamespace, name: str) -> Client:
    member = Membership.objects.select_related("user").get(pk=stage.members[name].pk)
    assert member.user
    return Person(raise_request_exception=False).sign_in(member.user)


class Seen(NamedTuple):
    """What a member was answered at an address: a digest, and the forms of the page."""

    digest: str
    forms: list[Form]


def seen_by_address(
    stage: SimpleNamespace, name: str, factory: pytest.TempPathFactory
) -> dict[str, Seen]:
    """Return every address that a member can reach, with the answer.

    One process of a run reads the pages, for all tests that attack the same rows.
    """

    def read(folder: Path) -> None:
        seen = {}
        for url, answered in crawl(stage.members[name], addresses(stage)).items():
            status, headers, body = answered
            shown = forms(body.decode()) if status in {200, 422} and is_html(headers) else []
            seen[url] = [digest_of(answered), [asdict(form) for form in shown]]
        folder.mkdir()
        (folder / "seen.json").write_text(json.dumps(seen), encoding="utf-8")

    keys = [
        sorted(model._default_manager.values_list("pk"))
        for room in APPS
        for model in apps.get_app_config(room).get_models()
    ]
    rows_digest = hashlib.sha256(repr(keys).encode()).hexdigest()[:16]
    folder = make_once(factory, f"seen-{name}-{rows_digest}", read)
    return {
        url: Seen(digest, [Form(**form) for form in shown])
        for url, (digest, shown) in json.loads((folder / "seen.json").read_bytes()).items()
    }


def digest_of(answered: tuple[int, list[str], bytes]) -> str:
    """Return a digest of the status and the body of an answer."""
    status, _headers, body = answered
    return hashlib.sha256(b"%d %s" % (status, body)).hexdigest()


def is_html(headers: list[str]) -> bool:
    return any("text/html" in one for one in headers)


def route_of(url: str) -> str:
    try:
        return resolve(urlsplit(url).path).view_name
    except Resolver404:
        return url


Offered = dict[tuple[str, str, str], tuple[str, Form]]


def forms_of(stage: SimpleNamespace, name: str, factory: pytest.TempPathFactory) -> Offered:
    """Return every form that a member can reach: one for each route and set of fields."""
    offered: Offered = {}
    for url, seen in seen_by_address(stage, name, factory).items():
        for form in seen.forms:
            target = urljoin(url, form.action) if form.action else url
            if not target.startswith("/"):
                continue
            shape = ",".join(sorted({*form.fields, *form.files, *form.buttons}))
            offered.setdefault((form.method, route_of(target), shape), (target, form))
    return offered


def sent(form: Form, **changed: Any) -> dict[str, Any]:
    """Return the values that a form sends, with some changed."""
    buttons = {name: values[0] for name, values in form.buttons.items()}
    fields = {name: value for name, value in form.fields.items() if value}
    return {**buttons, **fields, **changed}


def faults(client: Client, method: str, url: str, values: dict[str, Any]) -> list[str]:
    """Return what is wrong with the response: server errors, running payloads, foreign texts."""
    values = {name: value for name, value in values.items() if name != TOKEN}
    if method == "get":
        path = urlsplit(url)
        query = [*parse_qsl(path.query), *values.items()]
        response = client.get(f"{path.path}?{urlencode(query, doseq=True)}")
    else:
        response = client.post(url, values)
    _status, headers, body = answer(response)
    text = body.decode(errors="replace")
    found = []
    if SECRET in text:
        found.append("another project's words")
    # Parsing a page takes long, so only pages that contain a payload are parsed.
    if MARK in text.lower() and is_html(headers):
        found += [one for one in find_running_code(text) if MARK in one]
    if response.status_code >= 500:
        found.append(f"{response.status_code}: {getattr(response, 'exc_info', [None] * 2)[1]!r}")
    return found


def bodies(form: Form) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the attacked fields, the attack, and the values to send.

    Each hostile value in all fields at once, because forms validate all fields; values that break
    databases in each field alone; and the key of another project's row in fields with keys. A form
    without fields is sent once.

    The addresses of searches are attacked with each hostile value by `test_addresses`, and one
    with a NUL is refused before its page.
    """
    fields = [name for name in {**form.fields, **form.buttons} if name != TOKEN]
    if not fields:
        yield "no field", "nothing", sent(form)
        return
    for what, value in HOSTILE.items() if form.method == "post" else ():
        yield "all fields", what, sent(form, **dict.fromkeys(fields, value))
    for field in fields:
        for what in ("NUL", "beyond the largest key")[form.method == "get" :]:
            yield field, what, sent(form, **{field: HOSTILE[what]})
        if any(value.isdecimal() for value in form.fields.get(field, [])):
            yield field, "a foreign key", sent(form, **{field: str(FOREIGN_KEY)})


def test_hostile_values_in_forms_cause_no_error_and_reveal_nothing(
    beside, repeated_requests, tmp_path_factory, record_property
):
    tried, failures = 0, {}
    with rolled_back():
        give_answers(beside, AnswerSet(1))
        done: set[tuple[str, str, str]] = set()
        before = others_rows(beside)
        for name in PEOPLE:
            client = client_of(beside, name)
            offered = forms_of(beside, name, tmp_path_factory)
            for kind in [one for one in offered if one not in done]:
                (method, route, _), (url, form) = kind, offered[kind]
                for field, what, values in bodies(form):
                    tried += 1
                    with rolled_back():
                        with writes() as written:
                            if found := faults(client, method, url, values):
                                failures[name, route, field, what] = found
                        if "foreign" in what and written and others_rows(beside) != before:
                            failures[name, route, field, what] = ["another project's rows"]
            done |= offered.keys()
    record_property(
        "tried", f"fields: {len(done)} forms, {tried:,} requests with {len(HOSTILE)} hostile values"
    )

    assert failures == {}
    assert len(done) > 110
    # Each table with rows of the other project has one with this key; all jobs are in one table.
    first_keys = {
        label: stored[0][0]
        for label, stored in before.items()
        if stored and not issubclass(apps.get_model(label), Job)
    }
    assert set(first_keys.values()) == {FOREIGN_KEY}, first_keys


def others_rows(stage: SimpleNamespace) -> dict[str, list[Any]]:
    """Return all rows of the other project."""
    project = stage.other.project.pk
    found = {}
    for label, path in (
        ("annotate.Project", "pk"),
        ("annotate.Membership", "project"),
        ("annotate.Narrative", "pair__project"),
        ("annotate.Statement", "annotator__project"),
        ("annotate.Assignment", "pair__project"),
        ("annotate.Adjudication", "narrative__pair__project"),
        ("annotate.Load", "project"),
        ("annotate.Guideline", "project"),
        ("audit.Review", "narrative__pair__project"),
        ("audit.Decision", "narrative__pair__project"),
        ("audit.Check", "item__sample__project"),
        ("audit.Sample", "project"),
        ("exporters.Export", "project"),
        ("exporters.Release", "project"),
        ("exporters.Evaluation", "project"),
    ):
        stored = apps.get_model(label)._default_manager.filter(**{path: project}).order_by("pk")
        found[label] = list(stored.values_list())
    return found
