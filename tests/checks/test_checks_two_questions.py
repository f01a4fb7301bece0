"""A sample that asks two questions: is the table on topic, and does it meet the constraint?"""

from __future__ import annotations

from uuid import UUID

import pytest
from django.urls import reverse

from audit.checks import actions
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.condition_counts import label_rows
from audit.checks.figures import figures
from audit.checks.queue import filter_labels, to_settle
from audit.models import Check, Sample
from audit.settling.queue import read_page
from audit.settling.queue_filters import Kind, QueueFilter
from base.errors import Refused
from tests.checks.checking import claimed_scene, draw
from tests.pages import shows, tight, without_random

pytestmark = pytest.mark.both_databases

# A is claimed relevant; B and C were relevant to the query and violate; D is off topic; E has no
# earlier relevance.
CLAIMED = {"C1": {"A": 1, "B": 0, "C": 0, "D": 0, "E": 0}}
BEFORE = {"A": 1, "B": 1, "C": 1, "D": 0}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    made = claimed_scene(CLAIMED)
    made.project.grades.filter(value=2).delete()
    for doc_id, candidate in made.candidates.items():
        candidate.prior_relevance = BEFORE.get(doc_id)
        candidate.origin = "prior" if doc_id in BEFORE else "judged"
        candidate.save()
    made.selection = ClaimSelection(Sample.Source.MACHINE, made.model, asks=Sample.Asks.QUESTIONS)
    return made


@pytest.fixture
def sample(scene):
    return draw(scene, size=5)


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


def replies(signs):
    """Return replies by question: `replies("+-")` is on topic and violates; "?" is can't tell."""
    named = {"+": "yes", "-": "no", "?": "cant_tell"}
    return dict(zip(("topic", "constraint"), (named[sign] for sign in signs), strict=False))


def check(scene, sample, doc_id, **signs_by_name):
    for place, (name, signs) in enumerate(signs_by_name.items(), start=1):
        do = actions.settle if place == 3 else actions.check
        do(item=item(sample, doc_id), questions=replies(signs), by=getattr(scene, name))


# --- what is claimed -----------------------------------------------------------------------------


def test_labels_claim_the_questions_where_earlier_relevance_says_which(scene):
    claims = {
        one.doc_id: (one.topic, one.constraint)
        for one in build_frame(scene.project, scene.selection).claims
    }

    assert claims == {
        "A": (True, True),
        "B": (True, False),
        "C": (True, False),
        "D": (False, None),
        "E": (None, None),
    }


def test_the_sample_keeps_what_was_claimed(scene, sample):
    type(scene.candidates["B"]).objects.filter(pk=scene.candidates["B"].pk).update(
        prior_relevance=0
    )

    assert item(sample, "B").claimed_topic is True
    assert item(sample, "B").claimed_constraint is False
    assert item(sample, "E").claimed_topic is None


def test_a_project_with_more_grades_than_two_asks_for_the_grade(scene):
    scene.project.grades.create(value=2, name="Two")

    with pytest.raises(Refused, match="2 relevant grades of 3: ask for the grade instead"):
        draw(scene, size=5)


def test_earlier_qrels_make_no_claim_on_a_constraint(scene):
    selection = ClaimSelection(Sample.Source.PRIOR, asks=Sample.Asks.QUESTIONS)

    with pytest.raises(Refused, match="original narrative, which sets no constraint"):
        draw(scene, selection=selection, size=1)


# --- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signs", "relevance"), [("++", 1), ("+-", 0), ("-+", 0), ("--", 0), ("?+", None), ("-?", None)]
)
def test_the_grade_follows_from_both_answers(scene, sample, signs, relevance):
    stored = actions.check(item=item(sample, "A"), questions=replies(signs), by=scene.ada)

    assert stored.relevance == relevance
    assert stored.cannot_judge == (relevance is None)
    assert stored.questions() == replies(signs)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({}, "Answer both questions"),
        ({"questions": {"topic": "yes"}}, "Answer both questions"),
        ({"questions": {"topic": "yes", "constraint": "maybe"}}, "must be yes, no, or can't tell"),
        ({"questions": {"topic": "yes", "constraint": "no"}, "relevance": 0}, "grade follows"),
        ({"relevance": 1}, "grade follows"),
        ({"cannot_judge": True}, "why you cannot judge"),
    ],
)
def test_both_questions_are_answered_and_no_grade_is_given(scene, sample, answer, sentence):
    with pytest.raises(Refused, match=sentence):
        actions.check(item=item(sample, "A"), by=scene.ada, **answer)
    assert not Check.objects.exists()


def test_a_sample_of_grades_does_not_take_answers_to_the_questions(scene):
    grades = draw(scene, selection=scene.selection._replace(asks=Sample.Asks.GRADE), size=5)

    with pytest.raises(Refused, match="does not ask the two questions"):
        actions.check(item=item(grades, "A"), questions=replies("++"), by=scene.ada)


def test_the_same_answer_sent_twice_counts_once(scene, sample):
    sent = {"item": item(sample, "A"), "questions": replies("+-"), "by": scene.ada}
    uuid = UUID("8d1f8a52-6f80-4c14-8f3c-0a2b8f4fb1a1")

    first = actions.check(uuid=uuid, **sent)

    assert actions.check(uuid=uuid, **sent) == first
    with pytest.raises(Refused, match="with a different answer"):
        actions.check(uuid=uuid, **{**sent, "questions": replies("++")})


def test_different_answers_with_the_same_grade_are_settled_by_a_third(scene, sample):
    # Both give grade 0: off topic for ada, a violation for ben.
    check(scene, sample, "B", ada="-+", ben="+-")

    assert [one.pk for one in to_settle(scene.dan, sample)] == [item(sample, "B").pk]
    assert [one.pk for one in filter_labels(sample, "to-settle")] == [item(sample, "B").pk]
    queued = read_page(scene.carla, QueueFilter(kind=Kind.CHECK))
    assert [(one.sample, one.distance) for one in queued.items] == [(item(sample, "B"), 1)]
    check(scene, sample, "C", ada="+-", ben="+-")
    with pytest.raises(Refused, match="two agree"):
        actions.settle(item=item(sample, "C"), questions=replies("+-"), by=scene.dan)
    actions.settle(item=item(sample, "B"), questions=replies("+-"), by=scene.dan)
    assert not to_settle(scene.dan, sample).exists()


# --- figures -------------------------------------------------------------------------------------


def test_each_question_has_its_error_rate_among_labels_that_claim_it(scene, sample):
    check(scene, sample, "A", ada="++", ben="++")
    check(scene, sample, "B", ada="++", ben="++")
    check(scene, sample, "C", ada="-+", ben="+-", dan="-+")
    check(scene, sample, "D", ada="--", ben="--")
    check(scene, sample, "E", ada="++", ben="++")

    found = figures(sample)
    topic, constraint = (found.overall.questions[one] for one in ("topic", "constraint"))

    # On topic: A, B, C and D make a claim; C is off topic. The constraint: A, B and C make a claim;
    # B and C meet it. Relevant or not: all five make a claim; B and E are relevant.
    assert (topic.claimed, topic.rate.count, topic.rate.of) == (4, 1, 4)
    assert (constraint.claimed, constraint.rate.count, constraint.rate.of) == (3, 2, 3)
    assert (found.overall.status.count, found.overall.status.of) == (2, 5)
    # Clopper and Pearson of 1 in 4.
    assert [round(bound, 4) for bound in topic.rate.interval or ()] == [0.0063, 0.8059]
    sentence = found.sentence
    assert "On topic or not was wrong in 1 of 4 (25.0%, exact 95% interval" in sentence
    assert "Meeting the constraint or not was wrong in 2 of 3" in sentence
    assert "Relevant or not was wrong in 2 of 5" in sentence
    assert "The grade was wrong" not in sentence


def test_each_question_has_its_agreement_before_settling(scene, sample):
    check(scene, sample, "A", ada="++", ben="++")
    check(scene, sample, "B", ada="+-", ben="++")
    check(scene, sample, "C", ada="+-", ben="+-")
    check(scene, sample, "D", ada="-?", ben="--")

    topic, constraint = figures(sample).questions

    # On topic: agreement on all four. The constraint: on A and C of three; D has a "can't tell".
    assert (topic.percent.value, topic.percent.units) == (1.0, 4)
    assert constraint.percent.value == pytest.approx(2 / 3)
    assert constraint.percent.units == 3
    # Observed 2/3, by chance (1/3 * 2/3 + 2/3 * 1/3) = 4/9.
    assert constraint.kappa.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))


def test_a_cannot_tell_answer_is_neither_right_nor_wrong(scene, sample):
    check(scene, sample, "A", ada="+?", ben="++", dan="+?")

    found = figures(sample)

    assert (found.overall.checked, found.overall.unjudgeable) == (0, 1)
    assert found.overall.questions["topic"].rate.of == 0
    assert found.overall.questions["topic"].rate.share is None


# --- pages and API -------------------------------------------------------------------------------


def test_the_page_asks_both_questions_and_no_grade(scene, sample, client):
    client.force_login(scene.ada.user)
    url = reverse("audit:check", args=[item(sample, "A").pk])
    shown = client.get(url).content.decode()

    half = client.post(url, {"on_topic": "yes"})
    client.post(url, {"on_topic": "yes", "meets_constraint": "no"})

    assert shown.count('data-row="question"') == 2
    assert not shows(shown, 'name="relevance"')
    assert half.status_code == 422
    assert tight(half.content.decode()).count(" checked>") == 1
    assert Check.objects.get().questions() == replies("+-")
    # The answers are selected when the label is opened again.
    assert tight(client.get(url).content.decode()).count(" checked>") == 2


def test_the_third_person_sees_both_answers_without_names(scene, sample, client):
    check(scene, sample, "B", ada="-+", ben="+-")
    client.force_login(scene.carla.user)

    shown = client.get(reverse("audit:settlement", args=[item(sample, "B").pk])).content.decode()

    assert "On topic: No" in shown
    assert "Meets the constraint: No" in shown
    assert "ada" not in without_random(shown).split("<main")[1].split("</main>")[0]


def test_the_queue_leads_to_the_page_where_questions_are_answered(scene, sample, client):
    check(scene, sample, "B", ada="-+", ben="+-")
    client.force_login(scene.carla.user)

    found = client.get(reverse("audit:check_disagreement", args=[item(sample, "B").pk]))

    assert found.url == reverse("audit:settlement", args=[item(sample, "B").pk])


def test_the_leads_page_has_a_table_for_each_question_and_for_the_grade(scene, sample, client):
    check(scene, sample, "B", ada="++", ben="++")
    client.force_login(scene.carla.user)

    found = client.get(reverse("audit:sample", args=[sample.pk]))

    assert [table["kind"] for table in found.context["tables"]] == ["topic", "constraint", "status"]
    shown = found.content.decode()
    for title in ("On topic", "Meets the constraint", "Relevant or not"):
        assert f'<h3 class="rates__title">{title}</h3>' in shown


def test_programs_draw_answer_and_read_the_rates(scene, client):
    client.force_login(scene.carla.user)
    sent = {
        "name": "Two questions",
        "source": "machine",
        "rater": scene.model.name,
        "asks": "questions",
        "size": 5,
        "seed": 1,
    }
    made = client.post(
        reverse("audit:api_samples", args=["tides"]),
        sent,
        content_type="application/json",
    ).json()
    sample = Sample.objects.get(pk=made["id"])
    for person in (scene.ada, scene.ben):
        client.force_login(person.user)
        answered = client.put(
            reverse("audit:api_check", args=[item(sample, "B").pk]),
            {"questions": replies("++")},
            content_type="application/json",
        )
        assert answered.status_code == 200
    client.force_login(scene.carla.user)

    found = client.get(reverse("audit:api_sample_figures", args=[sample.pk])).json()

    assert answered.json()["mine"]["questions"] == replies("++")
    constraint = found["overall"]["questions"]["constraint"]
    assert (constraint["claimed"], constraint["rate"]["count"], constraint["rate"]["of"]) == (
        3,
        1,
        1,
    )
    assert [one["question"] for one in found["questions"]] == ["topic", "constraint"]


def test_the_table_of_labels_has_the_answers_to_both_questions(scene, sample):
    check(scene, sample, "A", ada="++", ben="++")
    check(scene, sample, "B", ada="+-", ben="-?", dan="+-")
    check(scene, sample, "C", ada="+-")

    header, *rows = label_rows(scene.carla, sample)

    columns = [header.index(f"{place}on_topic") for place in ("first_", "second_", "")]
    columns += [header.index(f"{place}meets_constraint") for place in ("first_", "second_", "")]
    assert {row[header.index("doc_id")]: [row[n] for n in columns] for row in rows} == {
        "A": ["yes", "yes", "yes", "yes", "yes", "yes"],
        "B": ["yes", "no", "yes", "no", "cant_tell", "no"],
        **{doc_id: [""] * 6 for doc_id in "CDE"},
    }


def test_lists_show_the_replies_of_two_who_give_the_same_grade(scene, sample, client):
    check(scene, sample, "B", ada="+-", ben="-?")
    check(scene, sample, "D", ada="--", ben="-+")
    client.force_login(scene.carla.user)

    for address in (reverse("audit:disagreements", args=["tides"]), sample.get_absolute_url()):
        shown = client.get(address).content.decode()
        for replies in (
            "on topic, violates the constraint",
            "off topic, violates the constraint",
            "off topic, meets the constraint",
        ):
            assert replies in shown


def test_a_lead_changes_their_settlement_on_the_page_with_the_questions(scene, sample, client):
    check(scene, sample, "B", ada="-+", ben="+-", carla="+-")
    label = item(sample, "B")
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:check_disagreement", args=[label.pk]) + "?state=settled")

    # A grade alone would be refused here.
    assert not page.context["adoptable"]
    assert reverse("audit:settlement", args=[label.pk]) in page.content.decode()


def test_a_settled_label_shows_what_each_person_replied(scene, sample, client):
    check(scene, sample, "B", ada="-+", ben="+-", dan="+-")
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:check_disagreement", args=[item(sample, "B").pk]))

    # All three replies lead to the same grade.
    assert shows(page, "off topic, meets the constraint")
    assert tight(page.content.decode()).count(tight("on topic, violates the constraint")) == 2
