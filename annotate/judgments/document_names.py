"""Names of documents as a reader may see them: an id may give away an open answer, so until then
documents have neutral names.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotate.collection.models import Candidate, Document, Query
from annotate.judgments.models import Statement
from annotate.pairs.models import Assignment, Narrative
from annotate.pairs.pool import is_in_scope, judged_narratives
from annotate.projects.models import Membership, Project

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


@dataclass(frozen=True)
class Name:
    """A document's name as a reader may see it."""

    # Shown in headings and lists.
    label: str
    # Empty if there is none, or if it is made of a hidden id.
    title: str
    # None while the id is hidden.
    doc_id: str | None

    def has(self, words: str) -> bool:
        """Return whether the id that is shown, or the title, contains these words."""
        return words in (self.doc_id or "") or words.casefold() in self.title.casefold()


def name_of(document: Document, project: Project, *, hidden: bool) -> Name:
    """Return the name of a project's document.

    `hidden`: leave out its id and a title that is made of it, unless the document has no text and
    the project shows the ids of such documents.
    """
    if not hidden or (project.show_ids and document.length is None):
        return Name(document.label, document.title, document.doc_id)
    if document.title.strip() and not reveals_id(document.title, document.doc_id):
        return Name(document.title, document.title, None)
    return Name(neutral_name(document.pk, document.project_id), "", None)


def neutral_name(document: int, project: int) -> str:
    """Return a neutral name for a document (by key): without id or title."""
    return f"Document {number_of(document, project)}"


def neutral_order(query: Query, project: Project) -> list[int]:
    """Return a query's candidates (by key) in the order of their documents' neutral numbers.

    The order of a file would reveal something: it often follows the ids, or starts with the
    relevant documents.
    """
    rows = query.candidates.values_list("pk", "document_id")
    return [pk for pk, document in sorted(rows, key=lambda row: number_of(row[1], project.pk))]


def hidden_from(
    reader: Membership, candidates: Collection[Candidate], *, under: Narrative | None = None
) -> set[int]:
    """Return the candidates (by key) whose ids are still hidden from the reader.

    An annotator sees the ids of documents that they answered, also with "cannot judge". A lead sees
    every id, except of documents they still have to answer in their own assignment. A document that
    somebody still has to answer under another pair of the query is hidden under this one too.
    `under`: the version under which the reader judges the candidates now, leads included. One query
    for leads without an assignment; otherwise one more.
    """
    if not candidates:
        return set()
    project = reader.project
    assignment = Assignment.objects.filter(
        pair=OuterRef("pair"), task=Assignment.Task.JUDGE, member=reader
    )
    in_force = list(
        judged_narratives(project)
        .filter(pair__query__in={candidate.query_id for candidate in candidates})
        .values_list("pair__query", "pair", "pk", Exists(assignment))
    )
    of_query: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
    for query, pair, narrative, has_assignment in in_force:
        of_query[query].append((pair, narrative, has_assignment))
    assigned = any(has_assignment for *_, has_assignment in in_force)
    if reader.leads and not assigned and under is None:
        return set()
    answered = _answered(reader, candidates)

    def is_open(candidate: Candidate) -> bool:
        asked = of_query[candidate.query_id]
        if any(
            has_assignment
            and (narrative, candidate.pk) not in answered
            and is_in_scope(reader.project, candidate, pair)
            for pair, narrative, has_assignment in asked
        ):
            return True
        if under is not None:
            return (under.pk, candidate.pk) not in answered
        return not reader.leads and not any(
            (narrative, candidate.pk) in answered for _pair, narrative, _has_assignment in asked
        )

    return {candidate.pk for candidate in candidates if is_open(candidate)}


def _answered(member: Membership, candidates: Collection[Candidate]) -> set[tuple[int, int]]:
    """Return a member's answers to these candidates: narrative, candidate."""
    answers = Statement.objects.current().final()
    mine = answers.filter(annotator=member, candidate__in=candidates)
    return set(mine.values_list("narrative", "candidate"))


def names_for(
    reader: Membership, candidates: Collection[Candidate], *, under: Narrative | None = None
) -> dict[int, Name]:
    """Return the names of these candidates' documents for the reader, by the candidate's key."""
    hidden = hidden_from(reader, candidates, under=under)
    return {
        candidate.pk: name_of(candidate.document, reader.project, hidden=candidate.pk in hidden)
        for candidate in candidates
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
