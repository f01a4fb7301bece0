"""Topics are drawn with conditions and a seed, or chosen by hand; the others are taken out."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.collection import removal
from annotate.collection.topics import (
    Conditions,
    Topic,
    choose_topics,
    draw,
    draw_topics,
    topics_of,
)
from annotate.models import Narrative, Query
from base.errors import Refused
from tests import factories
from tests.pages import shows
from tests.programs import Program

pytestmark = pytest.mark.both_databases

FOUND = [Topic(n, str(300 + n), "", relevant=n, has_narrative=n != 3) for n in range(1, 7)]


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        (Conditions(narrative=False), ["301", "302", "303", "304", "305", "306"]),
        (Conditions(), ["301", "302", "304", "305", "306"]),
        (Conditions(least=2, most=5), ["302", "304", "305"]),
        (Conditions(most=1), ["301"]),
    ],
)
def test_a_draw_takes_only_topics_that_meet_the_conditions(conditions, ids):
    drawn = draw(FOUND, conditions, len(ids), 7)

    assert [topic.query_id for topic in drawn] == ids


def test_the_same_seed_draws_the_same_topics_in_any_loading_order():
    one = {topic.query_id for topic in draw(FOUND, Conditions(), 3, 7)}
    other = {topic.query_id for topic in draw(FOUND[::-1], Conditions(), 3, 7)}

    assert one == other
    assert len(one) == 3
    assert any(
        {topic.query_id for topic in draw(FOUND, Conditions(), 3, seed)} != one for seed in range(5)
    )


@pytest.mark.parametrize("number", [0, 4])
def test_an_impossible_number_cannot_be_drawn(number):
    with pytest.raises(Refused, match="3 topics meet the conditions"):
        draw(FOUND, Conditions(least=2, most=5), number, 7)


class Scene:
    """Topics 301 to 304; 301 has no narrative, the others have 0, 1 and 2 relevant documents."""

    def __init__(self) -> None:
        self.project = factories.project(kind="followir")
        self.carla = factories.lead(self.project)
        for number in range(4):
            query = factories.query(self.project, str(301 + number))
            pair = factories.pair(query, altered=None)
            text = "What is relevant." if number else ""
            Narrative.objects.update_or_create(
                pair=pair, side="original", version=1, defaults={"text": text}
            )
            for _ in range(number - 1):
                factories.candidate(query, prior=1)

    def inside(self) -> list[str]:
        rows = Query.objects.filter(removed_at__isnull=True).order_by("query_id")
        return list(rows.values_list("query_id", flat=True))

    def reasons(self) -> set[str]:
        return set(
            Query.objects.exclude(removed_reason="").values_list("removed_reason", flat=True)
        )


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def test_the_values_for_conditions_are_read_in_one_query(scene, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = topics_of(scene.project)

    assert [(one.query_id, one.relevant, one.has_narrative) for one in found] == [
        ("301", 0, False),
        ("302", 0, True),
        ("303", 1, True),
        ("304", 2, True),
    ]


def test_an_instruction_without_an_original_is_a_narrative(scene):
    query = Query.objects.get(query_id="301")
    factories.pair(query, pair_id="301_1", original="", altered="Only tables of tidal plants.")

    assert topics_of(scene.project)[0].has_narrative


def test_page_and_program_refuse_limits_that_no_topic_can_meet(scene, client):
    asked = {"number": 1, "seed": 7, "least": 5, "most": 2}
    sentence = "No topic has at least 5 and at most 2 relevant documents."
    client.force_login(scene.carla.user)

    page = client.post(reverse("annotate:topics", args=["tides"]), asked)
    answer = Program("carla", "lead").send("POST", "projects/tides/topics/draw/", asked)

    assert (page.status_code, sentence in page.content.decode()) == (422, True)
    assert (answer.status_code, answer.json()["detail"]) == (422, sentence)
    assert not scene.project.queries.exclude(removed_at=None).exists()


def test_topics_not_drawn_are_taken_out_with_the_draw_as_reason(scene):
    conditions = Conditions(least=1, most=2)

    draw_topics(project=scene.project, conditions=conditions, number=2, seed=7, by=scene.carla)

    assert scene.inside() == ["303", "304"]
    [reason] = scene.reasons()
    assert reason == (
        "Not chosen: 2 of 4 topics were drawn with seed 7, with a narrative, "
        "with 1 to 2 relevant documents."
    )


def test_topics_are_drawn_from_more_than_one_may_name_at_once(scene, monkeypatch):
    monkeypatch.setattr(removal, "MOST", 2)

    draw_topics(project=scene.project, conditions=Conditions(), number=1, seed=7, by=scene.carla)

    assert len(scene.inside()) == 1
    with pytest.raises(Refused, match="At most 2 can be changed at once"):
        removal.parse_keys(["1", "2", "3"])


def test_topics_are_chosen_by_hand(scene):
    keep = list(Query.objects.filter(query_id__in=["301", "304"]).values_list("pk", flat=True))

    choose_topics(project=scene.project, queries=keep, reason="Off topic.", by=scene.carla)

    assert (scene.inside(), scene.reasons()) == (["301", "304"], {"Off topic."})
    with pytest.raises(Refused, match="Choose one or more topics first"):
        choose_topics(project=scene.project, queries=[], reason="No.", by=scene.carla)


def test_the_page_shows_a_draw_and_then_keeps_it(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("annotate:topics", args=["tides"])
    fields = {"number": 1, "seed": 3, "narrative": "on", "least": 2, "most": ""}

    shown = client.get(address, fields, follow=True).content.decode()
    assert shows(shown, '1 topic meets the conditions; 1 drawn: <span class="id">304</span>')
    assert len(scene.inside()) == 4

    [token] = re.findall(r'name="token" value="(\w+)"', shown)
    client.post(address, {**fields, "token": token})
    assert scene.inside() == ["304"]


def test_a_draw_that_would_be_another_since_it_was_shown_takes_nothing_out(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("annotate:topics", args=["tides"])
    fields = {"number": 1, "seed": 3, "narrative": "on", "least": 2, "most": ""}
    shown = client.get(address, fields, follow=True)
    factories.query(scene.project, "305")

    refused = client.post(address, {**fields, "token": shown.context["token"]})

    assert refused.status_code == 422
    assert shows(refused, "The topics have changed since this draw was shown.")
    assert len(scene.inside()) == 5


def test_the_page_keeps_the_reason_and_the_draw_if_nothing_is_ticked(scene, client):
    client.force_login(scene.carla.user)

    answer = client.post(
        reverse("annotate:topics", args=["tides"]), {"by_hand": "yes", "reason": "Off topic."}
    )

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Choose one or more topics first" in page
    assert 'value="Off topic."' in page
    assert "This field is required" not in page


def test_the_page_keeps_the_ticks_if_the_reason_is_missing(scene, client):
    client.force_login(scene.carla.user)
    kept = Query.objects.get(query_id="301").pk

    page = client.post(
        reverse("annotate:topics", args=["tides"]),
        {"by_hand": "yes", "queries": kept, "reason": ""},
    ).content.decode()

    assert shows(page, f'value="{kept}" checked')
    assert len(scene.inside()) == 4


@pytest.mark.parametrize(("colleague", "next_page"), [(True, "queries"), (False, "members")])
def test_chosen_topics_are_listed_next_and_a_lead_alone_adds_members(
    scene, client, colleague, next_page
):
    client.force_login(scene.carla.user)
    if colleague:
        factories.member(scene.project, "ada")
    kept = Query.objects.get(query_id="301").pk
    fields = {"by_hand": "yes", "queries": kept, "reason": "Off topic."}

    answer = client.post(reverse("annotate:topics", args=["tides"]), fields)

    assert answer.url == reverse(f"annotate:{next_page}", args=["tides"])


def test_the_address_of_the_former_page_leads_to_the_choice_among_the_queries(scene, client):
    client.force_login(scene.carla.user)

    moved = client.get(reverse("annotate:topics", args=["tides"]), {"number": 3, "seed": 1})

    queries = reverse("annotate:queries", args=["tides"])
    assert moved.url == f"{queries}?choose=yes&number=3&seed=1#choose"


def test_only_leads_choose_topics_among_the_queries(scene, client):
    client.force_login(factories.member(scene.project, "ben").user)

    page = client.get(reverse("annotate:queries", args=["tides"]), {"choose": "yes"})

    assert 'id="choose"' not in page.text
    assert "?choose=yes" not in page.text


def test_the_page_offers_to_keep_the_drawn_topics(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(
        reverse("annotate:topics", args=["tides"]), {"number": 3, "seed": 1}, follow=True
    )

    assert "Keep these 3 topics, take the others out" in page.content.decode()


def test_the_page_says_why_nothing_can_be_drawn(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(
        reverse("annotate:topics", args=["tides"]), {"number": 9, "seed": 1}, follow=True
    )

    assert "0 topics meet" not in page.content.decode()
    assert "4 topics meet the conditions, so 9 cannot be drawn" in page.content.decode()


def test_the_api_draws_topics(scene):
    sent = {"number": 2, "seed": 7, "least": 1}

    done = Program("carla", "lead").send("POST", "projects/tides/topics/draw/", sent)

    assert (done.json(), scene.inside()) == ({"changed": 2, "unchanged": 0}, ["303", "304"])


def test_a_command_draws_topics(scene, capsys):
    call_command("queries", "tides", "draw", "--number", "2", "--seed", "7", "--least", "1")

    assert capsys.readouterr().out == "2 drawn, 2 taken out\n"
    assert scene.inside() == ["303", "304"]


@pytest.mark.django_db
def test_a_project_without_topics_says_how_to_load_some(client):
    client.force_login(factories.lead(factories.project(kind="followir")).user)

    page = client.get(reverse("annotate:topics", args=["tides"]), follow=True).content.decode()

    assert "The queries will appear here" in page
    assert "Look at the draw" not in page
