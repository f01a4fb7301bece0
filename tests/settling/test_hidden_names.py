"""Names in disagreements: hidden behind the same pseudonym on every page until revealed."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Condition, Flag, Project, Verdict
from annotate.projects.actions import archive
from audit.checks import actions as checking
from audit.models import Reveal, Sample, SampleItem
from audit.reviews.decisions import decide
from audit.reviews.passes import positions_of, pseudonym
from audit.settling.kinds import ReviewDisagreement
from base.errors import Refused
from tests import factories
from tests.pages import shows, tight, without_random
from tests.programs import Program
from tests.second_pass import dispute, submit_levels


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Add a verdict, two reviews and two checks that differ."""
    scene = dispute(scene_of_file)
    scene.condition = Condition.objects.create(
        narrative=scene.narrative, number=1, text="In the sea."
    )
    for judgment, answer in ((scene.adas, "not_met"), (scene.bens, "met")):
        Verdict.objects.create(statement=judgment, condition=scene.condition, answer=answer)
    for auditor, others in ((scene.ada, {"query_dependency": "poor"}), (scene.ben, {})):
        assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=auditor)
        submit_levels(scene.narrative, auditor, **others)
    sample = Sample.objects.create(
        project=scene.project,
        name="Spot",
        source="prior",
        seed=1,
        size=1,
        created_by=scene.carla,
    )
    scene.item = SampleItem.objects.create(
        sample=sample, narrative=scene.narrative, candidate=scene.first, claimed=1
    )
    for checker, relevance in ((scene.ada, 0), (scene.ben, 2)):
        checking.check(item=scene.item, relevance=relevance, by=checker)
    narrative, candidate = scene.narrative.pk, scene.first.pk
    scene.pages = {
        "judgment": reverse("audit:disagreement", args=[narrative, candidate]),
        "verdict": reverse("audit:verdict_disagreement", args=[scene.condition.pk, candidate]),
        "review": reverse("audit:review_disagreement", args=[narrative]),
        "check": reverse("audit:check_disagreement", args=[scene.item.pk]),
    }
    scene.reveals = {
        "judgment": reverse("audit:reveal_judges", args=[narrative, candidate]),
        "verdict": reverse("audit:reveal_judges", args=[narrative, candidate]),
        "review": reverse("audit:reveal_auditors", args=[narrative]),
        "check": reverse("audit:reveal_checkers", args=[scene.item.pk]),
    }
    scene.list = reverse("audit:disagreements", args=[scene.project.slug])
    return scene


KINDS = ["judgment", "verdict", "review", "check"]


def text(response):
    return without_random(response)


def names(page):
    """Return which of the two names a page contains, text for screen readers included."""
    page = tight(page)
    return {name for name in ("ada", "ben") if f">{name}" in page or f"{name}<" in page} | {
        name for name in ("ada", "ben") if f'"{name}' in page or f" {name} " in page
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_shows_pseudonyms_until_the_names_are_revealed(led, client, kind):
    before = text(client.get(led.pages[kind]))
    sent = {"condition": led.condition.pk} if kind == "verdict" else {}

    response = client.post(led.reveals[kind], sent)

    assert names(before) == set()
    assert shows(before, "Person A")
    assert shows(before, "Person B")
    assert (response.status_code, response.url) == (302, led.pages[kind])
    after = text(client.get(led.pages[kind]))
    assert not shows(after, "Person A")
    assert {"ada", "ben"} <= names(after)
    assert shows(after, "carla looked up the names")


def test_list_shows_names_only_where_they_were_revealed(led, client):
    before = text(client.get(led.list + "?kind=judgment"))
    client.post(led.reveals["judgment"])
    after = text(client.get(led.list + "?kind=judgment"))

    assert '<span class="muted">Person A</span>' in before
    assert not shows(before, '<span class="muted">ada</span>')
    assert '<span class="muted">ada</span>' in after
    assert '<span class="muted">Person A</span>' in text(client.get(led.list + "?kind=check"))


def test_one_person_has_one_pseudonym_on_the_document_and_on_its_conditions(led, client):
    on_document = client.get(led.pages["judgment"]).context["answers"]
    on_condition = client.get(led.pages["verdict"]).context["answers"]

    assert {one.voices[0].statement.pk: one.who for one in on_document} == {
        one.voices[0].statement.pk: one.who for one in on_condition
    }


def test_the_list_and_the_page_give_the_same_pseudonyms(led, client):
    (row,) = client.get(led.list + "?kind=judgment").context["rows"]
    answers = client.get(led.pages["judgment"]).context["answers"]

    listed = [(voice.who, voice.relevance) for voice in row["item"].voices]
    assert listed == [(one.who, one.value) for one in answers]


def test_pseudonyms_are_shuffled_but_stable():
    first = {thing: positions_of((thing, 7, 0), [1, 2])[1] for thing in range(40)}

    assert set(first.values()) == {0, 1}
    assert positions_of((3, 7, 0), [1, 2]) == positions_of((3, 7, 0), [2, 1, 2])


@pytest.mark.parametrize(
    ("place", "called"),
    [(0, "Person A"), (25, "Person Z"), (26, "Person AA"), (52, "Person BA"), (702, "Person AAA")],
)
def test_after_z_comes_aa(place, called):
    assert pseudonym(place) == called


def test_reveal_applies_only_to_the_lead_who_made_it(led, client):
    client.post(led.reveals["judgment"])
    client.force_login(factories.lead(led.project, "clara").user)

    page = text(client.get(led.pages["judgment"]))

    assert "Person A" in page
    assert "carla looked up the names" in page


def test_a_member_who_only_flagged_is_somebody_until_names_are_revealed(led, client):
    zoe = factories.member(led.project, "zoe")
    Flag.objects.create(narrative=led.narrative, candidate=led.first, annotator=zoe, flag="problem")
    before = text(client.get(led.pages["judgment"]))
    client.post(led.reveals["judgment"])

    assert "Somebody" in before
    assert "zoe" not in before
    assert "zoe" in text(client.get(led.pages["judgment"]))


def test_decision_that_adopts_an_answer_names_nobody(led, client):
    client.post(led.pages["judgment"], {"adopt": led.adas.pk, "cause": "error"})

    assert names(text(client.get(led.pages["judgment"]))) == set()


def test_project_may_show_names_to_leads(led, client):
    Project.objects.update(hide_names=False)

    for kind in KINDS:
        page = text(client.get(led.pages[kind]))
        assert {"ada", "ben"} <= names(page), kind
        assert not shows(page, 'id="reveal"')
    assert shows(text(client.get(led.list)), '<span class="muted">ada</span>')
    assert not Reveal.objects.exists()


def test_hiding_names_is_a_project_setting(led, client):
    page = client.get(reverse("annotate:settings", args=[led.project.slug]))

    assert page.context["form"]["hide_names"].value() is True
    assert "Hide names while a disagreement is settled" in text(page)


def test_reveals_are_listed_newest_first(led, client):
    for kind in KINDS:
        client.post(led.reveals[kind])

    page = client.get(reverse("audit:reveals", args=[led.project.slug]))

    assert [row["url"] for row in page.context["rows"]] == [
        led.pages[kind] for kind in ("check", "review", "judgment")
    ]
    assert "Turbines" not in text(page)


def test_list_of_reveals_is_paged_at_a_fixed_number_of_queries(
    led, client, django_assert_num_queries
):
    url = reverse("audit:reveals", args=[led.project.slug])
    client.post(led.reveals["judgment"])
    seen = Reveal.objects.get()
    others = [factories.member(led.project, f"lead{number}") for number in range(50)]
    Reveal.objects.bulk_create(
        Reveal(narrative=seen.narrative, candidate=seen.candidate, by=one) for one in others
    )

    with django_assert_num_queries(5):
        first = client.get(url)
    second = client.get(url + first.context["next_url"])

    assert [len(page.context["rows"]) for page in (first, second)] == [50, 1]
    assert (second.context["next_url"], first.context["previous_url"]) == ("", "")


def test_empty_list_of_reveals_explains_itself(led, client):
    page = text(client.get(reverse("audit:reveals", args=[led.project.slug])))

    assert "Nobody has looked up a name" in page


def test_revealing_twice_is_recorded_once(led, client):
    for _ in range(2):
        client.post(led.reveals["check"])

    assert Reveal.objects.count() == 1


def test_revealing_refuses_members_who_do_not_lead_and_archived_projects(led):
    with pytest.raises(Refused, match="Only leads"):
        ReviewDisagreement(led.ada, led.narrative).reveal()
    archive(by=led.carla)
    led.carla.project.refresh_from_db()
    with pytest.raises(Refused):
        ReviewDisagreement(led.carla, led.narrative).reveal()

    assert not Reveal.objects.exists()


@pytest.mark.parametrize("of", ["auditors", "judges", "checkers"])
def test_database_allows_one_reveal_per_person(led, of):
    about = {
        "auditors": {},
        "judges": {"candidate": led.first},
        "checkers": {"candidate": led.first, "item": led.item},
    }[of]
    Reveal.objects.create(narrative=led.narrative, by=led.carla, **about)

    with pytest.raises(IntegrityError), transaction.atomic():
        Reveal.objects.create(narrative=led.narrative, by=led.carla, **about)


# --- the filter by people -------------------------------------------------------------------------


def test_hidden_names_forbid_the_filter_by_people(led, client):
    everything = client.get(led.list)
    parameters = {"one": led.ada.pk, "other": led.ben.pk}

    page = client.get(led.list, parameters)

    assert 'name="one"' not in everything.content.decode()
    assert "disagreements cannot be filtered by people" in page.content.decode()
    # The list shows everything, so it does not reveal which rows the filter would match.
    assert [row["url"].partition("?")[0] for row in page.context["rows"]] == [
        row["url"] for row in everything.context["rows"]
    ]
    many = client.get(
        reverse("audit:settling_many", args=["tides"]), {**parameters, "rule": "majority"}
    )
    assert many.context["preview"] is None


def test_api_refuses_the_filter_by_people_while_names_are_hidden(led):
    program = Program("carla", "lead")
    query = f"?one={led.ada.pk}&other={led.ben.pk}"
    paths = [f"projects/tides/disagreements/{part}" for part in ("", "counts/")]

    refused = [program.get(path + query) for path in paths]
    Project.objects.update(hide_names=False)
    taken = [program.get(path + query) for path in paths]

    assert [response.status_code for response in refused] == [400, 400]
    assert "Names are hidden in this project" in refused[0].content.decode()
    assert [response.status_code for response in taken] == [200, 200]


def test_shown_names_allow_the_filter_by_people(led, client):
    Project.objects.update(hide_names=False)

    page = client.get(led.list, {"one": led.ada.pk, "other": led.ben.pk})

    assert 'name="one"' in page.content.decode()
    assert page.context["rows"]


def test_the_history_of_an_instruction_hides_the_auditors_who_differ_until_it_is_decided(
    led, client
):
    client.force_login(led.carla.user)
    history = reverse("audit:story", args=[led.pair.pk])

    page = client.get(history).content.decode()
    [chapter] = client.get(f"/api/v1/pairs/{led.pair.pk}/story/").json()["chapters"]
    decide(narrative=led.narrative, outcome="accepted", reason="Agreed.", by=led.carla)
    decided = client.get(history).content.decode()

    assert "Person A" in page
    assert not shows(page, ">ada<")
    assert not shows(page, ">ben<")
    assert [one["auditor"] for one in chapter["reviews"]] == ["Person A", "Person B"]
    assert "ada" in decided
    assert "Person A" not in decided


def test_the_history_shows_names_if_the_project_does(led, client):
    Project.objects.update(hide_names=False)
    client.force_login(led.carla.user)

    page = client.get(reverse("audit:story", args=[led.pair.pk])).content.decode()

    assert "Person A" not in page
    assert "ada" in page
