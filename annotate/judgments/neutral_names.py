"""Neutral names of documents: what people read while a document's id could give the answer away."""

from __future__ import annotations

import hashlib
import unicodedata

# A number has two halves of so many digits; more where there are more documents.
_DIGITS = 4
_ROUNDS = 4


def number_of(document: int, project: int) -> str:
    """Return the number by which people know a document (its key) in a project: "4821-3907".

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


def is_made_of(title: str, doc_id: str) -> bool:
    """Whether a title only repeats the id, perhaps with other punctuation, blanks or case."""
    letters = _letters(title)
    return letters == _letters(doc_id) if letters else title.strip() == doc_id.strip()


def _letters(text: str) -> str:
    """The letters and digits of a text, in one case."""
    return "".join(
        sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum()
    )


def _mixed(project: int, turn: int, half: int) -> int:
    digest = hashlib.blake2b(f"{project}:{turn}:{half}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
