"""Plain texts of people, such as guidelines, as paragraphs and headings."""

from __future__ import annotations

import re

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base.tags.library import register

LONGEST_HEADING = 60
# What ends a sentence, or a line that continues in the next one.
ENDS = tuple(".,;:!?…。！？；：")


@register.filter
def paragraphs(text: str, level: int) -> SafeString:
    """Render a text as <p> and, for short lines that begin a section, <h2> or the given level.

    Paragraphs are separated by empty lines; within one, its line breaks stay. No word changes.
    """
    blocks = re.split(r"\n(?:[ \t]*\n)+", text.replace("\r\n", "\n").strip("\n"))
    short = [_is_short_line(block) for block in blocks]
    elements = []
    for number, block in enumerate(blocks):
        # Several short lines in a row are a list, not headings.
        is_heading = (
            short[number]
            and number + 1 < len(blocks)
            and not short[number + 1]
            and not (number and short[number - 1])
        )
        name = f"h{level}" if is_heading else "p"
        elements.append(format_html('<{} dir="auto">{}</{}>', name, block, name))
    return format_html_join("\n\n", "{}", ((element,) for element in elements))


def _is_short_line(block: str) -> bool:
    return "\n" not in block and len(block) <= LONGEST_HEADING and not block.endswith(ENDS)
