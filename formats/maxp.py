"""MaxP: turn a ranking of passages into a ranking of documents.

A document has the score of its best passage (Dai and Callan, SIGIR 2019). The id of a passage is
the id of its document, an underscore and a number: `FT911-3_2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from formats.records import RunLine

SEPARATOR = "_"


def document_of(passage: str) -> str:
    """Return the document of a passage; raise ValueError if this is not a passage's id.

    >>> document_of("FT911-3_2"), document_of("a_b_10")
    ('FT911-3', 'a_b')
    """
    doc_id, separator, number = passage.rpartition(SEPARATOR)
    if not (separator and doc_id and number.isascii() and number.isdigit()):
        raise ValueError(
            f"{passage} is not the id of a passage, which is the id of its document, an underscore "
            "and a number, as in FT911-3_2"
        )
    return doc_id


def rank_documents(passages: Iterable[RunLine]) -> Iterator[RunLine]:
    """Yield the documents of each query, best first, with the score of their best passage.

    Queries keep the order of their first occurrence. Ties are broken as in trec_eval: by
    descending document id.
    """
    best: dict[str, dict[str, float]] = {}
    tags: dict[str, str] = {}
    for line in passages:
        doc_id = document_of(line.doc_id)
        scores = best.setdefault(line.query_id, {})
        tags.setdefault(line.query_id, line.tag)
        if doc_id not in scores or line.score > scores[doc_id]:
            scores[doc_id] = line.score
    for query_id, scores in best.items():
        order = sorted(scores, key=lambda doc_id: doc_id.encode(), reverse=True)
        order.sort(key=scores.__getitem__, reverse=True)
        for rank, doc_id in enumerate(order, 1):
            yield RunLine(query_id, doc_id, rank, scores[doc_id], tags[query_id])
