"""The queue of disagreements: one list of judgments, verdicts, reviews and checks, paged by key.

`audit.settling.disagreement_queries` defines the rows of each kind; this module puts all kinds in
one order. It reads no document's text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import Case, Count, IntegerField, Q, Value, When, Window

from annotate.projects.models import Membership
from audit.settling.disagreement_queries import source
from audit.settling.kinds.frame import Reader, Source
from audit.settling.open_counts import (
    count_open,
    open_answers,
    open_others,
    settled_counts,
)
from audit.settling.queue_filters import DisagreementKey, Key, Kind, Order, Wanted
from audit.settling.queue_items import Item, items_of

PAGE_SIZE = 50
# In how many narratives the next one is searched for before searching all.
_NEAR = 5


@dataclass(frozen=True)
class Page:
    """One page of the list. `after` opens the next page; None at the end."""

    items: list[Item]
    after: Key | None
    # The number of each kind, whichever kind is listed.
    counts: dict[Kind, int]
    total: int


def page(
    by: Membership, wanted: Wanted, *, after: Key | None = None, size: int = PAGE_SIZE
) -> Page:
    """Return the page of disagreements after `after`: a fixed number of queries."""
    reader = Reader(by)
    found: list[Key] = []
    totals = dict.fromkeys(Kind, 0)
    if _is_remembered(wanted):
        known = _Open(reader, wanted)
        totals |= known.counts
        for kind in wanted.kinds:
            if totals[kind]:
                of = source(kind, known.near(kind, after, size + 1), wanted)
                found += _stretch(of, wanted, after, size + 1)[0]
        total = sum(totals[kind] for kind in wanted.kinds)
    else:
        within = _narrowed(reader, wanted)
        for kind in wanted.kinds:
            of = source(kind, within, wanted)
            behind, _, totals[kind] = _stretch(of, wanted, after, size + 1)
            found += behind
        total = sum(totals.values())
        if wanted.kind is not None:
            totals |= _counts(reader, wanted.of(kind=None), leave_out=wanted.kinds)
    keys = _sorted(found, wanted)
    return Page(
        items_of(reader, keys[:size], wanted),
        keys[size - 1] if len(keys) > size else None,
        totals,
        total,
    )


def _is_remembered(wanted: Wanted) -> bool:
    """Return whether counts for this filter are cached by narrative (`open_counts`)."""
    part = wanted.people or wanted.criterion or wanted.condition
    return not (wanted.settled or wanted.waiting or part)


def _narrowed(reader: Reader, wanted: Wanted) -> Reader:
    """Return the reader, restricted to narratives with open requests if those are wanted."""
    if wanted.settled or not wanted.waiting:
        return reader
    found = reader.narratives(wanted, None).filter(pk__in=reader.sent_back)
    return reader.within(list(found.values_list("pk", flat=True)))


class _Open:
    """The numbers of disagreements open to a lead, from cached counts where there are any."""

    def __init__(self, reader: Reader, wanted: Wanted) -> None:
        self._reader = reader
        self._wanted = wanted
        self.counts: Counter[Kind] = Counter()
        # By kind: the negative distance, the narrative, and how many are open under it.
        self._places: dict[Kind, list[tuple[int, int, int]]] = {kind: [] for kind in Kind}
        states, answers = open_answers(reader, [reader.project])
        within = None
        if wanted.query is not None:
            within = set(reader.narratives(wanted, None).values_list("pk", flat=True))
        for state in states:
            if within is not None and state.narrative not in within:
                continue
            for name, distance, number, _since in answers.get(state.narrative, ()):
                kind = Kind(name)
                self.counts[kind] += number
                self._places[kind].append((-distance, state.narrative, number))
        if wanted.query is None:
            self.counts.update({Kind(kind): n for kind, n in open_others(reader).items()})
        else:
            self.counts.update(_counts(reader, wanted, leave_out=(Kind.JUDGMENT, Kind.VERDICT)))

    def near(self, kind: Kind, after: Key | None, size: int) -> Reader:
        """Return the reader restricted to the narratives of the first `size` disagreements of a
        kind after `after`; unrestricted in any order except by distance.
        """
        if self._wanted.order is not Order.DISTANCE or not self._places[kind]:
            return self._reader
        narratives: list[int] = []
        found = 0
        for negative, narrative, number in sorted(self._places[kind]):
            place = (negative, kind, narrative)
            if after is not None and place < (-after.distance, after.kind, after.narrative):
                continue
            narratives.append(narrative)
            # The narrative of `after` has some disagreements before it and some after it.
            if after is None or place > (-after.distance, after.kind, after.narrative):
                found += number
            if found >= size:
                break
        return self._reader.within(narratives)


def counts(by: Membership, wanted: Wanted) -> dict[Kind, int]:
    """Return how many disagreements there are of each kind."""
    found = dict.fromkeys(Kind, 0)
    reader = Reader(by)
    if _is_remembered(wanted):
        known = _Open(reader, wanted).counts
        return found | {kind: known[kind] for kind in wanted.kinds}
    if wanted == Wanted(settled=True, order=wanted.order):
        return found | {Kind(kind): number for kind, number in settled_counts(reader).items()}
    return found | _counts(_narrowed(reader, wanted), wanted)


def count(by: Membership, wanted: Wanted) -> int:
    """Return how many disagreements there are."""
    if wanted == Wanted():
        return count_open([by])[by.pk]
    return sum(counts(by, wanted).values())


def following(by: Membership, wanted: Wanted, key: Key | None) -> Key | None:
    """Return the disagreement after `key`, at the end the first one; None if none is left."""
    reader = Reader(by)
    if key is not None and (near := _nearest(reader, wanted, key)) is not None:
        return near
    behind: list[Key] = []
    around: list[Key] = []
    for kind in wanted.kinds:
        onward, rest, _ = _stretch(source(kind, reader, wanted), wanted, key, 2)
        behind += onward
        around += rest
    others = [
        one
        for one in _sorted(around, wanted)
        if key is None or one.disagreement_key != key.disagreement_key
    ]
    return next(iter([*_sorted(behind, wanted), *others]), None)


def _nearest(reader: Reader, wanted: Wanted, key: Key) -> Key | None:
    """Return the next disagreement of the same kind and distance under this narrative or the few
    that follow: none comes before it, and little is read. None if the whole list must be searched.
    """
    if key.kind not in wanted.kinds or wanted.settled or wanted.order is Order.AGE:
        return None
    if key.kind is Kind.CHECK:
        # Claimed labels may belong to older narratives as well.
        return None
    of = source(key.kind, reader, wanted)
    narratives = reader.narratives(wanted, None).filter(pk__gte=key.narrative).order_by("pk")
    near = {f"{of.ids[0]}__in": list(narratives.values_list("pk", flat=True)[:_NEAR])}
    alike = {name.lstrip("-"): getattr(key, name.lstrip("-")) for name in _main(wanted)}
    rows = of.rows.filter(_after(of, key), **near).filter(**alike).order_by(*of.ids)
    found = rows.values_list("effect", "distance", "since", *of.ids)[:1]
    return next((_key(of, *row) for row in found), None)


def key_of(by: Membership, wanted: Wanted, disagreement_key: DisagreementKey) -> Key | None:
    """Return the position of a disagreement in the list, or None if people do not differ. A settled
    one has a position among the open ones as well, so that the reader can continue from there.
    """
    of_one = source(
        disagreement_key.kind, Reader(by), wanted, only=disagreement_key, in_any_state=True
    )
    found = _stretch(of_one, wanted, None, 1)[1]
    return found[0] if found else None


def is_open(by: Membership, disagreement_key: DisagreementKey) -> bool:
    """Return whether this disagreement is open and this lead may settle it now."""
    return source(disagreement_key.kind, Reader(by), Wanted(), only=disagreement_key).rows.exists()


def _counts(reader: Reader, wanted: Wanted, leave_out: Iterable[Kind] = ()) -> dict[Kind, int]:
    kinds = [kind for kind in wanted.kinds if kind not in leave_out]
    return {kind: source(kind, reader, wanted).rows.count() for kind in kinds}


# --- one order over all kinds ---------------------------------------------------------------------


def _main(wanted: Wanted) -> tuple[str, ...]:
    """Return the first columns of the order, as for `order_by`; kind and keys follow."""
    if wanted.settled:
        return ("-since",)
    if wanted.order is Order.AGE:
        return ("since",)
    if wanted.order in {Order.EFFECT, Order.MEASURE}:
        return ("-effect", "-distance")
    return ("-distance",)


def _sorted(keys: list[Key], wanted: Wanted) -> list[Key]:
    found = sorted(keys, key=attrgetter("kind", "narrative", "candidate", "part"))
    for name in reversed(_main(wanted)):
        attribute = name.lstrip("-").replace("since", "at")
        found.sort(key=attrgetter(attribute), reverse=name.startswith("-"))
    return found


def _stretch(
    of: Source, wanted: Wanted, after: Key | None, size: int
) -> tuple[list[Key], list[Key], int]:
    """Return the first keys of one kind after `after`, those from the start of the list (together
    at most `size`), and the total: one query. Without `after`, both lists are the same.
    """
    is_behind = _behind(of, wanted, after) if after is not None else None
    rows = of.rows.annotate(
        behind=Value(1)
        if is_behind is None
        else Case(When(is_behind, then=Value(1)), default=Value(0), output_field=IntegerField()),
        n_all=Window(Count("*")),
    ).order_by("-behind", *_main(wanted), *of.ids)
    behind: list[Key] = []
    around: list[Key] = []
    total = 0
    columns = ("behind", "n_all", "effect", "distance", "since", *of.ids)
    for onward, total, *row in rows.values_list(*columns)[:size]:  # noqa: B007
        if row[2] is None:
            continue
        key = _key(of, *row)
        if onward:
            behind.append(key)
        if after is None or not onward:
            around.append(key)
    return behind, around, total


def _key(of: Source, effect: int, distance: int, since: datetime, *ids: int) -> Key:
    narrative, candidate, part = [*ids, 0, 0][:3]
    return Key(effect, distance, since, of.kind, narrative, candidate, part)


def _behind(of: Source, wanted: Wanted, after: Key) -> Q:
    """Return the condition for rows after a position in the list."""
    behind, same = Q(), Q()
    for name in _main(wanted):
        column = name.lstrip("-")
        value = after.at if column == "since" else getattr(after, column)
        behind |= same & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{column: value})
    if of.kind > after.kind:
        return behind | same
    if of.kind is after.kind:
        behind |= same & _after(of, after)
    return behind


def _after(of: Source, key: Key) -> Q:
    """Return the condition for rows after a position among equals of the same kind."""
    behind, same = Q(), Q()
    for column, value in zip(of.ids, key.disagreement_key[1:], strict=False):
        behind |= same & Q(**{f"{column}__gt": value})
        same &= Q(**{column: value})
    return behind
