"""The second pass by keyboard alone: rate six criteria, adopt an answer, undo it, decide."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.actions import seats
from annotate.models import Adjudication, Assignment
from audit.actions import save_ratings, submit_review
from audit.criteria import FOLLOWTABLE
from audit.models import Decision, Rating, Review
from tests import factories


@pytest.fixture
def tides(live_server):
    project = factories.project("tides", overlap_review=2)
    query = factories.query(project, "301", title="tidal power")
    pair = factories.pair(query, original="All plants at sea count.")
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    factories.lead(project, "carla")
    narrative = factories.altered(pair)
    for doc_id, adas, bens in (("A", 0, 2), ("B", 1, 2)):
        candidate = factories.candidate(query, doc_id, text=f"This is document {doc_id}.")
        factories.judgment(narrative, candidate, ada, adas, note=f"Ada on {doc_id}.")
        factories.judgment(narrative, candidate, ben, bens)
    return pair


def opens(page, path, key="Enter"):
    """Go to a page and by a key from there; wait until the next one listens to keys."""
    page.goto(path)
    press(page, key)


def press(page, key):
    """Press a key that leads to another page."""
    with page.expect_navigation():
        page.keyboard.press(key)


def adopts(page, answer):
    """The key that adopts an answer: who stands first on the page is left to chance."""
    said = page.locator(".answer", has=page.locator(".said", has_text=answer))
    return said.locator("[name=adopt]").get_attribute("data-key")


def review(pair, name, **others):
    member = pair.project.memberships.get(name=name)
    seats.take(pair=pair, task=Assignment.Task.REVIEW, by=member)
    answers = {key: (others.get(key, "excellent"), "") for key in FOLLOWTABLE.keys}
    answers |= {key: (level, "Weak.") for key, level in others.items()}
    narrative = factories.altered(pair)
    save_ratings(narrative=narrative, answers=answers, by=member)
    submit_review(narrative=narrative, by=member)


def test_six_keys_rate_an_instruction_and_every_one_is_saved(tides, new_person, accessibility):
    page = new_person("ada")
    opens(page, "/projects/tides/reviews/")
    saved = page.locator("#saved")
    expect(saved).to_have_text("0 of 6 rated")

    for count, key in enumerate("12121", start=1):
        page.keyboard.press(key)
        expect(saved).to_contain_text(f"{count} of 6 rated")
    page.keyboard.press("3")
    page.keyboard.type("It asks for lakes")
    expect(saved).to_contain_text("6 of 6 rated")
    expect(saved).to_contain_text("Saved")

    # Nothing is lost when the page is left without submitting.
    with page.expect_response("**/ratings/**"):
        page.keyboard.type(", then for none.")
    page.reload()
    expect(page.locator("input:checked")).to_have_count(6)
    expect(page.locator(f"#words-{FOLLOWTABLE.criteria[5].key}")).to_have_value(
        "It asks for lakes, then for none."
    )
    assert accessibility(page) == []

    press(page, "s")
    expect(page.get_by_text("Submitted", exact=False).first).to_be_visible()
    assert Review.objects.get().submitted_at is not None
    assert [rating.level for rating in Rating.objects.order_by("pk")] == [
        *("excellent", "acceptable", "excellent", "acceptable", "excellent", "poor")
    ]


def test_poor_without_words_is_not_handed_in_and_not_lost(tides, new_person):
    page = new_person("ada")
    opens(page, "/projects/tides/reviews/")
    expect(page.locator("#saved")).to_have_text("0 of 6 rated")
    for count in range(1, 7):
        page.keyboard.press("3")
        expect(page.locator("#saved")).to_contain_text(f"{count} of 6 rated")
        # The words come first; Escape leaves them.
        page.keyboard.press("Escape")
        page.keyboard.press("j")

    press(page, "s")

    expect(page.get_by_text("Say in words what is poor about it.")).to_have_count(6)
    assert Rating.objects.filter(level="poor").count() == 6
    assert Review.objects.get().submitted_at is None


@pytest.mark.parametrize("size", [(1280, 800), (800, 900), (390, 800)])
def test_nothing_lies_over_the_rows_and_the_words_typed_into_them(tides, new_person, size):
    width, height = size
    page = new_person("ada", viewport={"width": width, "height": height})
    opens(page, "/projects/tides/reviews/")
    on_top = """element => {
        const box = element.getBoundingClientRect();
        const at = (y) => element.contains(document.elementFromPoint(box.left + 5, y));
        return at(box.top + 5) && at(box.bottom - 5);
    }"""

    for criterion in FOLLOWTABLE.criteria:
        row = page.locator(f"[data-row={criterion.key}]")
        row.locator(".level-poor").click()
        words = page.locator(f"#words-{criterion.key}")
        expect(words).to_be_focused()
        assert words.evaluate(on_top), criterion.key

    expect(page.locator("#saved")).to_contain_text("6 of 6 rated")


def test_one_key_adopts_the_next_opens_and_another_takes_it_back(tides, new_person, accessibility):
    page = new_person("carla")
    opens(page, "/projects/tides/disagreements/")
    expect(page.locator(".document .id")).to_have_text("A")
    assert accessibility(page) == []

    page.keyboard.press("t")
    press(page, adopts(page, "0"))

    expect(page.locator(".document .id")).to_have_text("B")
    made = Adjudication.objects.get()
    assert (made.relevance, made.cause, made.reason) == (
        0,
        "edge",
        "As one of them said: Ada on A.",
    )

    press(page, "z")

    expect(page.locator(".document .id")).to_have_text("A")
    assert not Adjudication.objects.current().exists()


def test_adopting_without_a_cause_says_what_is_missing(tides, new_person):
    page = new_person("carla")
    opens(page, "/projects/tides/disagreements/")

    press(page, "a")

    expect(page.get_by_text("Say why they differ: choose one of the causes.")).to_be_visible()
    assert not Adjudication.objects.exists()


def test_reviews_that_straddle_poor_are_decided_by_keys(tides, new_person, accessibility):
    review(tides, "ada", query_dependency="poor")
    review(tides, "ben")
    page = new_person("carla")
    opens(page, "/projects/tides/disagreements/?kind=review")
    expect(page.get_by_text("they differ")).to_be_visible()
    assert accessibility(page) == []

    page.keyboard.press("2")
    page.get_by_label("Because").fill("Do not repeat the query.")
    page.get_by_role("button", name="Decide").click()

    expect(page.get_by_text("Nothing here fits the filter")).to_be_visible()
    assert Decision.objects.get().outcome == "revise"
