"""A kind of project sets what its paper says, and can be changed if no data is lost."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from annotate.judgments.pair_rules import Rule
from annotate.models import AuditEvent, Project
from annotate.pairs.models import NarrativeQuerySet
from annotate.projects import actions as projects
from annotate.projects.actions import create_project
from annotate.projects.kinds import KINDS
from annotate.projects.taxonomy import TAXONOMIES
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED
from base.errors import Refused
from exporters.exports.models import Export
from formats.registry import FORMATS
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.django_db


def made(kind: str) -> Project:
    return create_project(slug=kind, kind=kind, by=factories.user("carla"))


def test_the_five_papers_and_own_are_kinds():
    assert list(KINDS) == [
        "followir",
        "followtable",
        "infosearch",
        "multiconir",
        "multi-infosearch",
        "own",
    ]


@pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
def test_everything_that_a_kind_names_exists(kind):
    assert set(kind.settings) <= set(projects.FIELDS)
    assert {one.rule for one in kind.must_hold} <= {rule.value for rule in Rule}
    assert set(kind.exports) <= set(Export.Format.values)
    assert set(kind.formats) <= set(FORMATS)
    assert kind.taxonomy in {"", *TAXONOMIES}
    assert kind.rubric in {"", *SHIPPED}


@pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
def test_a_kind_names_each_format_once(kind):
    assert len(kind.formats) == len(set(kind.formats))


@pytest.mark.parametrize(
    ("kind", "overlaps", "scope", "grades", "rubric", "types"),
    [
        ("followir", (1, 2, 0), "relevant", [0, 1, 2], "followtable-1", []),
        ("followtable", (0, 0, 2), "pool", [0, 1], "followtable-1", ["C1", "C2", "S1", "S2", "S3"]),
        ("multiconir", (0, 0, 10), "pool", list(range(11)), "multiconir-1", []),
        ("own", (1, 2, 2), "relevant", [0, 1, 2], "followtable-1", []),
    ],
)
def test_a_new_project_of_a_kind_has_its_settings(kind, overlaps, scope, grades, rubric, types):
    project = made(kind)

    tasks = (project.overlap_rewrite, project.overlap_judge, project.overlap_review)
    assert (project.kind, tasks, project.judge_scope) == (kind, overlaps, scope)
    assert list(project.grades.order_by("value").values_list("value", flat=True)) == grades
    assert rubrics.current_rubric(project.pk).name == rubric
    assert list(project.categories.order_by("place").values_list("key", flat=True)) == types


def test_the_page_of_a_new_project_makes_one_of_a_kind(client):
    client.force_login(factories.user("carla"))
    sent = {"name": "Tables", "slug": "tables", "kind": "followtable", "grades": ""}

    client.post(reverse("annotate:new_project"), sent)

    assert Project.objects.get().kind == "followtable"


def test_grades_without_the_kinds_threshold_are_refused():
    with pytest.raises(Refused, match="MultiConIR counts documents as relevant from grade 10"):
        create_project(slug="ten", kind="multiconir", grades=[0, 1])

    assert not Project.objects.exists()


def test_the_command_makes_a_project_of_a_kind(tmp_path):
    topics = tmp_path / "topics.jsonl"
    topics.write_text('{"query_id": "301", "title": "Tides"}\n', encoding="utf-8")
    command = ("load", "tides", "topics-json", str(topics), "--kind", "followir")

    with pytest.raises(CommandError, match="--kind needs --create"):
        call_command(*command)
    call_command(*command, "--create")

    assert Project.objects.get().kind == "followir"


def test_a_project_takes_another_kind_with_everything_it_sets():
    project = made("own")
    carla = project.memberships.get()

    projects.change_kind(key="multiconir", by=carla)

    project.refresh_from_db()
    assert (project.kind, project.overlap_review, project.relevant_from) == ("multiconir", 10, 10)
    assert rubrics.current_rubric(project.pk).name == "multiconir-1"
    event = AuditEvent.objects.get(what="project.kind")
    assert event.changes == {"kind": ["own", "multiconir"]}


def test_a_grades_own_name_is_kept_when_the_kind_changes():
    project = made("own")
    carla = project.memberships.get()
    project.grades.filter(value=1).update(name="Fits", sentence="It fits the tide.")

    projects.change_kind(key="followir", by=carla)

    words = dict(project.grades.values_list("value", "name"))
    assert words == {0: "Not relevant", 1: "Fits", 2: "Highly relevant"}


def test_a_grades_own_name_is_kept_without_a_sentence_of_its_own():
    project = create_project(slug="own", grades=[0, 1, 2, 3], by=factories.user("carla"))
    project.grades.filter(value=1).update(name="Fits")

    projects.change_kind(key="followir", by=project.memberships.get())

    words = list(project.grades.order_by("value").values_list("name", "sentence"))
    assert words[:2] == [
        ("Not relevant", "The document does not meet the altered narrative."),
        ("Fits", "The document meets the altered narrative."),
    ]
    # Of four grades, 2 was called “Relevant” by default.
    assert words[2][0] == "Highly relevant"


def test_a_kind_without_a_grade_in_use_is_refused_with_a_sentence():
    project = made("own")
    carla = project.memberships.get()
    pair = factories.pair(factories.query(project))
    candidate = factories.candidate(pair.query)
    factories.judgment(factories.altered(pair), candidate, factories.member(project, "ada"), 2)

    with pytest.raises(Refused, match="Judges have given the grade 2, which FollowTable does not"):
        projects.change_kind(key="followtable", by=carla)

    project.refresh_from_db()
    assert (project.kind, project.overlap_judge) == ("own", 2)


def test_a_narrative_with_too_many_conditions_prevents_a_change_of_kind(monkeypatch):
    project = made("own")
    monkeypatch.setattr(
        NarrativeQuerySet, "longest_conditions", lambda narratives, project: (11, "q1")
    )

    found = projects.refusal_reason(project, KINDS["multiconir"])

    assert found.startswith("The narrative of q1 has 11 conditions; MultiConIR counts at most 10.")


def test_bands_of_conditions_prevent_a_kind_with_other_grades():
    project = made("own")
    project.condition_rule = Project.ConditionRule.BANDS
    project.save()

    assert "FollowIR does not have 4 or 5 grades" in projects.refusal_reason(
        project, KINDS["followir"]
    )
    assert projects.refusal_reason(project, KINDS["multiconir"]) == ""


def test_the_page_shows_what_would_change_before_it_does(client):
    project = made("own")
    client.force_login(project.memberships.get().user)
    address = reverse("annotate:kind", args=["own"])

    page = client.get(address, {"kind": "followtable"}).content.decode()
    client.post(address, {"kind": "followtable"})

    assert "Auditors who review each instruction" in page
    assert "Five tables per instruction" in page
    assert Project.objects.get().kind == "followtable"


def test_a_change_that_has_become_another_since_it_was_shown_is_not_made(client):
    project = made("own")
    client.force_login(project.memberships.get().user)
    address = reverse("annotate:kind", args=["own"])
    seen = client.get(address, {"kind": "followtable"}).context["token"]
    Project.objects.update(overlap_judge=5)

    page = client.post(address, {"kind": "followtable", "token": seen}, follow=True)

    assert "The settings have changed since you looked at this kind." in page.content.decode()
    assert page.context["shown"].key == "followtable"
    assert Project.objects.get().kind == "own"
    client.post(address, {"kind": "followtable", "token": page.context["token"]})
    assert Project.objects.get().kind == "followtable"


def test_the_api_sets_returns_and_changes_a_kind():
    program = Program("carla", "lead")

    made = program.send("POST", "projects/", {"slug": "t", "name": "T", "kind": "infosearch"})
    assert (made.status_code, made.json()["kind"]) == (201, "infosearch")
    assert [one["key"] for one in program.get("kinds/").json()] == list(KINDS)
    changed = program.send("PUT", "projects/t/kind/", {"kind": "followtable"})
    assert changed.json() == {"kind": "followtable", "differences": []}
