"""`Refused`, the exception that actions raise, and its subclasses."""

from __future__ import annotations

import hashlib
import json

from base.texts import code_not_in_names, first_invalid_character
from jobs.errors import Refused

__all__ = [
    "ObjectNotFound",
    "Refused",
    "Stale",
    "refuse_invalid_characters",
    "refuse_invalid_names",
    "refuse_longer",
]


class Stale(Refused):
    """The object has changed since the person saw it; they should look again."""


def state_token(*state: object) -> str:
    """Return a digest of what a person is shown: if it is another one when they send it, Stale."""
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


class Unconfirmed(Refused):
    """The action cannot be undone, and the person has not seen its current summary."""


class ObjectNotFound(Refused):
    """The object does not exist, or the person may not see it; the error never says which."""


class InvalidField(Refused):
    """The value of one form field is not acceptable; `field` is the field's name."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


def refuse_longer(text: str, most: int, sentence: str) -> None:
    """Refuse a text of more than `most` characters; `sentence` names its `length` and `most`."""
    if len(text) > most:
        raise Refused(sentence % {"length": f"{len(text):,}", "most": f"{most:,}"})


def refuse_invalid_characters(text: str, before: str = "") -> None:
    """Refuse a text with a character that cannot be stored; see base.texts."""
    character = first_invalid_character(text, before)
    if not character:
        return
    code = f"U+{ord(character):04X}"
    if ord(character) < 0xA0:
        sentence = "This holds a control character (%(code)s). Remove it, then save."
    else:
        sentence = "This holds a broken character (%(code)s). Remove it, then save."
    raise Refused(sentence % {"code": code})


def refuse_invalid_names(*names: str) -> None:
    """Refuse names with a line break, a control character or a mark that turns its direction."""
    for name in names:
        if code := code_not_in_names(name):
            raise Refused(f"A name cannot contain the character {code}. Remove it, then save.")
