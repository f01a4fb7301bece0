"""Marks of the changes between two texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from base.tags.library import register
from base.word_diff import Op, is_rewritten


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
