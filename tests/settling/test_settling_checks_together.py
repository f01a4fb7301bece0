"""Settling many checked labels at once by one rule, as previewed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Condition
from audit.checks import actions as checking
from audit.models import Check, Sample, SampleItem
from audit.settling import settle_many
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.settle_many import Rule, RuleChoice, preview, settle_checks
from base.errors import Refused, Stale
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

OF_CHECKS = QueueFilter(kind=Kind.CHECK)
# The claim of each label, and the answers of ada and ben; None: cannot judge.
LABELS = {
    "A": (0, 0, 2),
    "B": (1, 0, 2),
    "C": (1, 1, None),
    "D": (1, 1, 1),
}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    project = factories.project()
    made = SimpleNamespace(
        project=project,
        carla=factories.lead(project),
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        pair=factories.pair(factories.query(project)),
        items={},
    )
    sample = Sample.objects.create(
        project=project, name="Spot", source="prior", seed=1, size=4, created_by=made.carla
    )
    for doc_id, (claimed, *answers) in LABELS.items():
        made.items[doc_id] = item = SampleItem.objects.create(
            sample=sample,
            narrative=factories.altered(made.pair),
            candidate=factories.candidate(made.pair.query, doc_id),
            claimed=claimed,
        )
        for checker, relevance in zip((made.ada, made.ben), answers, strict=True):
            if relevance is None:
                checking.check(item=item, by=checker, cannot_judge=True, words="Unreadable.")
            else:
                checking.check(item=item, by=checker, relevance=relevance)
    return made


def test_a_list_of_labels_alone_leads_to_settling_them_together(scene, client):
    client.force_login(scene.carla.user)

    shown = client.get(reverse("audit:disagreements", args=[scene.project.slug])).context

    assert shown["ticked_kind"] is Kind.CHECK
    assert "kind=check" in shown["settle_many_url"]


def settle(scene, rule, **more) -> int:
    choice = RuleChoice(rule, **more)
    token = preview(scene.carla, OF_CHECKS, choice).token
    return settle_checks(
        filters=OF_CHECKS, choice=choice, reason="By the meeting.", token=token, by=scene.carla
    )


def settled() -> dict[str, int | None]:
    rows = Check.objects.current().filter(place=Check.SETTLES)
    return dict(rows.values_list("item__candidate__document__doc_id", "relevance"))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule.HIGHER, {"A": 2, "B": 2}),
        (Rule.LOWER, {"A": 0, "B": 0}),
        # The claim of B is 1, which neither gave.
        (Rule.EARLIER, {"A": 0}),
    ],
)
def test_each_rule_settles_labels_and_leaves_those_that_cannot_be_judged(scene, rule, expected):
    assert settle(scene, rule) == len(expected)

    assert settled() == expected


def test_one_grade_settles_all_whose_grades_differ(scene):
    settle(scene, Rule.GRADE, grade=1)

    assert settled() == {"A": 1, "B": 1}


@pytest.mark.parametrize("rule", [Rule.MAJORITY, Rule.ALONE])
def test_a_rule_that_settles_nothing_between_two_is_refused(scene, rule):
    with pytest.raises(Refused, match="There is nothing to settle"):
        settle(scene, rule)


def test_the_page_offers_only_rules_that_settle_a_label(scene, client):
    scene.project.hide_names = False
    scene.project.save()
    client.force_login(scene.carla.user)

    shown = client.get(reverse("audit:settling_many", args=["tides"]), {"kind": "check"})

    offered = [value for value, _label in shown.context["how"].fields["rule"].choices]
    assert offered == ["higher", "lower", "earlier", "grade"]
    assert shown.context["preview"].settled == {2: 2}


def test_labels_that_changed_since_the_preview_are_not_settled(scene):
    choice = RuleChoice(Rule.HIGHER)
    token = preview(scene.carla, OF_CHECKS, choice).token
    checking.check(item=scene.items["A"], relevance=1, by=scene.ada)

    with pytest.raises(Stale):
        settle_checks(
            filters=OF_CHECKS, choice=choice, reason="Agreed.", token=token, by=scene.carla
        )

    assert settled() == {}


def check_by_condition(scene) -> Condition:
    """Let ada and ben disagree about one condition of label A, in place of all earlier checks."""
    narrative = factories.altered(scene.pair)
    condition = Condition.objects.create(narrative=narrative, number=1, text="At sea.")
    Sample.objects.update(asks=Sample.Asks.COUNT)
    Check.objects.all().delete()
    item = SampleItem.objects.get(pk=scene.items["A"].pk)
    for checker, answer in ((scene.ada, "met"), (scene.ben, "not_met")):
        checking.check(item=item, by=checker, verdicts={condition.pk: answer})
    return condition


def test_the_answers_to_conditions_are_adopted_with_the_count(scene):
    condition = check_by_condition(scene)

    settle(scene, Rule.HIGHER)

    [check] = Check.objects.current().filter(place=Check.SETTLES)
    assert (check.relevance, check.answers()) == (1, {condition.pk: "met"})


def test_numbers_of_conditions_are_neither_grades_nor_relevant(scene, client):
    check_by_condition(scene)
    client.force_login(scene.carla.user)

    page = client.get(
        reverse("audit:settling_many", args=["tides"]), {"kind": "check", "rule": "higher"}
    )

    assert (page.context["preview"].total, page.context["preview"].decided) == (1, 0)
    assert shows(page, "1 met")
    assert "relevant or not" not in page.content.decode()
    assert "what is relevant" not in page.content.decode()


def test_the_page_and_a_program_settle_checked_labels(scene, client):
    client.force_login(scene.carla.user)
    listed = client.get(reverse("audit:disagreements", args=["tides"]), {"kind": "check"})
    page = reverse("audit:settling_many", args=["tides"]) + "?kind=check&rule=higher"
    shown = client.get(page)

    client.post(page, {"reason": "Agreed.", "token": shown.context["preview"].token})

    assert "Settle these together" in listed.content.decode()
    assert shows(shown, "2 labels would be settled")
    assert shows(shown, "On 2 of them the two differ about relevant or not: 2 would be relevant, 0")
    assert settled() == {"A": 2, "B": 2}
    preview = client.get(
        "/api/v1/projects/tides/disagreements/settling/", {"kind": "check", "rule": "lower"}
    )
    assert preview.json()["settled"] == []


@pytest.mark.parametrize("asked", [{"decides": "on"}, {"only": "judgment-1-2-0"}])
def test_a_filter_that_matches_no_label_settles_none(scene, client, asked):
    client.force_login(scene.carla.user)

    shown = client.get(
        reverse("audit:settling_many", args=["tides"]),
        {"kind": "check", "rule": "higher", **asked},
    )

    assert shown.context["preview"].total == 0


def test_a_program_settles_labels_without_a_cause(scene, client):
    client.force_login(scene.carla.user)
    address = "/api/v1/projects/tides/disagreements/settling/"
    rule = {"kind": "check", "rule": "higher"}
    sent = {**rule, "reason": "Agreed.", "token": client.get(address, rule).json()["token"]}

    answer = client.post(address, sent, content_type="application/json")

    assert answer.status_code == 201
    assert settled() == {"A": 2, "B": 2}


def test_an_answer_that_changes_while_labels_are_settled_settles_none(scene, monkeypatch):
    choice = RuleChoice(Rule.HIGHER)
    shown = preview(scene.carla, OF_CHECKS, choice)
    count = settle_many._require_unchanged

    def change_after_counting(outcomes, token):
        counted = count(outcomes, token)
        if not Check.objects.filter(checker=scene.ada, ended_at__isnull=False).exists():
            checking.check(item=scene.items["A"], by=scene.ada, relevance=1)
        return counted

    monkeypatch.setattr(settle_many, "_require_unchanged", change_after_counting)
    with pytest.raises(Stale):
        settle_checks(
            filters=OF_CHECKS, choice=choice, reason="So.", token=shown.token, by=scene.carla
        )

    assert not Check.objects.filter(place=Check.SETTLES).exists()


def test_a_previewed_label_leads_to_its_own_page(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("audit:settling_many", args=[scene.project.slug])

    page = client.get(address, {"kind": "check", "rule": "higher"})

    assert [row["url"] for row in page.context["rows"]] == [
        reverse("audit:check_disagreement", args=[scene.items[doc_id].pk]) for doc_id in "ABC"
    ]
    assert shows(page, "Settle 2 labels")
