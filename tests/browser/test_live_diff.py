"""The changes marked while typing are those that the server marks after saving."""

from __future__ import annotations

import random

from playwright.sync_api import expect

from base.word_diff import diff
from tests import factories

CASES = {
    "nothing": ("", ""),
    "all new": ("", "Only boats."),
    "all gone": ("Only boats.", ""),
    "the same": ("Boats and ships.", "Boats and ships."),
    "one word": ("boats or ships", "boats and ships"),
    "a blank between two changes": ("one two three", "uno dos three"),
    "a sentence more": ("It names the port.", "It names the port. It names the day."),
    "punctuation": ("wind, waves or ice", "wind or waves; no ice"),
    "words that repeat": ("a b a b a c a", "a a b c b a a b"),
    "runs that touch": ("the sea the sea the lake", "the lake the sea the sea"),
    "line ends": ("one\r\n\r\ntwo\tthree", "one\n\ntwo three"),
    "odd blanks": ("a\x1fb\x85c\u2003d", "a b\x85c\u2003e"),
    "an invisible mark is no blank": ("a\ufeffb c", "a b c"),
    "Arabic": ("أُلغيت الرحلة بسبب الريح", "أُلغيت الرحلة المسائية بسبب الريح"),
    "Hindi": ("नदी के पुल पर", "नदी के पुराने पुल पर"),
    "Chinese": ("渡轮停航两天", "渡轮 停航 三天"),
    "beyond the first plane": ("𝒜 whale 🐋 sang", "𝒜 whale 🐳 sang"),
    "numbers of many kinds": ("¼ of Ⅷ or ² and ٣", "½ of Ⅷ or ² and ٤"),
    "underscores": ("field_name and field name", "field_names and field-name"),
}


def scrambled(chance: random.Random) -> str:
    """Return a text of few distinct words, so that many alignments with another are possible."""
    words = ["the", "sea", "port", "of", " ", ", ", ".", "\n"]
    return "".join(
        chance.choice(words) + chance.choice(["", " "]) for _ in range(chance.randint(0, 40))
    )


for seed in range(60):
    seeded = random.Random(seed)
    CASES[f"scrambled {seed}"] = (scrambled(seeded), scrambled(seeded))


def test_browser_and_server_mark_the_same(live_server, page):
    page.goto("/accounts/login/")

    marked = page.evaluate(
        """async ([module, cases]) => {
            const { diff } = await import(module);
            return cases.map(([before, after]) => diff(before, after));
        }""",
        [f"{live_server.url}/static/js/diff.js", list(CASES.values())],
    )

    for (name, (before, after)), pieces in zip(CASES.items(), marked, strict=True):
        assert pieces == [[op.value, text] for op, text in diff(before, after)], name


def test_typing_marks_what_is_added_and_what_is_taken_out(new_person):
    project = factories.project()
    factories.lead(project)
    pair = factories.pair(factories.query(project), original="boats or big ships")
    page = new_person("carla")
    page.goto(f"/pairs/{pair.pk}/narrative/")
    page.get_by_role("textbox", name="Altered").fill("")
    page.get_by_role("textbox", name="Altered").press_sequentially("boats and big ships")

    expect(page.locator("[data-diff-mirror] ins")).to_have_text(["and"])
    expect(page.locator("[data-diff-before] del")).to_have_text(["or"])
