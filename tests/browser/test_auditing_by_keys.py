"""The second pass by keyboard alone: rate six criteria, adopt an answer, undo it, and decide."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Query
from annotate.rewriting import actions as rewriting
from audit.models import Decision, Rating, Review
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.criteria import FOLLOWTABLE, Criterion, Level, Rubric
from audit.reviews.rubrics import save_rubric
from tests import factories
from tests.browser.waiting import listens, saved, shows


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


def open_next(page, path, key="Enter"):
    """Open a page, and press a key that leads to the next."""
    page.goto(path)
    press(page, key)


def press(page, key):
    """Press a key that leads to another page, and wait until that one listens to keys."""
    with page.expect_navigation():
        page.keyboard.press(key)
    listens(page)


def submit(page):
    """Submit a review from the card after its last criterion."""
    expect(page.get_by_role("heading", name="Submit this review?")).to_be_visible()
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Submitted", exact=False)).to_be_visible()


def rated(page, count, of=6):
    """Wait until the page says how many criteria have a level."""
    expect(page.locator("#judge-progress")).to_have_text(f"{count} of {of}")


def row(page, place):
    """Return what the list says of a criterion, by its place from 0."""
    return page.locator(f"[data-criterion={FOLLOWTABLE.criteria[place].key}]")


def key_to_adopt(page, answer):
    """Return the key that adopts an answer; the order of people on the page is random."""
    shown = page.locator(".answer", has=page.locator(".answer__value", has_text=answer))
    return shown.locator("[name=adopt]").get_attribute("data-key")


def review(pair, name, **others):
    member = pair.project.memberships.get(name=name)
    assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=member)
    answers = {key: (others.get(key, "excellent"), "") for key in FOLLOWTABLE.keys}
    answers |= {key: (level, "Weak.") for key, level in others.items()}
    narrative = factories.altered(pair)
    save_ratings(narrative=narrative, answers=answers, by=member)
    submit_review(narrative=narrative, by=member)


def test_six_keys_rate_an_instruction_and_every_one_is_saved(tides, new_person, accessibility):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0)

    for count, key in enumerate("32323", start=1):
        page.keyboard.press(key)
        rated(page, count)
    page.keyboard.press("1")
    page.keyboard.type("It asks for lakes")
    rated(page, 6)
    saved(page)

    # Nothing is lost when the page is left at once, without submitting.
    page.keyboard.type(", then for none.")
    page.reload()
    listens(page)
    rated(page, 6)
    expect(page.locator("#note")).to_have_value("It asks for lakes, then for none.")
    assert accessibility(page) == []

    page.keyboard.press("n")
    page.keyboard.press("Enter")
    saved(page)
    page.goto(page.url.partition("/review/")[0] + "/review/")
    listens(page)
    expect(row(page, 5)).to_contain_text("It asks for lakes, then for none.")
    assert accessibility(page) == []
    submit(page)
    assert accessibility(page) == []
    assert Review.objects.get().submitted_at is not None
    assert [rating.level for rating in Rating.objects.order_by("pk")] == [
        *("excellent", "acceptable", "excellent", "acceptable", "excellent", "poor")
    ]


@pytest.mark.parametrize("size", [(1280, 800), (720, 450), (400, 800)])
def test_after_the_last_level_what_enter_submits_is_in_view(tides, new_person, size):
    query = Query.objects.get()
    for number in range(8):
        factories.candidate(query, f"D{number}", text="A long text.\n\n" * 40)
    page = new_person("ada", viewport={"width": size[0], "height": size[1]})
    open_next(page, "/projects/tides/reviews/")
    page.keyboard.press("x")
    page.locator(".at-hand li summary").first.click()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")

    for count in range(1, 7):
        page.keyboard.press("3")
        rated(page, count)

    submit = page.get_by_role("button", name="Submit it for good")
    expect(submit).to_be_in_viewport(ratio=1)
    bar = page.locator(".judge__bar").bounding_box()
    assert submit.bounding_box()["y"] + submit.bounding_box()["height"] <= bar["y"]


def test_a_poor_level_without_words_is_not_submitted_and_not_lost(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0)
    for count in range(1, 7):
        page.keyboard.press("1")
        rated(page, count)
        # The note has the focus; Escape leaves it for the next criterion.
        expect(page.locator("#note")).to_be_focused()
        page.keyboard.press("Escape")

    press(page, "Enter")

    expect(page.get_by_text("Say in words why it fails on: semantic expansion")).to_be_visible()
    assert Rating.objects.filter(level="poor").count() == 6
    assert Review.objects.get().submitted_at is None


def test_enter_leaves_the_reason_for_the_next_criterion_and_undo_brings_it_back(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    page.keyboard.press("1")
    page.keyboard.type("Too vague.")
    page.keyboard.press("Enter")
    page.keyboard.press("3")
    rated(page, 2)
    expect(row(page, 0)).to_contain_text("Poor")
    expect(row(page, 0)).to_contain_text("Too vague.")
    expect(row(page, 1)).to_contain_text("Excellent")

    # Another level of the first criterion removes the reason, and the list says so.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("3")

    expect(row(page, 0)).to_contain_text("The reason for “Poor” was removed too: Too vague.")
    expect(row(page, 0).locator("[data-words]")).to_have_text("")
    saved(page)
    ratings = Rating.objects.filter(criterion=FOLLOWTABLE.criteria[0].key)
    assert list(ratings.values_list("level", "words")) == [("excellent", "")]

    page.keyboard.press("z")
    expect(row(page, 0).locator("[data-words]")).to_have_text("Too vague.")
    saved(page, "Taken back")
    assert list(ratings.values_list("level", "words")) == [("poor", "Too vague.")]


def test_a_refusal_disappears_with_the_next_answer_and_a_reload_sends_nothing(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    for key in ("1", "Escape", *"33333"):
        page.keyboard.press(key)
    rated(page, 6)
    press(page, "Enter")
    refusal = page.locator("[data-part=error]")
    expect(refusal).to_contain_text("Say in words why it fails on: semantic expansion.")

    page.get_by_role("link", name="Semantic expansion").click()
    expect(refusal).to_have_count(0)
    page.keyboard.press("n")
    page.keyboard.type("It repeats the query.")
    page.keyboard.press("Enter")
    saved(page)

    # A reload requests the page again; it does not resend the refused form.
    with page.expect_request(lambda request: request.is_navigation_request()) as reloading:
        page.reload()
    assert reloading.value.method == "GET"
    rated(page, 6)
    expect(row(page, 0)).to_contain_text("It repeats the query.")
    assert Rating.objects.get(criterion="semantic_expansion").words == "It repeats the query."


def test_a_rating_can_be_undone_after_a_reload(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    page.keyboard.press("3")
    rated(page, 1)
    saved(page)
    page.reload()
    listens(page)

    page.keyboard.press("z")

    rated(page, 0)
    saved(page, "Taken back")
    assert Rating.objects.get().level == ""


def test_a_review_that_is_submitted_twice_at_once_is_submitted(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    for count in range(1, 7):
        page.keyboard.press("3")
        rated(page, count)
    saved(page)

    with page.expect_navigation():
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")

    expect(page.get_by_text("Submitted.", exact=True)).to_be_visible()
    assert Review.objects.get().submitted_at is not None


def test_a_change_in_another_browser_shows_the_summary_again(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    for key in "333333":
        page.keyboard.press(key)
    rated(page, 6)
    saved(page)
    ada = tides.project.memberships.get(name="ada")
    answers = {"query_dependency": ("poor", "Repeats it.")}
    save_ratings(narrative=factories.altered(tides), answers=answers, by=ada)

    press(page, "Enter")

    expect(page.get_by_text("Read what you are about to submit")).to_be_visible()
    expect(row(page, 2)).to_contain_text("Repeats it.")
    assert Review.objects.get().submitted_at is None


@pytest.mark.parametrize("size", [(1280, 800), (800, 900), (390, 800)])
def test_nothing_covers_the_words_that_a_level_asks_for(tides, new_person, size):
    width, height = size
    page = new_person("ada", viewport={"width": width, "height": height})
    open_next(page, "/projects/tides/reviews/")
    on_top = """element => {
        const box = element.getBoundingClientRect();
        const at = (y) => element.contains(document.elementFromPoint(box.left + 5, y));
        return at(box.top + 5) && at(box.bottom - 5);
    }"""

    for criterion in FOLLOWTABLE.criteria:
        page.locator("#grade-1").click()
        words = page.locator("#note")
        expect(words).to_be_focused()
        assert words.evaluate(on_top), criterion.key
        page.keyboard.press("Escape")

    rated(page, 6)


def test_ratings_made_offline_are_kept_and_sent_later(tides, new_person, expected_complaints):
    expected_complaints += ["net::ERR_INTERNET_DISCONNECTED"]
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0)
    address = page.url.partition("/review/")[0] + "/review/"

    page.context.set_offline(True)
    page.keyboard.press("3")
    page.keyboard.press("1")
    page.keyboard.type("It turns to lakes.")
    page.keyboard.press("Escape")
    expect(page.locator("#save-line")).to_contain_text("Offline: 3 waiting")
    for key in "3333":
        page.keyboard.press(key)
    rated(page, 6)
    page.keyboard.press("Enter")
    expect(page.get_by_text("7 of your answers are not saved yet", exact=False)).to_be_visible()
    assert not Rating.objects.exists()

    # The page is closed with everything unsent; another page sends it.
    page.close()
    page.context.set_offline(False)
    again = page.context.new_page()
    again.goto(address)
    listens(again)
    rated(again, 6)
    saved(again)
    submit(again)

    assert list(Rating.objects.order_by("pk").values_list("level", "words")) == [
        ("excellent", ""),
        ("poor", "It turns to lakes."),
        *[("excellent", "")] * 4,
    ]


def test_unsent_words_survive_a_reload(tides, new_person, expected_complaints):
    expected_complaints += ["net::ERR_INTERNET_DISCONNECTED"]
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    page.keyboard.press("1")
    page.context.set_offline(True)
    page.locator("#note").press_sequentially("Half a sen")
    page.context.set_offline(False)
    page.reload()
    listens(page)

    expect(page.locator("#note")).to_have_value("Half a sen")
    page.keyboard.press("1")
    rated(page, 1)
    saved(page)
    assert Rating.objects.get().words == "Half a sen"


def test_answers_to_an_older_version_stay_in_the_browser(tides, new_person):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0)
    rewriting.rewrite_narrative(
        pair=tides,
        text="Only fences count.",
        based_on=1,
        by=tides.project.memberships.get(name="carla"),
    )

    page.keyboard.press("1")
    page.keyboard.type("An hour of words.")
    page.keyboard.press("Enter")
    expect(page.locator("#save-line")).to_contain_text("Not saved: 2")
    page.reload()
    page.get_by_role("button", name="Look").click()

    unsent = page.locator("[data-unsent-list]")
    expect(unsent).to_contain_text("Semantic expansion")
    expect(unsent).to_contain_text("The narrative changed while you were reading.")
    assert not Rating.objects.exists()


def test_documents_can_be_opened_in_place(tides, new_person, accessibility):
    page = new_person("ada")
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0)

    page.keyboard.press("x")
    page.locator(".at-hand li summary").first.click()

    expect(page.locator(".at-hand .document__text")).to_contain_text("This is document")
    rated(page, 0)
    assert accessibility(page) == []
    # They stay open while the criteria change.
    page.keyboard.press("3")
    rated(page, 1)
    expect(page.locator(".at-hand .document__text")).to_be_visible()
    saved(page)


def test_a_rubric_of_nine_levels_is_rated_by_nine_keys(tides, new_person, accessibility):
    levels = tuple(Level(f"l{n}", f"Level {n}", "", n > 6) for n in range(1, 10))
    criteria = (Criterion("clear", "Clear", "Is it clear?"), Criterion("short", "Short", "Is it?"))
    save_rubric(project=tides.project, content=Rubric("nine-1", "Nine", levels, criteria), by=None)
    page = new_person("ada", viewport={"width": 800, "height": 900})
    open_next(page, "/projects/tides/reviews/")
    rated(page, 0, 2)
    assert accessibility(page) == []

    page.keyboard.press("4")
    page.keyboard.press("1")
    page.keyboard.type("Much too long.")
    page.keyboard.press("Escape")
    saved(page)
    submit(page)

    assert list(Rating.objects.order_by("pk").values_list("level", "place", "rejects")) == [
        ("l6", 5, False),
        ("l9", 8, True),
    ]


def test_one_key_adopts_and_opens_the_next_and_another_undoes_it(tides, new_person, accessibility):
    page = new_person("carla")
    open_next(page, "/projects/tides/disagreements/")
    shows(page, "A")
    assert accessibility(page) == []

    page.keyboard.press("b")
    page.keyboard.press(key_to_adopt(page, "0"))

    shows(page, "B")
    saved(page)
    made = Adjudication.objects.get()
    assert (made.relevance, made.cause, made.reason) == (
        0,
        "edge",
        "As one of them said: Ada on A.",
    )

    page.keyboard.press("z")

    shows(page, "A")
    saved(page, "Taken back")
    assert not Adjudication.objects.current().exists()


def test_an_answer_adopted_before_its_cause_waits_for_it(tides, new_person):
    page = new_person("carla")
    open_next(page, "/projects/tides/disagreements/")
    page.keyboard.press(key_to_adopt(page, "2"))
    expect(page.locator("[data-notices]")).to_contain_text("Your answer is saved then.")

    page.keyboard.press("b")

    shows(page, "B")
    saved(page)
    made = Adjudication.objects.get()
    assert (made.relevance, made.cause) == (2, "edge")


def test_reviews_that_straddle_poor_are_decided_by_keys(tides, new_person, accessibility):
    review(tides, "ada", query_dependency="poor")
    review(tides, "ben")
    page = new_person("carla")
    open_next(page, "/projects/tides/disagreements/?kind=review")
    expect(page.get_by_text("they differ", exact=True)).to_be_visible()
    # There is no document to search.
    expect(page.locator("[data-find]")).to_be_hidden()
    assert accessibility(page) == []

    page.keyboard.press("2")
    expect(page.locator("[data-notices]")).to_contain_text("Give a reason")
    page.keyboard.type("Do not repeat the query.")
    page.keyboard.press("Enter")

    expect(page.locator(".finished")).to_contain_text("No disagreement is left here")
    saved(page)
    assert Decision.objects.get().outcome == "revise"
