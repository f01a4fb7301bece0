"""The key map: every action of the pages that has a key, and which one, unless a person chose
another.

It drives the pages (`data-key`), the list behind `?`, and the page where people change their keys.
"""

from __future__ import annotations

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Action(NamedTuple):
    """Something a key does. `key` is a value of KeyboardEvent.key."""

    name: str
    key: str
    label: str | Promise


ACTIONS = (
    Action("undo", "z", _("Take the last judgment back")),
    Action("previous", "ArrowLeft", _("Previous document")),
    Action("next", "ArrowRight", _("Next document, without a grade")),
    Action("later", "l", _("Later: comes back at the end")),
    Action("cannot_judge", "c", _("Cannot judge")),
    Action("problem", "p", _("Problem with this document")),
    Action("note", "n", _("A note with the judgment")),
    Action("evidence", "e", _("Mark a passage as evidence")),
    Action("clause", "w", _("Mark a clause of the narrative")),
    Action("met", "a", _("The condition is met")),
    Action("not_met", "s", _("The condition is not met")),
    Action("cant_tell", "d", _("Can't tell")),
    Action("find", "/", _("Find in the document")),
    Action("marks", "m", _("Marked words on or off")),
    Action("next_mark", "j", _("Next marked word")),
    Action("previous_mark", "k", _("Previous marked word")),
    Action("guidelines", "g", _("Guidelines")),
    Action("original", "o", _("Original and altered narrative side by side")),
    Action("fold", "f", _("Fold the narrative away")),
    Action("mode", "v", _("One document, or all as a list")),
    Action("open", "x", _("Open the row")),
    Action("leave", "q", _("Leave: back to the project")),
)

DEFAULTS = {action.name: action.key for action in ACTIONS}
