"""An answer is declared once, by its record; a body or a filter by the form of its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from django import forms
from django.db.models import TextChoices
from rest_framework import serializers

from base.api.bodies import FormBody, body_of, parameters_of
from base.api.records import RecordSerializer, serializer_of


class Colour(TextChoices):
    RED = "red", "Red"
    BLUE = "blue", "Blue"


class Fish(NamedTuple):
    """A fish."""

    name: str
    colour: Colour
    weight: float | None = None


@dataclass
class Reef:
    """A reef.

    This paragraph is for developers.
    """

    depth: Annotated[int, "In metres."]
    seen_on: date
    side: Literal["north", "south"] = "north"
    fishes: list[Fish] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_deep(self) -> bool:
        """Whether it is deeper than a diver goes."""
        return self.depth > 40


REEF = Reef(50, date(2026, 3, 1), fishes=[Fish("wrasse", Colour.BLUE)], counts={"crabs": 2})


def test_a_record_is_shown_with_all_its_fields():
    assert serializer_of(Reef)(REEF).data == {
        "depth": 50,
        "seen_on": "2026-03-01",
        "side": "north",
        "fishes": [{"name": "wrasse", "colour": "blue", "weight": None}],
        "counts": {"crabs": 2},
    }


def test_fields_have_the_types_choices_and_descriptions_of_the_record():
    fields: Any = serializer_of(Reef)().fields

    assert isinstance(fields["depth"], serializers.IntegerField)
    assert fields["depth"].help_text == "In metres."
    assert list(fields["side"].choices) == ["north", "south"]
    fish = fields["fishes"].child
    assert fish.fields["colour"].choices == {"red": "Red", "blue": "Blue"}
    assert fish.fields["weight"].allow_null
    assert serializer_of(Reef).__doc__ == "A reef."


@dataclass
class Lagoon(Reef):
    """A lagoon."""


class LagoonSerializer(RecordSerializer):
    """A lagoon with its diver."""

    diver = serializers.CharField(source="side")

    class Meta:
        record = Lagoon
        fields = ("is_deep", "diver")


class Dive(NamedTuple):
    """A dive in a lagoon."""

    lagoon: Lagoon


def test_a_serializer_names_what_it_shows_and_stands_for_its_record_in_others():
    dive = Dive(Lagoon(50, date(2026, 3, 1)))

    assert serializer_of(Dive)(dive).data == {"lagoon": {"is_deep": True, "diver": "north"}}
    described = LagoonSerializer().fields["is_deep"].help_text
    assert described == "Whether it is deeper than a diver goes."


@dataclass
class Wreck:
    """A wreck."""

    api_fields = ("name", "is_old")

    name: str
    sank_in: int

    @property
    def is_old(self) -> bool:
        """Whether nobody alive has sailed on it."""
        return self.sank_in < 1900


def test_a_dataclass_may_name_the_fields_and_properties_that_are_shown():
    assert serializer_of(Wreck)(Wreck("Vasa", 1628)).data == {"name": "Vasa", "is_old": True}


class DiveForm(forms.Form):
    """A dive."""

    reef = forms.CharField(label="Reef", max_length=20, help_text="As on the map")
    minutes = forms.IntegerField(min_value=1, max_value=90, initial=30)
    depth = forms.IntegerField(required=False)
    colour = forms.ChoiceField(choices=Colour.choices, required=False, initial=Colour.RED)
    seen = forms.MultipleChoiceField(choices=Colour.choices, required=False)
    is_night = forms.BooleanField(required=False)
    note = forms.CharField(required=False, strip=False)


def test_a_body_has_the_limits_and_defaults_of_the_form():
    body = body_of(DiveForm)(data={"reef": "Tidal", "note": " two "})

    assert body.is_valid()
    assert body.validated_data == {
        "reef": "Tidal",
        "minutes": 30,
        "depth": None,
        "colour": "red",
        "seen": [],
        "is_night": False,
        "note": " two ",
    }
    assert body.fields["reef"].help_text == "Reef. As on the map."


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ({}, "reef"),
        ({"reef": ""}, "reef"),
        ({"reef": "x" * 21}, "reef"),
        ({"reef": {"name": "Tidal"}}, "reef"),
        ({"reef": "Tidal", "minutes": 91}, "minutes"),
        ({"reef": "Tidal", "colour": "green"}, "colour"),
        ({"reef": "Tidal", "seen": ["green"]}, "seen"),
        ({"reef": "Tidal", "boat": "Ada"}, "boat"),
    ],
)
def test_a_body_refuses_what_the_form_refuses_and_unknown_fields(sent, wrong):
    body = body_of(DiveForm)(data=sent)

    assert not body.is_valid()
    assert list(body.errors) == [wrong]


def test_a_body_names_the_fields_that_it_takes_from_the_form_and_adds_its_own():
    class SentDive(FormBody):
        seconds = serializers.IntegerField()

        class Meta:
            form = DiveForm
            fields = ("reef",)

    assert list(SentDive().fields) == ["reef", "seconds"]


class DiveFilterForm(forms.Form):
    """The filter of dives."""

    reef = forms.CharField(max_length=20, required=False)
    colour = forms.ChoiceField(choices=[("", "Any"), *Colour.choices], required=False)
    diver = forms.ChoiceField(required=False)
    since = forms.DateField(required=False)


def test_the_filter_of_a_list_has_the_fields_of_its_form_and_ignores_other_parameters():
    everything = parameters_of(DiveFilterForm)(data={"cursor": "abc"})
    some = parameters_of(DiveFilterForm)(
        data={"colour": "red", "diver": "7", "since": "2026-03-01", "reef": ""}
    )

    assert everything.is_valid()
    assert everything.validated_data == {"reef": "", "colour": "", "diver": "", "since": None}
    assert some.is_valid()
    assert some.validated_data == {
        "reef": "",
        "colour": "red",
        "diver": "7",
        "since": date(2026, 3, 1),
    }
    assert not parameters_of(DiveFilterForm)(data={"colour": "green"}).is_valid()
