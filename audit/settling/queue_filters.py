"""The filter and order of a list of disagreements, and the keys that identify one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import TextChoices


class Kind(TextChoices):
    """The kinds of disagreement."""

    JUDGMENT = "judgment", "Judgments"
    VERDICT = "verdict", "Conditions"
    REVIEW = "review", "Reviews"
    CHECK = "check", "Checks"


class Order(TextChoices):
    """The orders of the list, named by what comes first."""

    DISTANCE = "distance", "Farthest apart"
    EFFECT = "effect", "Effect on the result"
    MEASURE = "measure", "Effect on a measure"
    AGE = "age", "Oldest"


class State(TextChoices):
    """The states of a disagreement; the values are those of addresses and of the API."""

    OPEN = "pending", "Open"
    # Open, but sent back to an annotator.
    WAITING = "waiting", "Waiting for an annotator"
    SETTLED = "settled", "Settled"


# Database keys have 64 bits.
TOO_LARGE = 2**63


class DisagreementKey(NamedTuple):
    """The keys that identify a disagreement: `candidate` is 0 for reviews; `part` is the condition
    of a verdict, the sample's item of a check, else 0.
    """

    kind: Kind
    narrative: int
    candidate: int
    part: int

    def __str__(self) -> str:
        return "-".join((self.kind.value, *map(str, self[1:])))

    @classmethod
    def parse(cls, text: str) -> DisagreementKey:
        """Parse a key that `str` wrote, or raise ValueError."""
        kind, *numbers = text.split("-")
        narrative, candidate, part = (_parse_number(number) for number in numbers)
        return cls(Kind(kind), narrative, candidate, part)


def _parse_number(text: str) -> int:
    if not 0 <= int(text) < TOO_LARGE:
        raise ValueError(f"{text!r} is out of range")
    return int(text)


@dataclass(frozen=True)
class QueueFilter:
    """Which disagreements of a project are requested, and in which order."""

    settled: bool = False
    # Among open ones: those sent back and waiting for an annotator, or all the others.
    waiting: bool = False
    kind: Kind | None = None
    query: int | None = None
    # Reviews that differ on this criterion, by its key.
    criterion: str = ""
    # Verdicts on conditions of this name, or with this number.
    condition: str = ""
    # The keys of two members whose answers differ.
    people: tuple[int, int] | None = None
    # The id of a document.
    document: str = ""
    # Grades of a document, each of which somebody gave.
    grades: tuple[int, ...] = ()
    # Only those where settling decides whether a document, or an instruction, counts.
    decides: bool = False
    # The cause of the decision (`Adjudication.Cause`), among settled ones.
    cause: str = ""
    # Only these.
    only: tuple[DisagreementKey, ...] = ()
    order: Order = Order.DISTANCE

    def replaced(self, **changes: Any) -> QueueFilter:
        """Return a copy with these fields changed."""
        return replace(self, **changes)

    @property
    def state(self) -> State:
        """Their state."""
        return State.SETTLED if self.settled else State.WAITING if self.waiting else State.OPEN

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that can match."""
        of_document = {Kind.JUDGMENT, Kind.VERDICT, Kind.CHECK}
        limits: list[tuple[object, set[Kind]]] = [
            (self.kind, {self.kind} if self.kind else set()),
            (self.criterion, {Kind.REVIEW}),
            (self.condition, {Kind.VERDICT}),
            (self.waiting and not self.settled, {Kind.JUDGMENT, Kind.VERDICT}),
            (self.document, of_document),
            (self.grades, {Kind.JUDGMENT, Kind.CHECK}),
            (self.decides, {Kind.JUDGMENT, Kind.REVIEW}),
            (self.cause, {Kind.JUDGMENT, Kind.VERDICT}),
            (self.only, {key.kind for key in self.only}),
        ]
        set_limits = [kinds for value, kinds in limits if value]
        return tuple(kind for kind in Kind if all(kind in kinds for kinds in set_limits))


class QueuePosition(NamedTuple):
    """The position of a disagreement in the list. Fields that the order ignores may be 0."""

    effect: int
    distance: int
    at: datetime
    kind: Kind
    narrative: int
    candidate: int
    part: int

    def __str__(self) -> str:
        numbers = (self.effect, self.distance), (self.narrative, self.candidate, self.part)
        return "~".join(
            (*map(str, numbers[0]), self.at.isoformat(), self.kind.value, *map(str, numbers[1]))
        )

    @property
    def disagreement_key(self) -> DisagreementKey:
        """The keys of the disagreement at this position."""
        return DisagreementKey(self.kind, self.narrative, self.candidate, self.part)

    @classmethod
    def parse(cls, text: str) -> QueuePosition:
        """Parse a key that `str` wrote, or raise ValueError."""
        effect, distance, at, kind, narrative, candidate, part = text.split("~")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not 1970 <= moment.year < 9999:
            raise ValueError(f"{at!r} is not a time of this list")
        place = _parse_number(effect), _parse_number(distance), moment, Kind(kind)
        return cls(*place, *(_parse_number(number) for number in (narrative, candidate, part)))


def reveal_keys(disagreement_key: DisagreementKey) -> tuple[int, int, int]:
    """Return the keys that a reveal covers: narrative, candidate and sample's item, 0 for none. A
    reveal of a document's judges also covers its verdicts.
    """
    item = disagreement_key.part if disagreement_key.kind is Kind.CHECK else 0
    return disagreement_key.narrative, disagreement_key.candidate, item
