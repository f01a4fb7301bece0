"""Neutral names of documents, for readers to whom the id could give the answer away."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# A number has two halves of this many digits; twice as many if there are more documents.
_DIGITS = 4
_ROUNDS = 4
# A number of this many digits in a title is neither a year nor a count.
_LONG_NUMBER = 5
# Words that do not make a title of an id: "Table 1037", "doc 12.txt".
_OF_ANY_DOCUMENT = {
    *("article", "candidate", "doc", "document", "file", "html", "id", "item", "json", "no"),
    *("number", "page", "passage", "record", "table", "text", "txt"),
}


def number_of(document: int, project: int) -> str:
    """Return the number that people see for a document (by key) in a project: "4821-3907".

    It is a permutation of the keys, keyed by the project: no two documents share a number, a
    document keeps its number, and the numbers do not follow the order in which files were loaded.
    """
    digits = _DIGITS
    while document >= 10 ** (2 * digits):
        digits *= 2
    half = 10**digits
    left, right = divmod(document, half)
    for turn in range(_ROUNDS):
        left, right = right, (left + _mixed(project, turn, right)) % half
    written = f"{left:0{digits}}{right:0{digits}}"
    return "-".join(written[at : at + _DIGITS] for at in range(0, len(written), _DIGITS))


def reveals_id(title: str, doc_id: str) -> bool:
    """Return whether a title would reveal the id.

    It does if it repeats the id, perhaps with other punctuation, blanks or case, or has the id
    among its words ("Report 99_1_positive", "0_hn2.txt"). An id that is one plain word or one short
    number may also occur in a real title, and reveals the id only beside words that any document
    could have ("Table 1037").
    """
    letters = _letters(title)
    if not letters:
        return title.strip() == doc_id.strip()
    if letters == _letters(doc_id):
        return True
    own, words = _words(doc_id), _words(title)
    places = range(len(words) - len(own) + 1)
    at = next((at for at in places if words[at : at + len(own)] == own), None)
    if at is None:
        return False
    others = {*words[:at], *words[at + len(own) :]}
    return len(own) > 1 or _is_a_code(doc_id) or others <= _OF_ANY_DOCUMENT


def _is_a_code(doc_id: str) -> bool:
    """Return whether a one-word id has letters and digits, or is a long number.

    Such an id is hardly ever a word of a real title.
    """
    digits = sum(sign.isdigit() for sign in doc_id)
    return digits >= _LONG_NUMBER or 0 < digits < len(_letters(doc_id))


def _words(text: str) -> list[str]:
    """Return the runs of letters and digits in a text, case-folded."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def _letters(text: str) -> str:
    """Return the letters and digits of a text, case-folded."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum()
    )


def _mixed(project: int, turn: int, half: int) -> int:
    digest = hashlib.blake2b(f"{project}:{turn}:{half}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
