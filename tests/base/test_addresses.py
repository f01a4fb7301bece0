"""The tag `url` renders what Django's own tag renders, also from its cache."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.urls import NoReverseMatch, set_script_prefix

PROJECT = '{% url "annotate:project" slug %}'


def draw(template: str, **values: object) -> str:
    return Template(template).render(Context(values))


@pytest.mark.parametrize("_again", range(2))
def test_an_address_is_drawn_with_its_values(_again):
    assert draw(PROJECT, slug="tides") == "/projects/tides/"
    assert draw(PROJECT, slug="other") == "/projects/other/"
    assert draw('{% url "annotate:load" slug=slug pk=3 %}', slug="tides") == (
        "/projects/tides/loads/3/"
    )


def test_a_number_and_its_digits_are_two_values():
    template = '{% url "annotate:load" "tides" pk %}'

    assert draw(template, pk=3) == draw(template, pk="3") == "/projects/tides/loads/3/"


@pytest.mark.parametrize("_again", range(2))
def test_as_keeps_the_address_and_nothing_where_there_is_none(_again):
    template = '{% url "annotate:project" slug as found %}[{{ found }}]'

    assert draw(template, slug="tides") == "[/projects/tides/]"
    assert draw(template, slug="no slug") == "[]"


@pytest.mark.parametrize("_again", range(2))
def test_an_address_that_is_not_there_is_an_error(_again):
    with pytest.raises(NoReverseMatch):
        draw(PROJECT, slug="no slug")


def test_an_address_begins_where_the_installation_lies():
    assert draw(PROJECT, slug="tides") == "/projects/tides/"
    set_script_prefix("/rejudge/")
    try:
        assert draw(PROJECT, slug="tides") == "/rejudge/projects/tides/"
    finally:
        set_script_prefix("/")
