"""Rewriting a narrative: no typed text is lost, whatever happens to the page or the network."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotate.judgments import assignments
from annotate.models import Assignment, Draft, Narrative, Project
from annotate.rewriting import actions as rewriting
from tests import factories

ORIGINAL = "Any plant counts, whether it is planned or at work. Plans are also relevant."
ALTERED = "Any plant counts, but only at sea."


@pytest.fixture
def pair(live_server):
    project = factories.project("tides", show_prior=True, kind="followir")
    factories.lead(project)
    query = factories.query(project, "301", title="tidal power")
    for number in range(4):
        factories.candidate(
            query, f"DOC{number}", prior=1, title=f"Plant {number}", text=f"Barrage no. {number}."
        )
    return factories.pair(query, original=ORIGINAL, altered=ALTERED)


@pytest.fixture
def address(pair) -> str:
    return f"/pairs/{pair.pk}/narrative/"


@pytest.fixture
def carla(new_person, address):
    """carla's open page of the pair."""
    page = new_person("carla")
    page.goto(address)
    return page


# Complaints of the browser when the network is cut or the session has ended.
CUT = ["net::ERR_INTERNET_DISCONNECTED", "net::ERR_FAILED", "htmx-2.min.js"]

# Also cuts requests that a browser would still send for a closed page.
CUT_FOR_GOOD = "() => { window.fetch = () => Promise.reject(new TypeError('no network')); }"


def words(page: Page):
    return page.get_by_role("textbox", name="Altered")


def saved(page: Page) -> None:
    """Wait until the page says that its draft is on the server."""
    expect(page.locator("[data-draft-line]")).to_contain_text("Draft saved")


def test_a_draft_survives_a_reload_and_a_second_device(carla, new_person, address):
    words(carla).fill("At sea, in use.")
    carla.get_by_label("Conditions").fill("place: at sea")
    carla.get_by_label("Note").fill("rivers out")
    saved(carla)

    carla.reload()
    phone = new_person("carla")
    phone.goto(address)

    for page in (carla, phone):
        expect(words(page)).to_have_value("At sea, in use.")
        expect(page.get_by_label("Conditions")).to_have_value("place: at sea")
        expect(page.get_by_label("Note")).to_have_value("rivers out")


def test_text_typed_on_leaving_is_saved(carla, address):
    words(carla).press("End")
    words(carla).press_sequentially(" None in rivers.")
    carla.goto("/")
    carla.goto(address)

    expect(words(carla)).to_have_value(f"{ALTERED} None in rivers.")
    saved(carla)
    assert Draft.objects.get().text == f"{ALTERED} None in rivers."


def test_ticks_survive_and_give_the_estimate(carla, new_person, address):
    goal = carla.locator("p.goal")
    expect(goal).to_contain_text("0 of 4 would drop out")
    carla.get_by_role("checkbox", name="Plant 1").check()
    expect(goal).to_contain_text("1 of 4 would drop out")
    expect(goal).to_contain_text("25% · goal: about half")
    saved(carla)

    phone = new_person("carla")
    phone.goto(address)

    expect(phone.get_by_role("checkbox", name="Plant 1")).to_be_checked()
    expect(phone.locator("p.goal")).to_contain_text("1 of 4 would drop out")
    assert phone.locator("[data-tally-bar]").get_attribute("width") == "25.00"


def test_ticks_count_also_while_the_list_shows_something_else(carla):
    carla.get_by_role("checkbox", name="Plant 1").check()
    carla.get_by_role("searchbox", name="Title or id").fill("plant 2")
    expect(carla.get_by_role("checkbox")).to_have_count(1)
    carla.get_by_role("checkbox", name="Plant 2").check()

    expect(carla.locator("p.goal")).to_contain_text("2 of 4 would drop out")
    carla.get_by_role("searchbox", name="Title or id").fill("")
    expect(carla.get_by_role("checkbox")).to_have_count(4)
    expect(carla.get_by_role("checkbox", checked=True)).to_have_count(2)


def test_documents_are_found_by_their_text_on_request(carla):
    carla.get_by_role("searchbox", name="Title or id").fill("barrage 3")
    expect(carla.get_by_role("checkbox")).to_have_count(0)

    carla.get_by_role("button", name="Find in the texts").click()

    expect(carla.get_by_role("checkbox")).to_have_count(1)
    carla.get_by_text("Plant 3", exact=True).click()
    expect(carla.get_by_text("Barrage no. 3.")).to_be_visible()


def test_enter_in_the_search_finds_in_the_texts(carla):
    carla.get_by_role("searchbox", name="Title or id").fill("barrage 3")
    expect(carla.get_by_role("checkbox")).to_have_count(0)
    carla.get_by_role("searchbox", name="Title or id").press("Enter")

    expect(carla.get_by_role("checkbox")).to_have_count(1)
    expect(carla.get_by_text("in its title, id or text")).to_be_visible()


def test_advice_appears_while_typing(carla):
    advice = carla.locator("#advice")
    words(carla).fill("Any plant counts, whether it is planned or at work.")
    expect(advice).to_contain_text("Sentences taken out that let documents in")
    expect(advice).to_contain_text("No excluding word was added")

    words(carla).press("End")
    words(carla).press_sequentially(" Unless it is a mill, as in DOC2.")

    expect(advice).to_contain_text("Words that exclude something: unless")
    words(carla).fill("Any plant, as said by FBIS and others, Barrage no. 3.")
    expect(advice).not_to_contain_text("exclude something: unless")


def test_a_draft_stays_in_the_browser_without_the_network_and_the_page_says_so(
    carla, expected_complaints
):
    expected_complaints += CUT
    carla.wait_for_load_state("networkidle")
    carla.context.set_offline(True)
    words(carla).fill("At sea, in use.")

    line = carla.locator("[data-draft-line]")
    expect(line).to_contain_text("Kept in this browser, offline")
    assert not Draft.objects.exists()

    carla.context.set_offline(False)
    expect(line).to_contain_text("Draft saved")
    assert Draft.objects.get().text == "At sea, in use."


def test_saving_without_the_network_stays_on_the_page_and_says_so(carla, expected_complaints):
    expected_complaints += CUT
    carla.wait_for_load_state("networkidle")
    words(carla).fill("At sea, in use.")
    saved(carla)
    carla.context.set_offline(True)
    save = carla.get_by_role("button", name="Save as a new version")
    save.click()

    expect(carla.get_by_text("You’re offline; nothing was saved.")).to_be_in_viewport()
    expect(words(carla)).to_have_value("At sea, in use.")
    carla.context.set_offline(False)
    expect(carla.get_by_text("You’re offline")).to_be_hidden()
    save.click()
    expect(carla.get_by_text("Version 2 is saved")).to_be_visible()


def test_a_save_works_if_the_network_is_back_before_the_page_notices(carla, expected_complaints):
    expected_complaints += CUT
    carla.wait_for_load_state("networkidle")
    carla.route("**/draft/**", lambda route: route.abort())
    words(carla).fill("At sea, in use.")
    expect(carla.locator("[data-draft-line]")).to_contain_text("offline")
    carla.unroute("**/draft/**")
    carla.get_by_role("button", name="Save as a new version").click()

    expect(carla.get_by_text("Version 2 is saved")).to_be_visible()


def test_words_that_never_reached_the_server_come_back_with_the_page(carla, address):
    carla.evaluate(CUT_FOR_GOOD)
    words(carla).fill("At sea, in use.")
    expect(carla.locator("[data-draft-line]")).to_contain_text("offline")
    carla.goto("/")
    assert not Draft.objects.exists()

    carla.goto(address)

    expect(words(carla)).to_have_value("At sea, in use.")
    expect(carla.get_by_text("had not saved, is back")).to_be_visible()
    saved(carla)
    assert Draft.objects.get().text == "At sea, in use."


def test_older_words_of_this_browser_do_not_hide_newer_ones_from_elsewhere(
    carla, new_person, address
):
    carla.evaluate(CUT_FOR_GOOD)
    words(carla).fill("At sea, from the laptop.")
    expect(carla.locator("[data-draft-line]")).to_contain_text("offline")
    carla.goto("/")
    phone = new_person("carla")
    phone.goto(address)
    words(phone).fill("In rivers, from the phone.")
    saved(phone)

    carla.goto(address)
    expect(words(carla)).to_have_value("In rivers, from the phone.")
    carla.get_by_role("link", name="Reload to read both").click()
    carla.get_by_text("Read it", exact=True).click()

    expect(carla.get_by_text("At sea, from the laptop.")).to_be_visible()
    expect(words(carla)).to_have_value("In rivers, from the phone.")


def test_the_newest_words_of_two_devices_count_and_the_others_are_kept(carla, new_person, address):
    phone = new_person("carla")
    phone.goto(address)
    words(carla).fill("At sea, from the laptop.")
    saved(carla)

    words(phone).fill("In rivers, from the phone.")
    expect(phone.get_by_text("You also edited this narrative elsewhere")).to_be_visible()
    phone.get_by_role("link", name="Reload to read both").click()

    expect(words(phone)).to_have_value("In rivers, from the phone.")
    phone.get_by_text("Read it", exact=True).click()
    expect(phone.get_by_text("At sea, from the laptop.")).to_be_visible()
    phone.get_by_role("button", name="Continue with this text").click()
    expect(words(phone)).to_have_value("At sea, from the laptop.")
    expect(phone.get_by_text("You also edited this narrative elsewhere")).to_be_hidden()
    phone.get_by_text("Read it", exact=True).click()
    expect(phone.get_by_text("In rivers, from the phone.")).to_be_visible()


def test_a_person_who_is_signed_out_sees_a_message_and_loses_nothing(carla, expected_complaints):
    expected_complaints += [*CUT, "status of 403"]
    carla.context.clear_cookies()
    words(carla).fill("At sea, in use.")

    line = carla.locator("[data-draft-line]")
    expect(line).to_contain_text("you are signed out")
    assert carla.evaluate("Object.values(localStorage).join()").count("At sea, in use.") == 1


def test_a_narrative_that_is_too_long_is_refused_at_the_draft_line(carla):
    words(carla).fill("word " * 21_000)

    line = carla.locator("[data-draft-line]")
    expect(line).to_contain_text("not on the server: The narrative has 104,999 characters")
    expect(words(carla)).to_have_value("word " * 21_000)


def test_a_saved_version_ends_the_draft(carla):
    words(carla).fill("At sea, in use.")
    carla.get_by_role("checkbox", name="Plant 1").check()
    words(carla).focus()
    carla.keyboard.press("Control+Enter")

    expect(carla.get_by_text("Version 2 is saved")).to_be_visible()
    expect(words(carla)).to_have_value("At sea, in use.")
    carla.reload()
    expect(carla.get_by_text("had not saved, is back")).to_be_hidden()
    assert not Draft.objects.exists()
    assert Narrative.objects.filter(side="altered").count() == 2


def test_enter_in_the_note_saves(carla):
    words(carla).fill("At sea, in use.")
    carla.get_by_label("Note").fill("rivers out")
    carla.keyboard.press("Enter")

    expect(carla.get_by_text("Version 2 is saved")).to_be_visible()
    assert Narrative.objects.get(side="altered", version=2).note == "rivers out"


def test_the_help_lists_control_and_enter(carla):
    carla.get_by_role("heading", name="tidal power").click()
    carla.keyboard.press("?")

    keys = carla.locator("[data-key-groups]")
    expect(keys.locator("dt")).to_have_text(["Ctrl Enter"])
    expect(keys.locator("dd")).to_have_text(["Save as a new version"])


@pytest.mark.parametrize("where", ["note", "documents"])
def test_control_and_enter_save_from_the_note_and_the_documents_too(carla, where):
    words(carla).fill("At sea, in use.")
    if where == "note":
        carla.get_by_label("Note").fill("rivers out")
    else:
        carla.get_by_role("checkbox", name="Plant 1").focus()
    carla.keyboard.press("Control+Enter")

    expect(carla.get_by_text("Version 2 is saved")).to_be_visible()


def test_an_error_is_visible_and_its_field_has_the_focus(carla):
    carla.set_viewport_size({"width": 800, "height": 500})
    words(carla).fill("At sea, in use. " * 2_000)
    carla.get_by_label("Conditions").fill("at sea\nat sea")
    carla.get_by_role("button", name="Save as a new version").click()

    expect(carla.get_by_text("Line 2 says the same as line 1")).to_be_in_viewport()
    expect(carla.get_by_label("Conditions")).to_be_focused()


def test_refused_text_is_still_a_draft(carla, address):
    words(carla).fill("At sea, in use.")
    carla.get_by_label("Conditions").fill("at sea\nat sea")
    carla.get_by_role("button", name="Save as a new version").click()
    expect(carla.get_by_text("Line 2 says the same as line 1")).to_be_visible()
    saved(carla)

    carla.goto(address)

    expect(carla.get_by_label("Conditions")).to_have_value("at sea\nat sea")


def test_a_draft_can_be_discarded(carla):
    words(carla).fill("At sea, in use.")
    saved(carla)

    carla.get_by_role("button", name="Discard draft").click()

    expect(words(carla)).to_have_value(ALTERED)
    carla.reload()
    expect(words(carla)).to_have_value(ALTERED)
    assert not Draft.objects.exists()


def test_the_reversed_side_has_its_own_draft(carla):
    Project.objects.update(kind="own")
    carla.reload()
    words(carla).fill("At sea, in use.")
    saved(carla)
    carla.get_by_role("link", name="Reversed").click()

    turned = carla.get_by_role("textbox", name="Reversed")
    expect(turned).to_have_value(ALTERED)
    turned.fill("Not at sea.")
    expect(carla.locator("#advice")).to_contain_text("Words that reverse the meaning")
    saved(carla)
    carla.get_by_role("link", name="Altered").click()

    expect(words(carla)).to_have_value("At sea, in use.")


def test_without_a_script_a_button_saves_the_draft(new_person, address):
    page = new_person("carla", java_script_enabled=False)
    page.goto(address)
    words(page).fill("At sea, in use.")
    page.get_by_role("checkbox", name="Plant 1").check()
    page.get_by_role("button", name="Keep as a draft").click()

    expect(page.get_by_text("The draft is saved.")).to_be_visible()
    expect(words(page)).to_have_value("At sea, in use.")
    expect(page.get_by_role("checkbox", name="Plant 1")).to_be_checked()
    page.get_by_role("button", name="Look again").click()
    expect(words(page)).to_have_value("At sea, in use.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_rewrite_page_is_accessible(pair, new_person, address, accessibility, scheme):
    lead = pair.project.memberships.get(name="carla")
    version = rewriting.rewrite_narrative(
        pair=pair, text=ALTERED + " Not mills.", by=lead, based_on=1, conditions="at sea"
    )
    ben = factories.member(pair.project, "ben")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ben)
    end = len(version.text)
    for number, candidate in enumerate(pair.query.candidates.order_by("pk")[:3]):
        factories.judgment(
            version, candidate, ben, number % 2, clauses=[{"start": end - 10, "end": end}]
        )
    page = new_person("carla", color_scheme=scheme)
    page.goto(address)
    words(page).fill("Any plant, DOC1.")
    page.get_by_text("What each clause removed").click()
    page.get_by_text("What changed").first.click()
    page.get_by_text("Plant 3", exact=True).click()
    saved(page)
    expect(page.locator("#advice")).to_contain_text("Named by their id")
    expect(page.get_by_text("Barrage no. 3.")).to_be_visible()

    assert accessibility(page) == []
    page.goto(f"{address}?side=reversed")
    assert accessibility(page) == []
    page.goto(f"/pairs/{pair.pk}/narratives/{version.pk}/")
    assert accessibility(page) == []
