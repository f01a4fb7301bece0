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
def test_every_provider_is_registered(name):
    assert PROVIDERS[name].is_registered


@pytest.mark.django_db
def test_the_audit_log_is_not_shown_unless_blindness_is_known(monkeypatch):
    monkeypatch.setattr(audit_log_page, "is_blind", Provider("blind"))

    with pytest.raises(NotRegistered):
        audit_log_page.kinds(factories.lead(factories.project()))


@pytest.mark.django_db
def test_rules_cannot_change_unless_used_grades_are_known(monkeypatch):
    carla = factories.lead(factories.project())
    monkeypatch.setattr(rules, "grades_in_use", Provider("grades"))
    grades = [rules.GradeRule(0, "No"), rules.GradeRule(1, "Yes")]

    with pytest.raises(NotRegistered):
        rules.change_rules(changes={"relevant_from": 1}, grades=grades, by=carla)


@pytest.mark.django_db
def test_members_cannot_leave_unless_their_assignments_are_freed(monkeypatch):
    project = factories.project()
    carla, ada = factories.lead(project), factories.member(project, "ada")
    monkeypatch.setattr(members, "free_assignments", Provider("free"))

    with pytest.raises(NotRegistered):
        members.remove_member(member=ada, by=carla)


def test_files_are_written_in_a_fixed_order_of_kinds():
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
        *("Rubrics", "Filters", "Collection", "Reviews", "Decisions"),
    ]


def test_a_record_of_an_unregistered_kind_is_refused(monkeypatch):
    monkeypatch.setattr(arrivals, "_kinds", [])

    with pytest.raises(TypeError, match="nothing takes a RunLine"):
        arrivals.Intake.stager_for(SimpleNamespace(), RunLine)  # type: ignore[arg-type]
