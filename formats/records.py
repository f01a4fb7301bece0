"""The records that readers yield and writers take: one NamedTuple per kind.

Ids (query_id, doc_id, pair_id) are kept byte for byte as given: `051` and `51` are two ids, so are
`a` and `A`. An id is never empty and has no white space. Times are aware datetimes. A text that a
file does not have is None; a text that is present and empty is "".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias


class Topic(NamedTuple):
    """An information need as a file has it; `narrative` is None if the file has none."""

    query_id: str
    title: str
    description: str = ""
    narrative: str | None = None


class Doc(NamedTuple):
    """A document; `text` is None if it is known by its id only. Markup: MARKUPS.

    `text_version` is the number of this text among those the document has had, from 1; None if the
    file does not give it.
    """

    doc_id: str
    title: str = ""
    text: str | None = None
    markup: str = "plain"
    text_version: int | None = None


class Qrel(NamedTuple):
    """One line of a qrels file. `iteration` is TREC's second column, kept but not used."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Pooled(NamedTuple):
    """A candidate: a document proposed for judging for a query, without a relevance."""

    query_id: str
    doc_id: str


class RunLine(NamedTuple):
    """One line of a run. `score` gives the order; `rank` is None if it was not a number."""

    query_id: str
    doc_id: str
    rank: int | None
    score: float
    tag: str


class ConditionRecord(NamedTuple):
    """One condition that a narrative sets; `name` is its subject, if given.

    `negated`: whether the reversed narrative asks for its opposite; None if that is not given.
    """

    name: str
    text: str
    negated: bool | None = None


class NarrativeRecord(NamedTuple):
    """One version of one side (SIDES) of an instruction pair.

    Its conditions are numbered by their position, from 1. `withdrawn_by` and `withdrawn_at`: the
    lead who went back to an earlier version.
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
    withdrawn_by: str | None = None
    withdrawn_at: datetime | None = None


class PairRecord(NamedTuple):
    """An instruction pair with all its narratives, in the order (side as in SIDES, version).

    `core` is the id of its core query, which several queries may share; "" if the file gives none.
    `source_fields` has the other fields of a paper's record, as `kept_fields` writes them.
    """

    pair_id: str
    query_id: str
    title: str = ""
    description: str = ""
    category: str = ""
    origin: str = "human"
    model: str = ""
    narratives: tuple[NarrativeRecord, ...] = ()
    # The part of a benchmark to which the query belongs.
    domain: str = ""
    # The id of the pair whose conditions this one states in another style: as running text.
    restates: str = ""
    core: str = ""
    source_fields: str = ""


def fields_to_json(fields: Mapping[str, Any]) -> str:
    """Return fields of a record as JSON with sorted names; "" if all values are empty.

    Empty values are dropped. The same fields give the same text.
    """
    held = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    return json.dumps(held, ensure_ascii=False, sort_keys=True) if held else ""


def writer_of(pair: PairRecord, narrative: NarrativeRecord) -> tuple[str, str]:
    """Return the origin and model of a version.

    They are its own if given. An original, or a version with an author, is by a human. Any other
    version has those of its pair, which describe the rewritten sides.
    """
    if narrative.origin:
        return narrative.origin, narrative.model
    if narrative.side == "original" or narrative.author is not None:
        return "human", ""
    return pair.origin, pair.model


class Claim(NamedTuple):
    """A document's relevance under the altered narrative as a machine or data set claims it.

    `reason` explains it, such as how a table violates the instruction; "" if not given.
    """

    pair_id: str
    doc_id: str
    relevance: int
    rater: str
    reason: str = ""


class Generated(NamedTuple):
    """A document that was written for one instruction and belongs to no other pool.

    `text` is None if the file does not give it.
    """

    pair_id: str
    doc_id: str
    text: str | None = None


class Evidence(NamedTuple):
    """A span of a document's or narrative's text.

    Positions are in characters (Unicode code points) from the start of the text; `end` is
    exclusive.
    """

    start: int
    end: int


class VerdictRecord(NamedTuple):
    """A judgment's answer on the condition with that number. Answer: ANSWERS."""

    condition: int
    answer: str


class JudgmentRecord(NamedTuple):
    """One rater's relevance for one document.

    Without `side` it is for the altered narrative if the pair has one, else for the original;
    without `version` for the current version, without `text_version` for the newest text.

    One with `superseded_at` is history and no longer counts: judged again, flagged instead, or
    withdrawn (then `withdrawn_at` is set too). `evidence` are spans of the document, `clauses` of
    the narrative. `pressed` is one of PRESSED or "". `made_at` is the time of the key press or
    click by the browser's clock, `at` the time of saving.
    """

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


class RepeatRecord(NamedTuple):
    """One answer to a repeat: `relevance`, or `flag` instead.

    `first` is the grade of the first judgment at that time, or None if there was none.
    """

    query_id: str
    doc_id: str
    annotator: str
    side: str
    pair_id: str
    version: int
    at: datetime
    first: int | None
    first_at: datetime | None
    relevance: int | None
    flag: str
    note: str
    active_ms: int | None


class FlagRecord(NamedTuple):
    """An annotator's mark on a candidate, which is not a grade. Kind: FLAG_KINDS."""

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
    """A text version of a document that was shown in a review."""

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
    """The outcome (OUTCOMES) for a reviewed narrative version, and why, until withdrawn."""

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
    """A machine filter's decision on a query, or on a document or an instruction of it.

    Decision: FILTER_DECISIONS.
    """

    query_id: str
    machine: str
    decision: str
    reason: str = ""
    doc_id: str | None = None
    pair_id: str | None = None
    # A lead has brought back what this decision discards.
    brought_back: bool = False


class CollectionRecord(NamedTuple):
    """A query, instruction or candidate of a project, and the reason if it is taken out.

    Type: COLLECTION_KINDS. `relevance` is the earlier relevance of a candidate; `title` and
    `description` are those of a query. `at`, `by` and `machine` say when and by whom it was taken
    out.
    """

    type: str
    query_id: str
    pair_id: str | None = None
    doc_id: str | None = None
    relevance: int | None = None
    title: str = ""
    description: str = ""
    reason: str = ""
    at: datetime | None = None
    by: str | None = None
    machine: bool = False


class LevelRecord(NamedTuple):
    """How well an instruction meets a criterion; a level that rejects sends it back."""

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
    """The levels, best first, and criteria on which instructions are rated.

    Its name includes the version: the content under one name never changes.
    """

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
    | CollectionRecord
)

MARKUPS = ("plain", "html", "markdown")
SIDES = ("original", "altered", "reversed")
FLAG_KINDS = ("later", "cannot_judge", "problem")
ANSWERS = ("met", "not_met", "cant_tell")
PRESSED = ("key", "click")
FILTER_DECISIONS = ("keep", "discard")
COLLECTION_KINDS = ("query", "instruction", "candidate")
OUTCOMES = ("accepted", "revise", "removed")
