"""Parts of a page that are drawn once for the same values.

Drawing a template is most of what a page costs that lists many things, and most of them look as
they did a moment before. What is drawn here depends on plain values alone, so nothing that is
remembered can be out of date.
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

# Parts that a process keeps: some 2 MB.
_MOST = 1_000
# Stands for the token of a form, which is another one on each page. Nobody can know it.
_TOKEN = secrets.token_hex(16)

_kept: OrderedDict[tuple[str, str | None, str], str] = OrderedDict()
_keeping = Lock()


def draw(template: str, values: Mapping[str, Any], *, csrf_token: str) -> SafeString:
    """Draw a template, or return what it was drawn as for the same values.

    `values` are plain: numbers, strings, and lists, mappings, tuples and data classes of them. The
    template reads nothing else but the language, and `csrf_token`.
    """
    key = (template, get_language(), repr(values))
    with _keeping:
        drawn = _kept.get(key)
        if drawn is not None:
            _kept.move_to_end(key)
    if drawn is None:
        drawn = get_template(template).render({**values, "csrf_token": _TOKEN})
        drawn = drawn.replace("{", "{{").replace("}", "}}").replace(_TOKEN, "{csrf_token}")
        with _keeping:
            _kept[key] = drawn
            if len(_kept) > _MOST:
                _kept.popitem(last=False)
    return format_html(drawn, csrf_token=csrf_token)
