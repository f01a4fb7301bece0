"""What can differ between two releases: a grade, a narrative, a text, a query, a count."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from django.utils.translation import gettext_lazy

from annotate.pairs.models import Narrative
from exporters.exports import manifest
from exporters.releases import contents

# What stands in place of a grade where there is none in the qrels.
DISPUTED, UNJUDGED, ABSENT = "disputed", "unjudged", ""


# Under which narratives a grade stands, in the order in which changes come, with the file it is in.
# "before": the relevance that documents came with.
BEFORE = "before"


QRELS = {
    Narrative.Side.ALTERED.value: "trec/qrels.changed.txt",
    Narrative.Side.REVERSED.value: "trec/qrels.reversed.txt",
    Narrative.Side.ORIGINAL.value: "trec/qrels.original.judged.txt",
    BEFORE: "trec/qrels.original.all.txt",
}


# What releases made before a file got its name have instead of it.
EARLIER_NAMES = {QRELS[BEFORE]: "trec/qrels.original.txt"}


OPEN = {DISPUTED: "trec/disputed.tsv", UNJUDGED: "trec/unjudged.tsv"}


PAIRS = "jsonl/pairs.jsonl"


MANIFEST = f"trec/{manifest.NAME}"


READ = (*QRELS.values(), *OPEN.values(), PAIRS, MANIFEST, contents.QUERIES)


# The counts of the two that stand beside each other.
COMPARED = {
    "queries": gettext_lazy("queries"),
    "pairs": gettext_lazy("instruction pairs"),
    "pairs_written": gettext_lazy("of them in the changed qrels"),
    "pairs_claimed": gettext_lazy("of them in the claimed qrels"),
    "candidates": gettext_lazy("documents in the pools"),
    "prior_relevant": gettext_lazy("relevant before"),
    "judged": gettext_lazy("documents judged"),
    "settled": gettext_lazy("settled by a lead"),
    "disputed": gettext_lazy("disputed, left out"),
    "unjudged": gettext_lazy("not judged, left out"),
    "dropped": gettext_lazy("relevant before, not now"),
    "grew": gettext_lazy("relevant now, not before"),
    "claims": gettext_lazy("claimed labels"),
    "claims_corrected": gettext_lazy("of them corrected by checks"),
    "claims_reversed": gettext_lazy("claimed labels under reversed narratives"),
    "claims_original": gettext_lazy("claimed labels under original narratives"),
    "judgments_by_people": gettext_lazy("judgments by people"),
    "judgments_stale": gettext_lazy("of them under an older narrative or text, not counted"),
    "adjudications_standing": gettext_lazy("settled by leads"),
    "judgments_by_machines": gettext_lazy("claims by machines"),
    "flags": gettext_lazy("flags"),
    "reviews": gettext_lazy("reviews"),
    "decisions": gettext_lazy("decisions on instructions"),
    "documents_with_newer_texts": gettext_lazy("documents that have had several texts"),
}


# A release counts these only where there are any.
ONLY_IF_ANY = "documents_with_newer_texts"


STATES = ("judged", "disputed", "unjudged")


T = TypeVar("T")


Key = tuple[str, ...]


class GradeChange(NamedTuple):
    """A document whose grade differs: as it stands in the qrels, "disputed", "unjudged", or ""
    where the document has no place.

    `under`: one of QRELS. `pair_id` is "" of the relevance that documents came with.
    """

    under: str
    query_id: str
    pair_id: str
    doc_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Its place among all changes."""
        return str(_PLACES[self.under]), self.pair_id or self.query_id, self.doc_id


_PLACES = {under: place for place, under in enumerate(QRELS)}


class Words(NamedTuple):
    """A narrative in force."""

    version: int
    text: str
    conditions: tuple[tuple[str, str], ...]


class NarrativeChange(NamedTuple):
    """A narrative in force that reads otherwise, or has other conditions, or is only in one."""

    pair_id: str
    query_id: str
    side: str
    before: Words | None
    after: Words | None

    @property
    def key(self) -> Key:
        """Its place among all of them."""
        return self.pair_id, str(Narrative.Side.values.index(self.side))


class Listed(NamedTuple):
    """A query or a pair that is not the same in both.

    `before` and `after` are "" where it is not there, "there", and of a query with other words
    "reworded"; of a pair why it is left out of the changed files, if it is.
    """

    kind: str
    query_id: str
    pair_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Its place among all of them: queries, then pairs."""
        return ("0", self.query_id) if self.kind == QUERY else ("1", self.pair_id)


QUERY, PAIR = "query", "pair"


THERE, REWORDED = "there", "reworded"


class TextChange(NamedTuple):
    """A document whose newest text version differs.

    `before` and `after` are its numbers; "" while the document had one text at most.
    """

    doc_id: str
    before: str
    after: str

    @property
    def key(self) -> Key:
        """Its place among all of them."""
        return (self.doc_id,)


class Contrast(NamedTuple):
    """A count in both: its key, its words, and how many there are."""

    key: str
    words: str
    before: int
    after: int

    @property
    def more(self) -> int:
        """How many more there are after."""
        return self.after - self.before
