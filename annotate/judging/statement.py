"""What somebody says of a document: of which one, under which narrative and text, and when."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from annotate.collection.spans import Span
from annotate.judgments.models import Flag, Judgment, Repeat
from annotate.judgments.repeats import unmasked
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Membership

# For `instead_of`: the sender does not say what they saw to stand, so nothing is compared with it.
UNSAID = uuids.UUID(int=0)


# As `On.text`: the document had no text when it was read.
NO_TEXT = 0


KEYS = range(1, 2**63)


INSTANT = timedelta(microseconds=1)


class On(NamedTuple):
    """What something is said of: a document of a pair's pool under a narrative version, by their
    keys.
    """

    pair: InstructionPair
    narrative: int
    candidate: int
    # Whether it has come to this person a second time, unmarked: what is said is a `Repeat`.
    again: bool = False
    # The text version that was on the screen: NO_TEXT for none, None for the newest one.
    text: int | None = None


def on_number(
    pair: InstructionPair, narrative: int, number: int, by: Membership, text: int | None = None
) -> On:
    """The document that the pages of `by` know by this number (see `annotate.judgments.repeats`),
    and the text version they showed.
    """
    spot = unmasked(number, by.pk)
    return On(pair, narrative, spot.candidate, spot.again, text)


class Recorded(NamedTuple):
    """What was recorded, and a sentence that the person must be told although it was; "" for
    none.
    """

    row: Judgment | Flag | Repeat
    warning: str = ""


class Saying(TypedDict, total=False):
    """What may go with a grade or a flag.

    `made_at`: when it was pressed, by the sender's clock. `instead_of`: the UUID of what the sender
    saw to stand there, None for nothing. `late`: it comes from a journal, later than it was said;
    then it is kept also under a narrative that has a newer version, and an assignment that was
    given back meanwhile is taken again.
    """

    uuid: uuids.UUID | None
    made_at: datetime | None
    instead_of: uuids.UUID | None
    late: bool
    now: datetime | None


class Grading(Saying, total=False):
    """What may go with a grade.

    `evidence` and `clauses`: spans of the document's and of the narrative's text. `verdicts`: a
    `Verdict.Answer` by the key of the condition. `pressed`: a `Judgment.Pressed`.
    """

    note: str
    evidence: Iterable[Span]
    clauses: Iterable[Span]
    verdicts: Mapping[int, str] | None
    active_ms: int | None
    pressed: str
