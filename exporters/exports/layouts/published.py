"""Choose what a layout publishes: pairs, documents and grades.

Everything is read once before the first file is written, so that content which a layout cannot hold
is refused before any file exists. The grades are those of the `trec` export: people's agreed grades
come first. If claimed labels are published, the outcome of a label check comes next, then the claim
(`exporters.exports.selection.claimed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import F

from annotate.collection.models import Candidate, Document, DocumentText, Query
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.bulk import in_byte_order
from base.texts import amount
from exporters.exports.files import Report, report_rows
from exporters.exports.manifest.manifest import NO_LINE, NO_PAIR, LeftOut
from exporters.exports.models import Publication, publication_of
from exporters.exports.selection import claimed, collection, conditions, ordered_rows, selection
from exporters.exports.selection.conditions import (
    AnsweredCondition,
    DocumentConditions,
    conditions_by_narrative,
    records_of,
)
from exporters.exports.selection.selection import CLAIMED, Pair, PooledDocument
from formats.records import ConditionRecord, Doc, PairRecord
from formats.texts import CannotHold, excerpt

ORIGINAL, ALTERED = Narrative.Side.ORIGINAL, Narrative.Side.ALTERED
REVERSED = Narrative.Side.REVERSED
# The sides that are compared with a pair's original narrative.
COMPARED = (ALTERED, REVERSED)
# Most characters of one text. A record of a JSONL file is one line, which readers hold in memory.
MOST_CHARACTERS = 10_000_000
# Why a judged pair is left out: it has no line in the original qrels.
NO_PRIOR = "no earlier relevance"
MET, NOT_MET = "met", "not_met"


def conditions_of(pairs: Sequence[Pair], side: str) -> dict[int, tuple[ConditionRecord, ...]]:
    """Return the conditions of the current narratives on a side, by key of the pair."""
    of = {pair.versions[side].pk: pair.pk for pair in pairs if side in pair.versions}
    asked = conditions_by_narrative(of)
    return {of[narrative]: records_of(conditions) for narrative, conditions in asked.items()}


@dataclass
class Published:
    """The published pairs of each side, their documents and grades."""

    project: Project
    publication: Publication
    all_pairs: list[Pair]
    queries: list[Query]
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    documents: set[int] = field(default_factory=set)
    # Counts of candidates and grades of the altered side, under the manifest's keys.
    grades: Counter[str] = field(default_factory=Counter)
    # The documents that have no text, and those that are tables, if texts are published.
    without_text: set[int] = field(default_factory=set)
    with_markup: set[int] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    # What the layout cannot hold: a sentence on the first such id, or "".
    unsupported: str = ""
    # The machines whose claimed labels are published where people have not judged.
    machines: list[Membership] = field(default_factory=list)
    # Queries without an instruction pair, with their formerly relevant documents, if the layout
    # holds these.
    lone: dict[int, list[str]] = field(default_factory=dict)
    lone_documents: set[int] = field(default_factory=set)
    # Sentences about what the layout cannot hold of this project.
    notes: list[str] = field(default_factory=list)

    @property
    def every_pair(self) -> list[Pair]:
        """Return the pairs that are published on any side, in byte order of their ids."""
        chosen = {pair.pk for pairs in self.pairs.values() for pair in pairs}
        return [pair for pair in self.all_pairs if pair.pk in chosen]

    @property
    def counts(self) -> dict[str, int]:
        """Return what is published, under the keys of the manifest."""
        counts = {
            "layout_pairs": len(self.pairs[ALTERED]),
            "layout_documents": len(self.documents),
            **self.grades,
        }
        if self.pairs[REVERSED]:
            counts["layout_pairs_reversed"] = len(self.pairs[REVERSED])
        if self.publication.texts:
            counts["layout_without_text"] = len(self.without_text & self.documents)
        return counts

    def pools(self, side: str, report: Report) -> Iterator[tuple[Pair, list[Row]]]:
        """Yield each published pair of a side with its candidates in byte order of doc_id."""
        claims = bool(self.machines)
        yield from pools_with_grades(self.project, self.pairs[side], side, report, claims=claims)

    def keep_only(self, kept: Mapping[int, Collection[Row]], why: str) -> int:
        """Publish only these candidates of the altered side, by key of their pair.

        The other pairs are listed as left out. Return how many documents are.
        """
        before = self.documents
        self.left_out += [
            LeftOut(query_id=pair.query.query_id, pair_id=pair.pair_id, why=why)
            for pair in self.pairs[ALTERED]
            if pair.pk not in kept
        ]
        self.pairs[ALTERED] = [pair for pair in self.pairs[ALTERED] if pair.pk in kept]
        self.documents = self.lone_documents | {
            row.document for rows in kept.values() for row in rows
        }
        self.grades = Counter()
        for rows in kept.values():
            self.grades.update(_count_grades(rows))
        return len(before - self.documents)

    def texts(self) -> Iterator[Doc]:
        """Yield every published document with its newest text in byte order of doc_id.

        If texts may not be published, they have neither title nor text.
        """
        if self.publication.texts:
            yield from collection.documents(self.project, self.documents, newest=True)
        else:
            yield from (Doc(doc_id) for _pk, doc_id in _rows(self, "doc_id"))

    def texts_of(self, documents: Collection[int]) -> dict[int, str]:
        """Return the newest texts of these few documents, by their keys."""
        newest = DocumentText.objects.filter(
            document__in=list(documents), version=F("document__text_version")
        )
        return dict(ordered_rows.stream_rows(newest, "document", "text"))

    def narratives(self, side: str, of: Sequence[Pair]) -> Iterator[tuple[Pair, str]]:
        """Yield each of these pairs with its current narrative on a side, or "" without one."""
        for pair, topic in zip(of, collection.pair_topics(of, side), strict=True):
            yield pair, topic.narrative or ""

    def records(self) -> Iterator[PairRecord]:
        """Yield every published pair with its current narratives, without authors."""
        yield from collection.current_pair_records(self.every_pair)


@dataclass(frozen=True)
class Shape:
    """What a layout requires of a pair, and which of its candidates it can hold."""

    # Whether claimed labels are published regardless of the publication settings.
    claims: bool = False
    # The sides whose grades it holds.
    sides: tuple[str, ...] = COMPARED
    # Whether each pair needs a document with an earlier relevance, and the set one that changed.
    change: bool = True
    # Whether the files can hold a candidate.
    holds: Callable[[Row], bool] = lambda row: True
    # Characters that an id may not contain in this layout, besides white space.
    refuses: str = ""
    # Whether a document's id, with an ending, is the name of a file.
    names_files: bool = False
    # Whether queries without an instruction pair are published with their relevant documents.
    lone_queries: bool = False
    # Whether the layout consists of texts, so that it needs the right to publish them.
    needs_texts: bool = False


TOOLS = Shape()
# In bytes, without the ending: file systems allow 255.
MAX_FILE_NAME = 250


def gather(project: Project, report: Report = lambda _: None, shape: Shape = TOOLS) -> Published:
    """Choose what is published, and check that the layout can hold it.

    Raises CannotHold for what cannot be published.
    """
    publication = publication_of(project)
    published = Published(
        project, publication, selection.pairs(project), selection.queries(project)
    )
    if shape.needs_texts and not publication.texts:
        raise CannotHold(
            "this layout consists of texts of documents, which the publication settings do not "
            "publish. Publish texts and name the licence, or choose a layout that can hold only ids"
        )
    if shape.claims or publication.claims:
        published.machines = claimed.raters(project)
    kept_out: dict[int, str] = {}
    for side in COMPARED:
        published.pairs[side] = []
        if side not in shape.sides:
            continue
        chosen = _choose_pairs(published, side, shape, report)
        if side == ALTERED:
            published.grades, kept_out = chosen.grades, chosen.kept_out
        elif shape.change and not chosen.grades["layout_differing"]:
            # A set whose qrels equal the original ones measures nothing.
            continue
        published.pairs[side] = chosen.pairs
        published.documents |= chosen.documents
        published.unsupported = published.unsupported or chosen.unsupported
    if not published.pairs[ALTERED]:
        raise CannotHold(_nothing_to_publish(published, shape))
    if shape.change and not published.grades["layout_differing"]:
        measured = amount(len(published.pairs[ALTERED]), "pair")
        raise CannotHold(
            f"the relevance of no document changed in {measured}, so nothing can be measured. "
            "Rewrite narratives or judge more documents first"
        )
    published.left_out = _left_out(published, kept_out)
    if shape.lone_queries:
        _add_lone_queries(published, shape)
    pairs = published.every_pair
    ids = [*(pair.pair_id for pair in pairs), *(pair.query.query_id for pair in pairs)]
    if unsupported := published.unsupported or _unsupported(ids, shape):
        raise CannotHold(
            f"{unsupported}, which this layout cannot hold. Load the collection with other ids, "
            "or use the trec export, which can hold these"
        )
    _check_texts(published)
    return published


def size(project: Project) -> int:
    """Return how many candidates are read: once to check and once to write."""
    sizes = selection.pool_sizes(project)
    pairs = selection.pairs(project)
    return 2 * sum(
        sizes.get(pair.query.pk, 0)
        for side in COMPARED
        for pair in selection.written_pairs(pairs, side)
    )


def _nothing_to_publish(published: Published, shape: Shape) -> str:
    if not shape.change:
        return (
            "no instruction pair can be published: a pair needs documents that people judged, or "
            "for which a machine claims a label, under its altered narrative. Judge one first"
        )
    sentence = (
        "no instruction pair can be published: a pair needs documents with an earlier "
        "relevance and with an agreed one under its altered narrative. Judge one first"
    )
    if not published.machines and any(pair.claims for pair in published.all_pairs):
        return f"{sentence}, or publish claimed labels in the publication settings"
    return sentence


class _Chosen(NamedTuple):
    """What a layout holds of one side; `kept_out`: why it does not hold other pairs, by key."""

    pairs: list[Pair]
    documents: set[int]
    grades: Counter[str]
    unsupported: str
    kept_out: dict[int, str]


def _choose_pairs(published: Published, side: str, shape: Shape, report: Report) -> _Chosen:
    """Choose the pairs with the grades that the layout requires."""
    pairs: list[Pair] = []
    documents: set[int] = set()
    grades: Counter[str] = Counter()
    unsupported = ""
    kept_out: dict[int, str] = {}
    claims = bool(published.machines)
    of = pairs_with_grades(published.all_pairs, side, claims=claims)
    if not shape.change and side != ALTERED:
        # The paper's record needs the altered narrative.
        of_altered = {pair.pk for pair in published.pairs[ALTERED]}
        of = [pair for pair in of if pair.pk in of_altered]
    for pair, pool in pools_with_grades(published.project, of, side, report, claims=claims):
        rows = [row for row in pool if shape.holds(row)]
        counts = _count_grades(rows)
        before, after = counts["layout_original"], counts["layout_changed"]
        if not after or (shape.change and not before):
            kept_out[pair.pk] = NO_PRIOR if after else NO_LINE
            continue
        pairs.append(pair)
        documents |= {row.document for row in rows}
        grades.update(counts)
        doc_ids = (row.doc_id for row in rows)
        unsupported = unsupported or _unsupported(doc_ids, shape, documents=True)
    return _Chosen(pairs, documents, grades, unsupported, kept_out)


def _count_grades(rows: Collection[Row]) -> dict[str, int]:
    """Count the candidates of a pair and their grades, under the keys of the manifest."""
    return {
        "layout_candidates": len(rows),
        "layout_original": sum(row.before is not None for row in rows),
        "layout_changed": sum(row.after is not None for row in rows),
        "layout_claims": sum(row.is_claim for row in rows),
        "layout_undecided": sum(row.is_undecided for row in rows),
        "layout_differing": sum(row.changed for row in rows),
        "layout_without_line": sum(r.before is not None and r.after is None for r in rows),
    }


def _add_lone_queries(published: Published, shape: Shape) -> None:
    """Publish the queries without an instruction pair, with the documents relevant before."""
    with_pair = {pair.query.pk for pair in published.all_pairs}
    lone = [query for query in published.queries if query.pk not in with_pair]
    lone_ids = (query.query_id for query in lone)
    published.unsupported = published.unsupported or _unsupported(lone_ids, shape)
    for batch in ordered_rows.batches(lone, ordered_rows.BATCH):
        rows = Candidate.objects.filter(
            query__in=[query.pk for query in batch],
            prior_relevance__gte=published.project.relevant_from,
        ).order_by(in_byte_order("document__doc_id"))
        for query, document, doc_id in ordered_rows.stream_rows(
            rows, "query", "document", "document__doc_id"
        ):
            published.unsupported = published.unsupported or _unsupported(
                [doc_id], shape, documents=True
            )
            published.lone.setdefault(query, []).append(doc_id)
            published.lone_documents.add(document)
    published.documents |= published.lone_documents
    published.left_out = [omission for omission in published.left_out if omission["why"] != NO_PAIR]
    published.lone |= {query.pk: published.lone.get(query.pk, []) for query in lone}


def _left_out(published: Published, kept_out: dict[int, str]) -> list[LeftOut]:
    """Return the queries and pairs that are not published under altered narratives, and why."""
    chosen = {pair.pk for pair in published.pairs[ALTERED]}
    with_pair = {pair.query.pk for pair in published.all_pairs}
    left = [
        LeftOut(query_id=query.query_id, pair_id="", why=NO_PAIR)
        for query in published.queries
        if query.pk not in with_pair
    ]
    return left + [
        LeftOut(
            query_id=pair.query.query_id,
            pair_id=pair.pair_id,
            why=pair.left_out or kept_out.get(pair.pk, NO_LINE),
        )
        for pair in published.all_pairs
        if pair.pk not in chosen
    ]


def _unsupported(ids: Iterable[str], shape: Shape, *, documents: bool = False) -> str:
    """Say of the first id that a layout cannot hold why; "" if it can hold all of them.

    Readers split at white space.
    """
    for id_ in ids:
        if any(letter.isspace() for letter in id_) or any(sign in id_ for sign in shape.refuses):
            signs = "".join(f" or the character {sign}" for sign in shape.refuses)
            return f"the id {id_!r} has white space{signs}"
        if documents and shape.names_files and len(id_.encode()) > MAX_FILE_NAME:
            return f"the id {excerpt(id_, 40)!r} is longer than {MAX_FILE_NAME} bytes"
    return ""


def _check_texts(published: Published) -> None:
    """Refuse texts that no layout can hold, and remember which documents have none."""
    if not published.publication.texts:
        return
    too_long: list[tuple[str, int]] = []
    for pk, doc_id, length, markup in _rows(published, "doc_id", "length", "markup"):
        if length is None:
            published.without_text.add(pk)
        elif length > MOST_CHARACTERS:
            too_long.append((doc_id, length))
        if markup != Document.Markup.PLAIN:
            published.with_markup.add(pk)
    # Raise only after the cursor is exhausted.
    if too_long:
        raise CannotHold(
            f"the text of document {too_long[0][0]} has {too_long[0][1]:,} characters, and a line "
            f"of a layout holds at most {MOST_CHARACTERS:,}. Load it in parts, or switch texts off"
        )
    if len(published.without_text) == len(published.documents):
        raise CannotHold(
            "no candidate has a text in this project. Load the texts, or "
            "switch texts off to publish only ids"
        )


def _rows(published: Published, *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield key and fields of the published documents in byte order of doc_id."""
    rows = Document.objects.filter(project=published.project).order_by(in_byte_order("doc_id"))
    for row in ordered_rows.stream_rows(rows, "pk", *fields):
        if row[0] in published.documents:
            yield row


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
    pairs = published.pairs[ALTERED]
    chosen = conditions.chosen_names(published.project)
    by_pair: dict[str, dict[str, Answers]] = {}
    for document in conditions.documents(published.project, pairs):
        if document.side == ALTERED and (answers := _answers(document, chosen)) is not None:
            by_pair.setdefault(document.pair_id, {})[document.doc_id] = answers
    for pair, pool in published.pools(ALTERED, report):
        if pair.pair_id in by_pair:
            yield pair, pool, by_pair[pair.pair_id]


def _answers(document: DocumentConditions, chosen: Sequence[str]) -> Answers | None:
    answers = [conditions.counted_answer(condition, chosen) for condition in document.conditions]
    if not all(answer in (MET, NOT_MET) for answer in answers):
        return None
    return Answers(
        document.conditions,
        tuple(answer for answer in answers if answer is not None),
        all(condition.agreed is not None for condition in document.conditions),
    )


class Row(NamedTuple):
    """One candidate of a pair: its earlier grade, and its grade under the narrative of a side.

    A grade is None if the qrels have no line. `is_claim`: whether the grade is a machine's claim
    that nobody has judged or checked; `is_undecided`: whether it is None because machines claim
    different grades.
    """

    doc_id: str
    candidate: int
    document: int
    before: int | None
    after: int | None
    is_claim: bool = False
    is_undecided: bool = False

    @property
    def changed(self) -> bool:
        """Return whether both grades exist and differ."""
        return self.before is not None and self.after is not None and self.before != self.after


def pairs_with_grades(pairs: Sequence[Pair], side: str, *, claims: bool) -> list[Pair]:
    """Return the pairs that may have grades under a side: judged by people, or claimed."""
    judged = {pair.pk for pair in selection.written_pairs(pairs, side)}
    return [
        pair for pair in pairs if pair.pk in judged or (claims and pair.claimed_on[side] == CLAIMED)
    ]


def pools_with_grades(
    project: Project,
    of: Sequence[Pair],
    side: str,
    report: Report = lambda _: None,
    *,
    claims: bool,
) -> Iterator[tuple[Pair, list[Row]]]:
    """Yield each pair with its candidates in byte order of doc_id.

    Every pair must have a narrative on that side. `claims`: also claimed labels, where people have
    not judged.
    """
    judged = {pair.pk for pair in selection.written_pairs(of, side)}
    for pair, pool in claimed.labelled_pools(project, of, side, claims=claims):
        yield (
            pair,
            [
                _row(document, side, label, by_people=pair.pk in judged)
                for document, label in report_rows(pool, report)
            ],
        )


def _row(
    document: PooledDocument, side: str, label: claimed.ClaimedLabel | None, *, by_people: bool
) -> Row:
    after, is_claim, is_undecided = None, False, False
    if label is not None:
        after = label.relevance
        is_undecided = label.counts_as == claimed.UNDECIDED
        is_claim = label.counts_as not in ("claims_judged", "claims_checked", claimed.UNDECIDED)
    elif by_people:
        after = document.relevance_on(side)
    return Row(
        document.doc_id,
        document.candidate,
        document.document,
        document.prior,
        after,
        is_claim,
        is_undecided,
    )
