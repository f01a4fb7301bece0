"""The statements that a person makes about a document: a grade, or a flag instead.

`GradeStatement` and `FlagStatement` declare their fields. The forms, the API and the journal make
them (`annotate.judging.forms`), and `annotate.judging.actions.record` saves them as a row of
`annotate.judgments.models.Statement`.
"""

from __future__ import annotations

import uuid as uuids
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from annotate.collection.spans import Span
from annotate.judgments.evidence import merge_spans
from annotate.judgments.models import Flag, Statement
from annotate.judgments.repeats import unmask
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership
from base.errors import Refused, refuse_invalid_characters

# As `instead_of`: the sender does not say which statement they saw as current, so none is compared.
UNKNOWN_PREVIOUS = uuids.UUID(int=0)

# As `Target.text`: the document had no text when the annotator read it.
NO_TEXT = 0
VALID_KEYS = range(1, 2**63)
INSTANT = timedelta(microseconds=1)

MAX_NOTE = 10_000


class Target(NamedTuple):
    """The target of a statement: a candidate of a pair's pool and a narrative version, by key."""

    pair: InstructionPair
    narrative: int
    candidate: int
    # Whether the document is shown a second time, unannounced: the statement is then a repeat.
    again: bool = False
    # The text version that was on the screen: NO_TEXT for none, None for the newest one.
    text: int | None = None


def target_by_number(
    pair: InstructionPair, narrative: int, number: int, by: Membership, text: int | None = None
) -> Target:
    """Return the target for a document number as shown to `by` (see `annotate.judgments.repeats`)
    and the text version that was on the screen.
    """
    spot = unmask(number, by.pk)
    return Target(pair, narrative, spot.candidate, spot.again, text)


class Recorded(NamedTuple):
    """The recorded row, and a warning to show although it was recorded; "" for none."""

    row: Statement
    warning: str = ""


@dataclass(frozen=True, kw_only=True)
class NewStatement(ABC):
    """A grade or a flag as it was sent. Statements with equal content compare as equal."""

    # Made by the sender, so that sending it twice changes nothing.
    uuid: uuids.UUID = field(default_factory=uuids.uuid4, compare=False)
    # When it was given, by the sender's clock.
    made_at: datetime | None = field(default=None, compare=False)
    # The statement that the sender saw as current; None if they saw none.
    instead_of: uuids.UUID | None = field(default=UNKNOWN_PREVIOUS, compare=False)

    @property
    @abstractmethod
    def answer(self) -> int | str:
        """The grade, or the kind of flag."""

    @property
    @abstractmethod
    def settles(self) -> bool:
        """Whether the document needs no further answer."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return the content by column of its row; verdicts are rows of their own."""

    @abstractmethod
    def cleaned(self) -> Self:
        """Return it with normalized texts; refuse what no project accepts."""


@dataclass(frozen=True, kw_only=True)
class GradeStatement(NewStatement):
    """A grade. Its content has the fields `Statement.CONTENT`."""

    relevance: int
    note: str = ""
    # Spans of the document's text and of the narrative.
    evidence: Sequence[Span] = ()
    clauses: Sequence[Span] = ()
    # A `Verdict.Answer` by the key of its condition.
    verdicts: Mapping[int, str] = field(default_factory=dict)
    # How it was given; the same grade sent again may have other values.
    active_ms: int | None = field(default=None, compare=False)
    pressed: str = field(default="", compare=False)

    @property
    def answer(self) -> int:
        """The grade."""
        return self.relevance

    @property
    def settles(self) -> bool:
        """A grade always settles."""
        return True

    def columns(self) -> dict[str, Any]:
        """Return the content by column."""
        columns = {name: getattr(self, name) for name in Statement.CONTENT if name != "verdicts"}
        for name in ("evidence", "clauses"):
            columns[name] = [span._asdict() for span in columns[name]]
        return columns

    def cleaned(self) -> GradeStatement:
        """Return it with a normalized note."""
        return replace(self, note=_clean_text(self.note, "The note"), verdicts=dict(self.verdicts))

    def with_merged_spans(self, *, document: int, narrative: int) -> GradeStatement:
        """Return it with its spans in order, none touching another, in texts of these lengths.

        Raises ValueError, with a message for the annotator, for a span outside its text.
        """
        return replace(
            self,
            evidence=merge_spans(self.evidence, document),
            clauses=merge_spans(self.clauses, narrative),
        )


@dataclass(frozen=True, kw_only=True)
class FlagStatement(NewStatement):
    """A flag (a `Flag.Kind`) instead of a grade, with its words."""

    kind: str
    words: str = ""

    @property
    def answer(self) -> str:
        """The kind of flag."""
        return self.kind

    @property
    def settles(self) -> bool:
        """A document flagged "later" still needs an answer."""
        return self.kind != Flag.Kind.LATER

    def columns(self) -> dict[str, Any]:
        """Return the kind and the words by column."""
        return {"flag": self.kind, "note": self.words}

    def cleaned(self) -> FlagStatement:
        """Return it with normalized words; "cannot judge" and "problem" need some."""
        words = _clean_text(self.words, "What you wrote").strip()
        if self.kind not in Flag.Kind.values:
            raise Refused(f"“{self.kind[:40]}” is not a kind of flag.")
        if self.settles and not words:
            raise Refused("Say in a few words why, so that the lead can act on it.")
        return replace(self, words=words)


def statement_of(row: Statement) -> GradeStatement | FlagStatement:
    """Return the content of a stored statement."""
    if row.relevance is None:
        return FlagStatement(kind=row.flag, words=row.note)
    return GradeStatement(
        relevance=row.relevance,
        note=row.note,
        evidence=[Span(**span) for span in row.evidence],
        clauses=[Span(**span) for span in row.clauses],
        verdicts=row.answers(),
    )


def _clean_text(text: str, what: str) -> str:
    """Return typed text with normalized line ends; refuse text that cannot be stored."""
    if len(text) > MAX_NOTE:
        raise Refused(f"{what} has {len(text):,} characters; at most {MAX_NOTE:,} are allowed.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    refuse_invalid_characters(text)
    return text
