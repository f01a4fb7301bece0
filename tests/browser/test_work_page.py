"""The work page feels the same for every task: judging, checking labels in each way, settling them
and other disagreements, reviewing an instruction.

Each test runs over all of them. What belongs to judging alone is in the other modules.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, Route, expect

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    ConditionAdjudication,
    Document,
    DocumentText,
    Judgment,
    Narrative,
    Verdict,
)
from audit.checks import samples
from audit.models import Check, Rating, Sample, SampleItem
from audit.reviews.criteria import FOLLOWTABLE, Criterion, Rubric
from audit.reviews.rubrics import save_rubric
from tests import factories
from tests.browser.conftest import sign_in
from tests.browser.test_keys import press_typed
from tests.browser.waiting import document_on, hides, holds, listens, saved, shows, until
from tests.checks.checking import check_label, claimed_scene, draw, original
from tests.collection.arriving import jsonl, load

GONE = "net::ERR_INTERNET_DISCONNECTED"
DOCUMENTS = "ABCDE"


class Work:
    """One person's work on five documents: its page, the keys of an answer, what is saved."""

    # The keys that answer a document; the last one saves.
    keys: tuple[str, ...] = ("1",)
    who = "ada"

    def __init__(self) -> None:
        self.scene = claimed_scene({"C1": dict.fromkeys(DOCUMENTS, 1)})
        self.prepare()

    def prepare(self) -> None:
        """Give the person something to do, and set `url`."""
        sample = self.draw()
        self.url = f"/samples/{sample.pk}/checking/"

    def draw(self, **choices: Any) -> Sample:
        return draw(self.scene, stratify=Sample.Stratify.NONE, size=len(DOCUMENTS), **choices)

    def rows(self) -> list[tuple[str, str]]:
        """Return the current answers: the document and the note of each."""
        rows = Check.objects.current().filter(checker__name=self.who)
        return sorted(rows.values_list("item__candidate__document__doc_id", "words"))

    def answer(self, page: Page) -> None:
        self.begin(page)
        page.keyboard.press(self.keys[-1])

    def begin(self, page: Page) -> None:
        """Press all keys of an answer but the last one, which saves it."""
        for key in self.keys[:-1]:
            page.keyboard.press(key)

    def note(self, page: Page, words: str) -> None:
        """Write a note by keyboard."""
        page.keyboard.press("n")
        page.keyboard.type(words)
        page.keyboard.press("Escape")
        expect(page.locator("#note")).to_be_hidden()

    def tap(self, page: Page) -> None:
        """Answer by touch."""
        for key in self.keys:
            keyed = page.locator(f"[data-key~='{key}']:visible")
            page.locator("label, button").filter(has=keyed).or_(keyed).first.tap()

    def document_on(self, page: Page) -> str:
        return document_on(page)

    def shows(self, page: Page, name: str) -> None:
        shows(page, name)

    def hides(self, page: Page, name: str) -> None:
        hides(page, name)

    def button(self, page: Page) -> Locator:
        """Return the button of the key that saves."""
        return page.locator(f"#grade-{self.keys[-1]}")

    def shows_answer(self, page: Page) -> None:
        """Expect that the page shows the answer that was given."""
        expect(self.button(page)).to_have_attribute("aria-pressed", "true")

    def wait_until_fetched(self, page: Page) -> None:
        """Wait until the documents that follow are in the browser."""
        page.wait_for_function(
            """wanted => {
                const got = performance.getEntriesByType("resource")
                    .flatMap(({ name }) => new URL(name).searchParams.getAll("candidate"));
                return new Set(got).size >= wanted;
            }""",
            arg=len(DOCUMENTS) - 1,
        )

    def open(self, new_person, **options: Any) -> Page:
        page: Page = new_person(self.who, **options)
        page.goto(self.url)
        listens(page)
        return page


class Judging(Work):
    """Judging a pool."""

    def prepare(self) -> None:
        pair = self.scene.narratives["C1"].pair
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=self.scene.ada)
        self.url = f"/pairs/{pair.pk}/judging/"

    def rows(self) -> list[tuple[str, str]]:
        rows = Judgment.objects.current().filter(annotator__name=self.who)
        return sorted(rows.values_list("candidate__document__doc_id", "note"))


class Listing(Judging):
    """Judging the rows of a list, one of which is current."""

    def prepare(self) -> None:
        super().prepare()
        self.url = self.url.replace("judging", "list")

    def document_on(self, page: Page) -> str:
        number = page.locator("[data-row][data-current]").get_attribute("data-row")
        return Candidate.objects.get(pk=int(number or 0)).document.doc_id

    def row(self, page: Page, name: str) -> Locator:
        number = Candidate.objects.get(document__doc_id=name).pk
        return page.locator(f"[data-row='{number}'][data-current]")

    def shows(self, page: Page, name: str) -> None:
        expect(self.row(page, name)).to_have_count(1)

    def hides(self, page: Page, name: str) -> None:
        expect(self.row(page, name)).to_have_count(0)

    def button(self, page: Page) -> Locator:
        return page.locator("[data-current] button[name=relevance]").nth(1)

    def wait_until_fetched(self, page: Page) -> None:
        """The list needs no texts."""


class Checking(Work):
    """Checking grades."""


class CheckingInModes(Work):
    """Checking grades in the second of three modes, each with a narrative and a sample."""

    def draw(self, **choices: Any) -> Sample:
        self.scene.project.kind = "infosearch"
        self.scene.project.save()
        altered = self.scene.narratives["C1"]
        turned = factories.narrative(altered.pair, Narrative.Side.REVERSED, "Not at sea.")
        for candidate in self.scene.candidates.values():
            for narrative in (original(altered), turned):
                factories.judgment(narrative, candidate, self.scene.model, 1)
        _original, instructed, _reversed = samples.make_in_modes(
            partial(super().draw, **choices),
            name="Gold",
            project=self.scene.project,
            selections=samples.selections_in_modes(
                self.scene.project, self.scene.selection, ("original", "altered", "reversed")
            ),
        )
        return instructed


class Questions(Work):
    """Answering two questions about a label."""

    keys = ("a", "s", "Enter")

    def button(self, page: Page) -> Locator:
        return page.get_by_role("button", name="Save the answers")

    def shows_answer(self, page: Page) -> None:
        expect(page.locator("[data-row] :checked")).to_have_count(2)

    def draw(self, **choices: Any) -> Sample:
        self.scene.project.grades.filter(value=2).delete()
        self.scene.selection = self.scene.selection._replace(asks=Sample.Asks.QUESTIONS)
        return super().draw(**choices)


class Counting(Questions):
    """Counting the conditions that a document meets."""

    def draw(self, **choices: Any) -> Sample:
        for number in (1, 2):
            self.scene.narratives["C1"].conditions.create(number=number, text=f"Mill {number}.")
        self.scene.selection = self.scene.selection._replace(asks=Sample.Asks.COUNT)
        return Work.draw(self, **choices)


class Settling(Work):
    """Settling labels on which two checkers differ."""

    who = "dan"

    def prepare(self) -> None:
        sample = self.draw()
        for doc_id in DOCUMENTS:
            check_label(sample, doc_id, ada=0, ben=2)
        self.url = f"/samples/{sample.pk}/settling/"


class Deciding(Work):
    """Settling disagreements between judges by adopting the answer of one of them."""

    keys: tuple[str, ...] = ("p", "a")
    who = "carla"

    def prepare(self) -> None:
        narrative = self.scene.narratives["C1"]
        for candidate in Candidate.objects.filter(query=narrative.pair.query):
            for member, relevance in ((self.scene.ada, 0), (self.scene.ben, 2)):
                factories.judgment(narrative, candidate, member, relevance)
        first = Candidate.objects.get(document__doc_id="A")
        self.url = reverse("audit:disagreement", args=[narrative.pk, first.pk])

    def rows(self) -> list[tuple[str, str]]:
        rows = Adjudication.objects.current().filter(by__name=self.who)
        return sorted(
            (doc_id, reason.removeprefix("As one of them said."))
            for doc_id, reason in rows.values_list("candidate__document__doc_id", "reason")
        )

    def button(self, page: Page) -> Locator:
        return page.locator("button[name=adopt][data-key=a]")

    def shows_answer(self, page: Page) -> None:
        expect(page.locator(".grade-button[aria-pressed=true]")).to_have_count(1)


class DecidingConditions(Deciding):
    """Settling the answers to a condition."""

    def prepare(self) -> None:
        narrative = self.scene.narratives["C1"]
        condition = narrative.conditions.create(number=1, text="A mill.")
        for candidate in Candidate.objects.filter(query=narrative.pair.query):
            for member, answer in ((self.scene.ada, "met"), (self.scene.ben, "cant_tell")):
                judgment = factories.judgment(narrative, candidate, member, 1)
                Verdict.objects.create(statement=judgment, condition=condition, answer=answer)
        first = Candidate.objects.get(document__doc_id="A")
        self.url = reverse("audit:verdict_disagreement", args=[condition.pk, first.pk])

    def rows(self) -> list[tuple[str, str]]:
        rows = ConditionAdjudication.objects.current().filter(by__name=self.who)
        return sorted(
            (doc_id, reason.removeprefix("As one of them said."))
            for doc_id, reason in rows.values_list("candidate__document__doc_id", "reason")
        )


class DecidingChecks(Deciding):
    """Settling claimed labels in the queue of disagreements."""

    keys = ("1",)

    def prepare(self) -> None:
        sample = self.draw()
        for doc_id in DOCUMENTS:
            check_label(sample, doc_id, ada=0, ben=2)
        first = SampleItem.objects.get(candidate__document__doc_id="A")
        self.url = reverse("audit:check_disagreement", args=[first.pk])

    rows = Work.rows
    button = Work.button


class Reviewing(Work):
    """Rating an instruction on five criteria, which take the place of documents."""

    keys = ("2",)

    def prepare(self) -> None:
        criteria = tuple(Criterion(name, f"About {name}", "Is it?") for name in DOCUMENTS.lower())
        rubric = Rubric("five-1", "Five", FOLLOWTABLE.levels, criteria)
        save_rubric(project=self.scene.project, content=rubric, by=None)
        pair = self.scene.narratives["C1"].pair
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=self.scene.ada)
        self.url = f"/pairs/{pair.pk}/review/"

    def rows(self) -> list[tuple[str, str]]:
        rows = Rating.objects.filter(review__auditor__name=self.who).exclude(level="")
        return sorted(rows.values_list("criterion", "words"))

    def document_on(self, page: Page) -> str:
        return page.locator("[data-criterion][aria-current]").get_attribute("data-criterion") or ""

    def shows(self, page: Page, name: str) -> None:
        expect(page.locator(f"[data-criterion={name}][aria-current]")).to_have_count(1)

    def hides(self, page: Page, name: str) -> None:
        expect(page.locator(f"[data-criterion={name}][aria-current]")).to_have_count(0)

    def wait_until_fetched(self, page: Page) -> None:
        """All criteria come with the page."""


DECIDING = [Deciding, DecidingConditions, DecidingChecks]
CHECKING = [Checking, CheckingInModes, Questions, Counting]
TASKS = [Judging, *CHECKING, Settling, *DECIDING, Reviewing]
# The list has neither notes nor a card after its last row.
EVERY_TASK = pytest.mark.parametrize("task", TASKS)
AND_THE_LIST = pytest.mark.parametrize("task", [*TASKS, Listing])
# A criterion is no document, whose text may be replaced.
ON_DOCUMENTS = pytest.mark.parametrize("task", [*TASKS[:-1], Listing])


@pytest.fixture
def work(live_server, task):
    return task()


@AND_THE_LIST
def test_answers_given_offline_are_kept_and_saved_when_the_network_is_back(
    work, new_person, expected_complaints
):
    expected_complaints += [GONE]
    page = work.open(new_person)
    work.wait_until_fetched(page)
    page.context.set_offline(True)

    answered = []
    for _ in range(3):
        answered.append(work.document_on(page))
        work.answer(page)
        work.hides(page, answered[-1])
    expect(page.locator("#save-line")).to_contain_text("Offline: 3 waiting")
    assert work.rows() == []

    page.context.set_offline(False)
    saved(page)
    assert work.rows() == [(doc_id, "") for doc_id in sorted(answered)]


@AND_THE_LIST
def test_no_answer_is_lost_at_ten_keys_a_second_and_slow_answers(work, new_person):
    page = work.open(new_person)
    work.wait_until_fetched(page)
    page.route("**/api/v1/journal/", lambda route: (page.wait_for_timeout(300), route.fallback()))

    for _ in DOCUMENTS:
        for key in work.keys:
            page.keyboard.press(key)
            page.wait_for_timeout(100)

    until(page, lambda: len(work.rows()) == len(DOCUMENTS), "every answer")
    expect(page.locator("#judge-progress")).to_have_text("5 of 5")


@AND_THE_LIST
def test_the_next_document_comes_at_once_though_the_server_takes_two_seconds(work, new_person):
    page = work.open(new_person)
    work.wait_until_fetched(page)
    first = work.document_on(page)
    held: list[Route] = []
    page.route("**/api/v1/journal/", lambda route: held.append(route))

    work.answer(page)

    work.hides(page, first)
    second = work.document_on(page)
    expect(page.locator("#save-line")).to_contain_text("Saving: 1")
    assert work.rows() == []
    page.unroute("**/api/v1/journal/")
    for route in held:
        route.fallback()
    saved(page)
    work.shows(page, second)
    assert work.rows() == [(first, "")]


@AND_THE_LIST
def test_undo_takes_the_last_answer_back_even_if_it_arrives_again(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    with page.expect_request("**/api/v1/journal/") as sent:
        work.answer(page)
    work.hides(page, first)

    page.keyboard.press("z")

    work.shows(page, first)
    saved(page, "Taken back")
    assert work.rows() == []
    expect(page.locator("#judge-progress")).to_have_text("0 of 5")
    again = page.evaluate(
        """body => fetch("/api/v1/journal/", {
            method: "POST",
            body,
            headers: {
                "content-type": "application/json",
                "x-csrftoken": document.cookie.match(/csrftoken=([^;]+)/)[1],
            },
        }).then((answer) => answer.json())""",
        sent.value.post_data,
    )

    assert [one["state"] for one in again["answers"]] == ["saved"]
    assert work.rows() == []


@AND_THE_LIST
def test_answers_wait_for_their_author_while_somebody_else_is_signed_in(
    work, new_person, live_server, expected_complaints
):
    expected_complaints += ["status of 403", "status of 401"]
    page = work.open(new_person)
    first = work.document_on(page)
    factories.member(work.scene.project, "zoe")
    sign_in(page.context, "zoe", live_server.url)

    work.answer(page)

    work.hides(page, first)
    expect(page.locator("#save-line")).to_contain_text("Someone else is signed in: 1 waiting")
    assert work.rows() == []
    sign_in(page.context, work.who, live_server.url)
    page.reload()
    until(page, lambda: work.rows() == [(first, "")], "the answer")


@AND_THE_LIST
def test_a_browser_that_stores_nothing_says_so_and_still_saves(
    work, new_person, expected_complaints
):
    expected_complaints += [GONE]
    page = new_person(work.who)
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    page.goto(work.url)
    listens(page)
    work.wait_until_fetched(page)
    first = work.document_on(page)
    page.context.set_offline(True)

    work.answer(page)

    work.hides(page, first)
    expect(page.locator("#save-line")).to_contain_text("This browser cannot store anything")
    page.context.set_offline(False)
    until(page, lambda: work.rows() == [(first, "")], "the answer")


@ON_DOCUMENTS
def test_an_answer_to_a_text_that_was_replaced_does_not_count_for_the_new_text(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    text = jsonl({"doc_id": first, "text": "Another body."})
    load(work.scene.project, "docs-jsonl", text)

    work.answer(page)

    expect(page.locator("[data-notices]")).to_contain_text(re.compile("text|Nobody|two people"))
    assert work.rows() == []


@EVERY_TASK
def test_a_note_and_half_an_answer_survive_a_reload(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    page.keyboard.press("n")
    page.keyboard.type("On page 2.")
    page.keyboard.press("Escape")
    page.keyboard.press(work.keys[0] if len(work.keys) > 1 else "Shift")

    page.reload()
    listens(page)

    work.shows(page, first)
    expect(page.locator("#note")).to_have_value("On page 2.")
    for key in work.keys[1:] or work.keys:
        page.keyboard.press(key)
    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "On page 2.")]


@AND_THE_LIST
def test_an_answer_on_its_way_to_the_server_survives_a_reload(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    page.route("**/api/v1/journal/", lambda route: None)
    work.answer(page)
    work.hides(page, first)

    page.unroute("**/api/v1/journal/")
    page.reload()
    listens(page)

    until(page, lambda: work.rows() == [(first, "")], "the answer")
    work.hides(page, first)


@EVERY_TASK
def test_a_note_is_saved_with_the_answer_and_kept_by_undo(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    work.begin(page)
    work.note(page, "On page 2.")
    page.keyboard.press(work.keys[-1])

    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "On page 2.")]
    if isinstance(work, Reviewing):
        # A rating that is taken back takes its words along.
        return

    page.keyboard.press("z")
    work.shows(page, first)
    saved(page, "Taken back")
    expect(page.locator("#note")).to_have_value("On page 2.")
    page.keyboard.press(work.keys[-1])

    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "On page 2.")]


@AND_THE_LIST
def test_another_tab_shows_the_answer_and_warns_before_it_is_replaced(work, new_person):
    page = work.open(new_person)
    other = page.context.new_page()
    other.goto(work.url)
    listens(other)
    first = work.document_on(page)
    work.shows(other, first)

    work.answer(page)
    work.hides(page, first)
    expect(other.locator("[data-notices]")).to_contain_text("In another tab")
    work.answer(other)

    expect(other.locator("[data-notices]")).to_contain_text("Press the key again to replace it.")
    work.shows(other, first)
    other.keyboard.press(work.keys[-1])
    work.hides(other, first)
    saved(other)
    assert work.rows() == [(first, "")]


@AND_THE_LIST
def test_answers_wait_until_the_person_signs_in_again(work, new_person, expected_complaints):
    expected_complaints += ["status of 403", "status of 401"]
    page = work.open(new_person)
    work.wait_until_fetched(page)
    page.context.clear_cookies(name="sessionid")
    first = work.document_on(page)

    work.answer(page)

    work.hides(page, first)
    expect(page.locator("#save-line")).to_contain_text("Sign in again: 1 waiting")
    with page.context.expect_page() as opened:
        page.locator("#save-line").get_by_role("link", name="Sign in").click()
    other = opened.value
    expect(other.get_by_role("main")).to_contain_text("kept in this browser")
    other.get_by_label("User name or mail address").fill(work.who)
    other.get_by_label("Password").fill(factories.PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    until(page, lambda: work.rows() == [(first, "")], "the answer")


@AND_THE_LIST
def test_a_held_key_answers_one_document_and_space_after_a_click_none(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    work.begin(page)
    for _ in range(5):
        page.keyboard.down(work.keys[-1])
    page.keyboard.up(work.keys[-1])
    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "")]

    second = work.document_on(page)
    work.begin(page)
    work.button(page).click()
    work.hides(page, second)
    third = work.document_on(page)
    page.keyboard.press("Space")
    if not isinstance(work, Listing):
        # In the list, Enter opens the row.
        page.keyboard.press("Enter")

    work.shows(page, third)
    saved(page)
    assert work.rows() == sorted([(first, ""), (second, "")])
    expect(page.locator("#judge-progress")).to_have_text("2 of 5")


@pytest.mark.parametrize("task", [Listing])
def test_in_the_list_space_after_a_click_answers_nothing_and_enter_opens_the_row(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    work.button(page).click()
    work.hides(page, first)
    second = work.document_on(page)

    page.keyboard.press("Space")
    work.shows(page, second)
    saved(page)
    with page.expect_navigation():
        page.keyboard.press("Enter")

    shows(page, second)
    assert work.rows() == [(first, "")]


@pytest.mark.parametrize("task", [Questions, Counting])
def test_space_after_a_click_on_an_answer_answers_no_other_row(work, new_person):
    page = work.open(new_person)
    page.locator("[data-row] label").filter(has_text=re.compile("Yes|Met")).first.click()

    page.keyboard.press("Space")
    page.keyboard.press("Enter")

    expect(page.locator("[data-row] :checked")).to_have_count(1)
    assert work.rows() == []


@EVERY_TASK
def test_a_note_on_an_answered_document_is_saved_at_once_with_the_same_grade(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    work.answer(page)
    work.hides(page, first)
    page.keyboard.press("ArrowLeft")
    work.shows(page, first)

    page.keyboard.press("n")
    page.keyboard.type("On page 2.")
    page.keyboard.press("Escape")

    until(page, lambda: work.rows() == [(first, "On page 2.")], "the note")
    work.shows(page, first)
    work.shows_answer(page)


@EVERY_TASK
def test_the_ways_on_after_the_last_document_wait_for_the_network(
    work, new_person, expected_complaints
):
    expected_complaints += [GONE]
    page = work.open(new_person)
    work.wait_until_fetched(page)
    page.context.set_offline(True)
    for _ in DOCUMENTS:
        doc_id = work.document_on(page)
        work.answer(page)
        work.hides(page, doc_id)
    expect(page.locator(".finished")).to_be_visible()

    page.keyboard.press("Enter")

    expect(page.locator("[data-part=onward]")).to_contain_text(
        "5 of your answers are not saved yet"
    )
    with page.expect_navigation():
        page.context.set_offline(False)
    assert len(work.rows()) == len(DOCUMENTS)


# What the keys of answers, of undo and of leaving type on layouts without Latin letters.
LAYOUTS = {
    "Russian": {"a": "ф", "s": "ы", "w": "ц", "z": "я", "q": "й"},
    "Arabic": {"a": "ش", "s": "س", "w": "ص", "z": "ئ", "q": "ض", "1": "١", "2": "٢"},
    "Hebrew": {"a": "ש", "s": "ד", "w": "'", "z": "ז", "q": "/"},
}


def press_on(page: Page, layout: str, key: str) -> None:
    """Press a key at its place on another layout."""
    if key == "Enter":
        page.keyboard.press(key)
    else:
        place = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
        press_typed(page, LAYOUTS[layout].get(key, key), place)


@AND_THE_LIST
def test_keys_go_by_place_on_layouts_without_latin_letters(work, new_person):
    page = work.open(new_person)
    # Leaving ends the visit, so each task does it on one of the layouts.
    place = [*TASKS, Listing].index(type(work)) % len(LAYOUTS)
    *_others, last = layouts = [*LAYOUTS][place:] + [*LAYOUTS][:place]

    for layout in layouts:
        first = work.document_on(page)
        for key in work.keys:
            press_on(page, layout, key)
        work.hides(page, first)
        saved(page)
        assert work.rows() == [(first, "")], layout

        press_on(page, layout, "z")
        work.shows(page, first)
        saved(page, "Taken back")
        assert work.rows() == [], layout
    with page.expect_navigation():
        press_on(page, last, "q")


@AND_THE_LIST
def test_touch_alone_answers_takes_back_and_leaves(work, new_person, accessibility):
    page = work.open(
        new_person, has_touch=True, is_mobile=True, viewport={"width": 400, "height": 800}
    )
    first = work.document_on(page)
    # The arrows beside a document are signs on buttons.
    signs = ":is([data-go], [data-step], [data-conditions-step]) kbd"
    expect(page.locator(f"kbd:visible:not({signs})")).to_have_count(0)

    work.tap(page)
    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "")]

    page.locator("#undo").tap()
    work.shows(page, first)
    saved(page, "Taken back")
    assert work.rows() == []
    assert accessibility(page) == []
    buttons = page.locator(":is(main, .judge__bar) button:visible:not(.visually-hidden)")
    heights = buttons.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
    assert min(heights) >= 44


def show_tall_tables() -> None:
    """Make every document a table of thirty rows and thirteen columns."""
    rows = ["|" + "|".join(f"r{row}c{n}" for n in range(13)) + "|" for row in range(31)]
    DocumentText.objects.update(text="\n".join([rows[0], "|---" * 13 + "|", *rows[1:]]))
    Document.objects.update(markup=Document.Markup.MARKDOWN)


@pytest.mark.parametrize("task", [Judging, Questions, Counting, Settling, *DECIDING, Listing])
def test_space_leads_through_a_tall_table_whose_edge_stays_above_the_bar(work, new_person):
    show_tall_tables()
    page = work.open(new_person, viewport={"width": 1366, "height": 650})
    if isinstance(work, Listing):
        page.keyboard.press("x")
    more = page.locator("[data-table-more]")
    expect(more).to_contain_text("more rows below")

    # The answers of a disagreement stand above the table: the page scrolls to it first.
    while not is_above_bar(page, more):
        before = page.evaluate("scrollY")
        page.keyboard.press("Space")
        holds(page, f"scrollY > {before}")
    expect(more).to_contain_text("more rows below")
    for _ in range(10):
        page.keyboard.press("Space")

    expect(page.get_by_role("rowheader", name="r30c0")).to_be_in_viewport()
    expect(page.locator(".document__table thead")).to_be_in_viewport()
    expect(more).not_to_contain_text("rows")
    assert is_above_bar(page, page.get_by_role("rowheader", name="r30c0"))


def is_above_bar(page: Page, locator: Locator) -> bool:
    bar, box = page.locator(".judge__bar").bounding_box(), locator.bounding_box()
    assert bar is not None
    assert box is not None
    return box["y"] + box["height"] <= bar["y"]


@pytest.mark.parametrize("task", [Questions, Counting])
def test_a_key_that_does_nothing_says_why_once(work, new_person):
    page = work.open(new_person)
    notices = page.locator("[data-notices]")

    page.keyboard.press("1")
    expect(notices).to_contain_text("The key “1” does nothing here. Answer each")
    expect(notices).to_contain_text("with a, s or d, then press Enter.")
    page.keyboard.press("Escape")
    work.answer(page)
    saved(page)
    expect(notices).to_be_empty()
    page.keyboard.press("1")

    page.keyboard.press("ArrowLeft")
    expect(notices).to_be_empty()


@pytest.mark.parametrize("task", [Listing])
def test_in_the_list_a_key_that_does_nothing_says_so(work, new_person):
    page = work.open(new_person)

    page.keyboard.press("b")

    expect(page.locator("[data-notices]")).to_contain_text("The key “b” does nothing here.")


@pytest.mark.parametrize("task", [Questions, Counting])
def test_what_a_key_said_goes_with_the_next_key(work, new_person):
    page = work.open(new_person)
    notices = page.locator("[data-notices]")

    for key in (work.keys[0], "Escape"):
        page.keyboard.press("Enter")
        expect(notices).to_contain_text("Answer ")
        page.keyboard.press(key)
        expect(notices).to_be_empty()


# What stands above the bar: messages, the save line, help, marked passages, the panel of the note.
ABOVE_BAR = (
    ".judge__notices .notice, .save-line, .evidence__help, .evidence__marks, "
    ".judge__flags details[open] > div"
)
SIZES = [(1440, 900), (1280, 800), (800, 800), (720, 450), (400, 800)]


def covered(page: Page) -> list[str]:
    """Return the pairs of things above the bar of which one covers the other."""
    pairs: list[str] = page.locator(ABOVE_BAR).evaluate_all(
        """all => {
            const visible = all.filter((one) => one.checkVisibility() && one.offsetHeight);
            const box = (one) => one.getBoundingClientRect();
            const meet = (a, b) =>
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            return visible.flatMap((one, index) => visible.slice(index + 1)
                .filter((other) => !one.contains(other) && meet(box(one), box(other)))
                .map((other) => `${one.className} and ${other.className}`));
        }"""
    )
    return pairs


@AND_THE_LIST
def test_a_message_and_the_save_line_cover_nothing(work, new_person):
    page = work.open(new_person)
    first = work.document_on(page)
    work.answer(page)
    work.hides(page, first)
    saved(page)

    page.keyboard.press("u")
    message = page.locator("[data-notices] .notice")
    expect(message).to_contain_text("does nothing here")

    for state in ("saved", "waiting"):
        page.locator(".save-line").evaluate("(line, state) => (line.dataset.state = state)", state)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            expect(message).to_be_in_viewport(ratio=1)
            assert covered(page) == [], (width, height, state)


@pytest.mark.parametrize("task", [Deciding, DecidingConditions])
def test_the_panel_of_the_note_does_not_cover_why_it_is_open(work, new_person):
    page = work.open(new_person)

    page.keyboard.press("p")
    page.keyboard.press("1")

    expect(page.locator("#note")).to_be_focused()
    expect(page.locator("[data-notices] .notice")).to_contain_text("Give a reason")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert covered(page) == [], (width, height)


@AND_THE_LIST
def test_at_200_percent_zoom_what_is_asked_is_in_view_and_a_click_answers(work, new_person):
    page = work.open(new_person, viewport={"width": 720, "height": 450})
    first = work.document_on(page)
    asked = page.locator("[data-narrative], .judge__question .narrative").first
    expect(asked).to_be_in_viewport()

    work.begin(page)
    work.button(page).click()

    work.hides(page, first)
    saved(page)
    assert work.rows() == [(first, "")]
    expect(asked).to_be_in_viewport()


@pytest.mark.parametrize("task", [CheckingInModes])
def test_each_label_says_in_which_mode_it_is_judged(work, new_person):
    # A sample of labels of several modes.
    Sample.objects.update(side="")
    page = work.open(new_person)
    mode = page.get_by_text("Judge in instructed mode.")
    expect(mode).to_be_visible()
    first = work.document_on(page)

    work.answer(page)

    work.hides(page, first)
    expect(mode).to_be_visible()


@pytest.mark.parametrize("task", DECIDING)
def test_times_of_documents_fetched_ahead_are_the_readers_own(work, new_person):
    page = work.open(new_person, timezone_id="Asia/Tokyo")
    first = work.document_on(page)

    work.answer(page)

    work.hides(page, first)
    expect(page.locator(".answers time").first).to_be_visible()
    expect(page.locator(".answers")).not_to_contain_text("UTC")


@pytest.mark.parametrize("task", [Questions])
def test_an_answer_whose_reason_was_read_is_final_and_the_page_says_so(work, new_person):
    Sample.objects.update(shows_reason=True)
    page = work.open(new_person)
    first = work.document_on(page)
    work.answer(page)
    work.hides(page, first)
    saved(page)
    with page.expect_navigation():
        page.keyboard.press("r")
    listens(page)
    work.shows(page, first)
    expect(page.get_by_role("heading", name="Why it violates")).to_be_visible()

    page.keyboard.press("Enter")

    expect(page.locator("[data-notices]")).to_contain_text(
        "You have read the reason, so your answer is final. → brings the next label."
    )
    work.shows(page, first)
    page.keyboard.press("ArrowRight")
    work.hides(page, first)
    assert work.rows() == [(first, "")]


@AND_THE_LIST
def test_the_page_is_accessible_at_every_size(work, new_person, accessibility):
    page = work.open(new_person)

    for width, height in ((1280, 800), (720, 450), (400, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        assert accessibility(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("task", [Judging])
def test_every_button_of_the_bar_is_whole(work, new_person):
    page = work.open(new_person)
    page.get_by_role("button", name="Side by side").click()

    # Neither end of a button is covered or cut off.
    hidden = {}
    for width in (800, 1024, 1120, 1280, 1700, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        hidden[width] = page.locator(
            ".judge__bar button:visible:not(.visually-hidden)"
        ).evaluate_all(
            """buttons => buttons.filter((button) => {
                const box = button.getBoundingClientRect();
                const ends = [box.left + 3, box.right - 3];
                const middle = (box.top + box.bottom) / 2;
                return !ends.every((x) => button.contains(document.elementFromPoint(x, middle)));
            }).map((button) => button.innerText)"""
        )

    assert {width: names for width, names in hidden.items() if names} == {}
