"""p-MRR of FollowIR: how far documents move if the instruction changed their relevance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from .measurement import RESAMPLES, Bootstrap, CannotMeasure, IntervalKind, Measurement, summarise
from .runs import (
    Missing,
    Qrels,
    Run,
    Scores,
    Ties,
    as_documents,
    check_choice,
    count_queries,
    list_ids,
    mean,
    ranks_of,
    warn_of_documents,
    warn_of_runs,
)

Changed: TypeAlias = Literal["newly_irrelevant", "changed"]
Documents: TypeAlias = (
    Changed | Collection[str] | Collection[tuple[str, str]] | Mapping[str, Collection[str]]
)
Unjudged: TypeAlias = Literal["not_relevant", "left_out"]
MissingQuery: TypeAlias = Literal["left_out", "refused"]


class Moves(NamedTuple):
    """The ranks of a query's documents under the original and the changed instruction."""

    documents: Sequence[str]
    original: Sequence[int]
    changed: Sequence[int]

    @property
    def scores(self) -> list[float]:
        """Return p-MRR of each document."""
        return list(map(pair_score, self.original, self.changed))


def pair_score(original: int, changed: int) -> float:
    """Return p-MRR of one document from its two ranks.

    >>> pair_score(1, 4), pair_score(4, 1), pair_score(3, 3)
    (0.75, -0.75, 0.0)
    """
    if original > changed:
        return changed / original - 1
    return 1 - original / changed


def p_mrr(
    *,
    original: Run,
    changed: Run,
    qrels_original: Qrels,
    qrels_changed: Qrels,
    documents: Documents = "newly_irrelevant",
    missing: Missing = "after_last",
    ties: Ties = "id_descending",
    unjudged: Unjudged = "not_relevant",
    missing_query: MissingQuery = "left_out",
    relevant: int = 1,
    interval: IntervalKind = "bootstrap",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Measurement:
    """Compute p-MRR (FollowIR, arXiv 2403.15246, section 3.1, equation 1).

    With R_og and R_new the ranks of a document under the original and the changed instruction, and
    RR = 1 / R::

        p-MRR = RR_og / RR_new - 1    if R_og > R_new   (the document rises)
                1 - RR_new / RR_og    otherwise         (it falls or stays)

    averaged over the documents of a query, then over queries. From -1 (worst) over 0 (nothing
    moves) to 1, which no finite ranking reaches. Best: every such document falls to the end.

    Args:
        original: Run with the original instruction.
        changed: Run with the changed instruction, under the same query ids.
        qrels_original: Grades under the original instruction.
        qrels_changed: Grades under the changed instruction.
        documents: "newly_irrelevant" (the paper): relevant before and not after. "changed" (mteb
            1.x): every document whose grade differs, including those that become relevant. Or a
            set: of document ids, which count in the queries that judge them, or of (query,
            document) pairs, or documents by query (mteb 2.x, which stores the list).
        missing: A document that a run lacks has the rank after the last ("after_last", published
            code), or does not count ("left_out"). The paper does not define it.
        ties: Equal scores by document id, descending ("id_descending", mteb 2.26 and trec_eval), or
            in the order given ("file", mteb up to 1.39). The paper does not define it.
        unjudged: A document that only one side judges is "not_relevant" on the other, as in
            trec_eval, or "left_out".
        missing_query: A query that a run lacks is "left_out" with a warning (mteb 2.26) or
            "refused" with a ValueError (mteb 1.39).
        relevant: Lowest grade that counts as relevant.
        interval: "bootstrap" or "bca" for a 95% interval over queries, or None.
        resamples: Number of resamples.
        seed: Seed of the bootstrap.

    Raises:
        ValueError: an unknown option, a score that is not a finite number, or a refused query.

    Document a is relevant before and not after. It falls from rank 1 to rank 4: 1 - 1/4.

    >>> result = p_mrr(
    ...     original={"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}},
    ...     changed={"q": {"b": 4.0, "c": 3.0, "d": 2.0, "a": 1.0}},
    ...     qrels_original={"q": {"a": 1, "b": 1}},
    ...     qrels_changed={"q": {"a": 0, "b": 1}},
    ... )
    >>> result.value
    0.75
    """
    for name, value, kind in (
        ("missing", missing, Missing),
        ("ties", ties, Ties),
        ("unjudged", unjudged, Unjudged),
        ("missing_query", missing_query, MissingQuery),
    ):
        check_choice(name, value, kind)
    before, after = Scores(original, "original run"), Scores(changed, "changed run")
    documents_by_query, warnings = changed_documents(
        qrels_original, qrels_changed, documents, unjudged=unjudged, relevant=relevant
    )
    warnings += warn_of_runs([before, after], documents_by_query, ties=ties)
    if missing_query == "refused":
        _refuse_missing([before, after], documents_by_query)
    moves, document_warnings = moves_of(
        before, after, documents_by_query, missing=missing, ties=ties
    )
    by_query: dict[str, float | None] = dict.fromkeys(documents_by_query)
    by_query |= {query: mean(its.scores) for query, its in moves.items() if its.documents}
    return summarise(
        "p-MRR",
        by_query,
        bootstrap=Bootstrap(interval, resamples, seed),
        options={
            "documents": documents if isinstance(documents, str) else "given",
            "missing": missing,
            "ties": ties,
            "unjudged": unjudged,
            "missing_query": missing_query,
            "relevant": relevant,
        },
        warnings=warnings + document_warnings,
        undefined="no query with a changed document is in both runs"
        if documents_by_query
        else "no document changed",
    )


def changed_documents(
    qrels_original: Qrels,
    qrels_changed: Qrels,
    documents: Documents = "newly_irrelevant",
    *,
    unjudged: Unjudged = "not_relevant",
    relevant: int = 1,
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the documents that p-MRR counts by query, without empty queries; and warnings.

    >>> changed_documents({"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"a": 1, "b": 1, "c": 0}})[0]
    {'q': ('c',)}
    >>> changed_documents({"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 1}}, "changed")[0]
    {'q': ('a', 'b')}
    """
    if isinstance(documents, Mapping):
        named = {query: as_documents(its) for query, its in documents.items()}
        return {query: its for query, its in named.items() if its}, []
    if not isinstance(documents, str):
        return _given_documents(qrels_original, qrels_changed, documents), []
    check_choice("documents", documents, Changed)
    documents_by_query: dict[str, tuple[str, ...]] = {}
    one_sided = 0
    for query, before in qrels_original.items():
        after = qrels_changed.get(query)
        if after is None:
            continue
        changed = []
        for document in dict.fromkeys((*before, *after)):
            if document not in before or document not in after:
                one_sided += 1
                if unjudged == "left_out":
                    continue
            old, new = before.get(document, 0), after.get(document, 0)
            if (old != new) if documents == "changed" else (new < relevant <= old):
                changed.append(document)
        if changed:
            documents_by_query[query] = tuple(changed)
    warnings = _warn_of_one_side(qrels_original, qrels_changed)
    if one_sided:
        rule = "not relevant there" if unjudged == "not_relevant" else "left out"
        documents_are = "document is" if one_sided == 1 else "documents are"
        warnings.append(f"{one_sided:,} {documents_are} judged on one side only: {rule}")
    return documents_by_query, warnings


def moves_of(
    original: Scores,
    changed: Scores,
    documents_by_query: Mapping[str, Collection[str]],
    *,
    missing: Missing = "after_last",
    ties: Ties = "id_descending",
) -> tuple[dict[str, Moves], list[str]]:
    """Return both ranks of the given documents, for queries in both runs; and warnings."""
    moves: dict[str, Moves] = {}
    lacking: dict[str, set[tuple[str, str]]] = {original.name: set(), changed.name: set()}
    for query, documents in documents_by_query.items():
        if query not in original or query not in changed:
            continue
        sides = []
        for run in (original, changed):
            ranks, absent = ranks_of(run, query, documents, ties=ties, missing=missing)
            lacking[run.name].update((query, document) for document in absent)
            sides.append(ranks)
        both = [
            (document, old, new)
            for document, old, new in zip(documents, *sides, strict=True)
            if old is not None and new is not None
        ]
        moves[query] = Moves(
            [document for document, _, _ in both],
            [old for _, old, _ in both],
            [new for _, _, new in both],
        )
    rule = "ranked after the last" if missing == "after_last" else "left out"
    warnings = [
        sentence
        for run in (original, changed)
        for sentence in warn_of_documents(lacking[run.name], run, rule)
    ]
    return moves, warnings


def _given_documents(
    qrels_original: Qrels, qrels_changed: Qrels, documents: Collection[Any]
) -> dict[str, tuple[str, ...]]:
    pairs = {item for item in documents if isinstance(item, tuple)}
    ids = {item for item in documents if not isinstance(item, tuple)}
    documents_by_query: dict[str, set[str]] = {}
    for query, document in pairs:
        documents_by_query.setdefault(query, set()).add(document)
    for query in dict.fromkeys((*qrels_original, *qrels_changed)):
        judged = {*qrels_original.get(query, ()), *qrels_changed.get(query, ())}
        if ids & judged:
            documents_by_query.setdefault(query, set()).update(ids & judged)
    return {query: tuple(sorted(its)) for query, its in documents_by_query.items()}


def _warn_of_one_side(qrels_original: Qrels, qrels_changed: Qrels) -> list[str]:
    warnings = []
    for name, here, there in (
        ("original", qrels_original, qrels_changed),
        ("changed", qrels_changed, qrels_original),
    ):
        alone = [query for query in here if query not in there]
        if alone:
            counted = count_queries(len(alone))
            warnings.append(f"only the {name} qrels have {counted} ({list_ids(alone)}): left out")
    return warnings


def _refuse_missing(runs: list[Scores], documents_by_query: Mapping[str, Collection[str]]) -> None:
    for run in runs:
        lacking = [query for query in documents_by_query if query not in run]
        if lacking:
            raise CannotMeasure(
                f"the {run.name} lacks {count_queries(len(lacking))} ({list_ids(lacking)}); "
                "add their lines or leave them out with missing_query='left_out'"
            )
