"""Whatever stands in an address or a form: no error of ours, no word of another project, no change
that the form does not offer.

Forms and addresses are taken from the pages themselves, so a new field is attacked without being
named here.
"""

from __future__ import annotations

import uuid
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from django.apps import apps
from django.db import connection, models
from django.test import Client
from django.urls import Resolver404, resolve

from annotate.models import Membership
from tests.attacks.reading import ALL, Form, forms, running
from tests.test_blindness import Way, addresses, answer, speak, undone, walk
from tests.test_permissions import ROOMS, World, rows, world

# No page of our own project may ever say it.
SECRET = "sealedelsewhere"
HOSTILE = {
    "nothing": "",
    "NUL": "a\0b",
    "beyond every number": "9" * 30,
    "beyond the largest key": str(2**63),
    "negative": "-1",
    "not a number": "NaN",
    "infinite": "1e999",
    "digits of another script": "\u0661\u0662",
    "a square, which is no digit": "\u00b2",
    "SQL": "1' OR '1'='1' --",
    "markup": ALL,
    "a template": "{{ settings.SECRET_KEY }}{% debug %}",
    "a lookup": "user__password__startswith",
    "a path": "../../../../etc/passwd",
    "half a pair": "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "turned around": "\u202etxt.exe",
    "deep JSON": "[" * 5_000,
    "a long text": "x" * 20_000,
}
# What lookups of rows are called; none of them may be asked for by whoever writes an address.
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
    "include": "judgments__note",
    "format": "json",
    "user": "1",
    "by": "1",
    "annotator": "1",
}


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
    """The project in which all have spoken, and another that is none of its people's business."""
    stage.other = world("other", "eve", "frank")
    seal(stage.other)
    stage.finish_jobs()
    return stage


def client_of(stage: SimpleNamespace, name: str) -> Client:
    client = Client()
    user = Membership.objects.select_related("user").get(pk=stage.members[name].pk).user
    assert user
    client.force_login(user)
    return client


def pages_of(stage: SimpleNamespace, name: str) -> dict[str, str]:
    """Every page that a member finds, by its address."""
    read = walk(stage.members[name], addresses(stage))
    return {
        url: body.decode()
        for url, (status, headers, body) in read.items()
        if status in {200, 422} and any("text/html" in one for one in headers)
    }


def route_of(url: str) -> str:
    try:
        return resolve(urlsplit(url).path).view_name
    except Resolver404:
        return url


def forms_of(stage: SimpleNamespace, name: str) -> dict[tuple[str, str, str], tuple[str, Form]]:
    """Every form that a member is offered: one for each route and set of fields."""
    found: dict[tuple[str, str, str], tuple[str, Form]] = {}
    for url, page in pages_of(stage, name).items():
        for form in forms(page):
            target = urljoin(url, form.action) if form.action else url
            if not target.startswith("/"):
                continue
            shape = ",".join(sorted({*form.fields, *form.files, *form.buttons}))
            found.setdefault((form.method, route_of(target), shape), (target, form))
    return found


def sent(form: Form, **changed: Any) -> dict[str, Any]:
    """What a form sends, with something changed."""
    buttons = {name: values[0] for name, values in form.buttons.items()}
    fields = {name: value for name, value in form.fields.items() if value}
    return {**buttons, **fields, **changed}


def faults(client: Client, method: str, url: str, said: dict[str, Any]) -> list[str]:
    """What is wrong with the answer: an error of ours, a payload that runs, another's words."""
    said = {name: value for name, value in said.items() if name != "csrfmiddlewaretoken"}
    if method == "get":
        path = urlsplit(url)
        asked = [*parse_qsl(path.query), *said.items()]
        response = client.get(f"{path.path}?{urlencode(asked, doseq=True)}")
    else:
        response = client.post(url, said)
    _status, headers, body = answer(response)
    text = body.decode(errors="replace")
    found = []
    if SECRET in text:
        found.append("another project's words")
    if any("text/html" in one for one in headers):
        found += [one for one in running(text) if "zq" in one]
    if response.status_code >= 500:
        found.append(f"{response.status_code}: {getattr(response, 'exc_info', [None] * 2)[1]!r}")
    return found


@pytest.mark.parametrize("name", ["ada", "carla", "dan"])
def test_no_field_of_any_form_makes_an_error_or_tells_of_others(beside, name, record_property):
    tried, wrong = 0, {}
    with undone():
        speak(beside, Way(1))
        offered = forms_of(beside, name)
        client = client_of(beside, name)
        theirs = {
            f"a key of another project ({key})": str(value)
            for key, value in beside.other.keys.items()
            if isinstance(value, int)
        }
        for (method, route, _), (url, form) in offered.items():
            for field in {**form.fields, **form.buttons}:
                if field == "csrfmiddlewaretoken":
                    continue
                for what, value in HOSTILE.items():
                    tried += 1
                    with undone():
                        said = sent(form, **{field: value})
                        if found := faults(client, method, url, said):
                            wrong[route, field, what] = found
                for value in dict.fromkeys(theirs.values()):
                    tried += 1
                    before = others_rows(beside)
                    with undone():
                        found = faults(client, method, url, sent(form, **{field: value}))
                        if others_rows(beside) != before:
                            found.append("another project's rows")
                        if found:
                            wrong[route, field, f"a foreign key, {value}"] = found
    record_property(
        "tried",
        f"fields, {name}: {len(offered)} forms, {tried:,} requests with {len(HOSTILE)} hostile "
        "values and every key of another project",
    )

    assert wrong == {}
    assert len(offered) > 3


def others_rows(stage: SimpleNamespace) -> dict[str, list[Any]]:
    """Everything of the other project."""
    project = stage.other.project.pk
    found = {}
    for label, path in (
        ("annotate.Project", "pk"),
        ("annotate.Membership", "project"),
        ("annotate.Narrative", "pair__project"),
        ("annotate.Judgment", "annotator__project"),
        ("annotate.Flag", "annotator__project"),
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
    ):
        kept = apps.get_model(label)._default_manager.filter(**{path: project}).order_by("pk")
        found[label] = list(kept.values_list())
    return found


@pytest.mark.parametrize("name", ["ada", "carla"])
def test_no_address_asks_for_more_than_its_page_offers(beside, name, record_property):
    tried = 0
    wrong: dict[tuple[str, ...], Any] = {}
    with undone():
        speak(beside, Way(1))
        client = client_of(beside, name)
        known: dict[str, set[str]] = {}
        for url in walk(beside.members[name], addresses(beside)):
            asked = urlsplit(url)
            known.setdefault(asked.path, set()).update(key for key, _ in parse_qsl(asked.query))
        done = set()
        for path, parameters in known.items():
            route = route_of(path)
            if route in done:
                continue
            done.add(route)
            plain = client.get(path)
            body = answer(plain)
            for lookup, value in LOOKUPS.items():
                if lookup in parameters:
                    continue
                tried += 1
                response = client.get(path, {lookup: value})
                same = told(answer(response)) == told(body)
                # A page that leads back to itself keeps its address, whatever stands in it.
                if not same and lookup not in response.content.decode(errors="replace"):
                    wrong[route, lookup] = "another answer"
            every = {name for names in known.values() for name in names}
            for parameter in sorted(every | {"search", "name", "version", "at", "show", "query"}):
                for what, value in HOSTILE.items():
                    tried += 1
                    with undone():
                        if found := faults(client, "get", path, {parameter: value}):
                            wrong[route, parameter, what] = found
    record_property("tried", f"addresses, {name}: {len(done)} routes, {tried:,} requests")

    assert wrong == {}


def told(answered: tuple[int, list[str], bytes]) -> tuple[int, bytes]:
    return answered[0], answered[2]


def everything() -> dict[str, list[str]]:
    """Every row without what is made by chance or counted: keys, UUIDs."""
    found = {}
    for room in ROOMS:
        for model in apps.get_app_config(room).get_models():
            names = [
                field.attname
                for field in model._meta.concrete_fields
                if not isinstance(field, models.AutoField | models.BigAutoField | models.UUIDField)
                and field.name not in {"last_login", "password", "place", "file", "folder"}
            ]
            found[model._meta.label] = sorted(map(repr, model._default_manager.values_list(*names)))
    return found


def columns() -> dict[str, str]:
    """Every column there is, with a value that it would take."""
    values = {}
    for room in ROOMS:
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


@pytest.mark.parametrize("name", ["ada", "carla", "dan"])
def test_what_a_form_does_not_ask_for_changes_nothing(beside, name, record_property):
    if connection.vendor != "sqlite":
        pytest.skip("keys that were rolled back come again on SQLite alone")
    extra = columns()
    tried, wrong = 0, {}
    with undone():
        speak(beside, Way(1))
        offered = forms_of(beside, name)
        every = {field for _, form in offered.values() for field in {**form.fields, **form.buttons}}
        client = client_of(beside, name)
        for (method, route, shape), (url, form) in offered.items():
            if method != "post":
                continue
            asked = {*form.fields, *form.files, *form.buttons}
            # What another form of the same route asks for is offered there.
            asked |= {
                field
                for (_, other, _), (_, one) in offered.items()
                if other == route
                for field in {*one.fields, *one.buttons, *one.files}
            }
            said = {key: value for key, value in sent(form).items() if key != "csrfmiddlewaretoken"}
            more = {key: value for key, value in extra.items() if key not in asked}
            tried += len(more)
            states = []
            for body in (said, {**more, **said}):
                with undone():
                    client.post(url, body)
                    states.append(everything())
            if states[0] != states[1]:
                wrong[route, shape] = {
                    label: [
                        sorted(set(states[1][label]) - set(states[0][label])),
                        sorted(set(states[0][label]) - set(states[1][label])),
                    ]
                    for label in states[0]
                    if states[0][label] != states[1][label]
                }
    record_property("tried", f"fields nobody asked for, {name}: {tried:,} in {len(offered)} forms")
    assert every

    assert wrong == {}
    assert rows()
