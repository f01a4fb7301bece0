"""What is worth a second look in a rewritten narrative: advice, never a gate. Pure.

Each check says whether it found what a narrower narrative usually has, and what it found. The
sentences, and why each matters, are in templates/rewriting/_advice.html.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from base.word_diff import Op, diff

# So many words in a row that also stand in a document are no coincidence; of scripts without blanks
# between words each sign counts, and it takes twice as many.
RUN = 8
RUN_OF_SIGNS = 16
# What is looked at while someone writes: characters of text, and seconds.
MOST_TEXT = 4_000_000
MOST_SECONDS = 0.3
MOST_SENTENCES = 1_000
# Examples shown of each kind.
SHOWN = 5

_SIGN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGN}]|[^\W{_SIGN}]+(?:['’][^\W{_SIGN}]+)*")
_SENTENCE = re.compile(r"[^.!?。！？؟।\n]+(?:[.!?。！？؟।]+|\n|$)")
# A number right behind a point is no new sentence ("2.5 MW"), nor are these.
_STOPS = {".", "!", "?"}
_SHORTENED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|dr|mr|ms|prof|st|u\.s)|\b[a-z])\.$", re.I)

# Words that shut something out, as they are named to the writer.
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|except(?:ing|ion|ions)?|exclud(?:e|es|ed|ing)"
    r"|exclusively|only|solely|unless|irrelevant|cannot|other than|rather than|instead of"
    r"|limited to|restricted to|nicht|kein(?:e|en|er)?|nur|außer|sauf|seulement|sólo)\b"
    r"|\b\w+n['’]t\b|不|非|无|無|没|未|除|只|仅|僅|ليس|لا|إلا|فقط|नहीं|केवल",
    re.IGNORECASE,
)
# A sentence that lets documents in ...
_WIDENING = re.compile(
    r"\b(?:also|equally|still|likewise)\s+(?:be\s+)?(?:considered\s+)?relevant\b"
    r"|\b(?:is|are|be|considered|deemed|of|remain[s]?)\s+(?:\w+ly\s+)?relevant\b"
    r"|\brelevant\s+(?:as well|too)\b|\brelevan(?:t|ce)\b.{0,80}\b(?:include|includes|including)\b"
    r"|\bmay\s+(?:also\s+)?(?:be\s+)?(?:include|included|relevant)\b"
    r"|\b(?:acceptable|sufficient|suffices|counts?|qualif(?:y|ies))\b"
    r"|\beven\s+(?:if|when|though)\b|\bany\s+(?:mention|document|discussion|reference|information)\b",
    re.IGNORECASE,
)
# ... unless it says that they are not.
_NARROWING = re.compile(
    r"\b(?:not|never|no longer|nor|neither|only|unless|except|without|must|irrelevant"
    r"|non-?relevant|not\s+\w+\s+relevant)\b|n['’]t\b",
    re.IGNORECASE,
)


class Check(StrEnum):
    """What is looked at, in the order in which it is shown."""

    CONSTRAINT = "constraint"
    NEGATION = "negation"
    WIDENING = "widening"
    NARROWING = "narrowing"
    LENGTH = "length"
    IDS = "ids"
    COPIED = "copied"
    TURNED = "turned"


class Advice(NamedTuple):
    """One check: `good` is None where it has not been looked at. `found` are words to show.

    `number` and `of` are the figures of the sentence: words of both narratives, or documents that
    were looked at and that there are.
    """

    check: Check
    good: bool | None
    found: tuple[str, ...] = ()
    number: int = 0
    of: int = 0


class Source(NamedTuple):
    """A document that was relevant: its id and as much of its text as there is."""

    doc_id: str
    text: str


def words(text: str) -> list[str]:
    """Return the words of a text; of scripts without blanks between words, the signs."""
    return _WORD.findall(text)


def narrowing(
    before: str, after: str, *, conditions: int = 0, ids: Iterable[str] = ()
) -> list[Advice]:
    """Look at an altered narrative, which should let fewer documents in than the original.

    `conditions` is how many are written as lines of their own, `ids` those of the query's
    documents. What needs the documents' texts is not here: see `copied`.
    """
    pieces = diff(before, after)
    old, new = words(before), words(after)
    added = [text for op, text in pieces if op is Op.ADDED]
    gone = _gone(before, after)
    left = [one for one in sentences(after)[:MOST_SENTENCES] if _widens(one)]
    out = [one for one in gone if _widens(one)]
    return [
        _constraint(added, conditions),
        _negation(added),
        Advice(
            Check.WIDENING,
            # Nothing that could be taken out is as good as having taken it out.
            bool(out) or not left,
            _few(out or left),
            len(out),
            len(left),
        ),
        Advice(Check.NARROWING, not (lost := [one for one in gone if _narrows(one)]), _few(lost)),
        Advice(Check.LENGTH, len(new) >= len(old), (), len(new), len(old)),
        _ids(before, after, ids),
    ]


def turning(before: str, after: str, *, ids: Iterable[str] = ()) -> list[Advice]:
    """Look at a reversed narrative, which should ask for what `before` shuts out."""
    pieces = diff(before, after)
    turned = [
        match for op, text in pieces if op is not Op.KEPT for match in _NEGATIONS.findall(text)
    ]
    return [
        Advice(Check.TURNED, bool(turned), _few(turned), len(turned)),
        _ids(before, after, ids),
    ]


def copied(
    before: str,
    after: str,
    documents: Iterable[Source],
    *,
    total: int,
    clock: Callable[[], float] = time.monotonic,
) -> Advice:
    """Look for runs of words of `after`, and not of `before`, that stand in one of the documents.

    At most MOST_TEXT characters and MOST_SECONDS are spent: `number` of the `of` (`total`)
    documents were looked at, and `found` names words and documents. The documents are not touched
    where there is no run to look for.
    """
    length, wanted = new_runs(before, after)
    if not wanted:
        return Advice(Check.COPIED, good=True, number=total, of=total)
    firsts = {run[0] for run in wanted}
    until, room, looked = clock() + MOST_SECONDS, MOST_TEXT, 0
    hits: dict[str, list[str]] = {}
    for doc_id, text in documents:
        found = words(text[:room].casefold())
        room -= len(text)
        looked += 1
        if run := _longest(found, wanted, firsts, length):
            hits.setdefault(" ".join(run), []).append(doc_id)
        if room <= 0 or clock() > until:
            break
    named = (f"{_some(ids)}: {run}" for run, ids in hits.items())
    return Advice(Check.COPIED, not hits, _few(named), looked, total)


def new_runs(before: str, after: str) -> tuple[int, set[tuple[str, ...]]]:
    """Return how many words make a run here, and the runs that `after` has and `before` has not."""
    old, new = words(before.casefold()), words(after.casefold())
    signs = sum(1 for word in new if re.match(f"[{_SIGN}]", word))
    length = RUN_OF_SIGNS if signs * 2 > len(new) else RUN
    return length, _runs(new, length) - _runs(old, length)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the blanks around them."""
    found: list[list[str]] = []
    for part in _SENTENCE.findall(text):
        before = found[-1][-1][-12:] if found else ""
        # Only the full stops of scripts without blanks need none behind them.
        goes_on = before[-1:] in _STOPS and not part[:1].isspace()
        if before and (goes_on or _SHORTENED.search(before)):
            found[-1].append(part)
        else:
            found.append([part])
    whole = ("".join(parts).strip() for parts in found)
    return [one for one in whole if one]


def _constraint(added: Sequence[str], conditions: int) -> Advice:
    """Whether something was asked for that was not before: three words or more, or one that shuts
    something out, or a condition on a line of its own.
    """
    count = sum(len(words(text)) for text in added)
    shuts = any(_NEGATIONS.search(text) for text in added)
    good = count >= 3 or (shuts and count > 1) or conditions > 0
    return Advice(Check.CONSTRAINT, good, (), conditions)


def _negation(added: Iterable[str]) -> Advice:
    named: dict[str, None] = {}
    for text in added:
        named |= dict.fromkeys(match.casefold() for match in _NEGATIONS.findall(text))
    return Advice(Check.NEGATION, bool(named), tuple(named)[: 2 * SHOWN], len(named))


def _ids(before: str, after: str, ids: Iterable[str]) -> Advice:
    """Ids of fewer than four characters are passed over: such words stand everywhere."""
    old, new = _chunks(before), _chunks(after)
    here = [
        one
        for one in ids
        if len(one) >= 4
        and ((one in new and one not in old) if one in new or " " not in one else one in after)
    ]
    return Advice(Check.IDS, not here, _few(here), len(here))


def _chunks(text: str) -> set[str]:
    """What stands between blanks, as it stands and without the punctuation around it."""
    found = set(text.split())
    return found | {chunk.strip(".,;:!?()[]{}<>\"'“”‘’«»") for chunk in found}


def _gone(before: str, after: str) -> list[str]:
    """The sentences of `before` whose words do not stand in `after` any more."""
    rest = f" {' '.join(words(after.casefold()))} "
    return [
        one
        for one in sentences(before)[:MOST_SENTENCES]
        if (said := " ".join(words(one.casefold()))) and f" {said} " not in rest
    ]


def _widens(sentence: str) -> bool:
    return bool(_WIDENING.search(sentence)) and not _NARROWING.search(sentence)


def _narrows(sentence: str) -> bool:
    return bool(_NARROWING.search(sentence))


def _runs(found: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


def _longest(
    found: Sequence[str], wanted: set[tuple[str, ...]], firsts: set[str], length: int
) -> Sequence[str]:
    """The longest stretch of `found` all of whose runs are wanted; nothing if there is none."""
    best: tuple[int, int] = (0, 0)
    start = None
    for at in range(len(found) - length + 1):
        if found[at] in firsts and tuple(found[at : at + length]) in wanted:
            start = at if start is None else start
            if at + length - start > best[1] - best[0]:
                best = (start, at + length)
        else:
            start = None
    return found[best[0] : best[1]]


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) <= SHOWN else f"{', '.join(ids[:SHOWN])}, …"


def _few(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one if len(one) <= 240 else f"{one[:240]}…" for one in found))[
        :SHOWN
    ]
