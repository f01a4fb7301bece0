"""The target and the options of a statement: a judgment, a flag or the answer to a repeat."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from annotate.collection.spans import Span
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.judgments.repeats import unmask
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership

# As `instead_of`: the sender does not say which statement they saw as current, so none is compared.
UNKNOWN_PREVIOUS = uuids.UUID(int=0)

# As `On.text`: the document had no text when the annotator read it.
NO_TEXT = 0
VALID_KEYS = range(1, 2**63)
INSTANT = timedelta(microseconds=1)


class Target(NamedTuple):
    """The target of a statement: a candidate of a pair's pool and a narrative version, by key."""

    pair: InstructionPair
    narrative: int
    candidate: int
    # Whether the document is shown a second time, unannounced: the statement is then a `Repeat`.
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

    row: Judgment | Flag | Repeat
    warning: str = ""


class StatementOptions(TypedDict, total=False):
    """Options of a grade or a flag.

    `made_at`: when the key was pressed, by the sender's clock. `instead_of`: the UUID of the
    statement that the sender saw as current, None if they saw none. `late`: the statement arrives
    late, from a journal. It is then recorded even if the narrative has a newer version, and an
    assignment that was given back in the meantime is taken again.
    """

    uuid: uuids.UUID | None
    made_at: datetime | None
    instead_of: uuids.UUID | None
    late: bool
    now: datetime | None


class GradeOptions(StatementOptions, total=False):
    """Options of a grade.

    `evidence` and `clauses`: spans of the document's text and of the narrative. `verdicts`: a
    `Verdict.Answer` for each condition's key. `pressed`: a `Judgment.Pressed`.
    """

    note: str
    evidence: Iterable[Span]
    clauses: Iterable[Span]
    verdicts: Mapping[int, str] | None
    active_ms: int | None
    pressed: str
