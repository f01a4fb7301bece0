"""Tags for the frame of a page: icons, badges, style sheets, keys, the theme, the help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import Context
from django.template.context import RequestContext
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base import keymap, reader_preferences
from base.users import Preferences
from jobs.status import worker_status

register = template.Library()

# Each is one path in a 16 by 16 view box.
ICONS: Mapping[str, str] = {
    "info": "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 7.2v4M8 4.7v.1",
    "success": "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM5.2 8.3l2 2 3.7-4.2",
    "warning": "M8 1.8L15 14H1zM8 6.3v3.6M8 12v.1",
    "error": "M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3zM6 6l4 4M10 6l-4 4",
    "check": "M2.5 8.5l3.7 3.7L13.5 4.3",
    "cross": "M3.5 3.5l9 9M12.5 3.5l-9 9",
    "ring": "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
    "going": "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 2.5v11",
    "bar": "M3 8h10",
    "split": "M2 8h4l3-4.5h5M6 8l3 4.5h5",
    "flag": "M3.5 14.5v-12h8.5l-2 3.2 2 3.3H3.5",
    "clock": "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.5v3.8l2.5 1.7",
    "download": "M8 2v8.5M4.5 7.2L8 10.7l3.5-3.5M2.5 13.8h11",
    "star": "M8 1.8l1.9 4 4.4.6-3.2 3 .8 4.4L8 11.7l-3.9 2.1.8-4.4-3.2-3 4.4-.6z",
}


# State -> (badge class, shape). Callers of `badge` supply the words.
STATES: Mapping[str, tuple[str, str]] = {
    "queued": ("", "ring"),
    "running": ("going", "going"),
    "done": ("good", "check"),
    "failed": ("wrong", "cross"),
    "cancelled": ("", "bar"),
    "refused": ("wrong", "cross"),
    "looked_through": ("", "ring"),
    "accepted": ("good", "check"),
    "passed": ("good", "check"),
    "revise": ("care", "flag"),
    "rejected": ("wrong", "cross"),
    "removed": ("wrong", "cross"),
    "incomplete": ("going", "going"),
    "unreviewed": ("", "ring"),
    "disputed": ("disputed", "split"),
    "settled": ("good", "check"),
    "met": ("good", "check"),
    "not_met": ("wrong", "cross"),
    "cant_tell": ("", "bar"),
    "unjudged": ("", "ring"),
    "stale": ("care", "clock"),
    "later": ("", "clock"),
    "again": ("care", "clock"),
    "cannot_judge": ("care", "flag"),
    "problem": ("care", "warning"),
    "machine": ("", "going"),
}

# The page of the documentation about the pages of each entry of a project's rail.
PLACES = {
    "overview": "dashboard/",
    "mine": "annotators/",
    "queries": "leads/",
    "reviews": "rubric/",
    "checks": "checks/",
    "disagreements": "disagreements/",
    "agreement": "reports/",
    "models": "llm/",
    "evaluation": "evaluation/",
    "releases": "exports/",
    "load": "loading/",
    "pools": "pools/",
    "guidelines": "rejudge-requests/",
    "members": "people/",
    "settings": "kinds/",
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw an icon, hidden from screen readers: the words beside it say the same."""
    return format_html(
        '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" '
        'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="{}"/></svg>',
        ICONS[name],
    )


@register.simple_tag
def style_sheets() -> SafeString:
    """Link the style sheets: the joined file if the storage joins them, else each one."""
    links = _links.__wrapped__ if settings.DEBUG else _links
    return links(repr(staticfiles_storage.__class__), settings.STATIC_URL)


@cache
def _links(_storage: str, _address: str) -> SafeString:
    """Return links to the style sheets, cached by the storage."""
    joined = getattr(staticfiles_storage, "joins_files", False)
    return format_html_join(
        "\n",
        '<link rel="stylesheet" href="{}">',
        ((static(name),) for name in (["css/all.css"] if joined else _style_sheets())),
    )


@cache
def _style_sheets() -> list[str]:
    """Return the names of the style sheets that `css/all.css` imports, in order."""
    source = Path(str(finders.find("css/all.css"))).read_text(encoding="utf-8")
    return [f"css/{name}" for name in re.findall(r'@import url\("([^"]+)"\);', source)]


@register.simple_tag
def badge(state: str, words: str) -> SafeString:
    """Draw a state as a badge: words, with a matching colour and shape."""
    kind, shape = STATES[state]
    return format_html(
        '<span class="badge{}">{}{}</span>', f" badge--{kind}" if kind else "", icon(shape), words
    )


@register.simple_block_tag
def notice(content: str, kind: str, *, apart: bool = False) -> SafeString:
    """Draw a notice around its content: `{% notice "info" %}Nothing has changed.{% endnotice %}`.

    The kinds are info, success, warning and error. `apart` keeps it apart from a form or a table.
    """
    values = {"kind": kind, "apart": apart, "content": content}
    return render_to_string("components/_notice.html", values)


@register.simple_block_tag
def later(content: str, part: str, title: str) -> SafeString:
    """Draw, in place of a part of a page that takes long, what is computed for it.

    `{% later "trial" "The trial" %}What takes so long.{% endlater %}`: the page asks for itself
    with `?trial=1`, and takes the element with the id `trial` out of the answer.
    """
    values = {"part": part, "title": title, "content": content}
    return render_to_string("components/_later.html", values)


@register.simple_block_tag
def empty_state(
    content: str,
    title: str,
    *,
    action: str = "",
    action_url: str = "",
    other: str = "",
    other_url: str = "",
) -> SafeString:
    """Draw an empty list or page: its title says what will be here, its content how to fill it.

    `action` is the text of a link that does so, shown only with `action_url`; `other` is a second.
    """
    values = {
        "title": title,
        "content": content,
        "action": action,
        "action_url": action_url,
        "other": other,
        "other_url": other_url,
    }
    return render_to_string("components/_empty_state.html", values)


@register.inclusion_tag("components/_no_worker.html", takes_context=True)
def no_worker(context: RequestContext) -> dict[str, bool]:
    """Say that no worker is running, on pages that need one; draw nothing if one is."""
    user = getattr(context.get("request"), "user", None)
    return {"alive": worker_status().alive, "staff": bool(user and user.is_staff)}


@register.simple_tag(takes_context=True)
def theme(context: RequestContext) -> str:
    """Return the theme that this person chose, light or dark; "" to follow the system.

    Before signing in, it is the choice of the last person in this browser, from a cookie.
    """
    request = context.get("request")
    preferences = reader_preferences.preferences_of_reader(request)
    if preferences is not None:
        return preferences.theme
    chosen = request.COOKIES.get("theme", "") if request is not None else ""
    return chosen if chosen in Preferences.Theme.values else ""


@register.simple_tag
def time_zone() -> str:
    """Return the name of the time zone that the reader chose; "": the browser's."""
    return str(reader_preferences.zone_of_reader() or "")


@register.simple_tag(takes_context=True)
def keys(context: RequestContext) -> dict[str, str]:
    """Return each action's key for the reader; the defaults if nobody is signed in.

    After `{% keys as keys %}` an element has `data-key="{{ keys.undo }}"`.
    """
    user = getattr(context.get("request"), "user", None)
    return keymap.keys_for(user) if user is not None and user.is_authenticated else keymap.DEFAULTS


@register.filter
def keycap(key: str) -> str:
    """Return a key of `base.keymap` as its cap shows it: "ArrowLeft" as an arrow, " " as Space."""
    return keymap.key_cap(key)


@register.filter
def lookup(mapping: Mapping[Any, Any] | None, key: Any) -> Any:
    """Return a mapping's value for a key in a template variable; None if it is missing."""
    return (mapping or {}).get(key)


@register.simple_tag
def command_name() -> str:
    """Return how commands are called here: `rejudge` if installed, `manage.py` in a checkout."""
    return str(settings.COMMAND)


@register.simple_tag(takes_context=True)
def help_url(context: Context) -> str:
    """Return the address of the documentation about the current page, or of its start."""
    project = context.get("project")
    place = PLACES.get(context.get("section") or "", "annotators/" if project else "")
    return reverse("help", args=[place]) if place else reverse("help")
