"""Hidden repeats in the browser: judged by keys, and indistinguishable from other documents."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.judging import judging_session
from annotate.judgments import assignments
from annotate.judgments.repeats import unmask
from annotate.models import Assignment, Flag, Judgment, Repeat
from tests import factories
from tests.browser import waiting
from tests.browser.waiting import until

# The visible state of a page: every element with its attributes, and what scripts store. Without
# what differs between any two documents, and what a form gets new at every load.
VISIBLE_STATE = """() => {
    const page = document.querySelector(".judge").cloneNode(true);
    const anew = page.querySelectorAll("[name=csrfmiddlewaretoken], [name=uuid]");
    for (const one of anew) one.remove();
    const storedKeys = Object.keys({ ...localStorage, ...sessionStorage }).join();
    return [page.outerHTML, document.body.className, storedKeys];
}"""


@pytest.fixture
def scene(live_server, new_person):
    class Scene:
        def __init__(self) -> None:
            project = factories.project("tides", repeat_percent=50)
            self.query = factories.query(project)
            for doc_id in "ABCDEF":
                factories.candidate(self.query, doc_id, text=f"The tidal power of {doc_id}.")
            self.pair = factories.pair(self.query)
            self.ada = factories.member(project, "ada")
            assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)
            self.page: Page = new_person("ada")
            self.page.goto(f"/pairs/{self.pair.pk}/judging/")

        def order(self) -> list[tuple[str, bool]]:
            """Return the documents in the order shown, each with whether it is a repeat."""
            numbers = judging_session.read_judging_session(
                narrative=factories.altered(self.pair), by=self.ada
            ).order
            ids = dict(self.query.candidates.values_list("pk", "document__doc_id"))
            spots = [unmask(number, self.ada.pk) for number in numbers]
            return [(ids[spot.candidate], spot.again) for spot in spots]

        def wait_for_answers(self, judged: dict[str, int], again: dict[str, int]) -> None:
            def grades(model: Any) -> dict[str, int]:
                rows = model.objects.current().filter(relevance__isnull=False)
                return dict(rows.values_list("candidate__document__doc_id", "relevance"))

            until(
                self.page,
                lambda: (grades(Judgment), grades(Repeat)) == (judged, again),
                f"{judged} and again {again}",
            )

    return Scene()


def shows(page: Page, doc_id: str, position: int) -> None:
    waiting.shows(page, doc_id)
    expect(page.locator("#spoken")).to_contain_text(f"Document {position} of 9")


def visible_state(page: Page, doc_id: str) -> list[str]:
    """Return what the page shows, without the document itself and the progress."""
    page.wait_for_load_state("networkidle")
    expect(page.locator("#save-line")).not_to_have_attribute("data-state", "sending")
    html, *rest = page.evaluate(VISIBLE_STATE)
    # A neutral name is the document's own, as its text is.
    html = re.sub(r"Document \d{4}-\d{4}", "NAME", html)
    html = re.sub(r"\d{13}", "NUMBER", html)
    html = html.replace(f"of {doc_id}.", "of X.").replace(f">{doc_id}<", ">X<")
    html = re.sub(r'data-position="\d+"', "", html)
    html = re.sub(r"Document \d of 9: NAME", "", html)
    html = re.sub(r'(data-document|id|aria-labelledby)="(document-title-)?\d+"', "", html)
    html = re.sub(r"<progress[^>]*>|\d of 9|Saved[^<]*<time.*?</time>|Saved [^<]*", "", html)
    return [html, *rest]


def test_a_person_judges_all_by_keys_and_cannot_tell_repeats_apart(scene):
    order = scene.order()
    shown: dict[str, list[bool]] = {}
    pages: dict[bool, list[str]] = {}
    judged: dict[str, int] = {}
    again: dict[str, int] = {}

    for position, (doc_id, repeated) in enumerate(order, start=1):
        shows(scene.page, doc_id, position)
        expect(scene.page.locator("#judge-progress")).to_have_text(f"{position - 1} of 9")
        # In the middle, where one can go both ways and something can be undone.
        if 3 < position < 9:
            pages[repeated] = visible_state(scene.page, doc_id)
        shown.setdefault(doc_id, []).append(repeated)
        grade = position % 3
        (again if repeated else judged)[doc_id] = grade
        scene.page.keyboard.press(str(grade))

    expect(scene.page.get_by_role("heading", name="Query finished")).to_be_visible()
    expect(scene.page.locator("#judge-progress")).to_have_text("9 of 9")
    scene.wait_for_answers(judged, again)
    assert sorted(shown.values()) == [[False]] * 3 + [[False, True]] * 3
    # Compared line by line first, for a readable difference.
    assert pages[True][0].split(">") == pages[False][0].split(">")
    assert pages[True] == pages[False]


def test_a_repeat_does_not_show_the_note_or_marks_of_the_first_time(scene):
    order = scene.order()
    repeated = next(doc_id for doc_id, again in order if again)
    for position, (doc_id, again) in enumerate(order, start=1):
        shows(scene.page, doc_id, position)
        if again:
            break
        scene.page.keyboard.press("n")
        scene.page.keyboard.type(f"About {doc_id}.")
        scene.page.keyboard.press("Escape")
        scene.page.keyboard.press("2")

    assert doc_id == repeated
    expect(scene.page.locator("#note")).to_have_value("")
    expect(scene.page.locator("#grade-2")).to_have_attribute("aria-pressed", "false")
    expect(scene.page.locator("#document-view .judge__document-view")).to_have_attribute(
        "data-answer", "{}"
    )
    scene.page.reload()
    expect(scene.page.locator("#note")).to_have_value("")
    expect(scene.page.locator("#grade-2")).to_have_attribute("aria-pressed", "false")


def test_z_undoes_a_repeat_and_keeps_the_first_judgment(scene):
    order = scene.order()
    at = next(place for place, (_, again) in enumerate(order) if again)
    for position, (doc_id, _) in enumerate(order[: at + 1], start=1):
        shows(scene.page, doc_id, position)
        scene.page.keyboard.press("1")
    judged = {doc_id: 1 for doc_id, _ in order[:at]}
    scene.wait_for_answers(judged, {order[at][0]: 1})

    scene.page.keyboard.press("z")

    shows(scene.page, order[at][0], at + 1)
    scene.wait_for_answers(judged, {})
    scene.page.keyboard.press("2")
    scene.wait_for_answers(judged, {order[at][0]: 2})


def test_later_and_the_arrows_treat_a_repeat_as_a_document_of_its_own(scene):
    order = scene.order()
    at = next(place for place, (_, again) in enumerate(order) if again)
    for position, (doc_id, _) in enumerate(order[:at], start=1):
        shows(scene.page, doc_id, position)
        scene.page.keyboard.press("1")
    shows(scene.page, order[at][0], at + 1)
    scene.page.keyboard.press("l")
    until(scene.page, Repeat.objects.current().filter(flag="later").exists, "the flag")
    assert not Flag.objects.exists()
    for position, (doc_id, _) in enumerate(order[at + 1 :], start=at + 2):
        shows(scene.page, doc_id, position)
        scene.page.keyboard.press("1")

    shows(scene.page, order[at][0], at + 1)
    scene.page.keyboard.press("ArrowLeft")
    shows(scene.page, order[at - 1][0], at)
    expect(scene.page.locator("#grade-1")).to_have_attribute("aria-pressed", "true")
    scene.page.keyboard.press("ArrowRight")
    shows(scene.page, order[at][0], at + 1)
    scene.page.keyboard.press("0")
    expect(scene.page.get_by_role("heading", name="Query finished")).to_be_visible()
    until(
        scene.page, lambda: scene.ada.assignments.get().done_at is not None, "the assignment's end"
    )


def test_a_judgment_in_the_list_shows_on_the_judge_page_at_once(scene):
    first = scene.order()[0][0]
    scene.page.keyboard.press("v")
    expect(scene.page.locator("[data-row]")).to_have_count(6)
    expect(scene.page.locator("[data-listing]:not([data-keys-wait])")).to_be_visible()

    scene.page.keyboard.press("2")
    until(scene.page, Judgment.objects.exists, "the judgment")
    scene.page.goto(f"/pairs/{scene.pair.pk}/judging/")

    shows(scene.page, scene.order()[1][0], 2)
    scene.page.keyboard.press("ArrowLeft")
    shows(scene.page, first, 1)
    expect(scene.page.locator("#grade-2")).to_have_attribute("aria-pressed", "true")
