"""Every action has one key, which people can change, and no page uses a key twice."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.template import Context, Template

from annotate.models import Preferences
from base import keymap
from tests import factories


def grades(*values):
    return [SimpleNamespace(value=value) for value in values]


def test_the_default_keys_are_valid():
    assert keymap.find_problems(keymap.DEFAULTS) == {}
    assert len(keymap.DEFAULTS) == len(keymap.ACTIONS)
    assert {action.page for action in keymap.ACTIONS} == set(keymap.PAGES)


@pytest.mark.django_db
def test_a_person_without_preferences_has_the_default_keys(django_assert_num_queries):
    ada = factories.user("ada")

    with django_assert_num_queries(1):
        assert keymap.keys_for(ada) == keymap.DEFAULTS
        assert keymap.keys_for(ada)["undo"] == "z"


@pytest.mark.django_db
def test_a_persons_keys_override_the_defaults(django_assert_num_queries):
    ada = factories.user("ada")
    Preferences.objects.create(user=ada, keys={"undo": "u", "later": "Backspace"})
    ada.refresh_from_db()

    with django_assert_num_queries(1):
        keys = keymap.keys_for(ada)
        keymap.keys_for(ada)

    assert (keys["undo"], keys["later"], keys["next"]) == ("u", "Backspace", "ArrowRight")


@pytest.mark.django_db
def test_a_stored_key_that_is_no_longer_valid_is_ignored():
    ada = factories.user("ada")
    stored = {"undo": "l", "gone": "y", "note": 7, "problem": "8", "mode": "y"}
    Preferences.objects.create(user=ada, keys=stored)

    keys = keymap.keys_for(ada)

    assert keys == {**keymap.DEFAULTS, "mode": "y"}


@pytest.mark.parametrize(
    ("values", "taken", "expected"),
    [
        ((0, 1, 2), "zl", {0: "0", 1: "1", 2: "2"}),
        ((-2, 0, 1), "zl", {-2: "2", 0: "0", 1: "1"}),
        ((10, 20, 30), "zl", {10: "1", 20: "2", 30: "3"}),
        ((0, 1), "1", {0: "0", 1: "2"}),
        (range(12), "ab", {**{n: str(n) for n in range(10)}, 10: "c", 11: "d"}),
    ],
)
def test_a_grade_has_the_key_of_its_digit_or_the_next_free_one(values, taken, expected):
    assert keymap.grade_keys(grades(*values), list(taken)) == expected


def test_a_grade_gets_no_key_if_none_is_left():
    keys = keymap.grade_keys(grades(*range(40)), taken=[])

    assert keys[35] == "z"
    assert keys[36] == ""


def test_no_grade_has_the_key_of_an_action_of_the_page():
    taken = keymap.keys_on_page("work", keymap.DEFAULTS)

    assert "z" in taken
    assert "]" in taken
    assert "t" in taken
    assert "b" not in taken
    assert set(keymap.grade_keys(grades(*range(14)), taken).values()).isdisjoint(taken)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("u", "u"),
        ("U", "u"),
        (" u ", "u"),
        (" ", "Space"),
        ("space", "Space"),
        ("←", "ArrowLeft"),
        ("arrow left", "ArrowLeft"),
        ("PAGEUP", "PageUp"),
        ("é", "é"),
        ("ж", "ж"),
        ("文", "文"),
        ("uu", "uu"),
        ("", ""),
    ],
)
def test_a_typed_name_is_read_as_a_key(typed, key):
    assert keymap.normalize_key(typed) == key


@pytest.mark.parametrize("key", ["u", "é", "文", "Insert", "Space", ";", "PageDown"])
def test_a_key_is_allowed(key):
    assert keymap.find_problems({**keymap.DEFAULTS, "undo": key}) == {}


NO_KEYS = [
    *("", "uu", "U", "1", "?", " ", "\n", "\x00", "\ud800", "\u0301", "\u200b", "x" * 1_000_000),
    *("Escape", "Tab", "Enter", "Shift", "Control", "F5", None, 7, ["u"], {"a": "b"}, True),
]


@pytest.mark.parametrize("key", NO_KEYS, ids=lambda key: repr(key)[:12])
def test_a_key_is_not_allowed(key):
    problems = keymap.find_problems({**keymap.DEFAULTS, "undo": key})

    assert list(problems) == ["undo"]
    assert len(problems["undo"]) < 100
    assert problems["undo"].isprintable()


def test_a_key_used_twice_on_a_page_names_both_actions():
    problems = keymap.find_problems({**keymap.DEFAULTS, "undo": "l"})

    sentence = (
        "l is the key of two actions: “Take the last answer back” and "
        "“Later: comes back at the end”."
    )
    assert problems == {"undo": sentence, "later": sentence}


def test_a_key_may_mean_something_else_on_another_page():
    assert keymap.find_problems({**keymap.DEFAULTS, "settle_send": "l"}) == {}


def test_a_key_means_the_same_in_judging_checking_and_reviewing():
    problems = keymap.find_problems({**keymap.DEFAULTS, "later": "h"})

    assert set(problems) == {"later", "review_since"}


def test_no_key_means_two_things_in_the_work_on_a_document():
    """Pages of settling have fewer tools, but each of their keys means the same elsewhere."""
    work = [action for action in keymap.ACTIONS if {"work", "settle"} & set(action.pages)]

    assert len({action.key for action in work}) == len(work)


def test_list_actions_beside_the_judge_page_conflict_with_its_keys():
    problems = keymap.find_problems({**keymap.DEFAULTS, "undo": "]"})

    assert set(problems) == {"undo", "list_next"}


@pytest.mark.parametrize("name", ["nosuch", 7, "\ud800", "x" * 1_000_000])
def test_an_unknown_action_is_refused(name):
    problems = keymap.find_problems({**keymap.DEFAULTS, name: "u"})

    assert list(problems) == [""]
    assert problems[""].startswith("There is no action called")
    assert len(problems[""]) < 100
    assert problems[""].isprintable()


@pytest.mark.parametrize(
    ("key", "shown"), [("ArrowLeft", "←"), (" ", "Space"), ("Space", "Space"), ("z", "z")]
)
def test_a_cap_shows_its_key(key, shown):
    cap = Template("{{ key|keycap }}").render(Context({"key": key}))

    assert cap == shown
