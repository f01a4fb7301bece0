"""The tag `url` renders what Django's own tag renders, also from its cache."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.urls import NoReverseMatch, set_script_prefix

PROJECT = '{% url "annotate:project" slug %}'


def render(template: str, **values: object) -> str:
    return Template(template).render(Context(values))


@pytest.mark.parametrize("_again", range(2))
def test_an_address_is_rendered_with_its_values(_again):
    assert render(PROJECT, slug="tides") == "/projects/tides/"
    assert render(PROJECT, slug="other") == "/projects/other/"
    assert render('{% url "annotate:load" slug=slug pk=3 %}', slug="tides") == (
        "/projects/tides/loads/3/"
    )


def test_a_number_and_its_digits_render_the_same_address():
    template = '{% url "annotate:load" "tides" pk %}'

    assert render(template, pk=3) == render(template, pk="3") == "/projects/tides/loads/3/"


@pytest.mark.parametrize("_again", range(2))
def test_as_stores_the_address_or_nothing_if_there_is_none(_again):
    template = '{% url "annotate:project" slug as found %}[{{ found }}]'

    assert render(template, slug="tides") == "[/projects/tides/]"
    assert render(template, slug="no slug") == "[]"


@pytest.mark.parametrize("_again", range(2))
def test_an_unknown_address_is_an_error(_again):
    with pytest.raises(NoReverseMatch):
        render(PROJECT, slug="no slug")


def test_an_address_begins_with_the_script_prefix():
    assert render(PROJECT, slug="tides") == "/projects/tides/"
    set_script_prefix("/rejudge/")
    try:
        assert render(PROJECT, slug="tides") == "/rejudge/projects/tides/"
    finally:
        set_script_prefix("/")
