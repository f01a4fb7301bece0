"""Template tags of the judge page: the narrative's clauses and the judge's earlier answers.

Text written by people or read from files always goes through `format_html`, which escapes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django import template
from django.template.context import RequestContext
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.collection.marking import Span
from annotate.judging.forms import VERDICT_PREFIX
from annotate.judgments.models import Statement
from annotate.pairs.clauses import DiffPart, clauses, overlapping_clauses, split_diff
from base.word_diff import Op, Piece, is_rewritten

register = template.Library()

# A narrative longer than LONG is drawn in blocks of about BLOCK characters, so that the browser
# lays out only the visible ones.
LONG = 20_000
BLOCK = 4_000


class Clause(NamedTuple):
    """A clause of a narrative: its offsets and its text."""

    start: int
    end: int
    text: str


@register.filter
def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of a narrative, in order."""
    return [Clause(start, end, text[start:end]) for start, end in clauses(text)]


@register.filter
def chose(given: Statement | None, clause: Clause) -> bool:
    """Return whether a judgment marks this clause as decisive."""
    marked = given.clauses if given is not None else ()
    span = Span(clause.start, clause.end)
    return bool(overlapping_clauses([span], [Span(mark["start"], mark["end"]) for mark in marked]))


@register.filter
def written_anew(pieces: Sequence[Piece] | None) -> bool:
    """Return whether too little of the original is left to mark the change word by word."""
    return bool(pieces) and is_rewritten(pieces or ())


@register.simple_tag
def narrative_clauses(
    text: str, pieces: Sequence[Piece] | None = None, original: str = ""
) -> SafeString:
    """Render a narrative, each clause as an element with its offsets, with its changes marked.

    `pieces`: the result of `word_diff.diff(original, text)`, or None for no marks. Offsets
    are in code points of `text`. If little of the original is left, it is shown as a whole as
    removed text before the narrative, which then has no marks.
    """
    spans = clauses(text)
    before = _join(())
    if pieces and is_rewritten(pieces):
        before = format_html("<del>{}</del>", original)
        pieces = None
    cut = split_diff(pieces or [Piece(Op.KEPT, text)], spans)
    drawn = [
        _render_clause(number, spans[number], inner) if number is not None else inner
        for number, inner in _render_runs(cut)
    ]
    if len(text) <= LONG:
        return before + format_html_join("", "{}", ((piece,) for piece in drawn))
    return before + format_html_join(
        "", '<span class="narrative__block">{}</span>', ((block,) for block in _split_blocks(drawn))
    )


class Choice(NamedTuple):
    """One answer to a condition or a question: what is sent, its word, and what its key does."""

    value: str
    word: str
    label: str
    look: str
    icon: str
    key: str


@register.simple_tag
def verdict_choices(of: str, keys: Mapping[str, str]) -> list[Choice]:
    """Return the three answers to a condition or a question, with the reader's keys."""
    if of == "question":
        words = (("yes", "Yes", "Yes"), ("no", "No", "No"))
    else:
        words = (
            ("met", "Met", "The condition is met"),
            ("not_met", "Not met", "The condition is not met"),
        )
    return [
        Choice(*words[0], "met", "check", keys["met"]),
        Choice(*words[1], "not-met", "cross", keys["not_met"]),
        Choice("cant_tell", "Can't tell", "Can't tell", "cant-tell", "bar", keys["cant_tell"]),
    ]


@register.simple_tag(takes_context=True)
def answer_to(context: RequestContext, condition: int) -> str:
    """Return the judge's answer to a condition (a `Verdict.Answer`), or "".

    The answer in a form that was just refused takes precedence over the saved one.
    """
    sent = context["request"].POST.get(f"{VERDICT_PREFIX}{condition}")
    if sent is not None:
        return str(sent)
    answer: Statement | None = context.get("given")
    return answer.answers().get(condition, "") if answer is not None else ""


def _render_clause(number: int, span: tuple[int, int], inner: SafeString) -> SafeString:
    return format_html(
        '<span class="clause" data-clause="{}" data-start="{}" data-end="{}">{}</span>',
        number + 1,
        *span,
        inner,
    )


def _render_runs(cut: Iterable[DiffPart]) -> Iterable[tuple[int | None, SafeString]]:
    """Yield, in order, each clause's number and rendered parts; None for text between clauses."""
    number: int | None = None
    inner: list[SafeString] = []
    before: Op | None = None
    for part in cut:
        if inner and part.clause != number:
            yield number, _join(inner)
            inner = []
        number = part.clause
        inner.append(_render_part(part, before))
        before = part.op
    if inner:
        yield number, _join(inner)


def _render_part(part: DiffPart, before: Op | None) -> SafeString:
    if part.op == Op.REMOVED:
        return format_html("<del>{}</del>", part.text)
    if part.op == Op.ADDED:
        if before == Op.REMOVED:
            return format_html('<ins class="instead">{}</ins>', part.text)
        return format_html("<ins>{}</ins>", part.text)
    return format_html("{}", part.text)


def _join(pieces: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def _split_blocks(drawn: Iterable[SafeString]) -> Iterable[SafeString]:
    """Yield blocks of about BLOCK characters that end with a line, or of twice that anywhere."""
    block: list[SafeString] = []
    size = 0
    for piece in drawn:
        block.append(piece)
        size += len(piece)
        if (size > BLOCK and "\n" in piece) or size > 2 * BLOCK:
            yield _join(block)
            block, size = [], 0
    if block:
        yield _join(block)
