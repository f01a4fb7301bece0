"""What a page shows, whatever the line breaks and the indentation of its template."""

from __future__ import annotations

import re
from typing import Any


def tight(text: str) -> str:
    """Return the text with its white space collapsed, and with none beside a tag."""
    collapsed = " ".join(text.split())
    for beside_a_tag in (r" (</?[a-z])", r" (/?>)", r"(</?[a-z][^<>]*>) "):
        collapsed = re.sub(beside_a_tag, r"\1", collapsed)
    return collapsed


def shows(page: Any, text: str) -> bool:
    """Return whether a page (a response, or its content) contains the text or piece of markup."""
    content = page if isinstance(page, str) else page.content.decode()
    return tight(text) in tight(content)
