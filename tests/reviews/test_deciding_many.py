"""A lead accepts several instructions, or sends several back: all of them or none."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.collection.removal import INSTRUCTIONS
from annotate.judgments import assignments
from annotate.models import Assignment
from annotate.overview.steps import Key
from annotate.rewriting.sending_back import send_back
from audit.models import Decision
from audit.reviews.decisions import decide
from audit.reviews.passes import count_to_decide
from base.errors import Refused
from tests import factories
from tests.programs import Program
from tests.second_pass import submit_levels


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Two instructions that passed the reviews of ben and dan."""
    scene = scene_of_file
    query = factories.query(scene.project, "302")
    pair = factories.pair(query, pair_id="302_1", original="All.")
    scene.others = factories.altered(pair)
    for narrative in (scene.narrative, scene.others):
        for auditor in (scene.ben, scene.dan):
            assignments.take(pair=narrative.pair, task=Assignment.Task.REVIEW, by=auditor)
            submit_levels(narrative, auditor)
    return scene


def decided():
    return set(Decision.objects.current().values_list("narrative", "outcome"))


def accept(client, scene, *narratives, query="", **changes):
    address = reverse("audit:review_decisions", args=[scene.project.slug]) + query
    sent = {"narratives": [one.pk for one in narratives], "outcome": "accepted", **changes}
    return client.post(address, sent, follow=True)


def test_the_ticked_ones_are_accepted_and_the_filter_stays(scene, client):
    client.force_login(scene.carla.user)

    answer = accept(client, scene, scene.narrative, scene.others, query="?state=to-decide")

    assert decided() == {(scene.narrative.pk, "accepted"), (scene.others.pk, "accepted")}
    assert "2 instructions are accepted." in answer.content.decode()
    assert answer.redirect_chain[-1][0].endswith("/reviews/?state=to-decide")


def test_only_instructions_that_wait_can_be_ticked(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("audit:reviews", args=[scene.project.slug])

    assert client.get(address).content.decode().count('name="narratives"') == 2
    accept(client, scene, scene.others)
    assert client.get(address).content.decode().count('name="narratives"') == 1


def test_an_instruction_that_was_taken_out_waits_for_no_decision(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("audit:reviews", args=[scene.project.slug])
    INSTRUCTIONS.remove(
        project=scene.project, keys=[scene.narrative.pair_id], reason="A twin.", by=scene.carla
    )

    page = client.get(address).content.decode()
    story = client.get(reverse("audit:story", args=[scene.pair.pk])).content.decode()

    assert page.count('name="narratives"') == 1
    assert "taken out" in page
    assert "nobody works on it" in story


def test_the_step_of_checking_instructions_is_not_done_while_one_waits_for_a_decision(
    scene, client
):
    scene.project.kind = "followtable"
    scene.project.save()
    client.force_login(scene.carla.user)
    overview = reverse("annotate:project", args=[scene.project.slug])

    def checking():
        context = client.get(overview).context
        [step] = [step for step in context["steps"] if step.key == Key.REVIEW]
        return step.state.value, step.count

    assert checking() == ("now", "4 of 4, 2 to decide")
    accept(client, scene, scene.narrative)
    assert checking() == ("now", "4 of 4, 1 to decide")
    accept(client, scene, scene.others)
    assert checking() == ("done", "4 of 4")


def test_the_step_of_checking_instructions_is_not_done_while_one_is_sent_back(scene, client):
    scene.project.kind = "followtable"
    scene.project.overlap_rewrite = 0
    scene.project.save()
    client.force_login(scene.carla.user)
    accept(client, scene, scene.narrative)

    accept(client, scene, scene.others, outcome="revise", reason="Too narrow.")

    steps = client.get(reverse("annotate:project", args=[scene.project.slug])).context["steps"]
    [step] = [step for step in steps if step.key == Key.REVIEW]
    assert (step.state.value, step.count) == ("now", "2 of 2, 1 sent back")


def test_a_rejected_instruction_prevents_all_from_being_accepted(scene, client):
    third = factories.altered(
        factories.pair(factories.query(scene.project, "303"), pair_id="303_1", original="All.")
    )
    assignments.take(pair=third.pair, task=Assignment.Task.REVIEW, by=scene.dan)
    submit_levels(third, scene.dan, query_dependency="poor")
    client.force_login(scene.carla.user)

    page = accept(client, scene, scene.narrative, third).content.decode()

    assert decided() == set()
    assert "303_1: An auditor rejects it. Give the reason for accepting it anyway." in page
    assert "Nothing was decided." in page
    # The form that was refused has a field for that reason.
    assert "and to accept one that an auditor rejects." in page
    assert 'name="reason"' in page

    accept(client, scene, scene.narrative, third, reason="It is narrow on purpose.")

    assert decided() == {(scene.narrative.pk, "accepted"), (third.pk, "accepted")}


def test_what_was_ticked_is_still_ticked_after_a_refusal(scene, client):
    client.force_login(scene.carla.user)

    refused = accept(client, scene, scene.others, query="?state=to-decide", outcome="removed")
    accepted = accept(client, scene, scene.others, query="?state=to-decide")

    assert refused.redirect_chain[-1][0].endswith(f"?state=to-decide&ticked={scene.others.pk}")
    boxes = re.findall(r'name="narratives"[^>]*>', refused.content.decode())
    assert [f'value="{scene.others.pk}"' in box for box in boxes if "checked" in box] == [True]
    assert accepted.redirect_chain[-1][0].endswith("/reviews/?state=to-decide")
    assert "ticked=" not in accepted.content.decode()


@pytest.mark.parametrize("sent", [[], ["x"], ["999999"]])
def test_invalid_instructions_change_nothing(scene, client, sent):
    client.force_login(scene.carla.user)
    address = reverse("audit:review_decisions", args=[scene.project.slug])

    answer = client.post(address, {"narratives": sent, "outcome": "accepted"}, follow=True)

    assert decided() == set()
    assert answer.status_code == 200
    assert 'class="notice' in answer.content.decode()


def test_programs_accept_many(scene):
    sent = {"narratives": [scene.narrative.pk, scene.others.pk], "outcome": "accepted"}

    carla = Program("carla", "lead")
    answer = carla.send("POST", "projects/tides/reviews/decisions/", sent)

    assert [one["outcome"] for one in answer.json()] == ["accepted", "accepted"]
    assert len(decided()) == 2


def test_the_ticked_ones_are_sent_back_with_one_reason(scene, client):
    client.force_login(scene.carla.user)

    page = accept(
        client, scene, scene.narrative, scene.others, outcome="revise", reason="Name a river."
    ).content.decode()

    assert decided() == {(scene.narrative.pk, "revise"), (scene.others.pk, "revise")}
    assert set(Decision.objects.values_list("reason", flat=True)) == {"Name a river."}
    assert "2 instructions are sent back." in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"outcome": "revise"}, "Give a reason; its author will read it. Nothing was decided."),
        ({"outcome": "revise", "reason": " "}, "Give a reason; its author will read it."),
        ({"outcome": "removed", "reason": "No."}, "Remove them one by one."),
        ({"outcome": ""}, "Several instructions are accepted or sent back."),
    ],
)
def test_bad_decisions_on_many_change_nothing(scene, client, changes, sentence):
    client.force_login(scene.carla.user)

    page = accept(client, scene, scene.narrative, scene.others, **changes).content.decode()

    assert decided() == set()
    assert sentence in page


def test_programs_send_many_back(scene):
    sent = {"narratives": [scene.narrative.pk], "outcome": "revise", "reason": "Name a river."}

    answer = Program("carla", "lead").send("POST", "projects/tides/reviews/decisions/", sent)

    assert [(one["outcome"], one["reason"]) for one in answer.json()] == [
        ("revise", "Name a river.")
    ]


def test_an_instruction_that_a_lead_sent_back_to_its_writer_is_not_decided(scene, client):
    send_back(pair=scene.narrative.pair, version=1, reason="Name a river.", by=scene.carla)

    with pytest.raises(Refused, match="Take that back first, then decide"):
        decide(narrative=scene.narrative, outcome="accepted", by=scene.carla)


def test_an_instruction_that_a_lead_sent_back_waits_for_its_writer_and_for_no_decision(
    scene, client
):
    send_back(pair=scene.narrative.pair, version=1, reason="Name a river.", by=scene.carla)
    client.force_login(scene.carla.user)
    listed = client.get(reverse("audit:reviews", args=["tides"])).text
    told = client.get(reverse("audit:story", args=[scene.narrative.pair_id]))

    assert count_to_decide([scene.carla]) == {scene.carla.pk: 1}
    assert f'name="narratives" form="ticked" value="{scene.others.pk}"' in listed
    assert f'name="narratives" form="ticked" value="{scene.narrative.pk}"' not in listed
    assert "Sent back to its writer" in listed
    assert not told.context["can_decide"]
    assert "Name a river." in told.text


def test_what_the_auditors_say_opens_in_the_list_where_a_decision_waits(scene, client):
    client.force_login(scene.carla.user)
    story = reverse("audit:story", args=[scene.others.pair_id])
    page = reverse("audit:reviews", args=["tides"])

    assert f'hx-get="{story}"' in client.get(page).text
    assert 'id="current-version"' in client.get(story).text

    decide(narrative=scene.others, outcome="accepted", by=scene.carla)

    assert f'hx-get="{story}"' not in client.get(page).text
