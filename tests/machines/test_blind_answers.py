"""Only answers of people who could not have seen a machine's answer are compared with it."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.models import Judgment, Membership, RejudgeRequest
from annotate.people.members import change_role
from audit.checks import actions
from audit.machines.blind_answers import Chosen, Reason, blind_items
from audit.models import Sample
from tests import factories
from tests.checks.checking import check_label, draw
from tests.machines.conftest import EARLIER, judge

pytestmark = pytest.mark.both_databases


def answers(scene, chosen=Chosen.OTHERWISE):
    """Return people's blind grades by document, and how many are left out by reason."""
    items, left_out = blind_items(scene.model, chosen)
    names = dict(Membership.objects.values_list("pk", "name"))
    documents = dict(Judgment.objects.values_list("pk", "candidate__document__doc_id"))
    return (
        {
            documents[item.judgment]: {names[pk]: grade for pk, grade in item.people.items()}
            for item in items
        },
        left_out,
    )


def test_people_who_judge_on_the_page_are_blind(scene):
    judge(scene, "A", ada=0, ben=1)

    assert answers(scene) == ({"A": {"ada": 0, "ben": 1}}, {})
    [item], _left_out = blind_items(scene.model, Chosen.OTHERWISE)
    assert (item.grade, item.query, item.category, item.agreed) == (0, "301", "C1", None)


def test_documents_that_the_machine_did_not_judge_are_not_compared(scene):
    Judgment.objects.filter(candidate=scene.candidates["A"]).delete()
    judge(scene, "A", ada=0)

    assert answers(scene) == ({}, {})


def test_answers_from_a_file_count_only_if_they_came_before_the_machine(scene):
    narrative, source = scene.narratives["C1"], Judgment.Source.FILE
    factories.judgment(narrative, scene.candidates["A"], scene.ada, 1, source=source)
    factories.judgment(narrative, scene.candidates["B"], scene.ada, 1, source=source, at=EARLIER)

    assert answers(scene) == ({"B": {"ada": 1}}, {Reason.FILE: 1})


def test_answers_from_the_same_file_as_the_machines_do_not_count(scene):
    now = timezone.now()
    Judgment.objects.update(at=now)
    factories.judgment(
        *(scene.narratives["C1"], scene.candidates["A"], scene.ada, 1),
        source=Judgment.Source.FILE,
        at=now,
    )

    assert answers(scene) == ({}, {Reason.FILE: 1})


def test_an_earlier_answer_of_any_machine_counts_as_seen(scene):
    older = factories.machine(scene.project, "older")
    factories.judgment(scene.narratives["C1"], scene.candidates["A"], older, 1, at=EARLIER)
    later = EARLIER.replace(month=2)
    for doc_id in "AB":
        factories.judgment(
            scene.narratives["C1"], scene.candidates[doc_id], scene.carla, 1, at=later
        )

    assert answers(scene) == ({"B": {"carla": 1}}, {Reason.LEAD: 1})


def test_leads_could_look_up_what_the_machine_answered(scene):
    judge(scene, "A", ada=1, carla=1)

    assert answers(scene) == ({"A": {"ada": 1}}, {Reason.LEAD: 1})


def test_somebody_who_led_once_counts_as_a_lead(scene):
    change_role(member=scene.ada, role=Membership.Role.LEAD, by=scene.carla)
    change_role(member=scene.ada, role=Membership.Role.ANNOTATOR, by=scene.carla)
    judge(scene, "A", ada=1, ben=1)

    assert answers(scene) == ({"A": {"ben": 1}}, {Reason.LEAD: 1})


def test_an_answer_after_a_request_to_look_again_does_not_count(scene):
    judge(scene, "A", ada=1, ben=1)
    first = Judgment.objects.get(annotator=scene.ada)
    RejudgeRequest.objects.create(statement=first, by=scene.carla, words="Look again.")
    Judgment.objects.filter(pk=first.pk).update(ended_at=timezone.now())
    judge(scene, "A", ada=0)

    assert answers(scene) == ({"A": {"ben": 1}}, {Reason.TOLD: 1})


@pytest.mark.parametrize(
    ("source", "left_out"),
    [(Sample.Source.MACHINE, {Reason.SHOWN: 1}), (Sample.Source.PRIOR, {})],
)
def test_an_answer_to_a_label_whose_claim_was_shown_does_not_count(scene, source, left_out):
    sample = draw(scene, shows_claim=True, size=4)
    if source == Sample.Source.PRIOR:
        Sample.objects.filter(pk=sample.pk).update(source=source, rater=None)
    judge(scene, "A", ada=1)

    assert answers(scene)[1] == left_out


def test_an_answer_after_checking_the_same_label_does_not_count(scene):
    sample = draw(scene, size=4)
    check_label(sample, "A", ada=1, dan=1)
    judge(scene, "A", ada=0, ben=0)

    assert answers(scene) == ({"A": {"ben": 0}}, {Reason.CHECKED: 1})


def test_checks_of_drawn_labels_are_the_answers_to_what_was_drawn(scene):
    sample = draw(scene, size=4)
    check_label(sample, "A", ada=1, ben=0)
    check_label(sample, "B", ben=0, dan=0)
    judge(scene, "B", ada=1)

    drawn = {"A": {"ada": 1, "ben": 0}, "B": {"ben": 0, "dan": 0}}
    assert answers(scene, Chosen.DRAWN) == (drawn, {})
    assert answers(scene)[0] == {"B": {"ada": 1}}


def test_labels_that_a_second_person_still_checks_do_not_count(scene):
    check_label(draw(scene, size=4), "A", ada=1)
    judge(scene, "B", ben=1)

    assert answers(scene, Chosen.DRAWN) == ({}, {Reason.OPEN: 1})
    assert answers(scene) == ({}, {Reason.OPEN: 1})


def test_samples_that_ask_two_questions_give_no_grades_to_compare(scene):
    sample = draw(scene, size=4)
    check_label(sample, "A", ada=1, ben=1)
    Sample.objects.update(asks=Sample.Asks.QUESTIONS)

    assert answers(scene, Chosen.DRAWN) == ({}, {})


def test_who_settles_a_label_has_seen_others_and_is_not_compared(scene):
    check_label(draw(scene, size=4), "A", ada=1, ben=0, dan=2)

    assert answers(scene, Chosen.DRAWN) == ({"A": {"ada": 1, "ben": 0}}, {})


def test_checks_of_leads_and_of_shown_claims_do_not_count(scene):
    check_label(draw(scene, size=4), "A", ada=1, carla=0)
    check_label(draw(scene, size=4, name="Shown", shows_claim=True), "B", ada=1)

    assert answers(scene, Chosen.DRAWN) == (
        {"A": {"ada": 1}},
        {Reason.LEAD: 1, Reason.SHOWN: 1},
    )


def test_the_first_of_two_checks_of_the_same_label_counts(scene):
    for name, grade in (("First", 1), ("Second", 2)):
        check_label(draw(scene, size=4, name=name), "A", ada=grade, ben=grade)

    assert answers(scene, Chosen.DRAWN)[0] == {"A": {"ada": 1, "ben": 1}}


def test_somebody_who_saw_the_claim_in_another_sample_is_not_blind(scene):
    check_label(draw(scene, size=4, name="Shown", shows_claim=True), "A", ada=1)
    check_label(draw(scene, size=4), "A", ada=1, ben=0)

    assert answers(scene, Chosen.DRAWN) == ({"A": {"ben": 0}}, {Reason.SHOWN: 2})


def test_labels_of_other_machines_and_withdrawn_checks_do_not_count(scene):
    other = factories.machine(scene.project, "other")
    factories.judgment(scene.narratives["C1"], scene.candidates["A"], other, 1)
    sample = draw(scene, size=4)
    check_label(sample, "A", ada=1)
    scene.model = other

    assert answers(scene, Chosen.DRAWN) == ({}, {})
    actions.withdraw_check(item=sample.items.get(candidate=scene.candidates["A"]), by=scene.ada)
    scene.model = sample.rater
    assert answers(scene, Chosen.DRAWN) == ({}, {})
