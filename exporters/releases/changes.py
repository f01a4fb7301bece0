"""The kinds of differences between two releases: grades, narratives, texts, queries, counts."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from annotate.pairs.models import Narrative
from exporters.exports.manifest import manifest
from exporters.exports.selection import claimed
from exporters.releases import contents

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


# Names of files in older releases.
EARLIER_NAMES = {QRELS[BEFORE]: "trec/qrels.original.txt"}


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
    "judgments_by_people": "judgments by people",
    "judgments_stale": "of them under an older narrative or text, not counted",
    "adjudications_standing": "settling decisions by leads",
    "judgments_by_machines": "claims by machines under every version",
    "flags": "flags",
    "reviews": "reviews",
    "decisions": "decisions on instructions",
    "documents_with_newer_texts": "documents with several text versions",
}


# A release has this count only if it is not 0.
ONLY_IF_ANY = "documents_with_newer_texts"


STATES = ("judged", "disputed", "unjudged")


T = TypeVar("T")


Key = tuple[str, ...]


class GradeChange(NamedTuple):
    """A document whose grade differs.

    `before` and `after` are the grade in the qrels, "disputed", "unjudged", or "" if the document
    is in none of the files. `under`: a key of QRELS. `pair_id` is "" for the earlier relevance.
    """

    under: str
    query_id: str
    pair_id: str
    doc_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Return the sort key among all changes."""
        return str(_PLACES[self.under]), self.pair_id or self.query_id, self.doc_id


_PLACES = {under: place for place, under in enumerate(QRELS)}


class NarrativeText(NamedTuple):
    """A current narrative."""

    version: int
    text: str
    conditions: tuple[tuple[str, str], ...]


class NarrativeChange(NamedTuple):
    """A current narrative whose text or conditions differ, or that only one release has."""

    pair_id: str
    query_id: str
    side: str
    before: NarrativeText | None
    after: NarrativeText | None

    @property
    def key(self) -> Key:
        """Return the sort key."""
        return self.pair_id, str(Narrative.Side.values.index(self.side))


class PresenceChange(NamedTuple):
    """A query or a pair that differs between the releases.

    `before` and `after` are "" if it is missing and "there" if it is present; "reworded" for a
    query with another text; for a pair that is left out of the changed files, the reason.
    """

    kind: str
    query_id: str
    pair_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Return the sort key: queries first, then pairs."""
        return ("0", self.query_id) if self.kind == QUERY else ("1", self.pair_id)


QUERY, PAIR = "query", "pair"


PRESENT, REWORDED = "there", "reworded"


class TextChange(NamedTuple):
    """A document whose newest text version differs.

    `before` and `after` are its numbers; "" while the document had at most one text.
    """

    doc_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Return the sort key."""
        return (self.doc_id,)


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
