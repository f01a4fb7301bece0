"""What the pages of every room draw alike: times, shares, grades, marks of change and small charts.

Everything shown goes through `format_html`: what people and files wrote is text, whatever it holds.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template.context import RequestContext
from django.template.loader import get_template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext

from base import keymap, reader
from base.browsers import browser_of
from base.users import Preferences
from base.word_diff import Op, is_anew
from jobs.status import worker_status

register = template.Library()

TONES = 5
NOTHING = "–"


class GradeLike(Protocol):
    """A grade of a project: its value and its name."""

    value: int
    name: str


# --- times and numbers ----------------------------------------------------------------------------


@register.filter
def local_time(moment: datetime.datetime | str | None, style: str = "datetime") -> SafeString | str:
    """Show a moment; `static/js/time.js` rewrites it in the reader's zone.

    `style` is datetime, date or time (with seconds). Without script the moment stands there in the
    zone that the reader chose, else in UTC, and says so. A string is read as ISO 8601, as it comes
    out of a stored report.
    """
    if not moment:
        return NOTHING
    if isinstance(moment, str):
        moment = datetime.datetime.fromisoformat(moment)
    if style not in {"datetime", "date", "time"}:
        raise template.TemplateSyntaxError(f"local_time knows no style {style!r}")
    universal = moment.astimezone(datetime.UTC)
    zone = reader.zone_of_reader() or datetime.UTC
    local = moment.astimezone(zone)
    shown = {
        "datetime": f"{date_format(local, 'j M Y, H:i')} {zone}",
        "date": date_format(local, "j M Y"),
        "time": f"{date_format(local, 'H:i:s')} {zone}",
    }[style]
    return format_html(
        '<time datetime="{}" data-local="{}">{}</time>',
        universal.isoformat(timespec="seconds").replace("+00:00", "Z"),
        style,
        shown,
    )


@register.filter
def since(moment: datetime.datetime | None) -> str:
    """How many whole seconds ago a moment was, in words up to a minute's precision beyond one."""
    if moment is None:
        return NOTHING
    return duration((timezone.now() - moment).total_seconds())


@register.filter
def browser_name(agent: str) -> str:
    """The browser and the system of a User-Agent in words; one that says neither, as it is."""
    browser, system = browser_of(agent)
    if browser and system:
        return gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or agent


@register.filter
def duration(seconds: float | None) -> str:
    """A length of time in the words of an estimate: "8 s", "3 min", "2 h 5 min"."""
    if seconds is None:
        return NOTHING
    whole = max(0, round(seconds))
    if whole < 60:
        return gettext("%(count)d s") % {"count": whole}
    minutes = round(whole / 60)
    if minutes < 60:
        return gettext("%(count)d min") % {"count": minutes}
    return gettext("%(hours)d h %(minutes)d min") % {
        "hours": minutes // 60,
        "minutes": minutes % 60,
    }


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    """A share between 0 and 1 as "44 %"; never "100 %" or "0 %" for what is not quite so."""
    if share is None:
        return NOTHING
    shown = round(share * 100, digits)
    least = 10**-digits
    if 0 < share < 1:
        shown = min(max(shown, least), 100 - least)
    return f"{shown:.{digits}f}\N{NO-BREAK SPACE}%"


@register.simple_tag
def percent_of(part: int | None, whole: int | None, digits: int = 0) -> str:
    """The share of `part` in `whole`; of nothing there is none."""
    return percent(part / whole if whole and part is not None else None, digits)


@register.filter
def coefficient(figure: Any) -> SafeString | str:
    """A coefficient to three digits, or the reason why there is none.

    `figure` is an `agreement.Coefficient` or the mapping it is stored as: `value`, and `note` for
    the reason.
    """
    if figure is None:
        return NOTHING
    value = _of(figure, "value")
    if value is None:
        return format_html('<span class="muted">{}</span>', _of(figure, "note"))
    # A minus sign is as wide as a plus; a hyphen is not, and columns would not stand.
    return three_digits(value)


@register.filter
def three_digits(number: float) -> str:
    """A number as coefficients are shown: to three digits, with a minus as wide as a plus."""
    return f"{number:.3f}".replace("-", "−")


@register.filter
def interval(figure: Any) -> str:
    """The 95 % interval of a coefficient as "0.412 to 0.561", or a dash."""
    bounds = _bounds(figure)
    if bounds is None:
        return NOTHING
    low, high = map(three_digits, bounds)
    return gettext("%(low)s to %(high)s") % {"low": low, "high": high}


# --- grades ---------------------------------------------------------------------------------------


@register.simple_tag
def grade_badge(value: int | None, grades: Sequence[GradeLike]) -> SafeString | str:
    """A relevance with its shape, colour and word: `grades` are all the project's, lowest first.

    A value that is no grade of the project (qrels hold -2 to 16) stands there as its number, in a
    shape of its own.
    """
    if value is None:
        return NOTHING
    name = next((grade.name for grade in grades if grade.value == value), "")
    return format_html(
        '<span class="grade {}">{} <span class="grade-value">{}</span>{}</span>',
        grade_tone(value, grades),
        grade_mark(value, grades),
        value,
        format_html(" <span>{}</span>", name) if name else "",
    )


@register.simple_tag
def grade_tone(value: int, grades: Sequence[GradeLike]) -> str:
    """The CSS class of a grade's colour: five tones, spread over the project's grades."""
    share = _share(value, grades)
    return "tone-none" if share is None else f"tone-{round(share * (TONES - 1))}"


@register.simple_tag
def grade_mark(value: int, grades: Sequence[GradeLike]) -> SafeString:
    """The shape of a grade: a ring, filled as far as it goes; a diamond for a strange value."""
    share = _share(value, grades)
    if share is None:
        drawn = format_html(
            '<path d="{}" fill="none" stroke="currentColor" stroke-width="1.5"/>',
            "M8 2l6 6-6 6-6-6z",
        )
    elif share == 1:
        drawn = format_html('<circle cx="8" cy="8" r="{}" fill="currentColor"/>', 7)
    else:
        drawn = format_html(
            '<circle cx="8" cy="8" r="6.1" fill="none" stroke="currentColor" stroke-width="1.8"/>'
            "{}",
            format_html('<path d="{}" fill="currentColor"/>', _filled(share)) if share else "",
        )
    return format_html(
        '<svg class="grade-mark" viewBox="0 0 16 16" aria-hidden="true">{}</svg>', drawn
    )


def _share(value: int, grades: Sequence[GradeLike]) -> float | None:
    """How far up the project's grades a value stands, 0 to 1; None if it is none of them."""
    values = sorted(grade.value for grade in grades)
    if value not in values:
        return None
    return values.index(value) / (len(values) - 1) if len(values) > 1 else 1.0


def _filled(share: float) -> str:
    """The path of a disc of radius 6 around (8, 8), filled to a share of its height."""
    level = 6 * (1 - 2 * share)
    half = math.sqrt(36 - level * level)
    large = 1 if share > 0.5 else 0
    return f"M{8 - half:.2f} {8 + level:.2f}A6 6 0 {large} 0 {8 + half:.2f} {8 + level:.2f}z"


# --- what changed ---------------------------------------------------------------------------------


@register.filter
def diff_marks(pieces: Iterable[tuple[str, str]]) -> SafeString:
    """Pieces of `base.word_diff.diff` as text with <ins> and <del>."""
    marked, before = [], None
    for op, text in pieces:
        if op == Op.REMOVED:
            marked.append(format_html("<del>{}</del>", text))
        elif op == Op.ADDED and before == Op.REMOVED:
            marked.append(format_html('<ins class="instead">{}</ins>', text))
        elif op == Op.ADDED:
            marked.append(format_html("<ins>{}</ins>", text))
        else:
            marked.append(format_html("{}", text))
        before = op
    return format_html_join("", "{}", ((piece,) for piece in marked))


@register.filter
def narrative_marks(pieces: Sequence[tuple[str, str]]) -> SafeString:
    """A narrative with its change marked; as it stands where it was written anew."""
    if is_anew(pieces):
        return format_html_join("", "{}", ((text,) for op, text in pieces if op != Op.REMOVED))
    return diff_marks(pieces)


# --- charts ---------------------------------------------------------------------------------------


@register.simple_tag
def stacked_bar(total: int, **parts: int | None) -> SafeString:
    """A bar of `total`, with one stretch for each named part, in the order given.

    Each name gives the stretch its class `part-<name>`. What is left over is the empty track. Say
    the same in words beside it: the picture is hidden from screen readers.
    """
    stretches, x = [], 0.0
    for name, count in parts.items():
        # What there is can be seen, however little it is; its number stands beside it.
        width = max(100 * count / total, 1.0) if total and count else 0
        if width:
            stretches.append((f"{x:.3f}", f"{width:.3f}", name))
            x += width
    return format_html(
        '<svg class="stack" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>",
        format_html_join(
            "", '<rect x="{}" y="0" width="{}" height="4" class="part-{}"/>', stretches
        ),
    )


@register.simple_tag
def share_bar(part: int, whole: int, goal: float = 0.5) -> SafeString:
    """A share as a bar with a tick at its goal; `static/js/rewriting/ticks.js` moves it."""
    width = 100 * part / whole if whole else 0
    return format_html(
        '<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" x="0" y="3" width="100" height="4"/>'
        '<rect class="now" x="0" y="3" width="{}" height="4" data-tally-bar/>'
        '<line class="goal" x1="{}" x2="{}" y1="0" y2="10"/></svg>',
        f"{width:.2f}",
        f"{100 * goal:.2f}",
        f"{100 * goal:.2f}",
    )


@register.simple_tag
def interval_plot(figure: Any, low: float = -0.2, high: float = 1.0) -> SafeString | str:
    """A coefficient and its interval on a line from `low` to `high`, with a tick at 0.

    Nothing where there is no value: the reason stands beside it.
    """
    value = _of(figure, "value") if figure is not None else None
    if value is None:
        return ""

    def at(number: float) -> str:
        return f"{100 * (min(max(number, low), high) - low) / (high - low):.2f}"

    bounds = _bounds(figure)
    span = (
        format_html(
            '<line class="span" x1="{}" x2="{}" y1="8" y2="8"/>', at(bounds[0]), at(bounds[1])
        )
        if bounds
        else ""
    )
    return format_html(
        '<svg class="interval" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">'
        '<line class="axis" x1="0" x2="100" y1="8" y2="8"/>'
        '<line class="zero" x1="{}" x2="{}" y1="2" y2="14"/>{}'
        '<line class="point" x1="{}" x2="{}" y1="2" y2="14"/></svg>',
        at(0),
        at(0),
        span,
        at(value),
        at(value),
    )


# --- small things ---------------------------------------------------------------------------------

# Drawn on a field of 16 by 16, one path each.
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

# State -> (badge class, shape). The words come from whoever knows them.
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


@register.simple_tag
def icon(name: str) -> SafeString:
    """One of the house's small drawings, hidden from screen readers: the words beside it say it."""
    return format_html(
        '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" '
        'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="{}"/></svg>',
        ICONS[name],
    )


@register.simple_tag
def unchanging(name: str) -> str:
    """Include a template that says the same on every page of a language: drawn once for each."""
    return _drawn.__wrapped__(name, "") if settings.DEBUG else _drawn(name, get_language())


@cache
def _drawn(name: str, _language: str | None) -> str:
    return get_template(name).render()


@register.simple_tag
def style_sheets() -> SafeString:
    """Link the style sheets: one file that holds them all where they were joined, else each."""
    joined = getattr(staticfiles_storage, "joins_files", False)
    return format_html_join(
        "\n",
        '<link rel="stylesheet" href="{}">',
        ((static(name),) for name in (["css/all.css"] if joined else _style_sheets())),
    )


@cache
def _style_sheets() -> list[str]:
    """The names of the style sheets that `css/all.css` imports, in order."""
    source = Path(str(finders.find("css/all.css"))).read_text(encoding="utf-8")
    return [f"css/{name}" for name in re.findall(r'@import url\("([^"]+)"\);', source)]


@register.simple_tag
def badge(state: str, words: str) -> SafeString:
    """A state in a word, with the colour and the shape that say the same."""
    kind, shape = STATES[state]
    return format_html(
        '<span class="badge{}">{}{}</span>', f" badge--{kind}" if kind else "", icon(shape), words
    )


@register.inclusion_tag("components/_no_worker.html", takes_context=True)
def no_worker(context: RequestContext) -> dict[str, bool]:
    """Say that no worker is there, on a page where one is needed; nothing where one is."""
    user = getattr(context.get("request"), "user", None)
    return {"alive": worker_status().alive, "staff": bool(user and user.is_staff)}


@register.simple_tag(takes_context=True)
def theme(context: RequestContext) -> str:
    """The theme this person forced, light or dark; empty where the system decides.

    Before one has signed in it is what the browser remembers of who was here last.
    """
    request = context.get("request")
    known = reader.preferences_of_reader(request)
    if known is not None:
        return known.theme
    chosen = request.COOKIES.get("theme", "") if request is not None else ""
    return chosen if chosen in Preferences.Theme.values else ""


@register.simple_tag
def time_zone() -> str:
    """The name of the time zone that the reader chose; empty: as their browser has it."""
    return str(reader.zone_of_reader() or "")


@register.simple_tag(takes_context=True)
def keys(context: RequestContext) -> dict[str, str]:
    """Each action's key as the reader has it; where nobody is signed in, as the house has it.

    After `{% keys as keys %}` an element says `data-key="{{ keys.undo }}"`.
    """
    user = getattr(context.get("request"), "user", None)
    return keymap.keys_for(user) if user is not None and user.is_authenticated else keymap.DEFAULTS


@register.filter
def keycap(key: str) -> str:
    """A key of `base.keymap` as its cap shows it: "ArrowLeft" is an arrow, " " is Space."""
    return keymap.cap(key)


@register.filter
def lookup(mapping: Mapping[Any, Any] | None, key: Any) -> Any:
    """What a mapping holds under a key that the template knows by a name; None if nothing."""
    return (mapping or {}).get(key)


@register.filter
def characters(count: int | None) -> str:
    """The length of a document's text, or that there is none."""
    if count is None:
        return gettext("no text")
    return ngettext("%(count)s character", "%(count)s characters", count) % {"count": f"{count:,}"}


def _of(thing: Any, name: str) -> Any:
    """Read a field of a record, or of the mapping it is stored as."""
    return thing[name] if isinstance(thing, Mapping) else getattr(thing, name)


def _bounds(figure: Any) -> tuple[float, float] | None:
    """The bounds of a coefficient's interval, stored as a pair or as low and high."""
    bounds = _of(figure, "interval") if figure is not None else None
    if bounds is None:
        return None
    if isinstance(bounds, Mapping):
        return float(bounds["low"]), float(bounds["high"])
    low, high = bounds
    return float(low), float(high)
