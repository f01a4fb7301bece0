"""How one person likes the pages."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from base import keymap
from base.errors import Refused
from base.reader_preferences import zones
from base.users import Preferences, User


class Unsuitable(Refused):
    """Preferences that cannot be. `sentences` says why at each field: an action's name for its key
    ("" for the key map itself), `theme`, `time_zone`.
    """

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(dict.fromkeys(sentences.values())))
        self.sentences = dict(sentences)


def change_preferences(
    *,
    keys: object = None,
    theme: object = None,
    time_zone: object = None,
    mail_digest: bool | None = None,
    by: User,
) -> Preferences:
    """Change what `by` prefers, all of it or nothing; None leaves a preference as it is.

    `keys` maps action names to keys; actions it does not name keep the key they have. `theme` is
    light, dark or "" (as the system); `time_zone` a name of the IANA database or "" (as the
    browser). `mail_digest`: whether new notices are mailed. What cannot be is refused
    with `Unsuitable`.
    """
    wrong: dict[str, str] = {}
    if keys is not None and not isinstance(keys, Mapping):
        wrong[""] = _("That is no key map. Nothing was changed.")
    if theme is not None and theme not in ("", *Preferences.Theme.values):
        wrong["theme"] = _("Choose light, dark, or as the system has it.")
    if time_zone is not None and time_zone not in ("", *zones()):
        wrong["time_zone"] = _(
            "There is no time zone of that name. Choose one from the list, such as Europe/Berlin."
        )
    with transaction.atomic():
        # Two tabs that change different keys at once must not both miss the other's.
        User.objects.select_for_update().get(pk=by.pk)
        row = Preferences.objects.filter(user=by).first() or Preferences(user=by)
        if isinstance(keys, Mapping):
            by.preferences = row
            wanted = {**keymap.keys_for(by), **keys}
            wrong |= keymap.problems(wanted)
        if wrong:
            raise Unsuitable(wrong)
        if keys is not None:
            # What the house changes later is the person's too, where they chose nothing.
            row.keys = {name: key for name, key in wanted.items() if key != keymap.DEFAULTS[name]}
        if theme is not None:
            row.theme = str(theme)
        if time_zone is not None:
            row.time_zone = str(time_zone)
        if mail_digest is not None:
            row.mail_digest = mail_digest
        row.save()
    by.preferences = row
    return row
