"""Each kind of project has its own rules, which hold, are broken by named pairs, or are open."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments.label_rules import gold_result
from annotate.judgments.pair_rules import Counts, Rule, RuleStatus
from annotate.judgments.rule_report import rule_report
from annotate.models import (
    Adjudication,
    Candidate,
    Condition,
    Membership,
    Narrative,
    Project,
    Verdict,
)
from annotate.pools.removal import DOCUMENTS
from audit.checks.actions import check
from audit.checks.claims import ClaimSelection
from audit.checks.samples import draw_sample
from audit.models import Sample
from audit.reports.rule_standings import rule_standings
from audit.settling.adjudication import adjudicate, settle_condition
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.both_databases

KEPT, NOT_YET, BROKEN = RuleStatus.HOLDS, RuleStatus.NOT_KNOWN, RuleStatus.BROKEN


@pytest.mark.parametrize(
    ("counts", "promise"),
    [
        (Counts(kept=2, dropped=2), KEPT),
        # 1 of 4 and 3 of 4: the limits belong to the range.
        (Counts(kept=3, dropped=1), KEPT),
        (Counts(kept=1, dropped=3), KEPT),
        (Counts(kept=4, dropped=1), BROKEN),
        (Counts(kept=4, dropped=1, unjudged=1), NOT_YET),
        # At most 2 of 9 can still drop out.
        (Counts(kept=7, dropped=1, unjudged=1), BROKEN),
        (Counts(kept=0, dropped=4, disputed=1), BROKEN),
        # 2 or 3 of 5: the open one makes no difference. 3 or 4 of 5: it does.
        (Counts(kept=2, dropped=2, disputed=1), KEPT),
        (Counts(kept=1, dropped=3, disputed=1), NOT_YET),
        (Counts(), NOT_YET),
    ],
)
def test_between_a_quarter_and_three_quarters_of_the_relevant_documents_drop_out(counts, promise):
    assert counts.status(Rule.SHARE) is promise


def test_limits_of_a_rule_can_be_changed():
    found = Counts(kept=2, dropped=2).status(Rule.BALANCE, {"complying": 2, "violating": 2})

    assert found is KEPT


@pytest.mark.parametrize(
    ("instructed", "original", "turned", "promise", "breaking"),
    [
        ({1: 1, 2: 0}, {1: 1, 2: 1}, {1: 0}, KEPT, []),
        ({1: 1}, {1: 0}, {1: 0}, BROKEN, [1]),
        ({1: 1, 3: 1}, {1: 1, 3: 1}, {1: 1, 3: 0}, BROKEN, [1]),
        ({1: 1}, {1: 1}, {}, NOT_YET, []),
        ({1: None}, {1: 1}, {1: 0}, NOT_YET, []),
        # No gold document at all.
        ({1: 0}, {1: 1}, {1: 0}, BROKEN, []),
    ],
)
def test_gold_is_relevant_in_original_and_instructed_and_not_in_reversed(
    instructed, original, turned, promise, breaking
):
    found = gold_result(instructed, original, turned, 1)

    assert (found.status, found.candidates) == (promise, breaking)


class Scene:
    """A project of a kind with one pair, for which a file claims labels."""

    def __init__(self, kind: str, **fields) -> None:
        self.project = factories.project(
            kind=kind, judge_scope=Project.Scope.POOL, grades=tuple(range(4)), **fields
        )
        self.carla = factories.lead(self.project)
        self.machine = factories.machine(self.project, "claims")
        self.query = factories.query(self.project, "301")
        self.pair = factories.pair(self.query)
        self.altered = factories.altered(self.pair)

    def candidate(self, prior: int | None, claimed: int) -> Candidate:
        made = factories.candidate(self.query, prior=prior)
        factories.judgment(self.altered, made, self.machine, claimed)
        return made

    def rule_state(self) -> tuple[str, int, int, int]:
        [one] = rule_standings(rule_report(self.carla))
        return one.state.value, one.holds, one.not_known, len(one.broken)


@pytest.mark.django_db
def test_claimed_tables_count_where_nobody_judged_and_two_positives_are_too_few():
    scene = Scene("followtable")
    for claimed in (1, 1, 0, 0, 0):
        scene.candidate(1, claimed)
    assert scene.rule_state() == ("broken", 0, 0, 1)

    scene.candidate(1, 1)
    assert scene.rule_state() == ("holds", 1, 0, 0)


@pytest.mark.django_db
def test_claim_of_a_table_taken_out_of_its_pool_does_not_count():
    scene = Scene("followtable")
    tables = [scene.candidate(1, claimed) for claimed in (1, 1, 1, 0, 0, 0)]
    assert scene.rule_state() == ("holds", 1, 0, 0)

    DOCUMENTS.remove(
        project=scene.project, keys=[tables[0].pk], reason="A duplicate.", by=scene.carla
    )

    assert scene.rule_state() == ("broken", 0, 0, 1)


@pytest.mark.django_db
def test_judgments_take_precedence_over_claims():
    scene = Scene("followtable")
    tables = [scene.candidate(1, claimed) for claimed in (1, 1, 1, 0, 0, 0)]

    factories.judgment(scene.altered, tables[0], factories.member(scene.project, "ada"), 0)

    assert scene.rule_state() == ("broken", 0, 0, 1)


@pytest.mark.django_db
def test_checks_take_precedence_over_claims():
    scene = Scene("followtable")
    for claimed in (1, 1, 1, 0, 0, 0):
        scene.candidate(1, claimed)
    sample = draw_sample(
        name="Spot check",
        selection=ClaimSelection(Sample.Source.MACHINE, scene.machine),
        stratify=Sample.Stratify.NONE,
        per=Sample.Per.STRATUM,
        size=6,
        seed=1,
        by=scene.carla,
    )
    violating = sample.items.filter(claimed=0)[0]

    check(item=violating, relevance=1, by=factories.member(scene.project, "ada"))
    assert scene.rule_state() == ("holds", 1, 0, 0)
    check(item=violating, relevance=1, by=factories.member(scene.project, "ben"))

    assert scene.rule_state() == ("broken", 0, 0, 1)


@pytest.mark.django_db
def test_a_gold_document_that_the_reversed_mode_claims_breaks_the_rule_and_is_named():
    scene = Scene("infosearch")
    gold = scene.candidate(1, 1)
    turned = Narrative.objects.create(pair=scene.pair, side="reversed", text="Not about tides.")
    assert scene.rule_state() == ("not_known", 0, 1, 0)

    factories.judgment(turned, gold, scene.machine, 1)

    assert scene.rule_state() == ("broken", 0, 0, 1)
    [one] = rule_report(scene.carla).pairs
    assert one.breaking_candidates(Rule.GOLD) == [gold.pk]


@pytest.mark.django_db
def test_a_count_above_the_number_of_conditions_breaks_the_rule():
    scene = Scene("multiconir")
    for number in (1, 2):
        Condition.objects.create(narrative=scene.altered, number=number, text=f"Condition {number}")
    scene.candidate(None, 2)
    assert scene.rule_state() == ("holds", 1, 0, 0)

    scene.candidate(None, 3)
    assert scene.rule_state() == ("broken", 0, 0, 1)


@pytest.mark.django_db
def test_a_relevant_document_that_violates_an_attribute_breaks_the_rule():
    scene = Scene("multi-infosearch")
    attribute = Condition.objects.create(narrative=scene.altered, number=1, text="Short")
    for claimed, answer in ((1, "met"), (0, "not_met")):
        judgment = factories.judgment(
            scene.altered, factories.candidate(scene.query), scene.machine, claimed
        )
        Verdict.objects.create(statement=judgment, condition=attribute, answer=answer)
    assert scene.rule_state() == ("holds", 1, 0, 0)

    Verdict.objects.filter(answer="not_met").update(answer="met")
    assert scene.rule_state() == ("broken", 0, 0, 1)


@pytest.mark.django_db
def test_settled_relevance_is_compared_with_the_settled_attributes():
    """Two judges differ on the one attribute, and so on the relevance that follows from it."""
    scene = Scene("multi-infosearch", consensus="unanimous")
    attribute = Condition.objects.create(narrative=scene.altered, number=1, text="Short")
    candidate = factories.candidate(scene.query)
    for name, relevance, answer in (("ada", 1, "met"), ("ben", 0, "not_met")):
        judge = factories.member(scene.project, name)
        judgment = factories.judgment(scene.altered, candidate, judge, relevance)
        Verdict.objects.create(statement=judgment, condition=attribute, answer=answer)
    why: Any = {"reason": "By the text.", "cause": "error", "by": scene.carla}
    assert scene.rule_state() == ("holds", 1, 0, 0)

    settle_condition(condition=attribute, candidate=candidate, answer="not_met", **why)
    adjudicate(narrative=scene.altered, candidate=candidate, relevance=1, **why)
    assert scene.rule_state() == ("broken", 0, 0, 1)

    Adjudication.objects.filter(candidate=candidate).update(relevance=0)
    assert scene.rule_state() == ("holds", 1, 0, 0)


@pytest.mark.django_db
def test_a_document_that_a_lead_settled_under_one_instruction_is_not_settled_under_another():
    """Of three judges one violates the rule under both instructions, and the majority does not."""
    scene = Scene("multi-infosearch", consensus="majority")
    other = factories.altered(factories.pair(scene.query, pair_id="301_2"))
    candidate = factories.candidate(scene.query)
    judges = [factories.member(scene.project, name) for name in ("ada", "ben", "dan")]
    for narrative in (scene.altered, other):
        attribute = Condition.objects.create(narrative=narrative, number=1, text="Short")
        for judge, answer in zip(judges, ("met", "met", "not_met"), strict=True):
            judgment = factories.judgment(narrative, candidate, judge, 1)
            Verdict.objects.create(statement=judgment, condition=attribute, answer=answer)
    assert scene.rule_state() == ("broken", 0, 0, 2)

    why: Any = {"reason": "By the text.", "cause": "error", "by": scene.carla}
    Adjudication.objects.create(narrative=other, candidate=candidate, relevance=1, **why)

    assert scene.rule_state() == ("broken", 1, 0, 1)


@pytest.mark.django_db
def test_only_the_machine_whose_claims_count_can_break_the_rule_on_attributes():
    scene = Scene("multi-infosearch")
    other = factories.machine(scene.project, "other")
    attribute = Condition.objects.create(narrative=scene.altered, number=1, text="Short")
    candidate = factories.candidate(scene.query)
    # Both say that the document is not short; only the other one calls it relevant anyway.
    for machine, relevance in ((scene.machine, 0), (other, 1)):
        judgment = factories.judgment(scene.altered, candidate, machine, relevance)
        Verdict.objects.create(statement=judgment, condition=attribute, answer="not_met")
    assert scene.rule_state() == ("not_known", 0, 1, 0)

    for machine, state in (
        (scene.machine, ("holds", 1, 0, 0)),
        (other, ("broken", 0, 0, 1)),
    ):
        Membership.objects.filter(pk=machine.pk).update(claims_chosen_at=timezone.now())
        assert scene.rule_state() == state


@pytest.mark.django_db
def test_the_page_and_the_api_name_the_pair_that_breaks_a_rule(client):
    scene = Scene("followtable")
    scene.candidate(1, 1)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:collection", args=["tides"])).content.decode()
    answer = Program("carla", "lead").get("projects/tides/rules/").json()

    assert "Broken: The instruction tells documents apart" in page
    assert "At least 3 documents comply with it" in page
    [rule] = answer["rules"]
    assert (answer["kind"], rule["rule"], rule["state"]) == ("followtable", "balance", "broken")
    assert [one["pair_id"] for one in rule["broken"]] == [scene.pair.pair_id]


@pytest.mark.django_db
def test_rules_of_labels_cost_the_same_however_many_pairs_there_are(django_assert_max_num_queries):
    scene = Scene("infosearch")
    for number in range(3):
        query = factories.query(scene.project, str(400 + number))
        factories.judgment(
            factories.altered(factories.pair(query)),
            factories.candidate(query, prior=1),
            scene.machine,
            1,
        )

    with django_assert_max_num_queries(23):
        rule_report(scene.carla)
