"""Attributes of documents, claimed and verified; the reversed query negates some."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments.attributes import attributes_of, current_conditions, set_negated
from annotate.models import AuditEvent, Condition, Narrative, Verdict
from base.errors import Refused
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.django_db


class Scene:
    """An instruction with two attributes; P and N have a machine's verdicts, N two people's too."""

    def __init__(self) -> None:
        self.project = factories.project(kind="multi-infosearch", judge_scope="pool")
        self.carla = factories.lead(self.project)
        self.ada, self.ben = (factories.member(self.project, name) for name in ("ada", "ben"))
        self.machine = factories.machine(self.project)
        query = factories.query(self.project, "7")
        self.pair = factories.pair(query, pair_id="7_1")
        self.other = factories.pair(query, pair_id="7_2", category="format")
        self.altered = factories.altered(self.pair)
        self.length, self.source = (
            Condition.objects.create(narrative=self.altered, number=number, name=name, text=text)
            for number, (name, text) in enumerate((("length", "Short"), ("source", "Blog")), 1)
        )
        factories.narrative(self.pair, Narrative.Side.REVERSED, "At length.")
        self.positive = factories.candidate(query, "P")
        self.negative = factories.candidate(query, "N")
        self.judge(self.machine, self.positive, 1, "met", "met")
        self.judge(self.machine, self.negative, 0, "not_met", "met")
        self.judge(self.ada, self.negative, 0, "not_met", "not_met")
        self.judge(self.ben, self.negative, 0, "not_met", "not_met")

    def judge(self, who, candidate, relevance, *answers):
        judgment = factories.judgment(self.altered, candidate, who, relevance)
        for condition, answer in zip((self.length, self.source), answers, strict=True):
            Verdict.objects.create(statement=judgment, condition=condition, answer=answer)


@pytest.fixture
def tides():
    return Scene()


def test_a_document_has_claimed_and_verified_attributes(tides):
    positive, negative = attributes_of(
        tides.project, current_conditions(tides.pair), [tides.positive, tides.negative]
    )

    assert positive.claimed.satisfied == ["length", "source"]
    assert not positive.is_verified
    assert negative.claimed.violated == ["length"]
    assert negative.verified.violated == ["length", "source"]
    assert [one.differs for one in negative.attributes] == [False, True]


def test_people_who_differ_verify_nothing(tides):
    Verdict.objects.filter(statement__annotator=tides.ben, condition=tides.source).update(
        answer="met"
    )

    [negative] = attributes_of(tides.project, current_conditions(tides.pair), [tides.negative])

    assert [one.verified for one in negative.attributes] == ["not_met", None]


def test_a_lead_says_which_attributes_the_reversed_query_negates(tides):
    set_negated(pair=tides.pair, numbers=[1], by=tides.carla)

    assert [one.negated for one in current_conditions(tides.pair)] == [True, False]
    event = AuditEvent.objects.get(what="attributes.negated")
    assert event.changes == {"negated": [[], [1]]}


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ([], "A reversed query negates at least one condition. Tick it."),
        ([3], "There is no condition 3."),
    ],
)
def test_invalid_numbers_of_negated_attributes_are_refused(tides, numbers, sentence):
    with pytest.raises(Refused, match=sentence):
        set_negated(pair=tides.pair, numbers=numbers, by=tides.carla)


def test_nothing_is_negated_without_a_reversed_query(tides):
    with pytest.raises(Refused, match=r"no reversed query"):
        set_negated(pair=tides.other, numbers=[1], by=tides.carla)


def test_the_page_shows_attributes_and_saves_negated_ones(tides, client):
    client.force_login(tides.carla.user)
    url = reverse("annotate:attributes", args=[tides.pair.pk])

    client.post(url, {"negated": ["2"]})
    page = client.get(url)

    assert page.content.decode().count("<strong>differs</strong>") == 1
    assert page.context["siblings"] == [tides.other]
    assert [one.negated for one in page.context["conditions"]] == [False, True]


def test_conditions_of_a_version_that_was_saved_meanwhile_are_not_negated(tides, client):
    client.force_login(tides.carla.user)
    url = reverse("annotate:attributes", args=[tides.pair.pk])
    assert 'name="version" value="1"' in client.get(url).content.decode()
    newer = factories.narrative(tides.pair, version=2)
    Condition.objects.create(narrative=newer, number=1, name="source", text="Blog")

    page = client.post(url, {"negated": ["1"], "version": "1"}, follow=True).content.decode()
    at = f"pairs/{tides.pair.pk}/attributes/"
    answer = Program("carla", "read", "lead").send("PUT", at, {"negated": [1], "version": 1})

    assert "Version 2 of the instruction was saved meanwhile" in page
    assert answer.status_code == 409
    assert newer.conditions.get().negated is None
    client.post(url, {"negated": ["1"], "version": "2"})
    assert newer.conditions.get().negated is True


def test_a_lead_who_judges_the_instruction_does_not_see_its_attributes(tides, client):
    factories.assignment(tides.pair, tides.carla)
    client.force_login(tides.carla.user)

    page = client.get(reverse("annotate:attributes", args=[tides.pair.pk]))

    assert page.status_code == 403


def test_programs_read_attributes_and_set_negated_ones(tides):
    program = Program("carla", "read", "lead")
    at = f"pairs/{tides.pair.pk}/attributes/"

    answer = program.send("PUT", at, {"negated": [2]}).json()
    documents = program.get(f"{at}documents/").json()["results"]

    assert [(one["name"], one["negated"]) for one in answer] == [
        ("length", False),
        ("source", True),
    ]
    assert documents[1]["claimed"] == {"satisfied": ["source"], "violated": ["length"]}
    assert documents[1]["verified"] == {"satisfied": [], "violated": ["length", "source"]}
