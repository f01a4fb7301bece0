"""The form of a new project proposes a short name, unless one was typed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Project
from tests import factories


@pytest.fixture
def form(live_server, new_person):
    factories.user("ada")
    page = new_person("ada")
    page.goto("/projects/")
    return page


def test_the_short_name_follows_the_name(form):
    form.get_by_label("Name", exact=True).press_sequentially("Tidal Power, Énergie & Märkte!")

    expect(form.get_by_label("Short name")).to_have_value("tidal-power-energie-markte")
    form.get_by_role("button", name="Create the project").click()
    form.wait_for_url("**/projects/tidal-power-energie-markte/loads/")
    assert Project.objects.get().slug == "tidal-power-energie-markte"


def test_a_short_name_that_was_typed_stays(form):
    form.get_by_label("Short name").fill("tides")
    form.get_by_label("Name", exact=True).press_sequentially("Tidal power")

    expect(form.get_by_label("Short name")).to_have_value("tides")
