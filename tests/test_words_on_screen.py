"""Phrases that people did not understand at once stay out of the product."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = ("templates", "static", "annotate", "audit", "exporters", "base", "config", "jobs")
# A plain word replaced each: "Your work", "Start", "Continue", "Release task", "Results" ...
REPLACED = (
    *(
        "What waits for me",
        '"Take the next"',
        '"Go on"',
        "open assignments",
        "Give the assignment back",
    ),
    *("Show them", "Everything here is done", "the last word counts", "Answer every condition"),
    *(
        "Relevant means",
        "What comes out",
        "What goes in",
        '"Put off"',
        '"Set aside"',
    ),
    *("Goes with the grade", "What is missing to judge it", "days will stand here"),
    *("not of any day", "judgments that count", "flags that stand", "a judgment takes"),
    *("saving is up to you", "Worth a second look", "shuts out in so many words"),
    *("copies eight words", "may only become fewer", "and judge nothing", "The network is away"),
    *("The part of the list before", "key that the action shall have", "as the browser has it"),
    *("Leave it as it is", "The whole story", "Which rejects", "Put the project away"),
    *("Let someone in", "Cases that wait for a change", '"Throw the draft away"'),
    *("This link does not hold", "hold no more", '"Let go"', '"Come in"'),
    *("the others are put by. ", "are not as they came", "known of {{ shown }}", "handed in by"),
    *("try them again or throw them away", "To the first page", "your password alone signs"),
)


def test_no_phrase_that_was_replaced_is_in_the_product():
    found = {
        (path.relative_to(ROOT).as_posix(), phrase)
        for room in PRODUCT
        for path in (ROOT / room).rglob("*")
        if path.suffix in {".html", ".txt", ".py", ".js"} and "migrations" not in path.parts
        for phrase in REPLACED
        if phrase in path.read_text("utf-8")
    }

    assert found == set()


def test_pages_are_in_english_whatever_the_browser_prefers(db, client):
    page = client.post("/accounts/login/", {"login": ""}, headers={"accept-language": "de"})

    assert b'<html lang="en"' in page.content
    assert b"This field is required." in page.content
