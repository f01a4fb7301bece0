"""Which disagreements are asked for, in which order; and what one is called by keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """What people differ on."""

    JUDGMENT = "judgment"
    VERDICT = "verdict"
    REVIEW = "review"
    CHECK = "check"


class Order(StrEnum):
    """What comes first."""

    DISTANCE = "distance"
    EFFECT = "effect"
    MEASURE = "measure"
    AGE = "age"


@dataclass(frozen=True)
class Wanted:
    """Which disagreements of a project are asked for, in which order."""

    settled: bool = False
    # Of what is not settled: what was sent back and waits for an annotator, or all the rest.
    waiting: bool = False
    kind: Kind | None = None
    query: int | None = None
    # Reviews that differ on this criterion, by its key.
    criterion: str = ""
    # Verdicts on conditions of this name, or with this number.
    condition: str = ""
    # Two memberships who differ from each other.
    people: tuple[int, int] | None = None
    order: Order = Order.DISTANCE

    def of(self, **changes: Any) -> Wanted:
        """The same, but for what is named."""
        return replace(self, **changes)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that can be among them."""
        found = [self.kind] if self.kind else list(Kind)
        if self.criterion:
            found = [kind for kind in found if kind is Kind.REVIEW]
        if self.condition:
            found = [kind for kind in found if kind is Kind.VERDICT]
        if self.waiting and not self.settled:
            found = [kind for kind in found if kind in {Kind.JUDGMENT, Kind.VERDICT}]
        return tuple(found)


class DisagreementKey(NamedTuple):
    """What it is that people differ on, by keys: `candidate` is 0 for reviews; `part` is the
    condition of a verdict, the sample's item of a check, else 0.
    """

    kind: Kind
    narrative: int
    candidate: int
    part: int


# Databases count rows in 64 bits.
TOO_LARGE = 2**63


class Key(NamedTuple):
    """The place of one disagreement in the list. What is not ordered by may be 0."""

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
        """What it is the place of."""
        return DisagreementKey(self.kind, self.narrative, self.candidate, self.part)

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read a key as `str` writes it, or raise ValueError."""
        effect, distance, at, kind, narrative, candidate, part = text.split("~")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not 1970 <= moment.year < 9999:
            raise ValueError(f"{at!r} is no moment of this list")

        def number(given: str) -> int:
            if not 0 <= int(given) < TOO_LARGE:
                raise ValueError(f"{given!r} is a number that no row has")
            return int(given)

        place = number(effect), number(distance), moment, Kind(kind)
        return cls(*place, number(narrative), number(candidate), number(part))


def reveal_of(disagreement_key: DisagreementKey) -> tuple[int, int, int]:
    """Return the keys of what is revealed with it: narrative, candidate and sample's item, 0 for
    none. Who judged a document is known for its verdicts, too.
    """
    item = disagreement_key.part if disagreement_key.kind is Kind.CHECK else 0
    return disagreement_key.narrative, disagreement_key.candidate, item
