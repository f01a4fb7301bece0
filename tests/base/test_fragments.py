"""A cached fragment is the same as one that is rendered again."""

from __future__ import annotations

import pytest
from django.template import engines

from base import fragments


@pytest.fixture(autouse=True)
def renderings(monkeypatch):
    """Return the list of values that the template was rendered with."""
    template = engines["django"].from_string(
        "<p>{{ row.name }} {% csrf_token %} {{ row.number }}</p>"
    )
    drawn: list[object] = []

    class Counted:
        def render(self, values):
            drawn.append(values)
            return template.render(values)

    monkeypatch.setattr(fragments, "get_template", lambda _name: Counted())
    fragments._cache.clear()
    return drawn


def draw(name: str = "Tides", number: int = 3, form: str = "abc") -> str:
    return fragments.render_cached(
        "t.html", {"row": {"name": name, "number": number}}, csrf_token=form
    )


def test_the_same_values_are_rendered_once(renderings):
    assert draw() == draw()
    assert draw(number=4) != draw()
    assert len(renderings) == 2


def test_each_page_has_its_own_token(renderings):
    assert 'value="abc"' in draw(form="abc")
    assert 'value="xyz"' in draw(form="xyz")
    assert len(renderings) == 1


def test_each_language_is_rendered(renderings, monkeypatch):
    draw()
    monkeypatch.setattr(fragments, "get_language", lambda: "de")
    draw()
    assert len(renderings) == 2


@pytest.mark.parametrize("name", ["{csrf_token}", "{0} {", "<b>&amp;", "{{ row }}"])
def test_names_are_escaped(name):
    escaped = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f"<p>{escaped} " in draw(name)


def test_the_cache_is_bounded(renderings, monkeypatch):
    monkeypatch.setattr(fragments, "_MOST", 2)
    for number in range(5):
        draw(number=number)
    assert len(fragments._cache) == 2
