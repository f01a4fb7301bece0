"""Advice on a rewritten narrative; it never keeps anybody from saving. Pure.

Each check says whether it found what a narrower narrative usually has, and what it found. The
sentences, and why each check matters, are in templates/rewriting/_advice_check.html.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Annotated, NamedTuple

from base.word_diff import Op, diff

# So many words in a row that also occur in a document are not a coincidence. In scripts without
# spaces between words each sign counts as a word, and it takes twice as many.
RUN = 8
RUN_OF_SIGNS = 16
# Limits while someone types: characters of documents' texts, seconds, and sentences.
MOST_TEXT = 4_000_000
MOST_SECONDS = 0.3
MOST_SENTENCES = 1_000
# How many examples a check shows.
EXAMPLES = 5

_SIGN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}]+(?:['’][^\W{_SIGN}]+)*")
_SENTENCE = re.compile(r"[^.!?。！？؟।\n]+(?:[.!?。！？؟।]+|\n|$)")
# Text right after one of these does not begin a sentence ("2.5 MW"), nor after an abbreviation.
_STOPS = {".", "!", "?"}
_SHORTENED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|dr|mr|ms|prof|st|u\.s)|\b[a-z])\.$", re.I)

# Words that exclude something, as the writer is shown them.
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|except(?:ing|ion|ions)?|exclud(?:e|es|ed|ing)"
    r"|exclusively|only|solely|unless|irrelevant|cannot|other than|rather than|instead of"
    r"|limited to|restricted to|nicht|kein(?:e|en|er)?|nur|außer|sauf|seulement|sólo)\b"
    r"|\b\w+n['’]t\b|不|非|无|無|没|未|除|只|仅|僅|ليس|لا|إلا|فقط|नहीं|केवल",
    re.IGNORECASE,
)
# A sentence lets documents in if it matches this ...
_WIDENING = re.compile(
    r"\b(?:also|equally|still|likewise)\s+(?:be\s+)?(?:considered\s+)?relevant\b"
    r"|\b(?:is|are|be|considered|deemed|of|remain[s]?)\s+(?:\w+ly\s+)?relevant\b"
    r"|\brelevant\s+(?:as well|too)\b|\brelevan(?:t|ce)\b.{0,80}\b(?:include|includes|including)\b"
    r"|\bmay\s+(?:also\s+)?(?:be\s+)?(?:include|included|relevant)\b"
    r"|\b(?:acceptable|sufficient|suffices|counts?|qualif(?:y|ies))\b"
    r"|\beven\s+(?:if|when|though)\b|\bany\s+(?:mention|document|discussion|reference|information)\b",
    re.IGNORECASE,
)
# ... and not this.
_NARROWING = re.compile(
    r"\b(?:not|never|no longer|nor|neither|only|unless|except|without|must|irrelevant"
    r"|non-?relevant|not\s+\w+\s+relevant)\b|n['’]t\b",
    re.IGNORECASE,
)


class Check(StrEnum):
    """The checks, in the order in which they are shown."""

    CONSTRAINT = "constraint"
    NEGATION = "negation"
    WIDENING = "widening"
    NARROWING = "narrowing"
    LENGTH = "length"
    IDS = "ids"
    COPIED = "copied"
    TURNED = "turned"


class Advice(NamedTuple):
    """The result of one check of a text. `found` are words to show.

    `number` and `of` are the figures in its sentence: the words of both narratives, or how many
    documents were looked at and how many there are.
    """

    check: Check
    good: Annotated[bool | None, "null: not checked."]
    found: tuple[str, ...] = ()
    number: int = 0
    of: int = 0


class Source(NamedTuple):
    """A document that was relevant: its id and as much of its text as there is."""

    doc_id: str
    text: str


def split_words(text: str) -> list[str]:
    """Return the words of a text; in scripts without spaces between words, the signs."""
    return _WORD.findall(text)


def check_altered(
    before: str, after: str, *, conditions: int = 0, ids: Iterable[str] = ()
) -> list[Advice]:
    """Check an altered narrative, which should let fewer documents in than the original.

    `conditions` is the number of conditions on their own lines, `ids` are the ids of the query's
    documents. The check that needs the documents' texts is `check_copied`.
    """
    pieces = diff(before, after)
    old, new = split_words(before), split_words(after)
    added = [text for op, text in pieces if op is Op.ADDED]
    gone = _lost_sentences(before, after)
    left = [sentence for sentence in split_sentences(after)[:MOST_SENTENCES] if _widens(sentence)]
    out = [sentence for sentence in gone if _widens(sentence)]
    return [
        _check_constraint(added, conditions),
        _check_negation(added),
        Advice(
            Check.WIDENING,
            # Having no such sentence is as good as having taken one out.
            bool(out) or not left,
            _first_few(out or left),
            len(out),
            len(left),
        ),
        Advice(
            Check.NARROWING,
            not (lost := [sentence for sentence in gone if _NARROWING.search(sentence)]),
            _first_few(lost),
        ),
        Advice(Check.LENGTH, len(new) >= len(old), (), len(new), len(old)),
        _check_ids(before, after, ids),
    ]


def check_reversed(before: str, after: str, *, ids: Iterable[str] = ()) -> list[Advice]:
    """Check a reversed narrative, which should ask for what `before` excludes."""
    pieces = diff(before, after)
    turned = [
        match for op, text in pieces if op is not Op.KEPT for match in _NEGATIONS.findall(text)
    ]
    return [
        Advice(Check.TURNED, bool(turned), _first_few(turned), len(turned)),
        _check_ids(before, after, ids),
    ]


def check_copied(
    before: str,
    after: str,
    documents: Iterable[Source],
    *,
    total: int,
    clock: Callable[[], float] = time.monotonic,
) -> Advice:
    """Look for runs of words in `after`, but not in `before`, that occur in one of the documents.

    It reads about MOST_TEXT characters and takes about MOST_SECONDS at most; `number` of the `of`
    (`total`) documents were looked at, and `found` names words and documents. No document is read
    if there is no run to look for.
    """
    length, wanted = new_runs(before, after)
    if not wanted:
        return Advice(Check.COPIED, good=True, number=total, of=total)
    firsts = {run[0] for run in wanted}
    until, budget, looked = clock() + MOST_SECONDS, MOST_TEXT, 0
    hits: dict[str, list[str]] = {}
    for doc_id, text in documents:
        words = split_words(text[:budget].casefold())
        budget -= len(text)
        looked += 1
        if run := _longest_run(words, wanted, firsts, length):
            hits.setdefault(" ".join(run), []).append(doc_id)
        if budget <= 0 or clock() > until:
            break
    named = (f"{_join_ids(ids)}: {run}" for run, ids in hits.items())
    return Advice(Check.COPIED, not hits, _first_few(named), looked, total)


def new_runs(before: str, after: str) -> tuple[int, set[tuple[str, ...]]]:
    """Return how many words make a run, and the runs that `after` has but `before` does not."""
    old, new = split_words(before.casefold()), split_words(after.casefold())
    signs = sum(1 for word in new if re.match(f"[{_SIGN}]", word))
    length = RUN_OF_SIGNS if signs * 2 > len(new) else RUN
    return length, _runs(new, length) - _runs(old, length)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the spaces around them."""
    sentences: list[list[str]] = []
    for part in _SENTENCE.findall(text):
        before = sentences[-1][-1][-12:] if sentences else ""
        # Only the full stops of scripts without spaces need no space after them.
        goes_on = before[-1:] in _STOPS and not part[:1].isspace()
        if before and (goes_on or _SHORTENED.search(before)):
            sentences[-1].append(part)
        else:
            sentences.append([part])
    whole = ("".join(parts).strip() for parts in sentences)
    return [sentence for sentence in whole if sentence]


def _check_constraint(added: Sequence[str], conditions: int) -> Advice:
    """Check that something is asked for that was not before.

    That is: three new words, two if one of them excludes something, or a condition on its own line.
    """
    count = sum(len(split_words(text)) for text in added)
    shuts = any(_NEGATIONS.search(text) for text in added)
    good = count >= 3 or (shuts and count > 1) or conditions > 0
    return Advice(Check.CONSTRAINT, good, (), conditions)


def _check_negation(added: Iterable[str]) -> Advice:
    named: dict[str, None] = {}
    for text in added:
        named |= dict.fromkeys(match.casefold() for match in _NEGATIONS.findall(text))
    return Advice(Check.NEGATION, bool(named), tuple(named)[: 2 * EXAMPLES], len(named))


def _check_ids(before: str, after: str, ids: Iterable[str]) -> Advice:
    """Check that no document is named by its id.

    Ids of fewer than four characters are skipped: such words occur everywhere.
    """
    old, new = _chunks(before), _chunks(after)
    here = [
        doc_id
        for doc_id in ids
        if len(doc_id) >= 4
        and (
            (doc_id in new and doc_id not in old)
            if doc_id in new or " " not in doc_id
            else doc_id in after
        )
    ]
    return Advice(Check.IDS, not here, _first_few(here), len(here))


def _chunks(text: str) -> set[str]:
    """Return the parts between spaces, both as they are and without punctuation around them."""
    chunks = set(text.split())
    return chunks | {chunk.strip(".,;:!?()[]{}<>\"'“”‘’«»") for chunk in chunks}


def _lost_sentences(before: str, after: str) -> list[str]:
    """Return the sentences of `before` whose words no longer occur in `after`."""
    rest = f" {' '.join(split_words(after.casefold()))} "
    return [
        sentence
        for sentence in split_sentences(before)[:MOST_SENTENCES]
        if (phrase := " ".join(split_words(sentence.casefold()))) and f" {phrase} " not in rest
    ]


def _widens(sentence: str) -> bool:
    return bool(_WIDENING.search(sentence)) and not _NARROWING.search(sentence)


def _runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def _longest_run(
    words: Sequence[str], wanted: set[tuple[str, ...]], firsts: set[str], length: int
) -> Sequence[str]:
    """Return the longest stretch of `words` whose runs are all wanted; empty if there is none."""
    best: tuple[int, int] = (0, 0)
    start = None
    for at in range(len(words) - length + 1):
        if words[at] in firsts and tuple(words[at : at + length]) in wanted:
            start = at if start is None else start
            if at + length - start > best[1] - best[0]:
                best = (start, at + length)
        else:
            start = None
    return words[best[0] : best[1]]


def _join_ids(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) <= EXAMPLES else f"{', '.join(ids[:EXAMPLES])}, …"


def _first_few(examples: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            example if len(example) <= 240 else f"{example[:240]}…" for example in examples
        )
    )[:EXAMPLES]
