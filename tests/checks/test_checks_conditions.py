"""A sample that asks how many conditions a document meets: verdicts, and the derived number."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Judgment, Verdict
from audit.checks import actions
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.figures import figures
from audit.checks.queue import to_settle
from audit.models import Check, Sample
from base.errors import Refused
from tests import factories
from tests.checks.checking import claimed_scene, draw, shown_on
from tests.pages import shows, tight, without_random

pytestmark = pytest.mark.both_databases

# The machine's claims by category; C1 has three conditions, S1 none.
CLAIMED = {"C1": {"A": 2, "B": 3, "C": 1}, "S1": {"D": 1}}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    made = claimed_scene(CLAIMED)
    made.project.grades.create(value=3, name="Three")
    made.conditions = [
        made.narratives["C1"].conditions.create(number=number, text=f"Condition {number}.")
        for number in (1, 2, 3)
    ]
    made.selection = ClaimSelection(Sample.Source.MACHINE, made.model, asks=Sample.Asks.COUNT)
    return made


@pytest.fixture
def sample(scene):
    return draw(scene, stratify=Sample.Stratify.NONE)


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


def answers(scene, words):
    """Return verdicts by condition key: `answers(scene, "+-?")` is met, not met, can't tell."""
    named = {"+": "met", "-": "not_met", "?": "cant_tell"}
    return {
        condition.pk: named[sign] for condition, sign in zip(scene.conditions, words, strict=False)
    }


def check(scene, sample, doc_id, **signs_by_name):
    for name, signs in signs_by_name.items():
        by = getattr(scene, name)
        actions.check(item=item(sample, doc_id), verdicts=answers(scene, signs), by=by)


def test_a_narrative_without_conditions_has_no_claims(scene):
    found = build_frame(scene.project, scene.selection)

    assert sorted((one.doc_id, one.relevance) for one in found.claims) == [
        ("A", 2),
        ("B", 3),
        ("C", 1),
    ]
    assert [one.pair.pair_id for one in found.narratives] == ["301"]


def test_a_machines_verdicts_take_precedence_over_its_relevance(scene):
    signs_by_document = {"A": "++-", "B": "+?-", "C": "--"}
    for doc_id, words in signs_by_document.items():
        judgment = Judgment.objects.get(candidate=scene.candidates[doc_id])
        for condition, answer in answers(scene, words).items():
            Verdict.objects.create(statement=judgment, condition_id=condition, answer=answer)
    Judgment.objects.filter(candidate=scene.candidates["A"]).update(relevance=3)

    found = build_frame(scene.project, scene.selection)

    # A meets two, whatever relevance the machine gave; B and C claim no number.
    assert [(one.doc_id, one.relevance) for one in found.claims] == [("A", 2)]


def test_the_relevance_of_people_is_taken_as_the_number_and_qrels_have_none(scene):
    factories.judgment(scene.narratives["C1"], scene.candidates["A"], scene.ada, 1)

    found = build_frame(
        scene.project, ClaimSelection(Sample.Source.CONSENSUS, asks=Sample.Asks.COUNT)
    )

    assert [(one.doc_id, one.relevance) for one in found.claims] == [("A", 1)]
    # Earlier qrels are claimed under the originals, which have no conditions here.
    prior = build_frame(scene.project, ClaimSelection(Sample.Source.PRIOR, asks=Sample.Asks.COUNT))
    assert prior.claims == []


def test_the_count_follows_from_the_verdicts(scene, sample):
    stored = actions.check(item=item(sample, "A"), verdicts=answers(scene, "+-+"), by=scene.ada)

    assert (stored.relevance, stored.cannot_judge) == (2, False)
    assert stored.answers() == answers(scene, "+-+")


def test_a_cannot_tell_on_a_condition_means_cannot_judge(scene, sample):
    stored = actions.check(item=item(sample, "A"), verdicts=answers(scene, "+?+"), by=scene.ada)

    assert (stored.relevance, stored.cannot_judge) == (None, True)
    assert stored.answers() == answers(scene, "+?+")


@pytest.mark.parametrize(
    "answer",
    [
        {"words": "no verdict"},
        {"relevance": 2},
        {"verdicts": {0: "met"}},
        {"relevance": 2, "signs": "++"},
    ],
)
def test_every_condition_is_answered(scene, sample, answer):
    if "signs" in answer:
        answer = {**answer, "verdicts": answers(scene, answer["signs"])}
        del answer["signs"]

    with pytest.raises(Refused, match="Answer all conditions"):
        actions.check(item=item(sample, "A"), by=scene.ada, **answer)


def test_a_verdict_is_met_not_met_or_cannot_tell(scene, sample):
    invalid = {**answers(scene, "+-+"), scene.conditions[0].pk: "maybe"}

    with pytest.raises(Refused, match="must be met, not met, or can't tell"):
        actions.check(item=item(sample, "A"), verdicts=invalid, by=scene.ada)


def test_cannot_judge_at_all_needs_words_and_no_verdicts(scene, sample):
    with pytest.raises(Refused, match="why you cannot judge"):
        actions.check(item=item(sample, "A"), cannot_judge=True, by=scene.ada)

    stored = actions.check(
        item=item(sample, "A"),
        cannot_judge=True,
        verdicts=answers(scene, "+"),
        words="It is cut off.",
        by=scene.ada,
    )
    assert (stored.relevance, stored.verdicts) == (None, {})


def test_two_agree_on_the_number_and_a_third_settles_where_they_do_not(scene, sample):
    check(scene, sample, "A", ada="++-", ben="+-+")
    check(scene, sample, "B", ada="+++", ben="++-")

    # A: both count two, though not the same two. B: three against two.
    assert [one.pk for one in to_settle(scene.dan, sample)] == [item(sample, "B").pk]
    actions.settle(item=item(sample, "B"), verdicts=answers(scene, "++-"), by=scene.dan)
    found = figures(sample)
    # A claims 2 and is 2; B claims 3 and is 2; C waits.
    assert (found.overall.checked, found.overall.grade.count) == (2, 1)
    sentence = found.sentence
    assert "The number of conditions met was wrong in 1 of 2 (50.0%" in sentence
    assert "Relevant or not" not in sentence


def test_the_page_asks_for_the_conditions_and_hides_the_claimed_number(scene, sample, client):
    client.force_login(scene.ada.user)
    url = reverse("audit:check", args=[item(sample, "A").pk])
    page = shown_on(client.get(url).content.decode())
    sent = {f"verdict-{key}": answer for key, answer in answers(scene, "++-").items()}

    client.post(url, sent)
    half = client.post(
        reverse("audit:check", args=[item(sample, "B").pk]), dict(list(sent.items())[:2])
    )

    assert page.count('data-row="condition"') == 3
    assert not shows(page, 'name="relevance"')
    assert not shows(page, "Claimed")
    assert Check.objects.get().relevance == 2
    assert half.status_code == 422
    assert shows(half, "Answer all conditions")
    # The answers are still selected.
    assert shown_on(tight(half.content.decode())).count(" checked>") == 2
    assert shown_on(tight(client.get(url).content.decode())).count(" checked>") == 3


def test_the_third_person_sees_both_sets_of_verdicts_without_names(scene, sample, client):
    check(scene, sample, "B", ada="+++", ben="++?")
    client.force_login(scene.dan.user)

    page = client.get(reverse("audit:settlement", args=[item(sample, "B").pk])).content.decode()

    assert shows(page, "3 of 3 met")
    assert shows(page, "cannot judge")
    assert shows(page, '<li value="3">Can\'t tell</li>')
    assert "ada" not in without_random(page).split("<main")[1].split("</main>")[0]


def test_the_leads_page_has_one_rate_and_writes_numbers(scene, sample, client):
    check(scene, sample, "B", ada="++-", ben="++-")
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:sample", args=[sample.pk]))

    assert page.context["kinds"] == ("grade",)
    assert "How many conditions are met" in page.content.decode()
    assert "3 met" in page.content.decode()
    assert "Relevant or not" not in page.content.decode()


def test_a_lead_draws_such_a_sample_on_the_page(scene, client):
    client.force_login(scene.carla.user)
    form_data = {
        "name": "Counts",
        "claims": f"machine-{scene.model.pk}",
        "asks": "count",
        "stratify": "none",
        "size": 3,
        "per": "stratum",
        "seed": 1,
    }

    client.post(reverse("audit:new_sample", args=["tides"]), form_data)

    made = Sample.objects.get()
    assert (made.asks, made.items.count(), made.frame) == ("count", 3, {"": 3})
