"""A lead accepts an instruction, sends it back or removes it, based on its reviews."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.judgments import assignments
from annotate.models import Assignment, AuditEvent, InstructionPair
from annotate.rewriting import actions as rewriting
from audit.models import Decision
from audit.reviews.decisions import decide, withdraw_decision
from base.errors import Refused, Stale
from tests import factories
from tests.second_pass import submit_levels, take_reviews

# Later than every row that the factories make.
NOON = datetime(2100, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    return take_reviews(scene_of_file)


@pytest.fixture
def passed(scene):
    for auditor in (scene.dan, scene.ben):
        submit_levels(scene.narrative, auditor)
    return scene


@pytest.fixture
def rejected(scene):
    submit_levels(scene.narrative, scene.dan, query_dependency="poor")
    return scene


def decide_as_lead(scene, outcome, **changes):
    arguments = {
        "narrative": scene.narrative,
        "outcome": outcome,
        "by": scene.carla,
        "reason": "",
        "now": NOON,
        **changes,
    }
    return decide(**arguments)


def pair_of(scene):
    return InstructionPair.objects.get(pk=scene.pair.pk)


def effects(scene):
    """Return when the narrative was sent back, and when its pair was removed."""
    narrative = factories.altered(scene.pair)
    return narrative.sent_back_at, narrative.pair.removed_at


def test_accepting_a_passed_instruction_needs_no_reason(passed):
    made = decide_as_lead(passed, "accepted")

    assert (made.outcome, made.reason, made.by, made.at) == ("accepted", "", passed.carla, NOON)
    assert effects(passed) == (None, None)


def test_sending_back_asks_for_a_new_version(rejected):
    decide_as_lead(rejected, "revise", reason="Do not repeat the query.")

    sent = factories.altered(rejected.pair)
    assert (sent.sent_back_at, sent.sent_back_by) == (NOON, rejected.carla)
    assert rejected.project.pairs.to_rewrite().get() == rejected.pair


def test_sending_back_opens_the_rewrite_assignment_of_its_author_again(scene):
    rewriting.send_back(pair=scene.pair, by=scene.carla)
    assignment = assignments.take(pair=scene.pair, task=Assignment.Task.REWRITE, by=scene.ada)
    scene.narrative = rewriting.rewrite_narrative(
        pair=scene.pair, text="Only fences count.", based_on=1, by=scene.ada
    )
    assert Assignment.objects.get(pk=assignment.pk).done_at is not None
    submit_levels(scene.narrative, scene.dan, query_dependency="poor")

    decide_as_lead(scene, "revise", reason="Do not repeat the query.", now=None)

    assert Assignment.objects.get(pk=assignment.pk).done_at is None


def test_removing_takes_the_pair_out_of_the_work(rejected):
    decide_as_lead(rejected, "removed", reason="Beyond repair.")

    assert (pair_of(rejected).removed_at, pair_of(rejected).removed_by) == (NOON, rejected.carla)


def test_the_same_decision_again_changes_nothing(rejected):
    first = decide_as_lead(rejected, "revise", reason="Again.")

    assert decide_as_lead(rejected, "revise", reason="Again.") == first
    assert Decision.objects.count() == 1


def test_a_second_decision_is_refused_while_one_is_current(passed):
    decide_as_lead(passed, "accepted")

    with pytest.raises(Refused, match="carla has decided this: accepted"):
        decide_as_lead(passed, "removed", reason="No.")

    assert Decision.objects.get().outcome == "accepted"
    assert pair_of(passed).removed_at is None


@pytest.mark.parametrize("outcome", ["revise", "removed"])
def test_deciding_against_an_instruction_needs_a_reason(rejected, outcome):
    with pytest.raises(Refused, match="Give a reason"):
        decide_as_lead(rejected, outcome, reason=" ")

    assert not Decision.objects.exists()
    assert effects(rejected) == (None, None)


def test_accepting_against_an_auditor_needs_a_reason(rejected):
    with pytest.raises(Refused, match="rejects it"):
        decide_as_lead(rejected, "accepted")

    assert (
        decide_as_lead(rejected, "accepted", reason="It does not repeat it.").outcome == "accepted"
    )


def test_accepting_waits_for_every_auditor(scene):
    submit_levels(scene.narrative, scene.dan)

    with pytest.raises(Refused, match="1 of 2 reviews are in"):
        decide_as_lead(scene, "accepted")

    assert not Decision.objects.exists()


@pytest.mark.parametrize("outcome", ["accepted", "revise", "removed"])
def test_a_version_without_reviews_cannot_be_decided(scene, outcome):
    with pytest.raises(Refused, match="Nobody has reviewed"):
        decide_as_lead(scene, outcome, reason="So.")

    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("outcome", "reason", "sentence"),
    [("maybe", "So.", "Choose one"), ("revise", "x" * 10_001, "10,001 characters")],
)
def test_an_invalid_decision_is_refused(rejected, outcome, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        decide_as_lead(rejected, outcome, reason=reason)


@pytest.mark.parametrize("who", ["ada", "dan", "eve"])
def test_only_leads_of_the_project_decide(rejected, who):
    with pytest.raises(Refused, match="Only leads"):
        decide_as_lead(rejected, "removed", reason="So.", by=getattr(rejected, who))

    assert not Decision.objects.exists()


def test_a_superseded_version_is_not_decided(passed):
    rewriting.rewrite_narrative(
        pair=passed.pair, text="Only fences count.", based_on=1, by=passed.carla
    )

    with pytest.raises(Stale, match="Read the new version"):
        decide_as_lead(passed, "accepted")

    assert not Decision.objects.exists()


def test_withdrawing_a_removal_leaves_the_pair_out_while_its_query_is_taken_out(rejected):
    made = decide_as_lead(rejected, "removed", reason="So.")
    on_query = {"project": rejected.project, "keys": [rejected.query.pk], "by": rejected.carla}
    QUERIES.remove(reason="Too broad.", **on_query)

    withdraw_decision(decision=made, by=rejected.carla)

    assert pair_of(rejected).removed_reason == "Too broad."
    QUERIES.restore(**on_query)
    assert pair_of(rejected).removed_at is None


def test_an_instruction_that_was_taken_out_is_not_decided(rejected, client):
    QUERIES.remove(
        project=rejected.project,
        keys=[rejected.query.pk],
        reason="Too broad.",
        by=rejected.carla,
    )
    client.force_login(rejected.carla.user)

    with pytest.raises(Refused, match="taken out, so there is nothing to decide"):
        decide_as_lead(rejected, "removed", reason="So.")

    page = client.get(reverse("audit:story", args=[rejected.pair.pk]))
    assert not page.context["can_decide"]


@pytest.mark.parametrize("outcome", ["revise", "removed"])
def test_a_withdrawn_decision_leaves_the_pair_as_it_was(rejected, outcome):
    made = decide_as_lead(rejected, outcome, reason="So.")

    taken_back = withdraw_decision(decision=made, by=rejected.carla, now=NOON)

    assert (taken_back.withdrawn_by, taken_back.withdrawn_at) == (rejected.carla, NOON)
    assert effects(rejected) == (None, None)
    assert not Decision.objects.current().exists()


def test_withdrawing_twice_changes_nothing(passed):
    made = decide_as_lead(passed, "accepted")
    withdraw_decision(decision=made, by=passed.carla, now=NOON)

    assert withdraw_decision(decision=made, by=passed.carla).withdrawn_at == NOON


def test_a_new_decision_can_follow_a_withdrawal(rejected):
    made = decide_as_lead(rejected, "revise", reason="So.")
    withdraw_decision(decision=made, by=rejected.carla)

    assert decide_as_lead(rejected, "removed", reason="Beyond repair.").outcome == "removed"
    assert Decision.objects.count() == 2


def test_a_decision_on_a_rewritten_version_cannot_be_withdrawn(rejected):
    made = decide_as_lead(rejected, "revise", reason="So.")
    rewriting.rewrite_narrative(
        pair=rejected.pair, text="Only fences count.", based_on=1, by=rejected.carla
    )

    with pytest.raises(Stale, match="this decision is history"):
        withdraw_decision(decision=made, by=rejected.carla)

    assert Decision.objects.current().get() == made


@pytest.mark.parametrize("who", ["dan", "eve"])
def test_only_leads_of_the_project_withdraw(rejected, who):
    made = decide_as_lead(rejected, "removed", reason="So.")

    with pytest.raises(Refused, match="Only leads"):
        withdraw_decision(decision=made, by=getattr(rejected, who))

    assert pair_of(rejected).removed_at is not None


def test_the_audit_log_lists_decisions_and_withdrawals(passed):
    decision = decide_as_lead(passed, "removed", reason="It names one document.")
    withdraw_decision(decision=decision, by=passed.carla)

    events = AuditEvent.objects.filter(what__startswith="instruction.").order_by("pk")
    assert list(events.values_list("what", "changes")) == [
        ("instruction.decided", {"outcome": [None, "removed"]}),
        ("instruction.undecided", {"outcome": ["removed", None]}),
    ]


@pytest.mark.parametrize(("overlap", "todo"), [(0, [1]), (1, [])])
def test_sent_back_instructions_are_a_leads_todo_if_nobody_rewrites(
    rejected, client, overlap, todo
):
    type(rejected.project).objects.filter(pk=rejected.project.pk).update(overlap_rewrite=overlap)
    decide_as_lead(rejected, "revise", reason="Say where.")
    client.force_login(rejected.carla.user)

    page = client.get(rejected.project.get_absolute_url())

    found = [one for one in page.context["todo"] if one.url.endswith("?state=sent-back")]
    assert [one.count for one in found] == todo
