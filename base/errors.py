"""The one exception by which an action says no, and its kinds."""

from __future__ import annotations

from django.utils.translation import gettext as _

from base.control_characters import strange
from jobs.errors import Refused

__all__ = ["NotHere", "Refused", "Stale", "refuse_strange"]


class Stale(Refused):
    """What the person acted on has changed in the meantime; they should look again."""


class Unconfirmed(Refused):
    """It cannot be undone, and the person has not seen a summary of it as it stands now."""


class NotHere(Refused):
    """What the person named is not there, or not for them: the two are never told apart."""


class Unfit(Refused):
    """One thing that the person typed will not do: `field` names which."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


def refuse_strange(text: str, before: str = "") -> None:
    """Refuse a text that holds what cannot be kept; see base.control_characters."""
    character = strange(text, before)
    if not character:
        return
    code = f"U+{ord(character):04X}"
    if ord(character) < 0xA0:
        sentence = _("This holds a control character (%(code)s). Remove it, then save.")
    else:
        sentence = _("This holds a broken character (%(code)s). Remove it, then save.")
    raise Refused(sentence % {"code": code})
