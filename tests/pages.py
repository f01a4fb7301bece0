"""What a page shows, whatever the line breaks and the indentation of its template."""

from __future__ import annotations

import re
from typing import Any

# Tags inside a line of text: white space before and after such an element is shown.
INLINE = (
    "a|abbr|b|bdi|button|code|del|dfn|em|i|img|input|ins|kbd|label|mark|meter|output|progress|q|s"
    "|select|small|span|strong|sub|sup|svg|time|u|use|var"
)
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_RANDOM = re.compile(rf"\b[A-Za-z0-9]{{64}}\b|\b{_UUID}\b")
_AROUND_A_BLOCK = re.compile(rf" ?(</?(?!(?:{INLINE})\b)[a-z][^<>]*>) ?")


def tight(text: str) -> str:
    """Return the text with its white space collapsed, and with none at the edges of elements.

    White space outside an element inside a line stays: it is between two words on the screen.
    """
    text = re.sub(r" (/?>)", r"\1", " ".join(text.split()))
    text = re.sub(r"(<[a-z][^<>]*>) | (?=</)", r"\1", text)
    return _AROUND_A_BLOCK.sub(r"\1", text)


def without_random(page: Any) -> str:
    """Return a page (a response, or its content) without what is random in it: tokens and UUIDs.

    Three letters of a name are sooner or later in one of them.
    """
    content = page if isinstance(page, str) else page.content.decode()
    return _RANDOM.sub("", content)


def shows(page: Any, text: str) -> bool:
    """Return whether a page (a response, or its content) contains the text or piece of markup."""
    content = page if isinstance(page, str) else page.content.decode()
    return tight(text) in tight(content)
