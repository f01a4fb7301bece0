"""A lead accepts an instruction, sends it back or removes it, based on its reviews."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, AuditEvent, InstructionPair
from annotate.rewriting import actions as rewriting
from audit.models import Decision
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide, withdraw_decision
from base.errors import Refused, Stale
from tests.second_pass import levels

# Later than every row that the factories make.
NOON = datetime(2100, 1, 1, 12, tzinfo=UTC)


def hand_in(scene, by, **others):
    save_ratings(narrative=scene.narrative, answers=levels(**others), by=by)
    submit_review(narrative=scene.narrative, by=by)


@pytest.fixture
def passed(assigned):
    for auditor in (assigned.dan, assigned.ben):
        hand_in(assigned, auditor)
    return assigned


@pytest.fixture
def rejected(assigned):
    hand_in(assigned, assigned.dan, query_dependency="poor")
    return assigned


def deciding(scene, outcome, **changes):
    asked = {
        "narrative": scene.narrative,
        "outcome": outcome,
        "by": scene.carla,
        "reason": "",
        "now": NOON,
        **changes,
    }
    return decide(**asked)


def pair_of(scene):
    return InstructionPair.objects.get(pk=scene.pair.pk)


def test_what_every_auditor_passed_is_accepted_without_a_reason(passed):
    made = deciding(passed, "accepted")

    assert (made.outcome, made.reason, made.by, made.at) == ("accepted", "", passed.carla, NOON)
    assert (pair_of(passed).sent_back_at, pair_of(passed).removed_at) == (None, None)


def test_sending_back_asks_for_a_new_version(rejected):
    deciding(rejected, "revise", reason="Do not repeat the query.")

    assert (pair_of(rejected).sent_back_at, pair_of(rejected).sent_back_by) == (
        NOON,
        rejected.carla,
    )
    assert rejected.project.pairs.to_rewrite().get() == rejected.pair


def test_sending_back_opens_the_rewrite_assignment_of_its_author_again(assigned):
    rewriting.send_back(pair=assigned.pair, by=assigned.carla)
    assignment = assignments.take(pair=assigned.pair, task=Assignment.Task.REWRITE, by=assigned.ada)
    assigned.narrative = rewriting.rewrite_narrative(
        pair=assigned.pair, text="Only fences count.", based_on=1, by=assigned.ada
    )
    assert Assignment.objects.get(pk=assignment.pk).done_at is not None
    hand_in(assigned, assigned.dan, query_dependency="poor")

    deciding(assigned, "revise", reason="Do not repeat the query.", now=None)

    assert Assignment.objects.get(pk=assignment.pk).done_at is None


def test_removing_takes_the_pair_out_of_the_work(rejected):
    deciding(rejected, "removed", reason="Beyond repair.")

    assert (pair_of(rejected).removed_at, pair_of(rejected).removed_by) == (NOON, rejected.carla)


def test_the_same_decision_again_changes_nothing(rejected):
    first = deciding(rejected, "revise", reason="Again.")

    assert deciding(rejected, "revise", reason="Again.") == first
    assert Decision.objects.count() == 1


def test_another_decision_is_refused_while_one_stands(passed):
    deciding(passed, "accepted")

    with pytest.raises(Refused, match="carla has decided this: accepted"):
        deciding(passed, "removed", reason="No.")

    assert Decision.objects.get().outcome == "accepted"
    assert pair_of(passed).removed_at is None


@pytest.mark.parametrize("outcome", ["revise", "removed"])
def test_deciding_against_an_instruction_needs_a_reason(rejected, outcome):
    with pytest.raises(Refused, match="Give a reason"):
        deciding(rejected, outcome, reason=" ")

    assert not Decision.objects.exists()
    assert (pair_of(rejected).sent_back_at, pair_of(rejected).removed_at) == (None, None)


def test_accepting_against_an_auditor_needs_a_reason(rejected):
    with pytest.raises(Refused, match="rejects it"):
        deciding(rejected, "accepted")

    assert deciding(rejected, "accepted", reason="It does not repeat it.").outcome == "accepted"


def test_accepting_waits_for_every_auditor(assigned):
    hand_in(assigned, assigned.dan)

    with pytest.raises(Refused, match="1 of 2 reviews are in"):
        deciding(assigned, "accepted")

    assert not Decision.objects.exists()


@pytest.mark.parametrize("outcome", ["accepted", "revise", "removed"])
def test_what_nobody_has_reviewed_cannot_be_decided(assigned, outcome):
    with pytest.raises(Refused, match="Nobody has reviewed"):
        deciding(assigned, outcome, reason="So.")

    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("outcome", "reason", "sentence"),
    [("maybe", "So.", "Choose one"), ("revise", "x" * 10_001, "10,001 characters")],
)
def test_what_is_no_decision_is_refused(rejected, outcome, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        deciding(rejected, outcome, reason=reason)


@pytest.mark.parametrize("who", ["ada", "dan", "eve"])
def test_only_leads_of_the_project_decide(rejected, who):
    with pytest.raises(Refused, match="Only leads"):
        deciding(rejected, "removed", reason="So.", by=getattr(rejected, who))

    assert not Decision.objects.exists()


def test_a_superseded_version_is_not_decided(passed):
    rewriting.rewrite_narrative(
        pair=passed.pair, text="Only fences count.", based_on=1, by=passed.carla
    )

    with pytest.raises(Stale, match="Read the new version"):
        deciding(passed, "accepted")

    assert not Decision.objects.exists()


@pytest.mark.parametrize("outcome", ["revise", "removed"])
def test_a_withdrawn_decision_leaves_the_pair_as_it_was(rejected, outcome):
    made = deciding(rejected, outcome, reason="So.")

    taken_back = withdraw_decision(decision=made, by=rejected.carla, now=NOON)

    assert (taken_back.withdrawn_by, taken_back.withdrawn_at) == (rejected.carla, NOON)
    assert (pair_of(rejected).sent_back_at, pair_of(rejected).removed_at) == (None, None)
    assert not Decision.objects.current().exists()


def test_withdrawing_twice_changes_nothing(passed):
    made = deciding(passed, "accepted")
    withdraw_decision(decision=made, by=passed.carla, now=NOON)

    assert withdraw_decision(decision=made, by=passed.carla).withdrawn_at == NOON


def test_after_a_withdrawal_it_can_be_decided_anew(rejected):
    made = deciding(rejected, "revise", reason="So.")
    withdraw_decision(decision=made, by=rejected.carla)

    assert deciding(rejected, "removed", reason="Beyond repair.").outcome == "removed"
    assert Decision.objects.count() == 2


def test_what_was_rewritten_since_is_not_withdrawn(rejected):
    made = deciding(rejected, "revise", reason="So.")
    rewriting.rewrite_narrative(
        pair=rejected.pair, text="Only fences count.", based_on=1, by=rejected.carla
    )

    with pytest.raises(Stale, match="this decision is history"):
        withdraw_decision(decision=made, by=rejected.carla)

    assert Decision.objects.current().get() == made


@pytest.mark.parametrize("who", ["dan", "eve"])
def test_only_leads_of_the_project_withdraw(rejected, who):
    made = deciding(rejected, "removed", reason="So.")

    with pytest.raises(Refused, match="Only leads"):
        withdraw_decision(decision=made, by=getattr(rejected, who))

    assert pair_of(rejected).removed_at is not None


def test_the_audit_log_says_what_was_decided_and_what_was_withdrawn(passed):
    decision = deciding(passed, "removed", reason="It names one document.")
    withdraw_decision(decision=decision, by=passed.carla)

    told = AuditEvent.objects.filter(what__startswith="instruction.").order_by("pk")
    assert list(told.values_list("what", "changes")) == [
        ("instruction.decided", {"outcome": [None, "removed"]}),
        ("instruction.undecided", {"outcome": ["removed", None]}),
    ]


@pytest.mark.parametrize(("overlap", "todo"), [(0, [1]), (1, [])])
def test_what_is_sent_back_is_to_do_where_nobody_is_asked_to_rewrite(
    rejected, client, overlap, todo
):
    type(rejected.project).objects.filter(pk=rejected.project.pk).update(overlap_rewrite=overlap)
    deciding(rejected, "revise", reason="Say where.")
    client.force_login(rejected.carla.user)

    page = client.get(rejected.project.get_absolute_url())

    found = [one for one in page.context["todo"] if one.url.endswith("?state=sent-back")]
    assert [one.count for one in found] == todo
