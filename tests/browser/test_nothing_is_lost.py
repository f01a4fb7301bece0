"""Every answer reaches the database exactly once, whatever is cut off, killed or closed meanwhile.

If two pages give different answers, both are stored and the person sees a message.
"""

from __future__ import annotations

from functools import partial

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.judging import judging_session
from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name
from annotate.models import Assignment, Judgment
from annotate.projects import actions as project_actions
from annotate.rewriting.actions import rewrite_narrative
from tests import factories
from tests.browser.conftest import sign_in
from tests.browser.waiting import listens, shows, until
from tests.collection.arriving import jsonl, load
from tests.services.web import web_server

GONE = "net::ERR_INTERNET_DISCONNECTED"
DOWN = "net::ERR_CONNECTION_REFUSED"


class Scene:
    """ada, who judges a pool of documents."""

    def __init__(self, documents: int) -> None:
        self.project = factories.project("tides")
        query = factories.query(self.project)
        for number in range(documents):
            factories.candidate(query, f"D{number:02}")
        self.pair = factories.pair(query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)
        ids = dict(query.candidates.values_list("pk", "document__doc_id"))
        session = judging_session.read_judging_session(narrative=self.narrative, by=self.ada)
        self.order = [ids[pk] for pk in session.order]
        self.address = f"/pairs/{self.pair.pk}/judging/"

    def name_of(self, doc_id: str) -> str:
        """Return the neutral name that a document has while its answer is open."""
        return neutral_name(self.project.documents.get(doc_id=doc_id).pk, self.project.pk)

    def rows(self) -> list[tuple[str, int]]:
        rows = Judgment.objects.order_by("pk")
        return list(rows.values_list("candidate__document__doc_id", "relevance"))

    def current(self) -> dict[str, int]:
        rows = Judgment.objects.current()
        return dict(rows.values_list("candidate__document__doc_id", "relevance"))


@pytest.fixture
def scene(transactional_db):
    return Scene(4)


@pytest.fixture
def ada(scene, new_person):
    page = new_person("ada")
    page.goto(scene.address)
    shows(page, scene.order[0])
    return page


@pytest.fixture
def server(transactional_db):
    with web_server() as server:
        yield server


def line(page: Page, words: str) -> None:
    expect(page.locator("#save-line")).to_contain_text(words)


def wait_until_fetched(page: Page, documents: int) -> None:
    """Wait until all documents have been fetched ahead."""
    page.wait_for_function(
        """wanted => {
            const got = performance.getEntriesByType("resource")
                .filter(({ name }) => name.includes("/documents/?"))
                .flatMap(({ name }) => new URL(name).searchParams.getAll("candidate"));
            return new Set(got).size >= wanted;
        }""",
        arg=documents - 1,
    )


def test_fifty_judgments_survive_the_network_and_the_server(
    server, new_person, expected_complaints
):
    expected_complaints += [GONE, DOWN, "net::ERR_"]
    scene = Scene(60)
    page = new_person("ada", at=server.url)
    page.goto(scene.address)
    shows(page, scene.order[0])
    wait_until_fetched(page, 60)
    page.context.set_offline(True)
    pressed = {}
    for number in range(50):
        doc_id = scene.order[number]
        shows(page, doc_id)
        page.keyboard.press(str(number % 3))
        pressed[doc_id] = number % 3
        if number == 25:
            server.kill()
    shows(page, scene.order[50])
    line(page, "Offline: 50 waiting")
    expect(page.locator("[data-unsent-spoken]")).to_contain_text("Offline")
    expect(page.locator("#judge-progress")).to_have_text("50 of 60")
    assert scene.rows() == []

    server.start()
    page.context.set_offline(False)
    page.reload()

    # The old page may have sent everything before the reload, so no message is checked.
    until(page, lambda: Judgment.objects.count() >= 50, "50 judgments")
    assert sorted(scene.rows()) == sorted(pressed.items())
    assert scene.current() == pressed
    shows(page, scene.order[50])
    expect(page.locator("#judge-progress")).to_have_text("50 of 60")


def test_waiting_answers_reach_a_restarted_server_without_a_reload(
    server, new_person, expected_complaints
):
    expected_complaints += [DOWN, "net::ERR_"]
    scene = Scene(4)
    page = new_person("ada", at=server.url)
    page.goto(scene.address)
    wait_until_fetched(page, 4)
    server.kill()
    page.keyboard.press("2")
    shows(page, scene.order[1])
    line(page, "Server not reached: 1 waiting")

    server.start()

    until(page, lambda: scene.rows() == [(scene.order[0], 2)], "the judgment")
    line(page, "Saved")


def test_any_page_sends_waiting_answers(scene, ada, expected_complaints):
    expected_complaints += [GONE]
    wait_until_fetched(ada, 4)
    ada.context.set_offline(True)
    ada.keyboard.press("1")
    shows(ada, scene.order[1])
    line(ada, "Offline: 1 waiting")
    ada.close()
    other = ada.context.new_page()
    ada.context.set_offline(False)

    other.goto("/")

    until(other, lambda: scene.rows() == [(scene.order[0], 1)], "the judgment")


def test_answers_survive_a_tab_that_is_closed_right_after_the_key(transactional_db, new_person):
    scene = Scene(12)
    page = new_person("ada")
    for number, doc_id in enumerate(scene.order):
        page.goto(scene.address)
        shows(page, doc_id)
        page.keyboard.press(str(number % 3))
        page.close()
        page = page.context.new_page()
    page.goto(scene.address)

    answers = {doc_id: number % 3 for number, doc_id in enumerate(scene.order)}
    until(page, lambda: scene.current() == answers, "every answer")


def test_answers_shown_as_given_survive_a_tab_that_is_closed_after_fast_keys(
    transactional_db, new_person
):
    """The keys that still waited for their document are lost with the tab; no answer is."""
    scene = Scene(20)
    page = new_person("ada")

    def has_answers(number: int) -> bool:
        return len(scene.current()) >= number

    for _ in range(5):
        page.goto(scene.address)
        wait_until_fetched(page, 4)
        for key in "012":
            page.keyboard.press(key)
        shown = page.locator("#judge-progress progress").evaluate("bar => bar.value")
        page.close()
        page = page.context.new_page()
        page.goto("/")

        until(page, partial(has_answers, shown), f"{shown} answers")


def test_a_document_not_loaded_yet_comes_with_the_network_and_no_key_grades_it(
    scene, ada, expected_complaints
):
    expected_complaints += [GONE, "ERR_FAILED"]
    ada.route("**/documents/?*", lambda route: route.abort())
    ada.goto(f"/pairs/{scene.pair.pk}/judging/")
    shows(ada, scene.order[0])

    ada.keyboard.press("2")
    expect(ada.get_by_role("main")).to_contain_text("This document is shown as soon as")
    ada.keyboard.press("1")
    ada.unroute("**/documents/?*")
    ada.evaluate("dispatchEvent(new Event('online'))")

    shows(ada, scene.order[1])
    until(ada, lambda: scene.rows() == [(scene.order[0], 2)], "one judgment")
    expect(ada.locator("#judge-progress")).to_have_text("1 of 4")


def test_answers_of_two_tabs_are_both_stored_and_the_last_one_counts(scene, ada):
    other = ada.context.new_page()
    other.goto(scene.address)
    first, second, third, _ = scene.order
    shows(other, first)

    ada.keyboard.press("2")
    shows(ada, second)
    line(ada, "Saved")
    expect(other.get_by_role("status").filter(has_text="In another tab")).to_contain_text(
        "2 Highly relevant"
    )
    expect(other.locator("#grade-2")).to_have_attribute("aria-pressed", "true")
    line(other, "Saved")
    # The first key shows the existing answer; the next one replaces it.
    other.keyboard.press("0")
    expect(other.locator("[data-notices]")).to_contain_text("Press the key again to replace it.")
    shows(other, first)
    assert scene.rows() == [(first, 2)]
    other.keyboard.press("0")
    shows(other, second)
    other.keyboard.press("1")
    shows(other, third)

    until(other, lambda: scene.current() == {first: 0, second: 1}, "both judgments")
    assert sorted(scene.rows()) == sorted([(first, 2), (first, 0), (second, 1)])
    for page in (ada, other):
        expect(page.locator("#judge-progress")).to_have_text("2 of 4")
    shows(ada, second)
    expect(ada.locator("#grade-1")).to_have_attribute("aria-pressed", "true")


def test_the_server_warns_if_two_browsers_disagree(scene, ada, new_person):
    elsewhere = new_person("ada")
    elsewhere.goto(scene.address)
    shows(elsewhere, scene.order[0])
    elsewhere.keyboard.press("2")
    line(elsewhere, "Saved")

    ada.keyboard.press("0")
    shows(ada, scene.order[1])

    until(ada, lambda: scene.current() == {scene.order[0]: 0}, "the last word")
    expect(ada.locator("[data-notices] .notice")).to_have_count(1)
    assert [relevance for _, relevance in scene.rows()] == [2, 0]


def test_judgments_wait_until_the_person_signs_in_again(scene, ada, expected_complaints):
    expected_complaints += ["status of 403", "status of 401"]
    wait_until_fetched(ada, 4)
    cookies = ada.context.cookies()
    ada.context.clear_cookies(name="sessionid")
    assert len(ada.context.cookies()) == len(cookies) - 1

    for number, key in enumerate("210"):
        shows(ada, scene.order[number])
        ada.keyboard.press(key)
    shows(ada, scene.order[3])
    line(ada, "Sign in again: 3 waiting")
    assert scene.rows() == []
    with ada.context.expect_page() as opened:
        ada.locator("#save-line").get_by_role("link", name="Sign in").click()
    other = opened.value
    other.get_by_label("User name or mail address").fill("ada")
    other.get_by_label("Password").fill(factories.PASSWORD)
    other.get_by_role("button", name="Sign in").click()

    expected = dict(zip(scene.order, (2, 1, 0), strict=False))
    until(ada, lambda: scene.current() == expected, "three judgments")
    assert len(scene.rows()) == 3
    line(ada, "Saved")
    ada.keyboard.press("1")
    until(ada, lambda: len(scene.rows()) == 4, "the fourth")


def test_answers_of_another_person_in_this_browser_wait_for_them(
    scene, ada, live_server, expected_complaints
):
    expected_complaints += ["status of 403", "status of 401", GONE]
    wait_until_fetched(ada, 4)
    ada.context.set_offline(True)
    ada.keyboard.press("1")
    shows(ada, scene.order[1])
    line(ada, "Offline: 1 waiting")
    factories.member(scene.project, "ben")
    ada.close()
    ada.context.set_offline(False)
    ada.context.clear_cookies()
    sign_in(ada.context, "ben", live_server.url)
    other = ada.context.new_page()

    other.goto("/")
    other.wait_for_load_state("networkidle")

    expect(other.locator("[data-unsent]")).to_be_hidden()
    assert scene.rows() == []
    sign_in(ada.context, "ada", live_server.url)
    other.goto("/")
    until(other, lambda: scene.rows() == [(scene.order[0], 1)], "ada's judgment")


def test_a_judgment_under_a_changed_narrative_is_stored_and_the_person_sees_a_message(scene, ada):
    wait_until_fetched(ada, 4)
    carla = factories.lead(scene.project)
    newer = rewrite_narrative(
        pair=scene.pair, text="Only plants under water count.", based_on=1, by=carla
    )

    ada.keyboard.press("2")

    shows(ada, scene.order[1])
    until(ada, lambda: scene.rows() == [(scene.order[0], 2)], "the judgment")
    assert Judgment.objects.get().narrative == scene.narrative
    expect(ada.locator("[data-notices]")).to_contain_text("The narrative has changed")
    ada.reload()
    expect(ada.locator(".judge__asked")).to_contain_text("under water")
    assert newer.version == 2


def test_refused_answers_are_shown_and_can_be_sent_again(scene, ada, accessibility):
    first, second, *_ = scene.order
    ada.context.route("**/api/v1/journal/", refuse_once())
    ada.keyboard.press("2")
    shows(ada, second)
    line(ada, "Not saved: 1")
    expect(ada.locator("#judge-progress")).to_have_text("0 of 4")

    ada.get_by_role("button", name="Look").click()
    dialog = ada.get_by_role("dialog")
    expect(dialog).to_contain_text("2 Highly relevant")
    expect(dialog).to_contain_text("Not today.")
    expect(dialog).to_contain_text(scene.name_of(first))
    assert accessibility(ada) == []
    dialog.get_by_role("button", name="Try again").click()

    until(ada, lambda: scene.rows() == [(first, 2)], "the judgment")
    line(ada, "Saved")
    expect(ada.locator("#judge-progress")).to_have_text("1 of 4")
    expect(dialog).to_be_hidden()


def test_a_refused_answer_that_is_sent_again_counts_for_the_page_as_for_the_server(scene, ada):
    first, second, *_ = scene.order
    ada.context.route("**/api/v1/journal/", refuse_once())
    ada.keyboard.press("2")
    shows(ada, second)
    line(ada, "Not saved: 1")
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    ada.keyboard.press("1")
    shows(ada, second)
    until(ada, lambda: scene.current() == {first: 1}, "the answer given since")

    ada.get_by_role("button", name="Look").click()
    ada.get_by_role("dialog").get_by_role("button", name="Try again").click()

    until(ada, lambda: scene.current() == {first: 2}, "the answer that was refused")
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    expect(ada.locator(".grade-button[aria-pressed=true]")).to_contain_text("2")
    ada.keyboard.press("z")
    expect(ada.locator(".grade-button[aria-pressed=true]")).to_contain_text("1")
    until(ada, lambda: scene.current() == {first: 1}, "the answer given since, again")


def test_refused_answers_are_sent_again_after_those_that_wait(scene, ada, expected_complaints):
    expected_complaints += [GONE]
    first, second, *_ = scene.order
    wait_until_fetched(ada, 4)
    ada.context.route("**/api/v1/journal/", refuse_once())
    ada.keyboard.press("2")
    shows(ada, second)
    line(ada, "Not saved: 1")
    ada.context.set_offline(True)
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    ada.keyboard.press("1")
    shows(ada, second)
    line(ada, "Offline: 1 waiting")

    ada.evaluate("import('/static/js/journal.js').then(({ retry }) => retry())")
    line(ada, "Offline: 2 waiting")
    ada.context.set_offline(False)

    until(ada, lambda: scene.rows() == [(first, 1), (first, 2)], "both answers")
    ada.reload()
    expect(ada.locator("#judge-progress")).to_have_text("1 of 4")
    assert scene.current() == {first: 2}


def test_a_refusal_at_the_end_brings_its_document_back(scene, ada):
    for number in range(3):
        shows(ada, scene.order[number])
        ada.keyboard.press("1")
    shows(ada, scene.order[3])
    until(ada, lambda: len(scene.rows()) == 3, "three judgments")
    ada.context.route("**/api/v1/journal/", refuse_once())

    ada.keyboard.press("2")

    expect(ada.locator("[data-notices]")).to_contain_text("Not today.")
    shows(ada, scene.order[3])
    expect(ada.locator("#judge-progress")).to_have_text("3 of 4")


def test_the_list_of_refused_answers_keeps_the_focus_while_others_are_sent(scene, ada):
    ada.context.route("**/api/v1/journal/", refuse_once())
    ada.keyboard.press("2")
    shows(ada, scene.order[1])
    line(ada, "Not saved: 1")
    other = ada.context.new_page()
    other.goto(scene.address)
    listens(other)
    ada.bring_to_front()
    ada.get_by_role("button", name="Look").click()
    ada.get_by_role("dialog").get_by_role("button", name="Discard").click()
    discard = ada.get_by_role("dialog").get_by_role("button", name="Discard it")
    expect(discard).to_be_focused()

    other.keyboard.press("1")

    until(ada, lambda: len(scene.rows()) == 1, "the answer of the other tab")
    line(ada, "Not saved: 1")
    expect(discard).to_be_focused()
    discard.press("Enter")
    expect(ada.get_by_role("dialog")).to_be_hidden()


def test_refused_answers_can_be_discarded_on_any_page(scene, ada):
    ada.context.route("**/api/v1/journal/", refuse_once())
    ada.keyboard.press("2")
    line(ada, "Not saved: 1")
    ada.goto("/")
    notice = ada.locator("[data-unsent]")
    expect(notice).to_contain_text("Not saved: 1")

    notice.get_by_role("button", name="Look").click()
    dialog = ada.get_by_role("dialog")
    dialog.get_by_role("button", name="Discard").click()
    expect(notice).to_contain_text("Not saved: 1")
    dialog.get_by_role("button", name="Discard it").click()

    expect(notice).to_be_hidden()
    expect(dialog).to_be_hidden()
    assert scene.rows() == []


def refuse_once():
    """Return a route handler that refuses the first entry and passes later ones on."""
    seen: list[dict[str, object]] = []

    def handle(route):
        if seen:
            return route.fallback()
        entries = route.request.post_data_json["entries"]
        seen.extend(entries)
        answers = [
            {"uuid": entry["uuid"], "state": "refused", "at": None, "sentence": "Not today."}
            for entry in entries
        ]
        return route.fulfill(json={"answers": answers})

    return handle


def test_a_browser_without_storage_says_so(scene, new_person, expected_complaints):
    expected_complaints += [GONE]
    page = new_person("ada")
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    page.goto(scene.address)
    shows(page, scene.order[0])
    wait_until_fetched(page, 4)
    page.context.set_offline(True)

    page.keyboard.press("2")

    shows(page, scene.order[1])
    line(page, "This browser cannot store anything")
    page.context.set_offline(False)
    until(page, lambda: scene.rows() == [(scene.order[0], 2)], "the judgment")


def test_a_browser_whose_storage_failed_once_keeps_later_answers(
    scene, new_person, expected_complaints
):
    expected_complaints += [GONE]
    page = new_person("ada")
    page.add_init_script(
        """const open = indexedDB.open.bind(indexedDB);
        let failed = false;
        indexedDB.open = (...names) => {
            if (failed) return open(...names);
            failed = true;
            throw new Error("the disk is full");
        };"""
    )
    page.goto(scene.address)
    shows(page, scene.order[0])
    wait_until_fetched(page, 4)
    page.context.set_offline(True)

    page.keyboard.press("2")

    line(page, "Offline: 1 waiting")
    expect(page.locator("#save-line")).not_to_contain_text("cannot store")
    page.close()
    page.context.set_offline(False)
    other = page.context.new_page()
    other.goto("/")
    until(other, lambda: scene.rows() == [(scene.order[0], 2)], "the judgment")


def test_an_answer_that_could_not_be_stored_is_sent_before_its_undoing(
    scene, new_person, expected_complaints
):
    expected_complaints += [GONE]
    page = new_person("ada")
    page.add_init_script(
        """const { add } = IDBObjectStore.prototype;
        IDBObjectStore.prototype.add = function (row) {
            if (row.entry.kind === "judgment") throw new Error("the disk is full");
            return add.call(this, row);
        };"""
    )
    page.goto(scene.address)
    shows(page, scene.order[0])
    wait_until_fetched(page, 4)
    page.context.set_offline(True)
    page.keyboard.press("2")
    shows(page, scene.order[1])
    page.keyboard.press("z")
    shows(page, scene.order[0])
    line(page, "2 waiting")

    page.context.set_offline(False)

    until(page, lambda: scene.rows() == [(scene.order[0], 2)], "the judgment")
    until(page, lambda: scene.current() == {}, "the undoing")
    line(page, "Taken back")


def give_new_text(scene: Scene, doc_id: str) -> None:
    load(scene.project, "docs-jsonl", jsonl({"doc_id": doc_id, "text": "A wholly new text."}))


def test_a_document_with_a_new_text_is_open_again_and_shows_it(scene, ada):
    first, second, *_ = scene.order
    wait_until_fetched(ada, 4)
    give_new_text(scene, first)

    ada.keyboard.press("2")
    shows(ada, second)
    expect(ada.locator("[data-notices]")).to_contain_text("The document is open again")
    expect(ada.locator("#judge-progress")).to_have_text("0 of 4")
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    expect(ada.locator(".document__text")).to_have_text("A wholly new text.")
    ada.keyboard.press("1")
    shows(ada, second)

    until(ada, lambda: scene.current() == {first: 1}, "the judgment of the new text")
    assert scene.rows() == [(first, 2), (first, 1)]
    expect(ada.locator("#judge-progress")).to_have_text("1 of 4")


def test_the_last_document_comes_back_with_its_new_text(scene, ada):
    for doc_id in scene.order[:3]:
        shows(ada, doc_id)
        ada.keyboard.press("1")
    last = scene.order[3]
    shows(ada, last)
    line(ada, "Saved")
    give_new_text(scene, last)

    ada.keyboard.press("2")

    expect(ada.locator(".document__text")).to_have_text("A wholly new text.")
    ada.keyboard.press("0")
    expect(ada.get_by_role("heading", name="Query finished")).to_be_visible()
    until(ada, lambda: scene.current().get(last) == 0, "the judgment of the new text")


def test_a_row_of_the_list_with_a_new_text_is_open_again(scene, ada):
    first = scene.order[0]
    ada.goto(reverse("annotate:listing", args=[scene.pair.pk]))
    listens(ada)
    give_new_text(scene, first)

    ada.keyboard.press("2")

    expect(ada.locator("[data-notices]")).to_contain_text("The document is open again")
    expect(ada.locator("#judge-progress")).to_have_text("0 of 4")
    row = ada.locator("[data-row]").first
    expect(row).to_have_attribute("data-text-version", "2")
    row.locator("[name=relevance][value='1']").click()
    until(ada, lambda: scene.current() == {first: 1}, "the judgment of the new text")


def test_a_list_does_not_replace_an_answer_with_a_note_from_another_tab(scene, ada):
    second = scene.order[1]
    other = ada.context.new_page()
    other.goto(reverse("annotate:listing", args=[scene.pair.pk]))
    listens(other)
    ada.keyboard.press("n")
    ada.keyboard.type("See line 3.")
    ada.keyboard.press("Escape")
    ada.keyboard.press("2")
    shows(ada, second)
    line(ada, "Saved")

    other.keyboard.press("1")
    expect(other.locator("[data-notices]")).to_contain_text("Press the key again")
    other.keyboard.press("1")

    expect(other.get_by_role("alert")).to_contain_text("Change it on the page of this document")
    assert list(Judgment.objects.current().values_list("relevance", "note")) == [(2, "See line 3.")]


def test_a_note_that_a_reload_interrupted_is_not_called_saved(scene, ada):
    first, second, *_ = scene.order
    ada.keyboard.press("2")
    shows(ada, second)
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    ada.keyboard.press("n")
    ada.keyboard.type("See line 3.")
    expect(ada.locator("#note")).to_have_value("See line 3.")

    ada.reload()
    listens(ada)
    unsaved = ada.locator("#save-line[data-unsaved='Changes not saved yet']")
    expect(unsaved).to_be_visible()
    ada.keyboard.press("ArrowRight")
    shows(ada, second)
    expect(unsaved).to_have_count(0)
    ada.keyboard.press("ArrowLeft")
    shows(ada, first)
    expect(unsaved).to_be_visible()
    ada.keyboard.press("n")
    ada.keyboard.press("Escape")

    until(ada, lambda: Judgment.objects.current().get().note == "See line 3.", "the note")
    expect(unsaved).to_have_count(0)


def test_whoever_signed_in_instead_must_sign_out_first(
    scene, ada, live_server, expected_complaints
):
    expected_complaints += ["status of 401"]
    wait_until_fetched(ada, 4)
    factories.member(scene.project, "ben")
    sign_in(ada.context, "ben", live_server.url)
    ada.keyboard.press("2")
    line(ada, "Someone else is signed in: 1 waiting")
    with ada.context.expect_page() as opened:
        ada.locator("#save-line").get_by_role("link", name="Go and sign out").click()
    other = opened.value

    other.locator(".menu__name").click()
    other.get_by_role("button", name="Sign out").click()
    other.get_by_label("User name or mail address").fill("ada")
    other.get_by_label("Password").fill(factories.PASSWORD)
    other.get_by_role("button", name="Sign in").click()

    until(ada, lambda: scene.rows() == [(scene.order[0], 2)], "ada's judgment")


def test_whoever_signs_out_with_answers_that_wait_is_told_first(scene, ada, expected_complaints):
    expected_complaints += ["ERR_FAILED"]
    ada.context.route("**/api/v1/journal/", lambda route: route.abort())
    ada.keyboard.press("2")
    line(ada, "Server not reached: 1 waiting")
    ada.goto("/")
    expect(ada.locator("[data-unsent]")).to_contain_text("1 waiting")
    ada.locator(".menu__name").click()

    ada.get_by_role("button", name="Sign out").click()
    expect(ada.locator("#notices")).to_contain_text("Not saved yet: 1.")
    ada.get_by_role("button", name="Sign out").click()
    expect(ada.get_by_role("button", name="Sign in")).to_be_visible()

    assert scene.rows() == []


def test_all_refused_answers_are_tried_again_at_once(scene, ada):
    carla = factories.lead(scene.project)
    project_actions.archive(by=carla)
    for number in range(3):
        shows(ada, scene.order[number])
        ada.keyboard.press("1")
    line(ada, "Not saved: 3")
    project_actions.unarchive(by=carla)

    ada.get_by_role("button", name="Look").click()
    ada.get_by_role("button", name="Try all again").click()

    until(ada, lambda: len(scene.current()) == 3, "three judgments")
    expect(ada.get_by_role("dialog")).to_be_hidden()
    expect(ada.locator("#judge-progress")).to_have_text("3 of 4")


def test_a_page_whose_task_is_gone_says_so_instead_of_waiting(scene, ada, expected_complaints):
    expected_complaints += ["status of 409", "ERR_FAILED"]
    ada.route("**/documents/?*", lambda route: route.abort())
    ada.goto(scene.address)
    shows(ada, scene.order[0])
    Assignment.objects.all().delete()
    ada.context.route("**/api/v1/journal/", lambda route: route.abort())
    ada.unroute("**/documents/?*")

    ada.keyboard.press("2")

    expect(ada.get_by_role("main")).to_contain_text("This is not your task.")
