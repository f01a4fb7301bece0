"""The page of a person's preferences: keys, theme, time zone, mails."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotate.people.preferences import InvalidPreferences, change_preferences
from annotate.projects.access import memberships_of
from base import keymap
from base.page_request import PageRequest
from base.reader_preferences import preferences as preferences_of
from base.reader_preferences import zones

YEAR = 60 * 60 * 24 * 365
# The values of `mail_digest`; any other value changes nothing.
DIGESTS = {"yes": True, "no": False}
# Invalid input is shown again up to this length.
SHOWN = 200


@require_http_methods(["GET", "POST"])
def preferences(request: PageRequest) -> HttpResponse:
    """Show the reader's preferences; change those that are sent.

    These are keys, `theme`, `time_zone` and `mail_digest`. Keys are sent as `key-<action>`; `reset`
    resets the key of one action, `reset_all` every key. A script that accepts only JSON gets an
    empty response (204) instead of the page.
    """
    if request.method == "GET":
        return _page(request, keymap.keys_for(request.user))
    typed = _typed_keys(request.POST)
    keys = _requested_keys(request.POST, typed)
    theme, zone = request.POST.get("theme"), request.POST.get("time_zone")
    try:
        changed = change_preferences(
            keys=keys or None,
            theme=theme,
            time_zone=_zone(zone),
            mail_digest=DIGESTS.get(request.POST.get("mail_digest", "")),
            by=request.user,
        )
    except InvalidPreferences as refused:
        return _page(
            request,
            keymap.keys_for(request.user) | typed,
            theme=theme,
            zone=zone,
            sentences=refused.sentences,
        )
    if request.accepts("text/html"):
        messages.success(request, "Saved.")
        response: HttpResponse = redirect("annotate:preferences")
    else:
        response = HttpResponse(status=204)
    if theme is not None:
        response.set_cookie(
            "theme", changed.theme, max_age=YEAR, samesite="Lax", secure=request.is_secure()
        )
    return response


def _typed_keys(sent: QueryDict) -> dict[str, Any]:
    """Return what was sent for each action: one text, or a list if not exactly one was sent."""
    typed = {name[4:]: sent.getlist(name) for name in sent if name.startswith("key-")}
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in typed.items()}


def _requested_keys(sent: QueryDict, typed: dict[str, Any]) -> dict[str, Any]:
    """Return the requested keys: those typed, or the defaults for actions that are reset."""
    if "reset_all" in sent:
        return dict(keymap.DEFAULTS)
    keys = {
        name: keymap.normalize_key(text) if isinstance(text, str) else text
        for name, text in typed.items()
    }
    if back := sent.get("reset"):
        keys[back] = keymap.DEFAULTS.get(back, "")
    return keys


def _zone(typed: str | None) -> str | None:
    """Return the time zone of that name or city, ignoring case; an unknown name unchanged."""
    if typed is None:
        return None
    plain = typed.strip().replace(" ", "_").lower()
    matching = (
        zone for zone in zones() if plain in (zone.lower(), zone.lower().rpartition("/")[2])
    )
    return next(matching, typed.strip())


def _page(
    request: PageRequest,
    keys: dict[str, Any],
    *,
    theme: str | None = None,
    zone: str | None = None,
    sentences: dict[str, str] | None = None,
) -> HttpResponse:
    kept = preferences_of(request.user)
    wrong = sentences or {}
    groups: list[dict[str, Any]] = [
        {
            "page": page,
            "title": title,
            "rows": [
                {
                    "action": action,
                    "key": str(keys[action.name])[:SHOWN],
                    "wrong": wrong.get(action.name, ""),
                    "changed": keys[action.name] != action.key,
                }
                for action in keymap.ACTIONS
                if action.page == page
            ],
        }
        for page, title in keymap.PAGES.items()
    ]
    return render(
        request,
        "people/preferences.html",
        {
            "groups": groups,
            "changed": sum(row["changed"] for group in groups for row in group["rows"]),
            "wrong": wrong,
            "error": wrong.get("", "Nothing was changed. The errors are shown at the fields.")
            if wrong
            else "",
            "theme_chosen": kept.theme if theme is None else theme,
            "zone_chosen": kept.time_zone if zone is None else zone[:SHOWN],
            "zones": zones(),
            "mail_digest": kept.mail_digest,
            "now": timezone.now(),
            "memberships": memberships_of(request.user).order_by("project__name", "pk"),
        },
        status=422 if wrong else 200,
    )
