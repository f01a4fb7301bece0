"""No typed text is lost, and pages show times and colours as the reader chose them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotate.guidelines.actions import write_guideline
from annotate.judging.actions import judge
from annotate.judgments import assignments
from annotate.models import Assignment, Guideline, Narrative
from tests import factories
from tests.browser.conftest import sign_in


@pytest.fixture
def pair(live_server):
    project = factories.project()
    factories.lead(project)
    query = factories.query(project)
    factories.candidate(query)
    return factories.pair(query, altered="Only plants at sea count.")


@pytest.fixture
def open_guidelines(new_person, pair):
    """A function that opens carla's page of the guidelines, always in the same browser."""
    page = new_person("carla")
    page.on("dialog", lambda dialog: dialog.accept())
    lead = pair.project.memberships.get(name="carla")
    write_guideline(text="Only plants at sea count.", by=lead, based_on=0)

    def open_page():
        page.goto(f"/projects/{pair.project.slug}/guidelines/?edit=1")
        return page

    return open_page


def test_unsaved_words_come_back(open_guidelines):
    text = open_guidelines().get_by_role("textbox", name="Guidelines")
    text.fill("Only plants at sea count. None in rivers.")

    page = open_guidelines()

    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value(
        "Only plants at sea count. None in rivers."
    )
    expect(page.get_by_text("had not saved, is back")).to_be_visible()


def test_each_typed_paragraph_runs_in_its_own_direction(open_guidelines):
    text = open_guidelines().get_by_role("textbox", name="Guidelines")
    text.fill("Only plants at sea.\nרק צמחים בים.")

    expect(text).to_have_css("unicode-bidi", "plaintext")


def test_restored_words_can_be_discarded(open_guidelines):
    open_guidelines().get_by_role("textbox", name="Guidelines").fill("Something else.")
    page = open_guidelines()

    page.get_by_role("button", name="Discard it").click()

    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value(
        "Only plants at sea count."
    )


def test_saved_words_are_no_longer_a_draft(open_guidelines):
    page = open_guidelines()
    page.get_by_role("textbox", name="Guidelines").fill("Only plants at sea, none in rivers.")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Version 2 is now current")).to_be_visible()

    page = open_guidelines()

    expect(page.get_by_text("had not saved, is back")).to_be_hidden()
    assert Guideline.objects.count() == 2


@pytest.mark.parametrize("address", ["guidelines/?edit=1", "rubric/?edit=1", "publication/"])
def test_unsaved_words_come_back_to_their_author_only(new_person, pair, live_server, address):
    factories.lead(pair.project, "eva")
    page = new_person("carla")
    page.on("dialog", lambda dialog: dialog.accept())
    address = f"/projects/{pair.project.slug}/{address}"
    page.goto(address)
    words = page.locator("form[data-draft] :is(textarea, input[type=text])").first
    as_served = words.input_value()
    words.fill("Only for carla.")
    expect(words).to_have_value("Only for carla.")

    sign_in(page.context, "eva", live_server.url)
    page.goto(address)
    expect(words).to_have_value(as_served)

    sign_in(page.context, "carla", live_server.url)
    page.goto(address)
    expect(words).to_have_value("Only for carla.")


def test_words_begun_before_another_version_are_not_saved_over_it(open_guidelines, pair):
    open_guidelines().get_by_role("textbox", name="Guidelines").fill("Only plants at sea.")
    dan = factories.lead(pair.project, "dan")
    write_guideline(text="Only plants at sea count, and buoys.", by=dan, based_on=1)

    page = open_guidelines()
    page.get_by_role("button", name="Save as a new version").click()

    expect(page.get_by_text("Version 2 was saved while you were writing.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value("Only plants at sea.")
    assert Guideline.objects.count() == 2


def test_refused_words_come_back_after_reading_the_other_version(open_guidelines, pair):
    page = open_guidelines()
    dan = factories.lead(pair.project, "dan")
    write_guideline(text="Only plants at sea count, and buoys.", by=dan, based_on=1)
    page.get_by_role("textbox", name="Guidelines").fill("Only plants at sea.")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Version 2 was saved while you were writing.")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_text("and buoys")).to_be_visible()

    page = open_guidelines()

    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value("Only plants at sea.")
    expect(page.get_by_text("had not saved, is back")).to_be_visible()


def test_saved_words_do_not_come_back_over_a_later_version(open_guidelines, pair):
    page = open_guidelines()
    page.get_by_role("textbox", name="Guidelines").fill("Only plants at sea.")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_text("Version 2 is now current")).to_be_visible()
    dan = factories.lead(pair.project, "dan")
    write_guideline(text="Only plants at sea count, and buoys.", by=dan, based_on=2)

    page = open_guidelines()

    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value(
        "Only plants at sea count, and buoys."
    )


def test_words_to_judges_stay_while_other_answers_are_chosen(new_person, pair):
    lead, ada = pair.project.memberships.get(name="carla"), factories.member(pair.project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    candidate = pair.query.candidates.get()
    judge(narrative=factories.altered(pair), candidate=candidate, relevance=1, by=ada)
    write_guideline(text="Only plants at sea count.", by=lead, based_on=0)
    page = new_person("carla")
    page.goto(f"/projects/{pair.project.slug}/guidelines/1/rejudge-requests/")
    page.get_by_label("What you tell them").fill("Look at the second table.")

    page.get_by_label("Judged as").select_option("1")

    expect(page).to_have_url(re.compile("grade=1"))
    expect(page.get_by_label("What you tell them")).to_have_value("Look at the second table.")


def test_times_are_shown_in_the_readers_zone(new_person, pair):
    Narrative.objects.filter(side="altered").update(created_at="2026-03-01T20:30:00Z")

    page = new_person("carla", timezone_id="Asia/Tokyo")
    page.goto(f"/pairs/{pair.pk}/narrative/")

    expect(page.locator("time")).to_have_text("2 Mar 2026, 05:30")


def test_without_script_times_name_their_zone(new_person, pair):
    Narrative.objects.filter(side="altered").update(created_at="2026-03-01T20:30:00Z")

    page = new_person("carla", java_script_enabled=False)
    page.goto(f"/pairs/{pair.pk}/narrative/")

    expect(page.locator("time")).to_have_text("1 Mar 2026, 20:30 UTC")


def test_a_chosen_theme_is_there_from_the_first_paint(new_person, pair):
    page = new_person("carla", color_scheme="light")
    page.goto("/")
    page.get_by_text("carla", exact=True).click()
    with page.expect_response("**/settings/"):
        page.get_by_label("Appearance").select_option("dark")

    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    response = page.goto("/")
    assert 'data-theme="dark"' in response.text()
