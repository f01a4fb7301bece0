"""A lead reads agreement of parts: the form sets the address, and the worker computes it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests import factories


@pytest.fixture
def tides(live_server):
    """Ada and ben differ on every document of 301, and agree on those of 302; so does a machine."""
    project = factories.project("tides")
    people = [factories.member(project, name) for name in ("ada", "ben")]
    machine = factories.machine(project, "gauge")
    for query_id, apart in (("301", 1), ("302", 0)):
        query = factories.query(project, query_id)
        narrative = factories.altered(factories.pair(query))
        for number in range(4):
            candidate = factories.candidate(query, f"{query_id}-{number}")
            for at, member in enumerate([*people, machine]):
                factories.judgment(narrative, candidate, member, (number + apart * at) % 2)
    factories.lead(project, "carla")
    return project


def compute(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Compute")).click()
    expect(page.get_by_text("Computed", exact=False).first).to_be_visible()


def test_a_part_is_chosen_computed_and_found_again(
    tides, new_person: Callable[..., Page], redis_worker
):
    carla = new_person("carla")
    carla.goto("/projects/tides/agreement/")
    compute(carla)
    expect(carla.get_by_role("heading", name="Judgments of people", exact=True)).to_be_visible()

    # A choice in the form leads to an address, and so does a row of a table.
    carla.get_by_role("link", name="302", exact=True).first.click()
    expect(carla).to_have_url(re.compile(r"/agreement/\?query=302$"))
    expect(carla.get_by_text("This part has not been computed yet")).to_be_visible()
    compute(carla)
    expect(carla.get_by_text("Only a part: query 302.")).to_be_visible()
    expect(carla.get_by_role("row", name=re.compile("Percent agreement")).first).to_contain_text(
        "1.000"
    )
    carla.wait_for_load_state()
    carla.get_by_label("Blind judgments only").check()
    expect(carla).to_have_url(re.compile(r"query=302.*blind=1"))

    # The page shows nothing about the machine, which has its own page.
    expect(carla.get_by_text("gauge")).to_have_count(0)
    carla.goto("/projects/tides/agreement/machines/")
    expect(carla.get_by_role("heading", name="People against gauge")).to_be_visible()
    expect(carla.get_by_role("heading", name="Grades of ben and of gauge")).to_be_visible()

    # Both reports are kept.
    carla.get_by_role("link", name="Earlier reports").click()
    expect(carla.get_by_role("link", name="The whole project")).to_be_visible()
    carla.get_by_role("link", name="Query 302").click()
    expect(carla.get_by_text("This is one report as it was computed.")).to_be_visible()
