"""Phrases that people did not understand at once stay out of the product."""

from __future__ import annotations

import re
from pathlib import Path

from django.urls import reverse

from annotate.models import Flag, Project
from audit.reviews.draws import draw_for_review
from tests import factories, test_what_does_not_count
from tests.checks.checking import check_label, claimed_scene, draw
from tests.second_pass import submit_levels

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


# A number, and a noun in the plural: "1 queries".
ONE_OF_MANY = re.compile(r"(?<![\w.,:/–-])1 (?:[a-z]+ )?([a-z]+s)\b")
# Verbs, and what else ends with an s.
NO_NOUNS = {"is", "was", "has", "as", "this", "does", "decides", "others", "waits"}


def test_one_thing_is_named_in_the_singular(db, monkeypatch):
    """A project with one of everything: each kind of page that links lead to."""
    made = claimed_scene({"C1": {"A": 1}})
    narrative, candidate = made.narratives["C1"], made.candidates["A"]
    Project.objects.filter(pk=made.project.pk).update(overlap_judge=1, overlap_review=1)
    factories.assignment(narrative.pair, made.ada)
    factories.judgment(narrative, candidate, made.ada, active_ms=61_000)
    factories.assignment(narrative.pair, made.dan, task="review")
    submit_levels(narrative, made.dan)
    Flag.objects.create(
        narrative=narrative, candidate=candidate, annotator=made.ben, flag="problem"
    )
    check_label(draw(made, size=1), "A", ada=1, ben=1)
    draw_for_review(project=made.project, stratify="none", size=1, seed=1, by=made.carla)
    start = reverse("annotate:project", args=[made.project.slug])
    # Here all of them are read to the end.
    monkeypatch.setattr(test_what_does_not_count, "DIFFERENT", {})
    monkeypatch.setattr(test_what_does_not_count, "ONLY_UNTIL", {})

    wrong = {
        (phrase[0], line, address)
        for name in ("carla", "ada")
        for address, lines in test_what_does_not_count.read_every_kind(name, start).items()
        for line in lines
        for phrase in ONE_OF_MANY.finditer(line)
        if phrase[1] not in NO_NOUNS
    }

    assert sorted(wrong) == []
