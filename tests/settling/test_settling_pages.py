"""Pages that settle verdicts and checks: grouped answers, the next page, withdrawal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Adjudication, Condition, ConditionAdjudication, Judgment, Verdict
from audit.checks import actions as checking
from audit.models import Check, Decision, Sample, SampleItem
from audit.reviews.decisions import decide
from tests import factories
from tests.pages import shows
from tests.second_pass import dispute, submit_levels

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Add a condition and a label on which ada and ben differ."""
    scene = dispute(scene_of_file)
    scene.condition = Condition.objects.create(
        narrative=scene.narrative, number=1, name="place", text="In the sea."
    )
    scene.no = Verdict.objects.create(
        statement=scene.adas, condition=scene.condition, answer="not_met"
    )
    scene.yes = Verdict.objects.create(
        statement=scene.bens, condition=scene.condition, answer="met"
    )
    scene.sample = Sample.objects.create(
        project=scene.project,
        name="Spot",
        source="prior",
        seed=1,
        size=1,
        created_by=scene.carla,
    )
    scene.item = SampleItem.objects.create(
        sample=scene.sample,
        narrative=scene.narrative,
        candidate=scene.second,
        claimed=1,
    )
    for checker, relevance, words in ((scene.ada, 0, "No mill."), (scene.ben, 2, "")):
        checking.check(item=scene.item, relevance=relevance, words=words, by=checker)
    scene.judged = reverse("audit:disagreement", args=[scene.narrative.pk, scene.first.pk])
    scene.answered = reverse(
        "audit:verdict_disagreement", args=[scene.condition.pk, scene.first.pk]
    )
    scene.checked = reverse("audit:check_disagreement", args=[scene.item.pk])
    return scene


def text(response):
    return response.content.decode()


def reviewed(scene):
    for auditor, others in ((scene.dan, {"query_dependency": "poor"}), (scene.ben, {})):
        assignments.take(pair=scene.pair, task="review", by=auditor)
        submit_levels(scene.narrative, auditor, **others)
    return reverse("audit:review_disagreement", args=[scene.narrative.pk])


def test_page_of_a_condition_shows_its_text_answers_and_document(led, client):
    page = text(client.get(led.answered))

    for words in (
        "<b>place</b> In the sea.",
        "Not met",
        "Met",
        "On a river.",
        "Turbines in the Severn.",
        "Condition 1",
    ):
        assert words in page


def test_a_condition_is_settled_and_the_next_one_opens(led, client):
    response = client.post(
        f"{led.answered}?order=age", {"answer": "met", "cause": "guideline", "reason": "Near it."}
    )

    assert response.status_code == 302
    assert response.url.endswith("?order=age")
    assert response.url.partition("?")[0] in {led.judged, led.checked}
    made = ConditionAdjudication.objects.get()
    assert (made.answer, made.by, made.reason) == ("met", led.carla, "Near it.")


def test_an_answer_to_a_condition_is_adopted(led, client):
    client.post(led.answered, {"adopt": led.no.pk, "cause": "error"})

    made = ConditionAdjudication.objects.get()
    assert (made.answer, made.reason) == ("not_met", "As one of them said: On a river.")


def test_an_answer_to_another_condition_is_not_adopted(led, client):
    other = Condition.objects.create(narrative=led.narrative, number=2, text="Old.")
    verdict = Verdict.objects.create(statement=led.adas, condition=other, answer="met")

    response = client.post(led.answered, {"adopt": verdict.pk, "cause": "error"})

    assert response.status_code == 404
    assert not ConditionAdjudication.objects.exists()


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"cause": "edge", "reason": "So."}, "Choose an answer, or adopt one that was given."),
        ({"answer": "met", "reason": "So."}, "choose one of the causes"),
        ({"answer": "met", "cause": "edge", "reason": ""}, "Give a reason"),
        ({"answer": "often", "cause": "edge", "reason": "So."}, "often is not one of"),
    ],
)
def test_an_invalid_settlement_of_a_condition_is_explained(led, client, sent, sentence):
    response = client.post(led.answered, sent)

    assert response.status_code == 422
    assert sentence in text(response)
    assert not ConditionAdjudication.objects.exists()


def test_a_settled_condition_shows_its_decision_and_can_be_withdrawn(led, client):
    client.post(led.answered, {"answer": "met", "cause": "edge", "reason": "Near it."})
    page = client.get(led.answered)

    response = client.post(page.context["withdraw_url"])

    assert "Near it." in text(page)
    assert shows(page, 'data-key-label="Met" aria-pressed="true"')
    assert response.url == led.answered
    assert not ConditionAdjudication.objects.current().exists()
    now = text(client.get(led.answered))
    assert "Earlier decisions" in now
    assert "withdrawn by carla" in now
    assert client.post(page.context["withdraw_url"]).status_code == 404


def test_a_condition_of_another_project_is_not_found(led, client):
    other = factories.pair(factories.query(factories.project("tarns")))
    strange = Condition.objects.create(
        narrative=factories.altered(other), number=1, text="Elsewhere."
    )

    url = reverse("audit:verdict_disagreement", args=[strange.pk, led.first.pk])

    assert client.get(url).status_code == 404


def test_page_of_a_check_shows_both_answers_and_hides_the_claim(led, client):
    page = text(client.get(led.checked))

    for words in ("No mill.", "Spot", "A mill on the Rance.", "Person A", "Person B"):
        assert words in page
    assert "Claimed" not in page
    # The document's prior relevance may be the claim itself.
    assert "earlier relevance:" not in page


def test_a_check_is_settled_without_a_reason_by_a_third_person(led, client):
    client.post(led.checked, {"relevance": 1})

    made = Check.objects.get(place=Check.SETTLES)
    assert (made.relevance, made.checker) == (1, led.carla)
    assert "Claimed" in text(client.get(led.checked))


def test_answer_of_a_checker_is_adopted(led, client):
    bens = Check.objects.get(checker=led.ben)

    client.post(led.checked, {"adopt": bens.pk, "reason": "Ben saw it."})

    made = Check.objects.get(place=Check.SETTLES)
    assert (made.relevance, made.words) == (2, "Ben saw it.")


def test_settled_check_is_withdrawn_only_by_the_lead_who_settled_it(led, client):
    client.post(led.checked, {"relevance": 1})
    page = client.get(led.checked)
    client.force_login(factories.lead(led.project, "clara").user)
    theirs = client.get(led.checked)
    refused = client.post(page.context["withdraw_url"], follow=True)
    assert 'id="withdraw"' not in text(theirs)
    assert "You have no decision to withdraw here." in text(refused)
    assert Check.objects.current().filter(place=Check.SETTLES).exists()

    client.force_login(led.carla.user)
    response = client.post(page.context["withdraw_url"])

    assert response.url == led.checked
    assert not Check.objects.current().filter(place=Check.SETTLES).exists()


def test_lead_who_checked_the_label_cannot_settle_it(led, client):
    item = SampleItem.objects.create(
        sample=led.sample, narrative=led.narrative, candidate=led.first, claimed=1
    )
    checking.check(item=item, relevance=0, by=led.ada)
    checking.check(item=item, relevance=1, by=led.carla)
    url = reverse("audit:check_disagreement", args=[item.pk])

    page = client.get(url)
    response = client.post(url, {"relevance": 1})

    assert "A third person settles it." in text(page)
    assert 'name="adopt"' not in text(page)
    assert "(you)" in text(page)
    assert response.status_code == 422
    assert not Check.objects.filter(place=Check.SETTLES).exists()


def test_label_with_one_check_is_hidden_from_leads(led, client):
    item = SampleItem.objects.create(
        sample=led.sample, narrative=led.narrative, candidate=led.first, claimed=1
    )
    checking.check(item=item, relevance=0, words="Surely not.", by=led.ada)

    response = client.get(reverse("audit:check_disagreement", args=[item.pk]))

    assert response.status_code == 404
    assert "Surely not." not in text(response)


def test_equal_answers_are_grouped_under_one_key(led, client):
    factories.judgment(led.narrative, led.first, led.dan, 0, note="Inland.")

    answers = client.get(led.judged).context["answers"]

    assert {one.value: len(one.voices) for one in answers} == {0: 2, 2: 1}
    assert sorted(one.key for one in answers) == ["a", "s"]
    adopted = next(one for one in answers if one.value == 0)
    client.post(led.judged, {"adopt": adopted.adopt, "cause": "error"})
    sentence = Adjudication.objects.get().reason
    assert sentence == "As 2 of them said: On a river. / Inland."


def test_offered_next_disagreement_opens_if_still_open(led, client):
    page = client.get(led.judged)
    offered = page.context["next"]

    response = client.post(
        led.judged, {"relevance": 1, "cause": "edge", "reason": "So.", "next": offered}
    )

    assert response.url == page.context["next_url"]


def test_offered_next_disagreement_is_skipped_if_settled(led, client):
    offered = client.get(led.judged).context["next"]
    for url, sent in (
        (led.answered, {"answer": "met", "cause": "edge", "reason": "So."}),
        (led.checked, {"relevance": 1}),
    ):
        client.post(url, sent)

    response = client.post(
        led.judged, {"relevance": 1, "cause": "edge", "reason": "So.", "next": offered}
    )

    assert response.url == reverse("audit:disagreements", args=[led.project.slug])


@pytest.mark.parametrize("offered", ["nonsense", "0~2~2026-11-16T00:00:00+00:00~review-999-0-0"])
def test_invalid_next_parameter_is_ignored(led, client, offered):
    response = client.post(
        led.judged, {"relevance": 1, "cause": "edge", "reason": "So.", "next": offered}
    )

    assert response.url in {led.answered, led.checked}


def settle_judgment(led, client):
    client.post(led.judged, {"relevance": 1, "cause": "edge", "reason": "So."})


def settle_verdict(led, client):
    client.post(led.answered, {"answer": "met", "cause": "edge", "reason": "So."})


def settle_check(led, client):
    client.post(led.checked, {"relevance": 1})


def settle_review(led, client):
    reviewed(led)
    decide(narrative=led.narrative, outcome="revise", reason="So.", by=led.carla)


@pytest.mark.parametrize(
    ("settle", "stands"),
    [
        (settle_judgment, lambda: Adjudication.objects.current()),
        (settle_verdict, lambda: ConditionAdjudication.objects.current()),
        (settle_check, lambda: Check.objects.current().filter(place=Check.SETTLES)),
        (settle_review, lambda: Decision.objects.current()),
    ],
)
def test_undo_on_the_next_page_withdraws_the_last_decision(led, client, settle, stands):
    settle(led, client)
    page = next(
        page for page in (client.get(led.judged), client.get(led.answered)) if page.context["last"]
    )
    assert stands().exists()

    response = client.post(page.context["last"]["url"], follow=True)

    assert not stands().exists()
    assert "The decision is withdrawn; people differ here again." in text(response)


def test_next_page_focuses_the_heading_and_shows_the_message(led, client):
    first = text(client.get(led.judged))
    onward = client.post(
        led.judged, {"relevance": 1, "cause": "edge", "reason": "So."}, follow=True
    )

    assert "autofocus" not in first
    assert 'tabindex="-1" aria-describedby="notices" autofocus' in text(onward)
    assert "S1 is settled as 1." in text(onward)


@pytest.mark.parametrize("name", ["answered", "checked"])
def test_pages_cost_a_fixed_number_of_queries_and_read_one_text(
    led, client, django_assert_max_num_queries, name
):
    for number in range(5):
        candidate = factories.candidate(led.query, f"N{number}")
        for member, relevance in ((led.ada, 0), (led.ben, 1)):
            judgment = factories.judgment(led.narrative, candidate, member, relevance, at=MONDAY)
            Verdict.objects.create(
                statement=judgment, condition=led.condition, answer=["met", "not_met"][relevance]
            )

    with django_assert_max_num_queries(41) as queries:
        client.get(getattr(led, name))

    texts = [one["sql"] for one in queries.captured_queries if "documenttext" in one["sql"]]
    assert len(texts) == 1


def test_judge_without_a_verdict_is_not_shown_on_the_condition(led, client):
    judgment = factories.judgment(led.narrative, led.first, led.dan, 1)

    answers = client.get(led.answered).context["answers"]

    assert judgment in Judgment.objects.current()
    assert sorted(len(one.voices) for one in answers) == [1, 1]
