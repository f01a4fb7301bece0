"""The key map: every action that has a key, with its default key.

It drives the pages (`data-key`), the list behind `?`, and the page where people change their keys.
A key is a value of `KeyboardEvent.key`, with `Space` for the space bar; letters are lower case. On
a layout without Latin letters, a letter is the key at its place. A key has one meaning in all work
on a document or an instruction: judging, checking, reviewing and settling. Digits are reserved for
grades and levels: a higher one is better.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from string import ascii_lowercase
from typing import Any, NamedTuple, Protocol

from base.reader_preferences import preferences
from base.users import User


class Action(NamedTuple):
    """An action with a key, on its page and on the pages `beside` it (all of them in PAGES)."""

    name: str
    key: str
    label: str
    page: str = "work"
    beside: tuple[str, ...] = ()

    @property
    def pages(self) -> tuple[str, ...]:
        """Return every page on which no other action may have its key."""
        return (self.page, *self.beside)


PAGES: Mapping[str, str] = {
    "work": "Judging, checking and reviewing",
    "settle": "Settling disagreements",
    "lists": "Lists and guidelines",
}

# What the page that settles disagreements has in common with the work on a document.
SETTLE = ("settle",)

ACTIONS = (
    Action("undo", "z", "Take the last answer back", beside=SETTLE),
    Action("previous", "ArrowLeft", "Previous document or criterion", beside=SETTLE),
    Action("next", "ArrowRight", "Next document or criterion, without an answer", beside=SETTLE),
    Action("later", "l", "Later: comes back at the end"),
    Action("cannot_judge", "c", "Cannot judge"),
    Action("problem", "p", "Problem with this document, or an ambiguous text", beside=SETTLE),
    Action("note", "n", "A note with the answer, or its reason", beside=SETTLE),
    Action("evidence", "e", "Mark a passage or cell as evidence"),
    Action("sentence", "t", "Mark the sentence or cell under the pointer"),
    Action("clause", "w", "Mark a clause of the narrative"),
    Action("met", "a", "The condition is met, or the first answer", beside=SETTLE),
    Action("not_met", "s", "The condition is not met, or the second answer", beside=SETTLE),
    Action("cant_tell", "d", "Can't tell, or the third answer", beside=SETTLE),
    Action("condition_previous", "ArrowUp", "Previous condition"),
    Action("condition_next", "ArrowDown", "Next condition"),
    Action("find", "/", "Find in the document", beside=SETTLE),
    Action("marks", "m", "Marked words on or off", beside=SETTLE),
    Action("next_mark", "j", "Next marked word", beside=SETTLE),
    Action("previous_mark", "k", "Previous marked word", beside=SETTLE),
    Action("table_left", ",", "Scroll the table to the left", beside=SETTLE),
    Action("table_right", ".", "Scroll the table to the right", beside=SETTLE),
    Action("guidelines", "g", "Guidelines", beside=SETTLE),
    Action("original", "o", "Narrative: changes, side by side, clean"),
    Action("fold", "f", "Fold the narrative away", beside=SETTLE),
    Action("mode", "v", "One document, or all as a list"),
    Action("open", "x", "Open the row, or documents of the query"),
    Action("leave", "q", "Leave: back to the list", beside=SETTLE),
    Action("review_since", "h", "What changed since the last version"),
    Action("reveal", "r", "Reveal why the document violates, or the names", beside=SETTLE),
    Action("settle_guideline", "y", "Because of a gap in the guidelines", "settle"),
    Action("settle_error", "i", "Because of an annotator's error", "settle"),
    Action("settle_edge", "b", "Because it is an edge case", "settle"),
    Action("settle_withdraw", "Backspace", "Withdraw the decision", "settle"),
    Action("settle_send", "-", "Send back to the annotator", "settle"),
    Action("settle_case", "+", "Needs a guideline change", "settle"),
    Action("list_previous", "[", "Previous page", "lists", beside=("work",)),
    Action("list_next", "]", "Next page", "lists", beside=("work",)),
    Action("list_write", "+", "Write a new version of the guidelines", "lists"),
)

DEFAULTS = {action.name: action.key for action in ACTIONS}

# Named keys that an action may have. Escape, Tab and Enter are left to browsers and forms.
NAMED = (
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "ArrowDown",
    "Space",
    "Backspace",
    "Delete",
    "Insert",
    "Home",
    "End",
    "PageUp",
    "PageDown",
)
CAPS = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓"}
DIGITS = "0123456789"
HELP = "?"


class GradeLike(Protocol):
    """A grade of a project."""

    value: int


def keys_for(user: User) -> dict[str, str]:
    """Return every action's key for this person: the defaults with their changes.

    Reads their preferences at most once per `user` object. A change that is no longer valid (the
    action is gone, or another action of the page has the key by now) is left out.
    """
    stored = preferences(user).keys
    chosen = {name: key for name, key in stored.items() if name in DEFAULTS}
    while chosen and (
        wrong := [name for name in find_problems(DEFAULTS | chosen) if name in chosen]
    ):
        for name in wrong:
            del chosen[name]
    return DEFAULTS | chosen


def keys_on_page(page: str, keys: Mapping[str, str]) -> list[str]:
    """Return the keys that the actions of one page use."""
    return [keys[action.name] for action in ACTIONS if page in action.pages]


def grade_keys(grades: Iterable[GradeLike], taken: Collection[str]) -> dict[int, str]:
    """Return a key for each grade's value: its digit if it is one, else the next free key.

    After the digits come letters that are not `taken` (the keys of the page's actions). A grade for
    which no key is left gets "".
    """
    values = [grade.value for grade in grades]
    by_digit = {
        value: str(value) for value in values if 0 <= value <= 9 and str(value) not in taken
    }
    left = iter(free_keys([*taken, *by_digit.values()], DIGITS[1:] + DIGITS[0] + ascii_lowercase))
    return {value: by_digit[value] if value in by_digit else next(left, "") for value in values}


def free_keys(taken: Collection[str], among: str = ascii_lowercase) -> list[str]:
    """Return the keys of `among` that are not taken, in their order."""
    return [key for key in among if key not in taken]


def key_cap(key: str) -> str:
    """Return a key as its cap shows it: an arrow sign for an arrow, "Space" for the space bar."""
    return CAPS.get(key) or ("Space" if key == " " else key)


def normalize_key(text: str) -> str:
    """Normalize a typed or pressed key: arrow signs become names, letters lower case.

    A text that is not a key is returned unchanged; `find_problems` says what is wrong with it.
    """
    if text == " ":
        return "Space"
    text = text.strip()
    if len(text) == 1:
        small = text.lower()
        named = {sign: name for name, sign in CAPS.items()}
        return named.get(text, small if len(small) == 1 else text)
    return {name.lower(): name for name in NAMED}.get(text.replace(" ", "").lower(), text)


def find_problems(keys: Mapping[Any, Any]) -> dict[str, str]:
    """Return what is wrong with a key map: action -> sentence, with "" for the map as a whole.

    A map is right if every action has exactly one permitted key and no page has two actions on one
    key.
    """
    if unknown := [name for name in keys if name not in DEFAULTS]:
        return {"": f"There is no action called “{_quotable(unknown[0])}”."}
    wrong = {
        action.name: sentence
        for action in ACTIONS
        if (sentence := _why_not_a_key(keys.get(action.name)))
    }
    for page in PAGES:
        held: dict[object, Action] = {}
        for action in ACTIONS:
            if page not in action.pages or action.name in wrong:
                continue
            key = keys[action.name]
            other = held.setdefault(key, action)
            if other is not action:
                about = {"key": key_cap(str(key)), "one": other.label, "other": action.label}
                sentence = "%(key)s is the key of two actions: “%(one)s” and “%(other)s”."
                wrong[other.name] = wrong[action.name] = sentence % about
    return wrong


def _why_not_a_key(key: object) -> str:
    """Return why something cannot be an action's key, or "" if it can."""
    if not isinstance(key, str) or not key:
        return "Press or name one key."
    if key in NAMED:
        return ""
    if len(key) > 1:
        return f"“{_quotable(key)}” is not a key that an action can have."
    if key in DIGITS:
        return "Digits give grades. Choose another key."
    if key == HELP:
        return "? shows the keys. Choose another key."
    # No control characters, surrogates, blanks or combining marks.
    if not key.isprintable() or key.isspace() or unicodedata.category(key).startswith("M"):
        return "This key has no character of its own. Choose another key."
    return "" if key == normalize_key(key) else "Use a lower-case letter."


def _quotable(thing: object) -> str:
    """Shorten something for quoting in a sentence, and replace unprintable characters."""
    text = "".join(
        sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in str(thing)[:24]
    )
    return text + ("…" if len(str(thing)) > 24 else "")
