"""A cache of rendered page fragments, keyed by their values.

Rendering templates is most of the cost of a page with a long list, and most rows look the same as
at the last request. A fragment depends on plain values only, so a cached one is never out of date.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

# Fragments that a process keeps, about 2 MB.
_MOST = 1_000
# A random placeholder for the form's CSRF token, which differs on each page.
_TOKEN = secrets.token_hex(16)

_cache: OrderedDict[tuple[str, str | None, str], str] = OrderedDict()
_lock = Lock()


def render_cached(template: str, values: Mapping[str, Any], *, csrf_token: str) -> SafeString:
    """Render a template, or return the cached result for the same values.

    `values` are plain: numbers, strings, and lists, mappings, tuples and data classes of them. The
    template depends on nothing else except the language and `csrf_token`.
    """
    key = (template, get_language(), repr(values))
    with _lock:
        drawn = _cache.get(key)
        if drawn is not None:
            _cache.move_to_end(key)
    if drawn is None:
        drawn = get_template(template).render({**values, "csrf_token": _TOKEN})
        drawn = drawn.replace("{", "{{").replace("}", "}}").replace(_TOKEN, "{csrf_token}")
        with _lock:
            _cache[key] = drawn
            if len(_cache) > _MOST:
                _cache.popitem(last=False)
    return format_html(drawn, csrf_token=csrf_token)
