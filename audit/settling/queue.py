"""The queue of disagreements: one list of judgments, verdicts, reviews and checks, paged by key.

`audit.settling.kinds` defines the rows of each kind; this module puts all kinds in
one order. It reads no document's text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.db.models import Case, Count, IntegerField, Q, Value, When, Window

from annotate.collection.models import Candidate
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership
from audit.checks.models import SampleItem
from audit.settling.kinds import KINDS, build_source, current_decisions
from audit.settling.kinds.base import Item, Source, Voice, Voices
from audit.settling.models import Reveal
from audit.settling.names import display_names
from audit.settling.open_counts import count_open, open_answers
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    Order,
    QueueFilter,
    QueuePosition,
    reveal_keys,
)
from audit.settling.reader import Reader

PAGE_SIZE = 50
# How many a table reads at once.
PART_SIZE = 500
# In how many narratives the next one is searched for before searching all.
_NEAR = 5

HEADER = (
    "key",
    "kind",
    "query_id",
    "pair_id",
    "side",
    "version",
    "doc_id",
    "condition",
    "answers",
    "distance",
    "decides",
    "since",
    "settled_as",
    "cause",
    "reason",
    "by",
)


@dataclass(frozen=True)
class Page:
    """One page of the list. `after` opens the next page; None at the end."""

    items: list[Item]
    after: QueuePosition | None
    # The number of each kind, whichever kind is listed.
    counts: dict[Kind, int]
    total: int


def read_page(
    by: Membership,
    filters: QueueFilter,
    *,
    after: QueuePosition | None = None,
    size: int = PAGE_SIZE,
) -> Page:
    """Return the page of disagreements after `after`: a fixed number of queries."""
    reader = Reader(by)
    found: list[QueuePosition] = []
    totals = dict.fromkeys(Kind, 0)
    if _is_cached(filters):
        known = _OpenCounts(reader, filters)
        totals |= known.counts
        for kind in filters.kinds:
            if totals[kind]:
                of = build_source(kind, known.narrow_reader(kind, after, size + 1), filters)
                found += _keys_after(of, filters, after, size + 1)[0]
        total = sum(totals[kind] for kind in filters.kinds)
    else:
        within = _narrow_reader(reader, filters)
        for kind in filters.kinds:
            of = build_source(kind, within, filters)
            behind, _, totals[kind] = _keys_after(of, filters, after, size + 1)
            found += behind
        total = sum(totals.values())
        if filters.kind is not None:
            totals |= _count_kinds(reader, filters.replaced(kind=None), leave_out=filters.kinds)
    keys = _sort_keys(found, filters)
    return Page(
        read_items(reader, keys[:size], filters),
        keys[size - 1] if len(keys) > size else None,
        totals,
        total,
    )


def _is_cached(filters: QueueFilter) -> bool:
    """Return whether counts for this filter are cached by narrative (`open_counts`)."""
    cached = QueueFilter(kind=filters.kind, query=filters.query, order=filters.order)
    return filters == cached


def _narrow_reader(reader: Reader, filters: QueueFilter) -> Reader:
    """Return the reader, restricted to narratives with open requests if those are wanted."""
    if filters.settled or not filters.waiting:
        return reader
    found = reader.narratives(filters, None).filter(pk__in=reader.sent_back)
    return reader.restricted_to(list(found.values_list("pk", flat=True)))


class _OpenCounts:
    """The numbers of disagreements open to a lead, from cached counts where there are any."""

    def __init__(self, reader: Reader, filters: QueueFilter) -> None:
        self._reader = reader
        self._filters = filters
        self.counts: Counter[Kind] = Counter()
        # By kind: the negative distance, the narrative, and how many are open under it.
        self._places: dict[Kind, list[tuple[int, int, int]]] = {kind: [] for kind in Kind}
        states, answers = open_answers(reader, [reader.project])
        within = None
        if filters.query is not None:
            within = set(reader.narratives(filters, None).values_list("pk", flat=True))
        for state in states:
            if within is not None and state.narrative not in within:
                continue
            for kind, distance, number, _since in answers.get(state.narrative, ()):
                self.counts[kind] += number
                self._places[kind].append((-distance, state.narrative, number))
        every = filters.replaced(kind=None)
        self.counts.update(_count_kinds(reader, every, (Kind.JUDGMENT, Kind.VERDICT)))

    def narrow_reader(self, kind: Kind, after: QueuePosition | None, size: int) -> Reader:
        """Return the reader restricted to the narratives of the first `size` disagreements of a
        kind after `after`; unrestricted in any order except by distance.
        """
        if self._filters.order is not Order.DISTANCE or not self._places[kind]:
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
        return self._reader.restricted_to(narratives)


def read_all(by: Membership, filters: QueueFilter) -> Iterator[Item]:
    """Yield all disagreements in their order, read in parts."""
    page = read_page(by, filters, size=PART_SIZE)
    yield from page.items
    while page.after is not None:
        page = read_page(by, filters, after=page.after, size=PART_SIZE)
        yield from page.items


def count_by_kind(by: Membership, filters: QueueFilter) -> dict[Kind, int]:
    """Return how many disagreements there are of each kind."""
    found = dict.fromkeys(Kind, 0)
    reader = Reader(by)
    if _is_cached(filters):
        known = _OpenCounts(reader, filters).counts
        return found | {kind: known[kind] for kind in filters.kinds}
    return found | _count_kinds(_narrow_reader(reader, filters), filters)


def count_disagreements(by: Membership, filters: QueueFilter) -> int:
    """Return how many disagreements there are."""
    if filters == QueueFilter():
        return count_open([by])[by.pk]
    return sum(count_by_kind(by, filters).values())


def next_disagreement(
    by: Membership, filters: QueueFilter, key: QueuePosition | None
) -> QueuePosition | None:
    """Return the disagreement after `key`, at the end the first one; None if none is left."""
    if key is not None and (near := _next_similar(Reader(by), filters, key)) is not None:
        return near
    return next(iter(positions_after(by, filters, key, 1)), None)


def positions_after(
    by: Membership, filters: QueueFilter, key: QueuePosition | None, size: int
) -> list[QueuePosition]:
    """Return the disagreements after `key`, then those from the start of the list; at most `size`,
    without `key` itself.
    """
    reader = _narrow_reader(Reader(by), filters)
    behind: list[QueuePosition] = []
    around: list[QueuePosition] = []
    for kind in filters.kinds:
        onward, rest, _ = _keys_after(build_source(kind, reader, filters), filters, key, size + 1)
        behind += onward
        around += rest
    if key is None:
        return _sort_keys(around, filters)[:size]
    around = [one for one in around if one.disagreement_key != key.disagreement_key]
    return [*_sort_keys(behind, filters), *_sort_keys(around, filters)][:size]


def _next_similar(reader: Reader, filters: QueueFilter, key: QueuePosition) -> QueuePosition | None:
    """Return the next disagreement of the same kind and distance under this narrative or the few
    that follow: none comes before it, and little is read. None if the whole list must be searched.
    """
    if key.kind not in filters.kinds or filters.settled or filters.order is Order.AGE:
        return None
    if key.kind is Kind.CHECK:
        # Claimed labels may belong to older narratives as well.
        return None
    of = build_source(key.kind, reader, filters)
    narratives = reader.narratives(filters, None).filter(pk__gte=key.narrative).order_by("pk")
    near = {f"{of.ids[0]}__in": list(narratives.values_list("pk", flat=True)[:_NEAR])}
    alike = {name.lstrip("-"): getattr(key, name.lstrip("-")) for name in _order_columns(filters)}
    rows = of.rows.filter(_after_in_kind(of, key), **near).filter(**alike).order_by(*of.ids)
    found = rows.values_list("effect", "distance", "since", *of.ids)[:1]
    return next((_position(of, *row) for row in found), None)


def position_of(
    by: Membership, filters: QueueFilter, disagreement_key: DisagreementKey
) -> QueuePosition | None:
    """Return the position of a disagreement in the list, or None if people do not differ. A settled
    one has a position among the open ones as well, so that the reader can continue from there.
    """
    of_one = build_source(
        disagreement_key.kind, Reader(by), filters, only=disagreement_key, in_any_state=True
    )
    found = _keys_after(of_one, filters, None, 1)[1]
    return found[0] if found else None


def is_open(by: Membership, disagreement_key: DisagreementKey) -> bool:
    """Return whether this disagreement is open and this lead may settle it now."""
    return build_source(
        disagreement_key.kind, Reader(by), QueueFilter(), only=disagreement_key
    ).rows.exists()


def _count_kinds(
    reader: Reader, filters: QueueFilter, leave_out: Iterable[Kind] = ()
) -> dict[Kind, int]:
    kinds = [kind for kind in filters.kinds if kind not in leave_out]
    return {kind: build_source(kind, reader, filters).rows.count() for kind in kinds}


# --- one order over all kinds ---------------------------------------------------------------------


def _order_columns(filters: QueueFilter) -> tuple[str, ...]:
    """Return the first columns of the order, as for `order_by`; kind and keys follow."""
    if filters.settled:
        return ("-since",)
    if filters.order is Order.AGE:
        return ("since",)
    if filters.order in {Order.EFFECT, Order.MEASURE}:
        return ("-effect", "-distance")
    return ("-distance",)


def _sort_keys(keys: list[QueuePosition], filters: QueueFilter) -> list[QueuePosition]:
    found = sorted(keys, key=attrgetter("kind", "narrative", "candidate", "part"))
    for name in reversed(_order_columns(filters)):
        attribute = name.lstrip("-").replace("since", "at")
        found.sort(key=attrgetter(attribute), reverse=name.startswith("-"))
    return found


def _keys_after(
    of: Source, filters: QueueFilter, after: QueuePosition | None, size: int
) -> tuple[list[QueuePosition], list[QueuePosition], int]:
    """Return the first keys of one kind after `after`, those from the start of the list (together
    at most `size`), and the total: one query. Without `after`, both lists are the same.
    """
    is_behind = _after_position(of, filters, after) if after is not None else None
    rows = of.rows.annotate(
        behind=Value(1)
        if is_behind is None
        else Case(When(is_behind, then=Value(1)), default=Value(0), output_field=IntegerField()),
        n_all=Window(Count("*")),
    ).order_by("-behind", *_order_columns(filters), *of.ids)
    behind: list[QueuePosition] = []
    around: list[QueuePosition] = []
    total = 0
    columns = ("behind", "n_all", "effect", "distance", "since", *of.ids)
    for onward, total, *row in rows.values_list(*columns)[:size]:  # noqa: B007
        if row[2] is None:
            continue
        key = _position(of, *row)
        if onward:
            behind.append(key)
        if after is None or not onward:
            around.append(key)
    return behind, around, total


def _position(of: Source, effect: int, distance: int, since: datetime, *ids: int) -> QueuePosition:
    narrative, candidate, part = [*ids, 0, 0][:3]
    return QueuePosition(effect, distance, since, of.kind, narrative, candidate, part)


def _after_position(of: Source, filters: QueueFilter, after: QueuePosition) -> Q:
    """Return the condition for rows after a position in the list."""
    behind, same = Q(), Q()
    for name in _order_columns(filters):
        column = name.lstrip("-")
        value = after.at if column == "since" else getattr(after, column)
        behind |= same & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{column: value})
    if of.kind > after.kind:
        return behind | same
    if of.kind is after.kind:
        behind |= same & _after_in_kind(of, after)
    return behind


def _after_in_kind(of: Source, key: QueuePosition) -> Q:
    """Return the condition for rows after a position among equals of the same kind."""
    behind, same = Q(), Q()
    for column, value in zip(of.ids, key.disagreement_key[1:], strict=False):
        behind |= same & Q(**{f"{column}__gt": value})
        same &= Q(**{column: value})
    return behind


def read_documents(
    places: Iterable[tuple[int, int]],
) -> tuple[dict[int, Narrative], dict[int, Candidate]]:
    """Return the narratives and candidates of these keys, without texts."""
    of = list(places)
    narratives = Narrative.objects.select_related("pair__query")
    candidates = Candidate.with_removed.select_related("document")
    return (
        narratives.defer("text", "pair__query__description").in_bulk(
            [narrative for narrative, _ in of]
        ),
        candidates.in_bulk([candidate for _, candidate in of if candidate]),
    )


def read_items(reader: Reader, keys: list[QueuePosition], filters: QueueFilter) -> list[Item]:
    """Read the items of these keys."""
    narratives, candidates = read_documents((key.narrative, key.candidate) for key in keys)
    parts = {kind: [key.part for key in keys if key.kind is kind] for kind in Kind}
    conditions = Condition.objects.in_bulk(parts[Kind.VERDICT])
    samples = SampleItem.objects.select_related("sample").in_bulk(parts[Kind.CHECK])
    items = {
        key.disagreement_key: Item(
            key,
            narratives[key.narrative],
            candidates.get(key.candidate),
            conditions.get(key.part) if key.kind is Kind.VERDICT else None,
            samples.get(key.part) if key.kind is Kind.CHECK else None,
            distance=key.distance,
        )
        for key in keys
    }
    voices: dict[DisagreementKey, Voices] = {}
    for kind, of_kind in KINDS.items():
        voices |= of_kind.read_voices([key for key in items if key.kind is kind])
    revealed = _revealed_keys(reader, keys) if reader.project.hide_names else None
    for key, item in items.items():
        answers = voices.get(key, {})
        hidden = revealed is not None and reveal_keys(key) not in revealed
        names = display_names(key, {member: voice.who for member, voice in answers.items()}, hidden)
        item.voices = [answers[member]._replace(who=name) for member, name in names.items()]
        KINDS[key.kind].compare_voices(item, reader.project.relevant_from)
    if filters.settled:
        for key, decision in current_decisions(reader.project.pk, items).items():
            items[key].settled = decision
    else:
        of_documents = [key for key in items if key.kind in (Kind.JUDGMENT, Kind.VERDICT)]
        _add_rejudge_requests(items, of_documents)
    return list(items.values())


def _revealed_keys(reader: Reader, keys: list[QueuePosition]) -> set[tuple[int, int, int]]:
    """Return those `reveal_keys` whose names the reader has revealed."""
    seen = Reveal.objects.filter(by=reader.member, narrative__in={key.narrative for key in keys})
    return {
        (narrative, candidate or 0, item or 0)
        for narrative, candidate, item in seen.values_list("narrative", "candidate", "item")
    }


def _add_rejudge_requests(items: dict[DisagreementKey, Item], keys: list[DisagreementKey]) -> None:
    """Add the latest rejudge request of each document, also to its conditions."""
    requests = RejudgeRequest.objects.not_withdrawn().filter(
        statement__narrative__in={key.narrative for key in keys},
        statement__candidate__in={key.candidate for key in keys},
    )
    last = {
        (request.statement.narrative_id, request.statement.candidate_id): request
        for request in requests.select_related("statement", "by").order_by("at", "pk")
    }
    for key in keys:
        items[key].rejudge_request = last.get((key.narrative, key.candidate))


def table_rows(items: Iterable[Item]) -> Iterator[list[str]]:
    """Yield the header, and a row for each disagreement."""
    yield list(HEADER)
    for item in items:
        narrative, document = item.narrative, item.candidate.document if item.candidate else None
        yield [
            str(item.key.disagreement_key),
            item.key.kind.value,
            narrative.pair.query.query_id,
            narrative.pair.pair_id,
            narrative.side,
            str(narrative.version),
            document.doc_id if document else "",
            (item.condition.name or str(item.condition.number)) if item.condition else "",
            "; ".join(f"{voice.who}: {_answer(voice)}" for voice in item.voices),
            str(item.distance),
            "yes" if item.decides else "no",
            item.key.at.isoformat(),
            *_decision(item),
        ]


def _answer(voice: Voice) -> str:
    """Return a person's answer in words."""
    if voice.rejects is not None:
        return f"rejects on {voice.rejects}"
    if voice.relevance is None:
        return voice.answer or voice.replies or "cannot judge"
    return f"{voice.relevance} ({voice.replies})" if voice.replies else str(voice.relevance)


def _decision(item: Item) -> list[str]:
    """Return the cells of the decision: what, the cause, the reason, who."""
    decision = item.settled
    if decision is None:
        return ["", "", "", ""]
    kind = KINDS[item.key.kind]
    value = "cannot judge" if kind.value_of(decision) == "cannot_judge" else kind.value_of(decision)
    cause, reason = getattr(decision, "cause", ""), getattr(decision, kind.reason)
    return [str(value), cause, reason, decision.by.name]
