"""Providers of lower packages are registered in a running installation, and raise if not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from annotate.collection.intake import arrivals
from annotate.collection.intake.load import after_load
from annotate.models import RunLine
from annotate.overview import progress
from annotate.people import members
from annotate.projects import audit_log_page, rules
from base.providers import NotRegistered, Provider
from tests import factories

PROVIDERS: dict[str, Provider[..., Any]] = {
    "grades in use": rules.grades_in_use,
    "is judged": rules.is_judged,
    "longest conditions": rules.longest_conditions,
    "is blind": audit_log_page.is_blind,
    "free assignments": members.free_assignments,
    "after a load": after_load,
    "reviews by member": progress.reviews_by_member,
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_question_has_its_answer(name):
    assert PROVIDERS[name].is_registered


@pytest.mark.django_db
def test_the_audit_log_shows_nothing_while_nobody_says_who_is_blind(monkeypatch):
    monkeypatch.setattr(audit_log_page, "is_blind", Provider("blind"))

    with pytest.raises(NotRegistered):
        audit_log_page.kinds(factories.lead(factories.project()))


@pytest.mark.django_db
def test_no_rule_changes_while_nobody_says_which_grades_are_in_use(monkeypatch):
    carla = factories.lead(factories.project())
    monkeypatch.setattr(rules, "grades_in_use", Provider("grades"))
    given = [rules.GradeRule(0, "No"), rules.GradeRule(1, "Yes")]

    with pytest.raises(NotRegistered):
        rules.change_rules(changes={"relevant_from": 1}, grades=given, by=carla)


@pytest.mark.django_db
def test_nobody_leaves_while_nobody_frees_their_assignments(monkeypatch):
    project = factories.project()
    carla, ada = factories.lead(project), factories.member(project, "ada")
    monkeypatch.setattr(members, "free_assignments", Provider("free"))

    with pytest.raises(NotRegistered):
        members.remove_member(member=ada, by=carla)


def test_what_files_bring_is_written_in_one_order_whichever_app_starts_first():
    assert [kind.__name__ for kind in arrivals._kinds] == [
        *(
            "Documents",
            "Topics",
            "Pairs",
            "Qrels",
            "Pools",
            "Runs",
            "GeneratedDocuments",
            "Statements",
        ),
        *("Rubrics", "Filters", "Reviews", "Decisions"),
    ]


def test_a_record_of_a_kind_that_nobody_registered_is_refused(monkeypatch):
    monkeypatch.setattr(arrivals, "_kinds", [])

    with pytest.raises(TypeError, match="nothing takes a RunLine"):
        arrivals.Intake.stager_for(SimpleNamespace(), RunLine)  # type: ignore[arg-type]
