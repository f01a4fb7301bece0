"""What readers yield and writers take: one NamedTuple per kind of thing, nothing else.

Ids (query_id, doc_id, pair_id) are kept byte for byte as given: `051` and `51` are two ids, so are
`a` and `A`. An id is never empty and holds no white space. Moments are aware datetimes. A text
that a format does not carry is None; a text that is there and empty is "".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias


class Topic(NamedTuple):
    """An information need as it stands in a file; `narrative` is None where the file has none."""

    query_id: str
    title: str
    description: str = ""
    narrative: str | None = None


class Doc(NamedTuple):
    """A document; `text` is None for one that is known by its id only. Markup: MARKUPS.

    `text_version` is the number of this text among those the document has had, from 1; None where
    the file does not say.
    """

    doc_id: str
    title: str = ""
    text: str | None = None
    markup: str = "plain"
    text_version: int | None = None


class Qrel(NamedTuple):
    """One line of a qrels file. `iteration` is TREC's second column, kept and never looked at."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Pooled(NamedTuple):
    """A document that is put up for judging for a query, without a relevance."""

    query_id: str
    doc_id: str


class RunLine(NamedTuple):
    """One line of a run. Order comes from `score`; `rank` is None where it was not a number."""

    query_id: str
    doc_id: str
    rank: int | None
    score: float
    tag: str


class ConditionRecord(NamedTuple):
    """One condition that a narrative sets; `name` is what it is about, where that is said.

    `negated`: whether the reversed narrative asks for its opposite; None where that is not said.
    """

    name: str
    text: str
    negated: bool | None = None


class NarrativeRecord(NamedTuple):
    """One version of one side (SIDES) of an instruction pair. Its conditions are numbered by their
    places, from 1.
    """

    side: str
    version: int
    text: str
    author: str | None = None
    at: datetime | None = None
    note: str = ""
    conditions: tuple[ConditionRecord, ...] = ()
    origin: str = ""
    model: str = ""


class PairRecord(NamedTuple):
    """An instruction pair with all its narratives, in the order (side as in SIDES, version).

    `core` is the id of its core query, which several queries may share; "" where the file gives
    none. `source_fields` holds what else a paper's record says, as `kept_fields` writes it.
    """

    pair_id: str
    query_id: str
    title: str = ""
    description: str = ""
    category: str = ""
    origin: str = "human"
    model: str = ""
    narratives: tuple[NarrativeRecord, ...] = ()
    # What part of a benchmark the query belongs to.
    domain: str = ""
    # The pair that asks the same in another style: this one says its conditions in running words.
    restates: str = ""
    core: str = ""
    source_fields: str = ""


def kept_fields(fields: Mapping[str, Any]) -> str:
    """Return fields of a record as JSON with sorted names, "" for none: the same text for the same
    fields. Empty values are none.
    """
    held = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    return json.dumps(held, ensure_ascii=False, sort_keys=True) if held else ""


def writer_of(pair: PairRecord, narrative: NarrativeRecord) -> tuple[str, str]:
    """Return the origin and model of a version: what it says itself, else people where it names an
    author, else what its pair says. A pair says it of what is rewritten, not of its original.
    """
    if narrative.origin:
        return narrative.origin, narrative.model
    if narrative.side == "original" or narrative.author is not None:
        return "human", ""
    return pair.origin, pair.model


class Claim(NamedTuple):
    """What a machine or a data set claims about a document under the altered narrative. `reason`:
    why, such as how a table violates the instruction; "" where it is not said.
    """

    pair_id: str
    doc_id: str
    relevance: int
    rater: str
    reason: str = ""


class Generated(NamedTuple):
    """A document that was written for one instruction, and has a place in no other pool."""

    pair_id: str
    doc_id: str


class Evidence(NamedTuple):
    """A span of a document's or narrative's text, in characters (Unicode code points) from its
    start; `end` is not part of it.
    """

    start: int
    end: int


class VerdictRecord(NamedTuple):
    """What a judgment says of the condition with that number. Answer: ANSWERS."""

    condition: int
    answer: str


class JudgmentRecord(NamedTuple):
    """One rater's relevance for one document. Without `side` it stands for the altered narrative
    where the pair has one, else for the original; without `version` for the current one, and
    without `text_version` for the newest text of the document.

    One with `superseded_at` is history and no longer counts: judged again, flagged instead, or
    taken back (then `withdrawn_at` is set too). `evidence` are spans of the document, `clauses`
    of the narrative; `pressed` is one of PRESSED or "", `made_at` when it was pressed by the
    clock of the browser, while `at` is when it was kept."""

    query_id: str
    doc_id: str
    annotator: str
    relevance: int
    side: str | None = None
    pair_id: str | None = None
    version: int | None = None
    at: datetime | None = None
    note: str = ""
    uuid: str | None = None
    machine: bool = False
    evidence: tuple[Evidence, ...] = ()
    active_ms: int | None = None
    superseded_at: datetime | None = None
    withdrawn_at: datetime | None = None
    clauses: tuple[Evidence, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    pressed: str = ""
    made_at: datetime | None = None
    text_version: int | None = None


class FlagRecord(NamedTuple):
    """Somebody's mark on a candidate, which is not a grade. Kind: FLAG_KINDS."""

    query_id: str
    doc_id: str
    annotator: str
    kind: str
    side: str | None = None
    pair_id: str | None = None
    version: int | None = None
    at: datetime | None = None
    words: str = ""
    cleared_at: datetime | None = None
    uuid: str | None = None
    made_at: datetime | None = None
    machine: bool = False
    text_version: int | None = None


class AdjudicationRecord(NamedTuple):
    """The settling decision on one candidate under one narrative version, until withdrawn."""

    query_id: str
    doc_id: str
    by: str
    relevance: int
    side: str | None = None
    pair_id: str | None = None
    version: int | None = None
    at: datetime | None = None
    reason: str = ""
    cause: str = ""
    withdrawn_by: str | None = None
    withdrawn_at: datetime | None = None
    text_version: int | None = None


class RatingRecord(NamedTuple):
    """One answer of a review."""

    criterion: str
    level: str
    words: str = ""


class TextRead(NamedTuple):
    """A text version of a document that was at hand in a review."""

    doc_id: str
    text_version: int


class ReviewRecord(NamedTuple):
    """One auditor's pass over one narrative version, with its ratings in the order given."""

    pair_id: str
    query_id: str
    auditor: str
    rubric: str
    side: str = "altered"
    version: int = 1
    started_at: datetime | None = None
    at: datetime | None = None
    ratings: tuple[RatingRecord, ...] = ()
    machine: bool = False
    documents: tuple[TextRead, ...] = ()


class DecisionRecord(NamedTuple):
    """What became of a reviewed narrative version: accepted, revise or removed, and why. Stands
    until withdrawn."""

    pair_id: str
    query_id: str
    by: str
    outcome: str
    side: str = "altered"
    version: int = 1
    at: datetime | None = None
    reason: str = ""
    withdrawn_by: str | None = None
    withdrawn_at: datetime | None = None


class FilterRecord(NamedTuple):
    """What a machine's filter decided on a query, or on a document or an instruction of it.
    Decision: FILTER_DECISIONS.
    """

    query_id: str
    machine: str
    decision: str
    reason: str = ""
    doc_id: str | None = None
    pair_id: str | None = None


class LevelRecord(NamedTuple):
    """How well an instruction meets a criterion; one that rejects sends it back."""

    value: str
    name: str
    sentence: str = ""
    rejects: bool = False


class CriterionRecord(NamedTuple):
    """One question an auditor answers about an instruction."""

    key: str
    name: str
    asks: str
    poor_when: str = ""
    good_example: str = ""
    poor_example: str = ""


class RubricRecord(NamedTuple):
    """What instructions are rated on: levels, best first, and criteria. Its name holds the
    version: what it says never changes under one name."""

    name: str
    title: str
    levels: tuple[LevelRecord, ...]
    criteria: tuple[CriterionRecord, ...]


Record: TypeAlias = (
    Topic
    | Doc
    | Qrel
    | Pooled
    | RunLine
    | PairRecord
    | Claim
    | Generated
    | JudgmentRecord
    | FlagRecord
    | AdjudicationRecord
    | ReviewRecord
    | DecisionRecord
    | RubricRecord
    | FilterRecord
)

MARKUPS = ("plain", "html", "markdown")
SIDES = ("original", "altered", "reversed")
FLAG_KINDS = ("later", "cannot_judge", "problem")
ANSWERS = ("met", "not_met", "cant_tell")
PRESSED = ("key", "click")
FILTER_DECISIONS = ("keep", "discard")
OUTCOMES = ("accepted", "revise", "removed")
