"""A sample, from the draw to the sentence for the paper: two people check, a third settles."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from audit.models import Check, Sample
from tests.browser.waiting import document_on, hides, press, saved, shows, until
from tests.checks.checking import check_label, claimed_scene, draw

# The claims, and the keys that ada and ben press for each. C goes to dan, who presses 0.
CLAIMED = {"C1": {"A": 0, "B": 1}, "S1": {"C": 2, "D": 2}}
ADA = {"A": "0", "B": "1", "C": "1", "D": "2"}
BEN = {"A": "0", "B": "1", "C": "0", "D": "2"}


@pytest.fixture
def tides(live_server):
    return claimed_scene(CLAIMED)


def check_all(page, answers):
    """Press a grade for every document, in the order in which they are shown."""
    seen = []
    for _ in answers:
        doc_id = document_on(page)
        seen.append(doc_id)
        page.keyboard.press(answers[doc_id])
        hides(page, doc_id)
    assert sorted(seen) == sorted(answers)


def test_two_check_by_keys_a_third_settles_and_the_figures_are_those_counted_by_hand(
    tides, new_person, accessibility
):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/")
    carla.get_by_role("link", name="New sample").click()
    carla.get_by_label("Name", exact=True).fill("Spot checks")
    carla.get_by_label("Strata").select_option("category")
    carla.get_by_label("How many").fill("2")
    carla.get_by_role("button", name="Show the strata").click()
    expect(carla.locator("#preview tbody tr")).to_have_count(2)
    assert not Sample.objects.exists()
    assert accessibility(carla) == []
    carla.get_by_role("button", name="Draw the sample").click()
    expect(carla.get_by_text("The sample is drawn.")).to_be_visible()
    # The list of samples has taken the place of the form, and of its help.
    carla.keyboard.press("?")
    expect(carla.get_by_role("dialog")).to_contain_text("Samples of labels that")
    carla.keyboard.press("Escape")

    sample = Sample.objects.get()
    for name, answers in (("ada", ADA), ("ben", BEN)):
        page = new_person(name)
        page.goto(f"/samples/{sample.pk}/")
        press(page, "Enter")
        assert accessibility(page) == []
        check_all(page, answers)
        expect(page.get_by_role("heading", name="There is nothing more")).to_be_visible()
        saved(page)

    dan = new_person("dan")
    dan.goto(f"/samples/{sample.pk}/")
    with dan.expect_navigation():
        dan.locator("#settle").click()
    expect(dan.get_by_text("One said")).to_be_visible()
    assert accessibility(dan) == []
    dan.keyboard.press("0")
    saved(dan)
    assert Check.objects.current().get(place=3).relevance == 0

    # One of four is wrong: C is claimed to be 2 and is 0. None of C1, one of two of S1.
    carla.goto(f"/samples/{sample.pk}/?bound=50")
    rows = carla.locator("#rates-status tr")
    expect(rows.nth(1)).to_contain_text("2 of 2")
    expect(rows.nth(1)).to_contain_text("0.0 to 84.2%")
    expect(rows.nth(2)).to_contain_text("1.3 to 98.7%")
    expect(rows.nth(3)).to_contain_text("25.0%")
    expect(rows.nth(3)).to_contain_text("0.6 to 80.6%")
    # 1 in 8 at most is 47.1% at 95%, 1 in 7 is 52.1%: four more; all there are were checked.
    expect(rows.nth(3).locator("td").last).to_have_text("4 0 left")
    expect(carla.locator("#paper-words")).to_contain_text(
        "Two people each checked 4 of 4 labels (judgments of model; 2 of each stratum"
    )
    expect(carla.locator("#paper-words")).to_contain_text("a third person settled 1")
    assert accessibility(carla) == []


def test_an_accidental_press_is_undone_and_words_go_with_the_grade(tides, new_person):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/new/")
    carla.get_by_label("Name", exact=True).fill("Spot checks")
    carla.get_by_label("How many").fill("4")
    carla.get_by_role("button", name="Draw the sample").click()
    expect(carla.get_by_text("The sample is drawn.")).to_be_visible()
    page = new_person("ada")
    page.goto(f"/samples/{Sample.objects.get().pk}/checking/")
    first = document_on(page)

    page.keyboard.press("1")
    hides(page, first)
    page.keyboard.press("z")
    shows(page, first)
    saved(page, "Taken back")
    assert not Check.objects.current().exists()

    page.keyboard.press("n")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    page.keyboard.type("On page 2: 1 mill.")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    hides(page, first)
    saved(page)
    check = Check.objects.current().get()
    assert (check.relevance, check.words) == (2, "On page 2: 1 mill.")


def test_a_label_can_be_left_for_later(tides, new_person):
    carla = new_person("carla")
    carla.goto("/projects/tides/checks/new/")
    carla.get_by_label("Name", exact=True).fill("Spot checks")
    carla.get_by_label("How many").fill("4")
    carla.get_by_role("button", name="Draw the sample").click()
    expect(carla.get_by_text("The sample is drawn.")).to_be_visible()
    page = new_person("ada")
    page.goto(f"/samples/{Sample.objects.get().pk}/checking/")
    first = document_on(page)

    page.keyboard.press("ArrowRight")

    hides(page, first)
    press(page, "q")
    expect(page.get_by_text("You have answered 0 of 4 labels.")).to_be_visible()


def test_cannot_judge_is_answered_by_keys_and_a_third_settles(tides, new_person):
    sample = draw(tides, stratify=Sample.Stratify.NONE, size=4)
    page = new_person("ada")
    page.goto(f"/samples/{sample.pk}/checking/")

    page.keyboard.press("c")
    expect(page.get_by_label("Why can’t you judge it?")).to_be_focused()
    page.keyboard.type("It is cut off.")
    page.keyboard.press("Control+Enter")
    saved(page)

    check = Check.objects.current().get()
    assert (check.relevance, check.cannot_judge, check.words) == (None, True, "It is cut off.")
    doc_id = check.item.candidate.document.doc_id
    check_label(sample, doc_id, ben=1)
    dan = new_person("dan")
    dan.goto(f"/samples/{sample.pk}/settling/")
    expect(dan.locator(".check__answers")).to_contain_text("cannot judge")
    expect(dan.locator(".check__answers")).to_contain_text("It is cut off.")
    dan.keyboard.press("2")
    saved(dan)
    assert Check.objects.current().get(place=3).relevance == 2


def test_words_are_marked_and_found_as_on_the_judge_page(tides, new_person):
    for candidate in tides.candidates.values():
        text = "A question of mills. The mills stand. A question more."
        candidate.document.texts.update(text=text, length=len(text))
    sample = draw(tides, stratify=Sample.Stratify.NONE, size=4)
    page = new_person("ada")
    page.goto(f"/samples/{sample.pk}/checking/")

    expect(page.locator("[data-marks-status]")).to_have_text("2 marked")
    page.keyboard.press("j")
    expect(page.locator("[data-marks-status]")).to_have_text("1 of 2 marked")
    page.keyboard.press("/")
    page.keyboard.type("mills")
    expect(page.locator("[data-find-status]")).to_have_text("2 found")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-status]")).to_have_text("1 of 2 found")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    expect(page.locator("[data-marks-status]")).to_have_text("")
    # The keys still grade, and the next document begins without words to find.
    page.keyboard.press("1")
    expect(page.locator("[data-find-status]")).to_have_text("")
    saved(page)
    assert Check.objects.current().get().relevance == 1


@pytest.fixture
def counted(tides):
    """Both documents of S1 are claimed to meet two of its three conditions."""
    for number in (1, 2, 3):
        tides.narratives["S1"].conditions.create(number=number, text=f"It has mill {number}.")
    tides.selection = tides.selection._replace(asks=Sample.Asks.COUNT)
    return draw(tides, stratify=Sample.Stratify.NONE, size=2)


def test_conditions_are_answered_by_keys_and_counted(tides, counted, new_person, accessibility):
    page = new_person("ada")
    page.goto(f"/samples/{counted.pk}/checking/")
    rows = page.locator("[data-row=condition]")
    expect(rows.nth(0)).to_have_attribute("data-current", "")
    assert accessibility(page) == []

    page.keyboard.press("a")
    page.keyboard.press("s")
    expect(page.locator("[data-conditions-sum]")).to_have_text("1 of 3 met")
    page.keyboard.press("Enter")
    # One is open: it becomes the current one, and nothing is sent.
    expect(rows.nth(2)).to_have_attribute("data-current", "")
    assert not Check.objects.exists()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator("[data-conditions-sum]")).to_have_text("3 of 3 met")
    first = document_on(page)
    page.keyboard.press("Enter")
    hides(page, first)

    saved(page)
    check = Check.objects.current().get()
    assert (check.relevance, sorted(check.verdicts.values())) == (3, ["met", "met", "met"])
    for key in "asd":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="There is nothing more")).to_be_visible()
    until(page, lambda: Check.objects.current().count() == 2, "the second check is not saved")
    unsure = Check.objects.current().exclude(pk=check.pk).get()
    assert (unsure.relevance, unsure.cannot_judge) == (None, True)


def test_without_script_conditions_are_radios(tides, counted, new_person):
    page = new_person("ada", java_script_enabled=False)
    page.goto(f"/samples/{counted.pk}/checking/")

    for row in page.locator("[data-row=condition]").all():
        row.get_by_text("Not met").click()
    page.locator("#count").click()

    assert Check.objects.current().get().relevance == 0
