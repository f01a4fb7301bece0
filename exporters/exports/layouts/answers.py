"""Which conditions each document meets, for layouts whose records consist of conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from annotate.pairs.models import Narrative
from exporters.exports.layouts.grades import Row
from exporters.exports.layouts.published import Published
from exporters.exports.progress import Report
from exporters.exports.selection import conditions
from exporters.exports.selection.conditions import AnsweredCondition, DocumentConditions
from exporters.exports.selection.selection import Pair

ALTERED = Narrative.Side.ALTERED
MET, NOT_MET = "met", "not_met"


class Answers(NamedTuple):
    """The answers for one document: one for each condition of the narrative, in order.

    `of_people`: whether people agree on all of them; otherwise a machine claims some.
    """

    conditions: tuple[AnsweredCondition, ...]
    answers: tuple[str, ...]
    of_people: bool

    @property
    def broken(self) -> frozenset[int]:
        """Return the numbers of the conditions that the document does not meet."""
        return frozenset(n for n, answer in enumerate(self.answers, 1) if answer == NOT_MET)


def answered_pools(
    published: Published, report: Report
) -> Iterator[tuple[Pair, list[Row], dict[str, Answers]]]:
    """Yield the altered side's pairs with their candidates and the answers for documents.

    The documents, by doc_id, are those with an answer for every condition; a pair without one is
    left out. People's answers take precedence over a machine's.
    """
    answered = _answers_by_pair(published, published.pairs[ALTERED])
    waiting = next(answered, None)
    for pair, pool in published.pools(ALTERED, report):
        if waiting is not None and waiting[0].pk == pair.pk:
            yield pair, pool, waiting[1]
            waiting = next(answered, None)


def _answers_by_pair(
    published: Published, of: list[Pair]
) -> Iterator[tuple[Pair, dict[str, Answers]]]:
    """Yield these pairs with the answers for their documents, if there are any."""
    by_id = {pair.pair_id: pair for pair in of}
    chosen = conditions.chosen_names(published.project)
    walked = conditions.documents(published.project, of)
    for pair_id, documents in groupby(walked, lambda document: document.pair_id):
        answers_by_document = {
            document.doc_id: answers
            for document in documents
            if document.side == ALTERED and (answers := _answers(document, chosen)) is not None
        }
        if answers_by_document:
            yield by_id[pair_id], answers_by_document


def _answers(document: DocumentConditions, chosen: Sequence[str]) -> Answers | None:
    answers = [_answer(condition, chosen) for condition in document.conditions]
    if not all(answer in (MET, NOT_MET) for answer in answers):
        return None
    return Answers(
        document.conditions,
        tuple(answer for answer in answers if answer is not None),
        all(condition.agreed is not None for condition in document.conditions),
    )


def _answer(asked: AnsweredCondition, chosen: Sequence[str]) -> str | None:
    """Return people's agreed answer, or the claim that counts if nobody has answered."""
    if asked.agreed is not None or asked.state == "disputed":
        return asked.agreed
    return conditions.claimed_answer(asked, chosen)
