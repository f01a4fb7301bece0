"""Pages of a pair link the pair with the same instruction in the other style."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.pairs.instruction_styles import OtherStyle, other_styles
from tests import factories
from tests.pages import shows


@pytest.fixture
def pairs(db):
    """The same two conditions as a list and in running words, and a pair without another style."""
    project = factories.project()
    factories.lead(project)
    query = factories.query(project, "0")
    listed = factories.pair(query, pair_id="0_2")
    words = factories.pair(query, pair_id="0_2n", restates=listed)
    return listed, words, factories.pair(query, pair_id="0_3")


def test_each_style_finds_the_other(pairs):
    listed, words, alone = pairs
    found = other_styles(pairs)

    assert found[listed.pk] == [OtherStyle(words.pk, "0_2n", in_words=True)]
    assert found[words.pk] == [OtherStyle(listed.pk, "0_2", in_words=False)]
    assert found[alone.pk] == []
    assert other_styles(pairs, among=pairs) == found


def test_the_pages_of_a_pair_and_of_its_query_name_the_other_style(pairs, client):
    listed, words, alone = pairs
    client.force_login(listed.project.memberships.get().user)

    story = client.get(reverse("audit:story", args=[listed.pk])).content.decode()
    assert shows(story, f'href="{reverse("audit:story", args=[words.pk])}">0_2n<')
    query = client.get(reverse("annotate:query", args=["tides", listed.query_id])).content.decode()
    assert shows(query, f'href="#pair-{listed.pk}">0_2<')
    assert shows(query, f'href="#pair-{words.pk}">0_2n<')
    assert "0_2" not in client.get(reverse("audit:story", args=[alone.pk])).content.decode()
