"""Change a person's preferences."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from base import keymap
from base.errors import Refused
from base.reader_preferences import zones
from base.users import Preferences, User


class InvalidPreferences(Refused):
    """Invalid preferences. `sentences` maps fields to what is wrong with them.

    A field is the name of an action for its key ("" for the key map itself), `theme` or
    `time_zone`.
    """

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__(" ".join(dict.fromkeys(sentences.values())))
        self.sentences = dict(sentences)


def zone_named(typed: str) -> str:
    """Return the time zone of that name or city, ignoring case; an unknown name unchanged."""
    plain = typed.strip().replace(" ", "_").lower()
    matching = (
        zone for zone in zones() if plain in (zone.lower(), zone.lower().rpartition("/")[2])
    )
    return next(matching, typed.strip())


def change_preferences(
    *,
    keys: object = None,
    theme: object = None,
    time_zone: object = None,
    mail_digest: bool | None = None,
    wants_tour: bool | None = None,
    by: User,
) -> Preferences:
    """Change preferences of `by`, all or nothing; None leaves a preference as it is.

    `keys` maps action names to keys; other actions keep their key. `theme` is light, dark or ""
    (follow the system); `time_zone` an IANA name or "" (the browser's). `mail_digest`: whether new
    notices are mailed. `wants_tour`: whether the home page offers the tour. Raises
    InvalidPreferences for invalid values.
    """
    wrong: dict[str, str] = {}
    if keys is not None and not isinstance(keys, Mapping):
        wrong[""] = "This is not a key map. Nothing was changed."
    if theme is not None and theme not in ("", *Preferences.Theme.values):
        wrong["theme"] = "Choose light, dark, or the same as the system."
    if time_zone is not None and time_zone not in ("", *zones()):
        wrong["time_zone"] = (
            "There is no such time zone. Choose one from the list, such as Europe/Berlin."
        )
    with transaction.atomic():
        # Locked, so that two tabs that change different keys at once do not overwrite each other.
        User.objects.select_for_update().get(pk=by.pk)
        row = Preferences.objects.filter(user=by).first() or Preferences(user=by)
        if isinstance(keys, Mapping):
            by.preferences = row
            new_keys = {**keymap.keys_for(by), **keys}
            wrong |= keymap.find_problems(new_keys)
        if wrong:
            raise InvalidPreferences(wrong)
        if keys is not None:
            # Only differences are stored, so that later changes of the defaults apply as well.
            row.keys = {name: key for name, key in new_keys.items() if key != keymap.DEFAULTS[name]}
        if theme is not None:
            row.theme = str(theme)
        if time_zone is not None:
            row.time_zone = str(time_zone)
        if mail_digest is not None:
            row.mail_digest = mail_digest
        if wants_tour is not None:
            row.wants_tour = wants_tour
        row.save()
    by.preferences = row
    return row
