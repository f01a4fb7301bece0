"""Find the words of a document to mark: the query's, and those added by the altered narrative.

PURE: no Django. Words are compared by their stems (English for Latin letters, Russian for
Cyrillic), in other scripts by their letters; in scripts without spaces between words, by a few
neighbouring letters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate, compress, count, groupby
from threading import Lock
from typing import NamedTuple

import Stemmer

# Scripts without spaces between words: how many neighbouring letters are compared, and the letters
# of the script. Fewer would mark half the page: hiragana and Thai letters are mostly grammar.
_UNSPACED = {
    "han": (2, "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"),
    "katakana": (3, "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"),
    "hiragana": (4, "\u3040-\u309f"),
    "southeast": (4, "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"),
}
_LETTER = rf"[^\W_{''.join(letters for _, letters in _UNSPACED.values())}]"
# A word: letters, with apostrophes inside it and the combining marks of other scripts, which
# Python does not count as letters.
_CARRIED = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd"
)
_SPACED = rf"{_LETTER}+(?:(?:[{_CARRIED}]+|['\u2019](?={_LETTER})){_LETTER}*)*"
_WORD = re.compile(
    _SPACED + "".join(f"|(?P<{name}>[{letters}]+)" for name, (_, letters) in _UNSPACED.items())
)

# Only the words of scripts with spaces, in a group so that `split` returns them. In ASCII text the
# second pattern finds the same words in a third of the time.
_WORDS = re.compile(f"({_SPACED})")
_WORDS_IN_ASCII = re.compile("([A-Za-z0-9]+(?:'[A-Za-z0-9]+)*)")

# Stop words, which say nothing about the topic of a text.
_SMALL_WORDS = """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can cannot could did do does doing down during each either etc few for
    from further had has have having he her here hers him his how i if in into is it its itself just
    let me more most much must my neither no nor not now of off on once one only or other others
    ought our ours out over own per same shall she should since so some such than that the their
    theirs them then there these they this those through thus to too under until up upon us very via
    was we were what when where whether which while who whom whose why will with within without
    would yet you your yours don't doesn't isn't aren't wasn't weren't it's
    в во и или на не но о об от по с со для до из за к как что это этот эта эти при также
"""
# Words by which narratives talk about relevance itself; in a narrative they are stop words too.
_NARRATIVE_WORDS = """
    relevant irrelevant relevance relevancy nonrelevant non document documents article articles item
    items passage passages text texts report reports mention mentions mentioned mentioning discuss
    discusses discussed discussing discussion describe describes described describing contain
    contains containing include includes included including identify identifies considered consider
    pertaining related relate relates regarding concerning information specific specifically
    following unless however need needs needed may might
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_NARRATIVE = frozenset(_NARRATIVE_WORDS.split())
# Chinese stop words, which separate other words.
_SMALL_LETTERS = re.compile("[的了和是在与及或也都就而但不并其这那被把对于为有]")


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text, counted in Unicode code points."""

    start: int
    end: int


class Words(NamedTuple):
    """What to look for: stems of words, and runs of letters of scripts without spaces."""

    stems: frozenset[str]
    letters: frozenset[str]


class WordsToMark(NamedTuple):
    """Words to mark: the query's, and those added by the change that the query does not have."""

    query: Words
    change: Words


class Marks(NamedTuple):
    """Spans of the words of the query and of the change, in text order, never overlapping."""

    query: list[Span]
    change: list[Span]


_NONE = Words(frozenset(), frozenset())
NO_WORDS = WordsToMark(_NONE, _NONE)
_NEITHER, _QUERY, _CHANGE = 0, 1, 2


@lru_cache(maxsize=64)
def select_words(*, query: str, original: str, altered: str) -> WordsToMark:
    """Return the words to mark for a query whose `original` narrative was changed to `altered`.

    The words of the change are those that only the altered narrative has: a removed word no longer
    asks for anything. If either narrative is empty, there are none.
    """
    query_words = _words(query, _SMALL)
    if not original or not altered:
        return WordsToMark(query_words, _NONE)
    before, after = _words(original, _SMALL | _NARRATIVE), _words(altered, _SMALL | _NARRATIVE)
    return WordsToMark(
        query_words,
        Words(
            after.stems - before.stems - query_words.stems,
            after.letters - before.letters - query_words.letters,
        ),
    )


def find_marks(text: str, of: WordsToMark) -> Marks:
    """Return the spans of `text` to mark, in Unicode code points.

    These are whole words, or runs of letters in scripts without spaces.
    """
    if of.query.letters or of.change.letters:
        return _marks_of_all_scripts(text, of)
    marks = Marks([], [])
    if not of.query.stems and not of.change.stems:
        return marks
    # Separators and words, alternating.
    parts = (_WORDS_IN_ASCII if text.isascii() else _WORDS).split(text)
    kinds = list(map(_kinds(of).__getitem__, parts[1::2]))
    if not any(kinds):
        return marks
    ends = list(accumulate(map(len, parts)))
    for number in compress(count(), kinds):
        span = Span(ends[2 * number], ends[2 * number + 1])
        (marks.query if kinds[number] == _QUERY else marks.change).append(span)
    return marks


class _Kinds(dict[str, int]):
    """The kind of each word, computed at its first lookup."""

    def __init__(self, of: WordsToMark) -> None:
        super().__init__()
        self._of_stem = dict.fromkeys(of.change.stems, _CHANGE) | dict.fromkeys(
            of.query.stems, _QUERY
        )

    def __missing__(self, word: str) -> int:
        if len(self) > _MOST_WORDS:
            self.clear()
        kind = self[word] = self._of_stem.get(_stem(word), _NEITHER)
        return kind


# Words of documents cached for each of the last few pairs that were judged: about 5 MB.
_MOST_WORDS = 4_000
_kinds = lru_cache(maxsize=8)(_Kinds)


def _marks_of_all_scripts(text: str, of: WordsToMark) -> Marks:
    """Return the same as `find_marks`, where runs of letters are wanted too."""
    marks = Marks([], [])
    kinds = _kinds(of)
    for match in _WORD.finditer(text):
        if match.lastgroup is not None:
            _mark_letters(match[0], match.start(), of, marks)
        elif kind := kinds[match[0]]:
            span = Span(match.start(), match.end())
            (marks.query if kind == _QUERY else marks.change).append(span)
    return marks


def _words(text: str, left_out: frozenset[str]) -> Words:
    """Return the words of a query or narrative, without the words to leave out."""
    stems: set[str] = set()
    letters: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if match.lastgroup is None:
            if _normalized(word) not in left_out:
                stems.add(_stem(word))
            continue
        size = _UNSPACED[match.lastgroup][0]
        for run in _SMALL_LETTERS.split(word):
            if len(run) >= size:
                letters.update(run[at : at + size] for at in range(len(run) - size + 1))
        if len(word) < size:
            letters.add(word)
    # Single letters and digits occur everywhere.
    return Words(frozenset(stem for stem in stems if len(stem) > 1), frozenset(letters))


def _mark_letters(word: str, start: int, of: WordsToMark, marks: Marks) -> None:
    """Mark the runs of wanted letters in a stretch without spaces that begins at `start`."""
    kinds = [_NEITHER] * len(word)
    for kind, letters in ((_QUERY, of.query.letters), (_CHANGE, of.change.letters)):
        for size in {len(run) for run in letters}:
            for at in range(len(word) - size + 1):
                # A run that overlaps one of the query's is not a word of the change.
                if word[at : at + size] in letters and (
                    kind == _QUERY or _QUERY not in kinds[at : at + size]
                ):
                    kinds[at : at + size] = [kind] * size
    at = start
    for kind, run in groupby(kinds):
        end = at + sum(1 for _ in run)
        if kind != _NEITHER:
            (marks.query if kind == _QUERY else marks.change).append(Span(at, end))
        at = end


def _normalized(word: str) -> str:
    return word.casefold().replace("\u2019", "'")


# Stemmers are not thread-safe. Most words are in the cache, so the lock is rarely taken.
_stemmer_lock = Lock()
_ENGLISH, _RUSSIAN = Stemmer.Stemmer("english", 0), Stemmer.Stemmer("russian", 0)


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """Return the stem by which a word is compared."""
    plain = _normalized(word)
    first = plain[0]
    # Letters up to U+024F are Latin. A string of more than 60 characters is not a word: it is cut
    # and not stemmed.
    stemmer = _ENGLISH if first < "\u0250" else _RUSSIAN if "\u0400" <= first < "\u0530" else None
    if stemmer is None or len(plain) > 60:
        return plain[:60]
    with _stemmer_lock:
        return str(stemmer.stemWord(plain))
