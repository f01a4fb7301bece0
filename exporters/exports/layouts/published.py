"""What a layout publishes: which pairs, which documents, which grades, under which ids.

Everything is walked once before the first file is written, so that what a layout cannot hold is
refused while nothing is there. The grades are those of the `trec` export.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F

from annotate.collection.models import Document, DocumentText
from annotate.judgments.consensus import State
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects.models import Project
from exporters.exports import collection, selection, walking
from exporters.exports.manifest import NO_LINE, NO_PAIR, LeftOut
from exporters.exports.models import Publication
from exporters.exports.passages import texts_to_publish
from exporters.exports.progress import Report, reported
from exporters.exports.selection import Pair, PooledDocument, QueryRow
from formats.records import ConditionRecord, NarrativeRecord, PairRecord

ORIGINAL, ALTERED = Narrative.Side.ORIGINAL, Narrative.Side.ALTERED
REVERSED = Narrative.Side.REVERSED
# The sides that a pair's original narrative is compared with.
COMPARED = (ALTERED, REVERSED)

# Characters of one text. A record of a JSONL file is one line, and readers hold it in memory.
MOST_CHARACTERS = 10_000_000
# Characters of texts that are in memory at a time, unless one alone has more.
TEXTS_AT_ONCE = 2_000_000
# Why a judged pair is left out: nothing stands in the original qrels.
NO_PRIOR = "no earlier relevance"


class Row(NamedTuple):
    """One candidate of a pair: its grade before, and its grade under the narrative of a side.

    A grade is None where there is no line in the qrels.
    """

    doc_id: str
    document: int
    before: int | None
    after: int | None

    @property
    def changed(self) -> bool:
        """Whether both grades are there and differ."""
        return self.before is not None and self.after is not None and self.before != self.after


class Text(NamedTuple):
    """A document as it is published. `known` says whether the project has a text of it."""

    doc_id: str
    title: str
    text: str
    markup: str
    known: bool


@dataclass
class Published:
    """The pairs of each side that are published, their documents, and what was counted."""

    project: Project
    publication: Publication
    all_pairs: list[Pair]
    queries: list[QueryRow]
    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    documents: set[int] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    # Ids that readers would split; of each pair the first.
    odd_ids: list[str] = field(default_factory=list)

    @property
    def every_pair(self) -> list[Pair]:
        """The pairs that are published on any side, in byte order of their ids."""
        chosen = {pair.pk for pairs in self.pairs.values() for pair in pairs}
        return [pair for pair in self.all_pairs if pair.pk in chosen]

    def pools(self, side: str, report: Report = lambda _: None) -> Iterator[tuple[Pair, list[Row]]]:
        """Yield each published pair of a side with its candidates in byte order of doc_id."""
        yield from _pools(self.project, self.pairs[side], side, report)

    def doc_ids(self) -> Iterator[str]:
        """Yield the id of every published document in byte order."""
        yield from _doc_ids(self.project, self.documents)

    def texts(self) -> Iterator[Text]:
        """Yield every published document in byte order of doc_id.

        Without the right to publish texts, neither title nor text is there.
        """
        if not self.publication.texts:
            for doc_id in self.doc_ids():
                yield Text(doc_id, "", "", "plain", known=False)
            return
        yield from texts_to_publish(self.project, _texts(self.project, self.documents))

    def narratives(self, side: str, of: Sequence[Pair]) -> Iterator[tuple[Pair, str]]:
        """Yield each of these pairs with its narrative in force on a side, or "" without one."""
        for pair, topic in zip(of, collection.pair_topics(of, side), strict=True):
            yield pair, topic.narrative or ""

    def records(self) -> Iterator[PairRecord]:
        """Yield every published pair with the narratives in force, without who wrote them."""
        for batch in walking.batches(self.every_pair, collection.TEXTS):
            yield from _records(batch)


def gather(project: Project, report: Report = lambda _: None) -> Published:
    """Choose what is published, and check that every layout can hold it.

    Raises ValueError with a sentence about what cannot be published.
    """
    publication = Publication.objects.filter(project=project).first() or Publication(
        project=project
    )
    found = Published(project, publication, selection.pairs(project), selection.queries(project))
    kept_out: dict[int, str] = {}
    changed = {}
    for side in COMPARED:
        chosen, changed[side] = _choose(found, side, kept_out if side == ALTERED else {}, report)
        found.pairs[side] = chosen
    if not found.pairs[ALTERED]:
        raise ValueError(
            "no instruction pair can be published: a pair needs documents with an earlier "
            "relevance and with an agreed one under its altered narrative. Judge one first"
        )
    if not changed[ALTERED]:
        raise ValueError(
            f"in none of the {len(found.pairs[ALTERED]):,} pairs the relevance of a document "
            "changed, so nothing can be measured. Rewrite narratives or judge more documents first"
        )
    # A set whose qrels do not differ from the original ones measures nothing.
    if not changed[REVERSED]:
        found.pairs[REVERSED] = []
    found.left_out = _left_out(found, kept_out)
    found.odd_ids += _odd_ids(pair.pair_id for pair in found.every_pair)
    found.odd_ids += _odd_ids(pair.query.query_id for pair in found.every_pair)
    if found.odd_ids:
        raise ValueError(
            f"the id {found.odd_ids[0]!r} has white space or a slash, at which the readers of the "
            "layouts split. Load the collection under other ids; the trec export takes these"
        )
    _check_documents(found)
    return found


def size(project: Project) -> int:
    """Return how many candidates are walked, once to check and once to write."""
    sizes = selection.pool_sizes(project)
    pairs = selection.pairs(project)
    return 2 * sum(
        sizes.get(pair.query.pk, 0) for side in COMPARED for pair in selection.written(pairs, side)
    )


def _choose(
    found: Published, side: str, kept_out: dict[int, str], report: Report
) -> tuple[list[Pair], int]:
    """Return the pairs that have a grade before and after, and how many grades differ."""
    counts = found.counts
    chosen: list[Pair] = []
    changed = 0
    of = selection.written(found.all_pairs, side)
    for pair, rows in _pools(found.project, of, side, report):
        before = sum(row.before is not None for row in rows)
        after = sum(row.after is not None for row in rows)
        if not before or not after:
            kept_out[pair.pk] = NO_PRIOR if after else NO_LINE
            continue
        chosen.append(pair)
        differing = sum(row.changed for row in rows)
        changed += differing
        found.documents |= {row.document for row in rows}
        found.odd_ids += _odd_ids(row.doc_id for row in rows)[:1]
        if side != ALTERED:
            continue
        for key, number in (
            ("layout_candidates", len(rows)),
            ("layout_original", before),
            ("layout_changed", after),
            ("layout_differing", differing),
            ("layout_without_line", sum(r.before is not None and r.after is None for r in rows)),
        ):
            counts[key] = counts.get(key, 0) + number
    return chosen, changed


def _pools(
    project: Project, of: Sequence[Pair], side: str, report: Report
) -> Iterator[tuple[Pair, list[Row]]]:
    for pair, pool in selection.standings(project, of, side):
        yield (
            pair,
            [
                Row(one.doc_id, one.document, one.prior, relevance_of(one, side))
                for one in reported(pool, report)
            ],
        )


def relevance_of(document: PooledDocument, side: str) -> int | None:
    """Return the grade that the qrels of a side hold for a candidate, or None for no line.

    Under altered narratives a document that nobody is asked about keeps its earlier relevance, as
    in `qrels.changed.txt`; under the others it has no line.
    """
    relevance, state = document.outcome
    if relevance is not None or state is State.DISPUTED:
        return relevance
    return None if side != ALTERED or document.in_scope else document.prior


def _left_out(found: Published, kept_out: dict[int, str]) -> list[LeftOut]:
    """Return the queries and pairs that are not published under altered narratives, and why."""
    chosen = {pair.pk for pair in found.pairs[ALTERED]}
    with_pair = {pair.query.pk for pair in found.all_pairs}
    left = [
        LeftOut(query_id=query.query_id, pair_id="", why=NO_PAIR)
        for query in found.queries
        if query.pk not in with_pair
    ]
    return left + [
        LeftOut(
            query_id=pair.query.query_id,
            pair_id=pair.pair_id,
            why=pair.left_out or kept_out.get(pair.pk, NO_LINE),
        )
        for pair in found.all_pairs
        if pair.pk not in chosen
    ]


def _odd_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids with white space or a slash: readers split lines and paths at them."""
    return [one for one in ids if "/" in one or any(letter.isspace() for letter in one)]


def _check_documents(found: Published) -> None:
    counts = found.counts
    counts["layout_documents"] = len(found.documents)
    if not found.publication.texts:
        return
    without = marked = 0
    long: list[tuple[str, int]] = []
    for doc_id, length, markup in _rows(found.project, found.documents, "length", "markup"):
        without += length is None
        marked += markup != Document.Markup.PLAIN
        if (length or 0) > MOST_CHARACTERS:
            long.append((doc_id, length))
    # Not before the cursor has come to its end.
    if long:
        raise ValueError(
            f"the text of document {long[0][0]} has {long[0][1]:,} characters, and a line of a "
            f"layout holds at most {MOST_CHARACTERS:,}. Load it in parts, or switch texts off"
        )
    if without == len(found.documents):
        raise ValueError(
            f"none of the {without:,} candidates has a text here. Load the texts, or switch texts "
            "off to publish ids alone"
        )
    counts["layout_without_text"] = without
    counts["layout_with_markup"] = marked


def _doc_ids(project: Project, wanted: set[int]) -> Iterator[str]:
    for (doc_id,) in _rows(project, wanted):
        yield doc_id


def _rows(project: Project, wanted: set[int], *fields: str) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Yield doc_id and these fields of the wanted documents in byte order of doc_id."""
    rows = Document.objects.filter(project=project).order_by(walking.bytewise("doc_id"))
    for pk, *found in walking.walk(rows, "pk", "doc_id", *fields):
        if pk in wanted:
            yield tuple(found)


def _texts(project: Project, wanted: set[int]) -> Iterator[Text]:
    """Yield the newest text of each wanted document; a few texts are in memory at a time."""
    batch: dict[int, tuple[str, str, str]] = {}
    characters = 0
    rows = Document.objects.filter(project=project).order_by(walking.bytewise("doc_id"))
    for pk, doc_id, title, markup, length in walking.walk(
        rows, "pk", "doc_id", "title", "markup", "length"
    ):
        if pk not in wanted:
            continue
        if batch and (characters + (length or 0) > TEXTS_AT_ONCE or len(batch) == collection.TEXTS):
            yield from _with_texts(batch)
            batch, characters = {}, 0
        batch[pk] = (doc_id, title, markup)
        characters += length or 0
    yield from _with_texts(batch)


def _with_texts(batch: dict[int, tuple[str, str, str]]) -> Iterator[Text]:
    newest = DocumentText.objects.filter(
        document__in=list(batch), version=F("document__text_version")
    )
    texts = dict(newest.values_list("document", "text"))
    for pk, (doc_id, title, markup) in batch.items():
        yield Text(doc_id, title, texts.get(pk, ""), markup, known=pk in texts)


def _records(pairs: Sequence[Pair]) -> Iterator[PairRecord]:
    """Yield these pairs as records of `pairs-jsonl`: each narrative in force is version 1."""
    keys = [version.pk for pair in pairs for version in pair.versions.values()]
    conditions: dict[int, list[ConditionRecord]] = {}
    asked = Condition.objects.filter(narrative__in=keys).order_by("number")
    for narrative, name, text in asked.values_list("narrative", "name", "text"):
        conditions.setdefault(narrative, []).append(ConditionRecord(name, text))
    texts: dict[int, tuple[str, str, str]] = {
        pk: (text, origin, model)
        for pk, text, origin, model in Narrative.objects.filter(pk__in=keys).values_list(
            "pk", "text", "origin", "model"
        )
    }
    models = dict(
        InstructionPair.objects.filter(pk__in=[pair.pk for pair in pairs]).values_list(
            "pk", "model"
        )
    )
    for pair in pairs:
        narratives = []
        if Narrative.Side.ORIGINAL not in pair.versions:
            narratives.append(NarrativeRecord(Narrative.Side.ORIGINAL, 1, ""))
        for side in Narrative.Side.values:
            if side in pair.versions:
                pk = pair.versions[side].pk
                text, origin, model = texts[pk]
                narratives.append(
                    NarrativeRecord(
                        side,
                        1,
                        text,
                        conditions=tuple(conditions.get(pk, ())),
                        origin=origin,
                        model=model,
                    )
                )
        yield PairRecord(
            pair.pair_id,
            pair.query.query_id,
            pair.query.title,
            pair.query.description,
            pair.category,
            pair.origin,
            models[pair.pk],
            tuple(narratives),
        )
