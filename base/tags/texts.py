"""Texts of people: as paragraphs, and with the changes between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base.word_diff import Op, is_rewritten

register = template.Library()

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


@register.filter
def passage(text: str, span: Mapping[str, int]) -> str:
    """Return the part of a text that a span marks."""
    return text[span["start"] : span["end"]]


@register.filter
def diff_marks(pieces: Iterable[tuple[str, str]]) -> SafeString:
    """Render pieces of `base.word_diff.diff` as text with <ins> and <del>."""
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
    """Render a narrative with its changes marked, or without marks if it was rewritten."""
    if is_rewritten(pieces):
        return format_html_join("", "{}", ((text,) for op, text in pieces if op != Op.REMOVED))
    return diff_marks(pieces)
