"""A project's rules change as a whole or not at all, and never contradict judgments."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotate.judgments import open_pairs
from annotate.models import Membership, Project, Repeat
from annotate.projects import actions as projects
from annotate.projects.actions import create_project
from annotate.projects.kinds import KindGrade
from audit.checks.queue import waiting_to_check
from base.errors import Refused
from tests import factories

USUAL = [KindGrade(0, "Not relevant"), KindGrade(1, "Relevant"), KindGrade(2, "Highly relevant")]


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


def grades(project: Project) -> list[tuple[int, str, str]]:
    return list(project.grades.order_by("value").values_list("value", "name", "sentence"))


def test_rules_and_grades_are_set_together(carla):
    projects.change_rules(
        changes={"overlap_judge": 3, "consensus": "majority"},
        grades=[KindGrade(0, "No"), KindGrade(1, "Yes", "Says so plainly.")],
        by=carla,
    )

    project = Project.objects.get()
    assert (project.overlap_judge, project.consensus) == (3, "majority")
    assert grades(project) == [(0, "No", ""), (1, "Yes", "Says so plainly.")]


def test_a_grade_in_use_cannot_be_removed(carla):
    query = factories.query(carla.project)
    pair = factories.pair(query)
    ada = factories.member(carla.project, "ada")
    factories.judgment(factories.altered(pair), factories.candidate(query), ada, 2)

    with pytest.raises(Refused, match="have given the grade 2"):
        projects.change_rules(changes={"overlap_judge": 5}, grades=USUAL[:2], by=carla)

    assert Project.objects.get().overlap_judge == 2
    assert len(grades(carla.project)) == 3


def test_a_grade_of_a_repeat_cannot_be_removed(carla):
    query = factories.query(carla.project)
    narrative, candidate = factories.altered(factories.pair(query)), factories.candidate(query)
    ada = factories.member(carla.project, "ada")
    first = factories.judgment(narrative, candidate, ada, 1)
    Repeat.objects.create(
        repeat=True,
        first=first,
        narrative=narrative,
        candidate=candidate,
        annotator=ada,
        text_version=1,
        relevance=2,
    )

    with pytest.raises(Refused, match="have given the grade 2"):
        projects.change_rules(changes={}, grades=USUAL[:2], by=carla)


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [(USUAL[:1], "at least two"), ([USUAL[0], USUAL[0]], "same value")],
)
def test_too_few_or_equal_grades_are_refused(carla, bad, sentence):
    with pytest.raises(Refused, match=sentence):
        projects.change_rules(changes={}, grades=bad, by=carla)


def test_rules_are_changed_without_naming_the_grades(carla):
    projects.change_rules(changes={"overlap_judge": 3}, by=carla)

    assert Project.objects.get().overlap_judge == 3
    assert len(grades(carla.project)) == 3


def test_a_project_has_at_most_twenty_grades(carla):
    many = [KindGrade(value, f"Grade {value}") for value in range(21)]

    with pytest.raises(Refused, match="at most 20 grades"):
        projects.change_rules(changes={}, grades=many, by=carla)


@pytest.mark.parametrize("threshold", [0, 3, -1])
def test_relevant_from_must_be_a_grade_above_the_lowest(carla, threshold):
    with pytest.raises(Refused, match=r"above the lowest: 1, 2\."):
        projects.change_rules(changes={"relevant_from": threshold}, grades=USUAL, by=carla)

    assert Project.objects.get().relevant_from == 1


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((0, 1, 3), "0, 1, 2 and so on, without a gap"),
        ((1, 2, 3), "0, 1, 2 and so on, without a gap"),
        (
            (0, 1, 2),
            "The narrative of 301 has 3 conditions, so the grades must be 0 to 3.",
        ),
    ],
)
def test_every_possible_number_of_met_conditions_must_be_a_grade(carla, values, sentence):
    pair = factories.pair(factories.query(carla.project, "301"))
    for number in (1, 2, 3):
        factories.altered(pair).conditions.create(number=number, text="It floats.")
    changes = {"condition_rule": "count_met", "relevant_from": values[1]}

    with pytest.raises(Refused, match=sentence):
        projects.change_rules(
            changes=changes, grades=[KindGrade(value, "x") for value in values], by=carla
        )
    rule_before = Project.objects.get().condition_rule
    projects.change_rules(
        changes={**changes, "relevant_from": 1},
        grades=[KindGrade(value, "x") for value in (3, 2, 1, 0)],
        by=carla,
    )

    assert (rule_before, Project.objects.get().condition_rule) == ("by_hand", "count_met")


def test_a_grade_that_counts_conditions_cannot_be_removed_later(carla):
    projects.change_rules(changes={"condition_rule": "count_met"}, grades=USUAL, by=carla)
    by = Membership.objects.get(pk=carla.pk)

    with pytest.raises(Refused, match="without a gap"):
        projects.change_rules(changes={"relevant_from": 2}, grades=[USUAL[0], USUAL[2]], by=by)


@pytest.mark.parametrize("values", [range(3), range(6)], ids=["three grades", "six grades"])
def test_bands_of_conditions_need_four_or_five_grades(carla, values):
    grades = [KindGrade(value, "x") for value in values]

    with pytest.raises(Refused, match="there must be 4 grades"):
        projects.change_rules(changes={"condition_rule": "bands"}, grades=grades, by=carla)

    assert Project.objects.get().condition_rule == "by_hand"


def test_conditions_of_an_older_version_need_no_grade(carla):
    pair = factories.pair(factories.query(carla.project, "301"))
    for number in (1, 2, 3):
        factories.altered(pair).conditions.create(number=number, text="It floats.")
    factories.narrative(pair, text="Only plants that float.", version=2)

    project = projects.change_rules(changes={"condition_rule": "count_met"}, grades=USUAL, by=carla)

    assert project.condition_rule == "count_met"


def test_a_rule_outside_its_bounds_changes_nothing(carla):
    with pytest.raises(ValidationError):
        projects.change_rules(changes={"overlap_judge": 51}, grades=USUAL[:2], by=carla)

    assert len(grades(carla.project)) == 3


def test_only_rules_can_be_changed(carla):
    with pytest.raises(Refused, match="no rule called slug"):
        projects.change_rules(changes={"slug": "other"}, grades=USUAL, by=carla)


def test_an_annotator_cannot_change_rules(carla):
    with pytest.raises(Refused, match="Only leads"):
        projects.change_rules(changes={}, grades=USUAL, by=factories.member(carla.project, "ada"))


def test_an_archived_project_cannot_change_until_it_is_unarchived(carla):
    projects.archive(by=carla)
    archived = Membership.objects.get(pk=carla.pk)

    with pytest.raises(Refused, match="archived"):
        projects.change_rules(changes={}, grades=USUAL, by=archived)
    projects.unarchive(by=archived)
    projects.change_rules(changes={}, grades=USUAL[:2], by=Membership.objects.get(pk=carla.pk))

    assert len(grades(carla.project)) == 2


@pytest.mark.parametrize("page", ["", "queries/", "releases/new/", "pools/new/"])
def test_each_page_of_an_archived_project_says_so(carla, client, page):
    sentence = "This project is archived: what is there can be read and exported"
    client.force_login(carla.user)
    before = client.get(f"/projects/tides/{page}").content.decode()

    projects.archive(by=carla)
    after = client.get(f"/projects/tides/{page}").content.decode()

    assert sentence not in before
    assert sentence in after
    assert 'href="/projects/tides/settings/#archive-title"' in after


def test_an_archived_project_offers_no_work(carla, client):
    ada = factories.member(carla.project, "ada")
    query = factories.query(carla.project)
    factories.candidate(query)
    pair = factories.pair(query, altered="Only plants at sea count.")
    client.force_login(ada.user)
    before = client.get("/projects/tides/").content.decode()

    projects.archive(by=carla)

    after = client.get("/projects/tides/").content.decode()
    archived = Membership.objects.select_related("project").get(pk=ada.pk)
    assert "Judge the next</button>" in before
    assert "Judge the next</button>" not in after
    assert "Nothing while the project is archived" in after
    assert not open_pairs.is_any_open(task="judge", by=archived)
    assert open_pairs.count_free_assignments(pair, "judge", archived) == 0
    assert waiting_to_check([archived]) == {ada.pk: (0, None)}


def test_the_database_requires_who_archived_and_when(carla):
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.update(archived_by=carla.user)


def test_a_new_project_has_its_grades_and_its_lead(db):
    project = create_project(slug="tides", grades=[2, 0, 1], by=factories.user("carla"))

    assert [value for value, _, _ in grades(project)] == [0, 1, 2]
    assert project.memberships.get().leads


@pytest.mark.parametrize("slug", ["", "Tides", "a b", "../x", "x" * 81])
def test_an_invalid_short_name_is_refused(db, slug):
    with pytest.raises(Refused, match="short name"):
        create_project(slug=slug, grades=[0, 1])


def test_a_short_name_is_unique(carla):
    with pytest.raises(Refused, match="already"):
        create_project(slug="tides", grades=[0, 1])
