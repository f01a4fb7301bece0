"""Making an example: its lead, its members, and that it is made whole or not at all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.core.management.base import CommandError

from annotate.models import AuditEvent, Narrative, Project
from annotate.projects import actions as projects
from base.errors import Refused
from config.examples.making import ensure_example_of, make_example
from config.management.commands import demo, prepare, serve
from keeping.purge import purge
from tests import factories

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 10, 15, tzinfo=UTC)


def test_the_maker_leads_the_example_and_its_people_have_no_accounts(tiny):
    factories.user("ada")

    project = make_example(kind="followir", by=factories.user("ines"))

    members = project.memberships.values_list("name", "role", "user__username")
    assert set(members) == {
        ("ines", "lead", "ines"),
        ("ada", "annotator", None),
        ("ben", "annotator", None),
        ("finn", "annotator", None),
    }


def test_the_people_of_an_example_are_the_demo_accounts_of_these_names(tiny):
    for name in ("ada", "finn"):
        factories.user(name)

    project = ensure_example_of("followir", by=factories.user("carla"))

    accounts = dict(project.memberships.values_list("name", "user__username"))
    # ben has no account, and finn is a rater in the script.
    assert accounts == {"carla": "carla", "ada": "ada", "ben": None, "finn": None}


def test_a_user_with_the_name_of_a_person_in_the_script_still_leads_the_example(tiny):
    project = make_example(kind="followir", by=factories.user("ada"))

    rewritten = Narrative.objects.get(pair__project=project, side="altered")
    assert project.memberships.get(role="lead").name == "ada"
    assert str(rewritten.author) == "ada-2"


def test_actions_of_an_example_are_dated_before_it_was_made(tiny):
    project = make_example(kind="followir", by=factories.user("ines"), now=NOW)

    rewritten = Narrative.objects.get(pair__project=project, side="altered")
    assert project.created_at == datetime(2026, 3, 8, 8, 40, tzinfo=UTC)
    assert rewritten.created_at == datetime(2026, 3, 9, 10, tzinfo=UTC)
    events = AuditEvent.objects.filter(project=project).order_by("pk").values_list("at", flat=True)
    assert list(events) == sorted(events)


def test_the_audit_log_does_not_reveal_the_installation_path(tiny, tmp_path):
    project = make_example(kind="followir", by=factories.user("ines"))

    assert not AuditEvent.objects.filter(project=project, about__contains=str(tmp_path)).exists()
    assert AuditEvent.objects.filter(project=project, about="topics.jsonl · topics-json").exists()


def test_each_example_has_a_short_name_of_its_own(tiny):
    by = factories.user("ines")

    slugs = [make_example(kind="followir", by=by).slug for _ in range(3)]

    assert slugs == ["example-followir", "example-followir-2", "example-followir-3"]


def test_the_demo_makes_an_example_once(tiny):
    by = factories.user("carla")

    assert ensure_example_of("followir", by=by) == ensure_example_of("followir", by=by)


def test_a_failing_line_of_a_script_is_named_and_leaves_no_project(tiny):
    tiny.script(
        [
            {"at": "2 days before, 09:00", "did": "write_guideline", "file": "topics.jsonl"},
            {"at": "1 days before, 10:00", "did": "rewrite", "pair": "no such", "text": "x"},
        ]
    )

    with pytest.raises(RuntimeError, match=r"followir/script\.jsonl, line 2 \(rewrite\)"):
        make_example(kind="followir", by=factories.user("ines"))

    assert not Project.objects.exists()


def test_a_kind_without_an_example_is_refused(tiny):
    with pytest.raises(Refused, match="no example of the kind “own”"):
        make_example(kind="own", by=factories.user("ines"))


def test_an_example_is_deleted_like_any_project():
    project = make_example(kind="multi-infosearch", by=factories.user("ines"))
    projects.archive(by=project.memberships.get(role="lead"))

    purge(slug=project.slug, typed=project.slug)

    assert not Project.objects.exists()


def run_demo(monkeypatch, kind):
    """Run `manage.py demo` up to the point where it would serve, and return its greeting."""
    command = demo.Command()
    monkeypatch.setattr(serve.Command, "handle", lambda self, **_options: self.prepare())
    monkeypatch.setattr(prepare.Command, "prepare", lambda self: None)
    monkeypatch.setattr(demo, "ensure_example", list)
    command.handle(kind=kind)
    return command.greeting("http://127.0.0.1:8000/")


def test_the_demo_loads_the_example_of_the_kind_and_says_where_it_is(tiny, monkeypatch):
    factories.user("carla")

    output = run_demo(monkeypatch, "all")

    assert output[-1] == "  example  http://127.0.0.1:8000/projects/example-followir/"
    assert Project.objects.get().memberships.get(role="lead").name == "carla"


def test_the_demo_without_a_kind_loads_no_further_example(tiny, monkeypatch):
    run_demo(monkeypatch, None)

    assert not Project.objects.exists()


def test_the_demo_names_the_missing_account(tiny, monkeypatch):
    with pytest.raises(CommandError, match=r"carla leads .* but there is no active account"):
        run_demo(monkeypatch, "followir")
