"""Two people check a claimed label blind, a third settles; earlier checks stay stored."""

from __future__ import annotations

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotate.models import Adjudication, Candidate, Narrative
from annotate.projects.actions import change_rules
from annotate.projects.kinds.declaration import KindGrade
from audit.checks import actions, queue, samples
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.queue import next_item, sample_rows, to_check, to_settle, with_checks
from audit.checks.samples import plan
from audit.models import Check, Sample, SampleItem
from base.errors import Refused
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw, original

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(db):
    return claimed_scene()


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


def outcome(sample, doc_id):
    return with_checks(SampleItem.objects.all()).get(pk=item(sample, doc_id).pk).outcome


def doc_ids(items):
    return sorted(items.values_list("candidate__document__doc_id", flat=True))


# --- drawing ----------------------------------------------------------------------------------


def test_a_sample_keeps_what_was_claimed_and_how_it_was_drawn(scene):
    sample = draw(scene, size=2, seed=7)

    assert [(one.stratum) for one in sample.items.order_by("pk")] == ["C1", "C1", "S1", "S1"]
    assert sample.frame == {"C1": 3, "S1": 3}
    assert (sample.kind, sample.rater, sample.seed, sample.size) == ("random", scene.model, 7, 2)
    claimed = {"A": 0, "B": 1, "C": 2, "D": 0, "E": 1, "F": 2}
    assert all(one.claimed == claimed[one.candidate.document.doc_id] for one in sample.items.all())


def test_the_same_seed_draws_the_same_in_another_database(scene):
    first = doc_ids(draw(scene, size=1).items)
    claimed = {
        candidate.document.doc_id: claim.relevance
        for candidate, claim in (
            (one.candidate, one) for one in scene.model.statements.select_related("candidate")
        )
    }
    assert len(claimed) == 6
    # The same ids with different keys, after a query that was created first.
    factories.query(scene.eve.project, "1")
    elsewhere = scene.eve.project
    machine = factories.machine(elsewhere)
    for number, documents in (("302", "FED"), ("301", "CBA")):
        query = factories.query(elsewhere, number)
        pair = factories.pair(query, category={"301": "C1", "302": "S1"}[number])
        for doc_id in documents:
            factories.judgment(
                factories.altered(pair), factories.candidate(query, doc_id), machine, 1
            )

    second = samples.draw_sample(
        name="Spot checks",
        selection=ClaimSelection(Sample.Source.MACHINE, machine),
        stratify="category",
        per="stratum",
        size=1,
        seed=7,
        by=scene.eve,
    )

    assert doc_ids(second.items) == first


def test_a_sample_can_have_a_number_of_documents_per_instruction(scene):
    sample = draw(scene, per=Sample.Per.INSTRUCTION, size=2, stratify=Sample.Stratify.NONE)

    assert sample.items.filter(narrative=scene.narratives["C1"]).count() == 2
    assert sample.items.filter(narrative=scene.narratives["S1"]).count() == 2
    assert sample.frame == {"": 6}


def test_a_sample_can_be_limited_to_labels_claimed_relevant(scene):
    selection = scene.selection._replace(relevant_only=True)

    assert doc_ids(draw(scene, selection=selection, size=2).items) == ["B", "C", "E", "F"]


def test_consensus_and_adjudications_are_claims_and_disputed_documents_are_not(scene):
    narrative = scene.narratives["C1"]
    for doc_id, adas, bens in (("A", 1, 1), ("B", 0, 2), ("C", 0, 1)):
        factories.judgment(narrative, scene.candidates[doc_id], scene.ada, adas)
        factories.judgment(narrative, scene.candidates[doc_id], scene.ben, bens)
    Adjudication.objects.create(
        narrative=narrative,
        candidate=scene.candidates["B"],
        relevance=2,
        reason="Read it.",
        cause="edge",
        by=scene.carla,
    )

    claims = build_frame(scene.project, ClaimSelection(Sample.Source.CONSENSUS)).claims

    assert {claim.doc_id: claim.relevance for claim in claims} == {"A": 1, "B": 2}


def test_earlier_qrels_claim_under_the_original_narrative(scene):
    claims = build_frame(scene.project, ClaimSelection(Sample.Source.PRIOR)).claims

    assert {claim.relevance for claim in claims} == {1}
    assert {claim.narrative.pk for claim in claims} == {
        original(narrative).pk for narrative in scene.narratives.values()
    }


def test_a_query_of_several_pairs_claims_each_of_its_documents_once(scene):
    pair = scene.narratives["C1"].pair
    factories.pair(pair.query, pair_id="301_2")

    claims = build_frame(scene.project, ClaimSelection(Sample.Source.PRIOR)).claims

    assert len(claims) == 6
    assert {claim.narrative.pair.pair_id for claim in claims} == {"301", "302"}


def test_strata_can_be_formed_by_the_writer_of_the_instruction(scene):
    pair = scene.narratives["S1"].pair
    pair.narratives.filter(side="altered").update(origin="llm", model="a-model")

    shown = plan(
        build_frame(scene.project, scene.selection), stratify="model", per="stratum", size=1, seed=1
    )

    assert shown.sizes == {"a-model": 3, "people": 3}


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        (
            {"size": 4},
            (
                "Fewer than the 4 asked for: “C1” has 3, “S1” has 3."
                " Ask for fewer, or take what there is."
            ),
        ),
        (
            {"stratify": "none", "size": 7},
            (
                "There are 6 to draw from, fewer than the 7 asked for."
                " Ask for fewer, or take what there is."
            ),
        ),
        (
            {"per": "instruction", "size": 4},
            (
                "Fewer than the 4 asked for: “301” has 3, “302” has 3."
                " Ask for fewer, or take what there is."
            ),
        ),
        ({"size": 0}, "Draw at least one."),
        ({"name": "  "}, "Give the sample a name."),
        ({"stratify": "moon"}, "Choose what the strata are."),
        ({"per": "moon"}, "Choose whether the number is per stratum or per instruction."),
        ({"selection": ClaimSelection("moon")}, "Choose whose labels are checked."),
        (
            {"selection": ClaimSelection("machine")},
            "Choose the machine whose judgments are checked.",
        ),
    ],
)
def test_an_impossible_sample_is_refused_and_nothing_is_written(scene, choices, sentence):
    with pytest.raises(Refused) as refused:
        draw(scene, **choices)

    assert str(refused.value) == sentence
    assert not Sample.objects.exists()


def test_an_empty_stratum_is_refused_unless_fewer_is_allowed(scene):
    factories.candidate(query := factories.query(scene.project, "303"), "G")
    factories.pair(query, category="S2")

    with pytest.raises(Refused, match="“S2” has none"):
        draw(scene)

    assert draw(scene, fewer=True).frame == {"C1": 3, "S1": 3, "S2": 0}


def test_a_rater_must_be_a_machine_of_this_project(scene):
    for rater in (scene.ada, factories.machine(scene.eve.project)):
        with pytest.raises(Refused, match="a machine of this project"):
            draw(scene, selection=ClaimSelection(Sample.Source.MACHINE, rater))


def test_a_sample_name_is_unique_in_its_project(scene, sample):
    with pytest.raises(Refused, match="A sample called “Spot checks” already exists"):
        draw(scene, size=1)

    assert Sample.objects.count() == 1


def test_only_leads_draw(scene):
    with pytest.raises(Refused, match="Only leads"):
        draw(scene, by=scene.ada)


def test_claims_under_an_old_version_are_left_out(scene):
    narrative = scene.narratives["C1"]
    factories.narrative(narrative.pair, Narrative.Side.ALTERED, "Anew.", version=2)

    claims = build_frame(scene.project, scene.selection).claims

    assert sorted(claim.doc_id for claim in claims) == ["D", "E", "F"]


# --- checking -----------------------------------------------------------------------------------


def test_the_answer_of_two_agreeing_checkers_is_the_outcome(scene, sample):
    check_label(sample, "A", ada=0, ben=0)

    assert outcome(sample, "A") == 0
    assert outcome(sample, "B") is None
    assert doc_ids(to_check(scene.dan, sample)) == ["B", "C", "D", "E", "F"]


def test_a_third_settles_what_two_differ_on(scene, sample):
    check_label(sample, "A", ada=0, ben=2)
    assert doc_ids(to_settle(scene.dan)) == ["A"]
    assert not to_settle(scene.ada).exists()
    assert not to_settle(scene.ben).exists()

    actions.settle(item=item(sample, "A"), relevance=1, by=scene.dan)

    assert outcome(sample, "A") == 1
    assert not to_settle(scene.carla).exists()


@pytest.mark.parametrize(
    ("grades", "by", "sentence"),
    [
        ({"ada": 0}, "dan", "Two people have to check this one before it can be settled."),
        ({"ada": 0, "ben": 0}, "dan", "The two agree, so there is nothing to settle."),
        (
            {"ada": 0, "ben": 1},
            "ben",
            "You are one of the two who checked this. A third person settles it.",
        ),
        ({"ada": 0, "ben": 1, "carla": 1}, "dan", "Somebody else has settled this one."),
    ],
)
def test_settling_is_refused_with_the_reason(scene, sample, grades, by, sentence):
    check_label(sample, "A", **grades)
    before = list(Check.objects.order_by("pk").values_list())

    with pytest.raises(Refused) as refused:
        actions.settle(item=item(sample, "A"), relevance=0, by=getattr(scene, by))

    assert str(refused.value) == sentence
    assert list(Check.objects.order_by("pk").values_list()) == before


def test_a_third_person_cannot_check_what_two_have_checked(scene, sample):
    check_label(sample, "A", ada=0, ben=1)

    with pytest.raises(Refused, match="Two people have checked this one already"):
        actions.check(item=item(sample, "A"), relevance=1, by=scene.dan)

    assert Check.objects.count() == 2


def test_a_different_answer_supersedes_and_keeps_the_place(scene, sample):
    check_label(sample, "A", ada=0, ben=1)

    actions.check(item=item(sample, "A"), relevance=1, words="Read on.", by=scene.ada)

    assert list(Check.objects.order_by("pk").values_list("place", "relevance")) == [
        (1, 0),
        (2, 1),
        (1, 1),
    ]
    assert Check.objects.current().count() == 2
    assert outcome(sample, "A") == 1


def test_the_same_answer_sent_twice_counts_once(scene, sample):
    sent = uuid.uuid4()
    for _ in range(2):
        actions.check(item=item(sample, "A"), relevance=1, uuid=sent, by=scene.ada)

    assert Check.objects.count() == 1
    with pytest.raises(Refused, match="already sent with a different answer"):
        actions.check(item=item(sample, "A"), relevance=2, uuid=sent, by=scene.ada)


def test_a_withdrawn_check_frees_its_place(scene, sample):
    check_label(sample, "A", ada=0, ben=1)

    actions.withdraw_check(item=item(sample, "A"), by=scene.ada)

    taken = Check.objects.get(checker=scene.ada)
    assert taken.withdrawn_at == taken.ended_at is not None
    actions.check(item=item(sample, "A"), relevance=2, by=scene.dan)
    assert Check.objects.current().get(checker=scene.dan).place == 1
    assert actions.withdraw_check(item=item(sample, "B"), by=scene.ada) is None


def test_only_the_check_that_is_named_is_withdrawn(scene, sample):
    first, newer = uuid.uuid4(), uuid.uuid4()
    for relevance, sent in ((0, first), (1, newer)):
        actions.check(item=item(sample, "A"), relevance=relevance, uuid=sent, by=scene.ada)

    with pytest.raises(Refused, match="The newer one counts"):
        actions.withdraw_check(item=item(sample, "A"), by=scene.ada, uuid=first)
    with pytest.raises(Refused, match="This answer is not there"):
        actions.withdraw_check(item=item(sample, "A"), by=scene.ada, uuid=uuid.uuid4())

    assert Check.objects.current().get(checker=scene.ada).uuid == newer
    actions.withdraw_check(item=item(sample, "A"), by=scene.ada, uuid=newer)
    assert actions.withdraw_check(item=item(sample, "A"), by=scene.ada, uuid=newer) is None


def test_checks_of_a_settled_label_cannot_change_until_the_settlement_is_withdrawn(scene, sample):
    check_label(sample, "A", ada=0, ben=1, dan=1)

    for do in (actions.withdraw_check, lambda **fields: actions.check(relevance=1, **fields)):
        with pytest.raises(Refused, match="This label is settled"):
            do(item=item(sample, "A"), by=scene.ada)
    actions.withdraw_check(item=item(sample, "A"), by=scene.dan)

    assert outcome(sample, "A") is None
    assert doc_ids(to_settle(scene.carla)) == ["A"]


def test_a_lead_who_could_see_the_other_answer_cannot_change_their_own(scene, sample):
    actions.check(item=item(sample, "A"), relevance=0, by=scene.carla)
    actions.check(item=item(sample, "A"), relevance=1, by=scene.carla)
    actions.check(item=item(sample, "A"), relevance=2, by=scene.ben)

    for do in (actions.withdraw_check, lambda **fields: actions.check(relevance=2, **fields)):
        with pytest.raises(Refused, match="Both have answered, and leads see"):
            do(item=item(sample, "A"), by=scene.carla)


def test_settling_again_supersedes(scene, sample):
    check_label(sample, "A", ada=0, ben=2, dan=0)

    actions.settle(item=item(sample, "A"), relevance=1, by=scene.dan)
    actions.settle(item=item(sample, "A"), relevance=1, by=scene.dan)

    assert outcome(sample, "A") == 1
    assert Check.objects.filter(place=3).count() == 2


@pytest.mark.parametrize(
    ("relevance", "words", "sentence"),
    [
        (9, "", "9"),
        (1, "x" * 10_001, "You wrote 10,001 characters; at most 10,000 are kept."),
        (1, "a\x00b", r"This holds a control character \(U\+0000\)"),
    ],
)
def test_an_invalid_check_is_refused(scene, sample, relevance, words, sentence):
    with pytest.raises(Refused, match=sentence):
        actions.check(item=item(sample, "A"), relevance=relevance, words=words, by=scene.ada)

    assert not Check.objects.exists()


@pytest.mark.parametrize("who", ["eve", "model"])
def test_neither_strangers_nor_machines_check(scene, sample, who):
    with pytest.raises(Refused, match="Only people of this project"):
        actions.check(item=item(sample, "A"), relevance=1, by=getattr(scene, who))


def test_nobody_checks_in_an_archived_project(scene, sample):
    scene.project.archived_at, scene.project.archived_by = timezone.now(), scene.carla.user
    scene.project.save()
    scene.ada.refresh_from_db()

    with pytest.raises(Refused):
        actions.check(item=item(sample, "A"), relevance=1, by=scene.ada)


# --- the queue ----------------------------------------------------------------------------------


def test_the_queue_goes_on_and_then_wraps_around(scene, sample):
    keys = list(sample.items.order_by("pk").values_list("pk", flat=True))
    check_label(sample, item_doc(sample, keys[1]), ada=1)

    left = to_check(scene.ada, sample)

    assert next_item(left, None) == keys[0]
    assert next_item(left, keys[0]) == keys[2]
    assert next_item(left, keys[5]) == keys[0]
    assert next_item(left.filter(pk=keys[3]), keys[3]) is None


def item_doc(sample, pk):
    return sample.items.get(pk=pk).candidate.document.doc_id


def counts(member, sample):
    [row] = sample_rows(member, [sample])
    return row.items, row.checked, row.mine, row.to_check, row.to_settle


def test_progress_counts_what_one_person_could_do(scene, sample):
    check_label(sample, "A", ada=0, ben=1)
    check_label(sample, "B", ada=1, ben=1)
    check_label(sample, "C", ada=1)

    # Items, checked, mine, to check, to settle.
    assert counts(scene.ada, sample) == (6, None, 3, 3, 0)
    assert counts(scene.dan, sample) == (6, None, 0, 4, 1)
    assert counts(scene.carla, sample) == (6, 1, 0, 4, 1)


# --- database constraints -----------------------------------------------------------------------


def violate_constraint(scene, sample, rule):
    first = item(sample, "A")
    now = timezone.now()
    match rule:
        case "check_one_current":
            Check.objects.create(item=first, checker=scene.ada, place=1, relevance=1)
            Check.objects.create(item=first, checker=scene.ada, place=3, relevance=1)
        case "check_place_taken_once":
            Check.objects.create(item=first, checker=scene.ada, place=1, relevance=1)
            Check.objects.create(item=first, checker=scene.ben, place=1, relevance=1)
        case "check_grade_or_cannot_judge":
            Check.objects.create(
                item=first, checker=scene.ada, place=1, cannot_judge=True, relevance=1
            )
        case "check_places_1_to_3":
            Check.objects.create(item=first, checker=scene.ada, place=4, relevance=1)
        case "check_answers_both_questions":
            Check.objects.create(item=first, checker=scene.ada, place=1, relevance=1, on_topic="no")
        case "check_withdrawn_is_ended":
            Check.objects.create(
                item=first, checker=scene.ada, place=1, relevance=1, withdrawn_at=now
            )
        case "sample_item_once":
            first.pk = None
            first.save()
        case "sample_name_once_per_project":
            sample.pk = None
            sample.save()
        case "sample_has_a_name":
            Sample.objects.update(name="")
        case "sample_of_a_machine_names_it":
            Sample.objects.update(rater=None)
        case "sample_says_how_it_was_made":
            Sample.objects.update(seed=None)


@pytest.mark.parametrize(
    "rule",
    [
        constraint.name
        for model in (Sample, SampleItem, Check)
        for constraint in model._meta.constraints
    ],
)
def test_the_database_enforces_every_constraint(scene, sample, rule):
    with pytest.raises(IntegrityError), transaction.atomic():
        violate_constraint(scene, sample, rule)


def test_steps_do_not_wait_for_labels_of_documents_that_were_taken_out(scene):
    scene.project.kind = "followtable"
    scene.project.save()
    sample = draw(scene)
    check_label(sample, "A", ada=0, ben=0)
    others = Candidate.objects.exclude(document__doc_id="A")
    others.update(removed_at=timezone.now(), removed_by=scene.carla, removed_reason="Broken.")

    details = queue.contribution([scene.carla])[scene.carla.pk].details()

    assert (details["checked"], details["sampled"]) == (1, 1)


@pytest.mark.parametrize("asks", [Sample.Asks.GRADE, Sample.Asks.COUNT])
def test_a_grade_that_only_a_check_gave_cannot_be_removed(db, asks):
    scene = claimed_scene({"C1": {"A": 0, "B": 1}})
    check_label(draw(scene, size=2), "B", ada=2)
    Sample.objects.update(asks=asks)
    grades = [KindGrade(0, "No", ""), KindGrade(1, "Yes", "")]

    if asks == Sample.Asks.COUNT:
        # A number of conditions met is no grade.
        change_rules(changes={}, grades=grades, by=scene.carla)
    else:
        with pytest.raises(Refused, match="have given the grade 2, so it cannot be removed"):
            change_rules(changes={}, grades=grades, by=scene.carla)

    assert scene.project.grades.count() == (2 if asks == Sample.Asks.COUNT else 3)


def test_a_program_reads_whether_its_answer_can_still_change(scene, sample, client):
    client.force_login(scene.ada.user)
    address = reverse("audit:api_label", args=[item(sample, "A").pk])
    check_label(sample, "A", ada=0, ben=1)

    before = client.get(address).json()["can_check"]
    actions.settle(item=item(sample, "A"), relevance=1, by=scene.dan)

    assert (before, client.get(address).json()["can_check"]) == (True, False)
