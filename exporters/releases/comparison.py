"""Compare two releases using only their stored files, so that the result never changes.

The files have the same order, so two of them are read side by side, one line of each at a time.
Document texts are not read.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from annotate.pairs.models import Narrative
from exporters.exports.manifest import manifest
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.selection import claimed, selection
from exporters.releases import contents, file_store
from exporters.releases.models import Release

# Values in place of a grade if the qrels have none.
DISPUTED, UNJUDGED, ABSENT = "disputed", "unjudged", ""
# The file of grades under the narratives of each side, in the order in which changes are listed.
# "claimed-…": the labels that machines claim. "before": the relevance with which documents were
# loaded.
BEFORE = "before"
CLAIMED = {side: f"claimed-{side.value}" for side in claimed.SIDES}
QRELS = {
    Narrative.Side.ALTERED.value: "trec/qrels.changed.txt",
    Narrative.Side.REVERSED.value: "trec/qrels.reversed.txt",
    Narrative.Side.ORIGINAL.value: "trec/qrels.original.judged.txt",
    **{under: f"trec/{claimed.file_name(side)}" for side, under in CLAIMED.items()},
    BEFORE: "trec/qrels.original.all.txt",
}
OPEN = {DISPUTED: "trec/disputed.tsv", UNJUDGED: "trec/unjudged.tsv"}
PAIRS = "jsonl/pairs.jsonl"
MANIFEST = f"trec/{manifest.NAME}"
READ = (*QRELS.values(), *OPEN.values(), PAIRS, MANIFEST, contents.QUERIES)
# The counts that are compared.
COMPARED = {
    "queries": "queries",
    "pairs": "instruction pairs",
    "pairs_written": "of them in the changed qrels",
    "pairs_claimed": "of them in the claimed qrels",
    "candidates": "documents in the pools",
    "prior_relevant": "relevant before",
    "judged": "documents judged, not settled",
    "settled": "documents settled by a lead",
    "disputed": "disputed, left out",
    "unjudged": "not judged, left out",
    "dropped": "relevant before, not now",
    "grew": "relevant now, not before",
    "claims": "claimed labels",
    "claims_corrected": "of them corrected by checks",
    "claims_reversed": "claimed labels under reversed narratives",
    "claims_original": "claimed labels under original narratives",
    "judgments_by_people": "judgments by people under every version",
    "judgments_stale": "of them under an older narrative or text, not counted",
    "adjudications_standing": "settling decisions under every version",
    "judgments_by_machines": "claims by machines under every version",
    "flags": "flags",
    "reviews": "reviews",
    "decisions": "decisions on instructions",
    "documents_with_newer_texts": "documents with several text versions",
}


# A release has this count only if it is not 0.
ONLY_IF_ANY = "documents_with_newer_texts"
STATES = ("judged", "disputed", "unjudged")
PRESENT, REWORDED = "there", "reworded"
# The lists of differences, in the order of the table.
LISTS = ("listed", "texts", "narratives", "grades")

T = TypeVar("T")
Key = tuple[str, ...]
_PLACES = {under: str(place) for place, under in enumerate(QRELS)}


class Change(NamedTuple):
    """A difference: a row of the table.

    `narrative` is the side of a narrative, and a key of QRELS for a grade. `before` and `after` are
    the grade in the qrels, "disputed" or "unjudged"; the version of a narrative or of a text; of a
    query or pair "there", for a query with another text "reworded", and for a pair that is left out
    of the changed files the reason. They are "" if it is missing, and for a document that had at
    most one text.
    """

    change: Literal["query", "pair", "text", "narrative", "grade"]
    narrative: str = ""
    query_id: Annotated[str, "Empty for a text."] = ""
    pair_id: str = ""
    doc_id: str = ""
    before: str = ""
    after: str = ""

    @property
    def key(self) -> Key:
        """Return the sort key in its list: of queries and pairs, queries come first."""
        match self.change:
            case "query":
                return "0", self.query_id
            case "pair":
                return "1", self.pair_id
            case "text":
                return (self.doc_id,)
            case "narrative":
                return self.pair_id, str(Narrative.Side.values.index(self.narrative))
            case "grade":
                return _PLACES[self.narrative], self.pair_id or self.query_id, self.doc_id


class NarrativeText(NamedTuple):
    """A current narrative."""

    version: int
    text: str
    conditions: tuple[tuple[str, str], ...]


class NarrativeChange(NamedTuple):
    """A current narrative whose text or conditions differ, or that only one release has."""

    change: Change
    before: NarrativeText | None
    after: NarrativeText | None

    @property
    def key(self) -> Key:
        """Return the sort key."""
        return self.change.key


class RuleChange(NamedTuple):
    """A rule that differs."""

    about: str
    before: str
    after: str


class CountChange(NamedTuple):
    """A count in both releases, with its key and description."""

    key: str
    words: str
    before: int
    after: int

    @property
    def more(self) -> int:
        """Return the increase of the count."""
        return self.after - self.before


class Comparison:
    """The differences between two releases of one project, `before` and `after`.

    They are iterators over the stored files, in byte order of ids. Raises `file_store.Damaged` if
    one of these files is missing or damaged.
    """

    def __init__(self, before: Release, after: Release) -> None:
        self.before, self.after = before, after
        self._files = {release.pk: contents.files(release) for release in (before, after)}
        for release in (before, after):
            for name in READ:
                entry = self._files[release.pk].get(name)
                if entry and (wrong := file_store.find_fault(release.project_id, entry)):
                    raise file_store.Damaged(wrong)
        manifests = [self._manifest(release) for release in (before, after)]
        self._pairs = tuple(
            {facts["pair_id"]: facts for facts in manifest["pairs"]} for manifest in manifests
        )
        self._texts = tuple(manifest.get("text_versions", {}) for manifest in manifests)

    def counts(self) -> list[CountChange]:
        """Return the counts of COMPARED that both releases have."""
        counts = [contents.all_counts(contents.of(r)) for r in (self.before, self.after)]
        if any(ONLY_IF_ANY in figures for figures in counts):
            counts = [{ONLY_IF_ANY: 0, **figures} for figures in counts]
        return [
            CountChange(key, words, counts[0][key], counts[1][key])
            for key, words in COMPARED.items()
            if key in counts[0] and key in counts[1]
        ]

    def rules(self) -> list[RuleChange]:
        """Return the rules that differ: the subject, and what only one of the releases says.

        Formats may have different rules about one subject.
        """
        before, after = (contents.of(release)["rules"] for release in (self.before, self.after))
        changes = []
        for about in dict.fromkeys(rule["about"] for rule in [*before, *after]):
            gone = [r["says"] for r in before if r["about"] == about and r not in after]
            new = [r["says"] for r in after if r["about"] == about and r not in before]
            if gone or new:
                changes.append(RuleChange(about, " ".join(gone), " ".join(new)))
        return changes

    def changes(self, listed: str) -> Iterator[Change]:
        """Yield the differences of one of LISTS."""
        if listed == "narratives":
            return (narrative.change for narrative in self.narratives())
        return {"listed": self.presence_changes, "texts": self.texts, "grades": self.grades}[
            listed
        ]()

    def presence_changes(self) -> Iterator[Change]:
        """Yield queries, then pairs, that differ between the releases."""
        for (query_id,), old, new in self._differing(self._queries, contents.QUERIES):
            there = REWORDED if old and new else PRESENT
            yield Change(
                "query",
                query_id=query_id,
                before=PRESENT if old else "",
                after=there if new else "",
            )
        before_of, after_of = self._pairs
        for pair_id in sorted(before_of.keys() | after_of.keys()):
            facts = [of.get(pair_id) for of in (before_of, after_of)]
            before, after = (its["left_out"] or PRESENT if its else "" for its in facts)
            if before != after:
                query_id = (before_of | after_of)[pair_id]["query_id"]
                yield Change("pair", query_id=query_id, pair_id=pair_id, before=before, after=after)

    def texts(self) -> Iterator[Change]:
        """Yield documents whose newest text version differs."""
        before, after = self._texts
        for doc_id in sorted(before.keys() | after.keys(), key=str.encode):
            old, new = (str(of.get(doc_id, "")) for of in (before, after))
            if old != new:
                yield Change("text", doc_id=doc_id, before=old, after=new)

    def narratives(self) -> Iterator[NarrativeChange]:
        """Yield current narratives that differ, of pairs in both releases, by pair and side."""
        for (pair_id,), before, after in self._differing(self._narratives, PAIRS):
            if before is None or after is None:
                continue
            (_query_id, old_sides), (query_id, new_sides) = before, after
            for side in Narrative.Side.values:
                old, new = old_sides.get(side), new_sides.get(side)
                if _without_version(old) != _without_version(new):
                    versions = (str(words.version) if words else "" for words in (old, new))
                    change = Change("narrative", side, query_id, pair_id, "", *versions)
                    yield NarrativeChange(change, old, new)

    def grades(self) -> Iterator[Change]:
        """Yield documents whose grade differs, of pairs that both releases have in their files.

        Pairs that only one release has are in `listed`.
        """
        for under in QRELS:
            queries = self._compared_pairs(under)
            graded = partial(self._graded, under=under)
            for (topic, doc_id), old, new in self._differing(graded, QRELS[under], *OPEN.values()):
                before, after = old or ABSENT, new or ABSENT
                if under == BEFORE:
                    yield Change("grade", under, topic, "", doc_id, before, after)
                elif topic in queries:
                    yield Change("grade", under, queries[topic], topic, doc_id, before, after)

    def _compared_pairs(self, under: str) -> dict[str, str]:
        """Return the pairs whose grades are compared, each with its query."""
        before, after = self._pairs
        return {
            pair_id: facts["query_id"]
            for pair_id, facts in after.items()
            if pair_id in before
            and _has_grades(facts, under)
            and _has_grades(before[pair_id], under)
        }

    def states(self, release: Release) -> defaultdict[str, Counter[str]]:
        """Return how many documents of each query a release has judged, disputed and unjudged."""
        states: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for facts in self._pairs[release.pk == self.after.pk].values():
            counts = facts["counts"]
            states[facts["query_id"]].update(
                judged=counts.get("judged", 0) + counts.get("settled", 0),
                disputed=counts.get("disputed", 0),
                unjudged=counts.get("unjudged", 0),
            )
        return states

    def _manifest(self, release: Release) -> Manifest:
        entry = self._files[release.pk][MANIFEST]
        with file_store.open_stored(release.project_id, entry) as stream:
            manifest: Manifest = json.load(stream)
        return manifest

    def _differing(
        self, read: Callable[[Release], Iterator[tuple[Key, T]]], *names: str
    ) -> Iterator[tuple[Key, T | None, T | None]]:
        """Yield key, before and after for each difference in what is read of these files.

        `read` yields keys and values, sorted by key. Equal files are not read.
        """
        before, after = (
            [entry and entry["sha256"] for entry in map(self._files[release.pk].get, names)]
            for release in (self.before, self.after)
        )
        if before == after:
            return
        old = ((key, "old", value) for key, value in read(self.before))
        new = ((key, "new", value) for key, value in read(self.after))
        for key, entries in groupby(merge(old, new, key=itemgetter(0)), itemgetter(0)):
            values = {release: value for _key, release, value in entries}
            if values.get("old") != values.get("new"):
                yield key, values.get("old"), values.get("new")

    def _queries(self, release: Release) -> Iterator[tuple[Key, tuple[str, str]]]:
        for line in self._lines(release, contents.QUERIES):
            fields = json.loads(line)
            yield (fields["query_id"],), (fields["title"], fields["description"])

    def _narratives(
        self, release: Release
    ) -> Iterator[tuple[Key, tuple[str, dict[str, NarrativeText]]]]:
        """Yield the query and the current narratives of each pair."""
        for line in self._lines(release, PAIRS):
            fields = json.loads(line)
            # Documents written for an instruction follow the pairs.
            if "narratives" in fields:
                yield (fields["pair_id"],), (fields["query_id"], _current_narratives(fields))

    def _graded(self, release: Release, under: str) -> Iterator[tuple[Key, str]]:
        """Yield the grade of each document, and the reason of those that should have one."""
        qrels = (line.split(" ") for line in self._lines(release, QRELS[under]))
        grades = (((topic, doc_id), grade) for topic, _, doc_id, grade in qrels)
        return merge(grades, *(self._ungraded(state, release, under) for state in OPEN))

    def _ungraded(self, state: str, release: Release, under: str) -> Iterator[tuple[Key, str]]:
        for line in self._lines(release, OPEN[state]):
            _, pair_id, narrative, doc_id, _ = line.split("\t")
            if narrative == under:
                yield (pair_id, doc_id), state

    def _lines(self, release: Release, name: str) -> Iterator[str]:
        """Yield the lines of a stored file; none if the release does not have the file."""
        entry = self._files[release.pk].get(name)
        if entry is None:
            return
        with file_store.open_stored(release.project_id, entry) as stream:
            for line in stream:
                yield line.decode().rstrip("\n")


def _has_grades(facts: Mapping[str, Any], under: str) -> bool:
    """Return whether a release has the grades of a pair in the file of a key of QRELS."""
    if under == Narrative.Side.ALTERED:
        return not facts["left_out"]
    for side, of_claims in CLAIMED.items():
        if under == of_claims:
            return bool(facts.get("claimed_on", {}).get(side.value) == selection.CLAIMED)
    return True


def _without_version(narrative: NarrativeText | None) -> NarrativeText | None:
    return narrative and narrative._replace(version=0)


def _current_narratives(pair: Mapping[str, Any]) -> dict[str, NarrativeText]:
    """Return the current narratives of a pair: the highest version in use of each side."""
    current: dict[str, NarrativeText] = {}
    for narrative in sorted(pair["narratives"], key=itemgetter("version")):
        if not narrative.get("withdrawn_at"):
            conditions = tuple(
                (condition.get("name", ""), condition["text"])
                for condition in narrative.get("conditions", ())
            )
            current[narrative["side"]] = NarrativeText(
                narrative["version"], narrative["text"], conditions
            )
    return current


class QueryChange(NamedTuple):
    """A query with differences: numbers of changed grades and narratives, and the states of its
    documents before and after.
    """

    query_id: str
    grades: int
    narratives: int
    judged: tuple[int, int]
    disputed: tuple[int, int]
    unjudged: tuple[int, int]

    @property
    def key(self) -> Key:
        """Return the sort key."""
        return (self.query_id,)


def queries(
    comparison: Comparison, grades: Counter[str], narratives: Counter[str]
) -> list[QueryChange]:
    """Return the queries with differences, in byte order; `grades` and `narratives` by query_id."""
    states = [comparison.states(release) for release in (comparison.before, comparison.after)]
    rows = []
    for query_id in sorted(states[0].keys() | states[1].keys() | grades.keys() | narratives.keys()):
        before, after = (of_release[query_id] for of_release in states)
        if before != after or grades[query_id] or narratives[query_id]:
            pairs_of_counts = [(before[state], after[state]) for state in STATES]
            rows.append(
                QueryChange(query_id, grades[query_id], narratives[query_id], *pairs_of_counts)
            )
    return rows


class Page(NamedTuple):
    """One page of a list, the length of the list, and the key after which the list continues."""

    rows: list[Any]
    total: int
    following: Key | None


def read_page(rows: Iterable[Any], after: Key, size: int) -> Page:
    """Read the whole list, and return the `size` rows that follow the key `after`.

    Each row has a sort key `key`.
    """
    shown: list[Any] = []
    total, more = 0, False
    for row in rows:
        total += 1
        if row.key > after:
            if len(shown) < size:
                shown.append(row)
            else:
                more = True
    return Page(shown, total, shown[-1].key if more else None)


def table(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """Yield all differences as rows: queries, pairs, texts, narratives, grades."""
    yield Change._fields
    for listed in LISTS:
        yield from comparison.changes(listed)
