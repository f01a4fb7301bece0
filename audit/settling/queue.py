"""The queue of disagreements: one list of judgments, verdicts, reviews and checks, paged by key.

`audit.settling.kinds` defines the rows of each kind; this module puts all kinds in
one order. It reads no document's text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import AnswerCounts, counts_of
from annotate.judgments.consensus import State
from annotate.judgments.models import RejudgeRequest
from annotate.overview.notices import Notice
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership, Project
from audit.checks.models import SampleItem
from audit.settling.kinds import KINDS, build_source, current_decisions
from audit.settling.kinds.base import Item, Source, Voice, Voices, display_names
from audit.settling.models import Reveal
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    Order,
    QueueFilter,
    QueuePosition,
    Reader,
    reveal_keys,
)
from base.requests import read_once

PAGE_SIZE = 50
# How many a table reads at once.
PART_SIZE = 500

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
    open_answers = _open_answers_of(reader, filters)
    counts = _count_by_kind(reader, filters.replaced(kind=None), open_answers)
    positions = _read_positions(reader, filters, open_answers, after, size + 1)
    return Page(
        read_items(reader, positions[:size], filters),
        positions[size - 1] if len(positions) > size else None,
        counts,
        sum(counts[kind] for kind in filters.kinds),
    )


def read_all(by: Membership, filters: QueueFilter) -> Iterator[Item]:
    """Yield all disagreements in their order, read in parts."""
    after = None
    while True:
        page = read_page(by, filters, after=after, size=PART_SIZE)
        yield from page.items
        if (after := page.after) is None:
            return


def keys_after(
    by: Membership, filters: QueueFilter, key: DisagreementKey | None, size: int
) -> list[DisagreementKey]:
    """Return the disagreements that follow `key`, then those from the start of the list; at most
    `size`, without `key` itself.
    """
    reader = Reader(by)
    open_answers = _open_answers_of(reader, filters)
    position = _position_of(reader, filters, key) if key is not None else None
    positions = _read_positions(reader, filters, open_answers, position, size)
    if position is not None and len(positions) < size:
        positions += _read_positions(reader, filters, open_answers, None, size + 1)
    keys = dict.fromkeys(position.key for position in positions)
    return [other for other in keys if other != key][:size]


def _position_of(
    reader: Reader, filters: QueueFilter, key: DisagreementKey
) -> QueuePosition | None:
    """Return the position of a disagreement in the list, or None if people do not differ. A settled
    one has a position among the open ones as well, so that the reader can continue from there.
    """
    source = build_source(key.kind, reader, filters.replaced(only=(key,)), in_any_state=True)
    return next(iter(_positions(source, source.rows[:1])), None)


def is_open(by: Membership, disagreement_key: DisagreementKey) -> bool:
    """Return whether this disagreement is open and this lead may settle it now."""
    only = QueueFilter(only=(disagreement_key,))
    return build_source(disagreement_key.kind, Reader(by), only).rows.exists()


# --- counts ---------------------------------------------------------------------------------------


class OpenAnswers(NamedTuple):
    """The number of open disagreements of one kind and one distance under a narrative."""

    project: int
    narrative: int
    kind: Kind
    distance: int
    number: int
    # The time of the newest one.
    since: datetime | None


def count_by_kind(by: Membership, filters: QueueFilter) -> dict[Kind, int]:
    """Return how many disagreements there are of each kind."""
    reader = Reader(by)
    return _count_by_kind(reader, filters, _open_answers_of(reader, filters))


def count_disagreements(by: Membership, filters: QueueFilter) -> int:
    """Return how many disagreements there are."""
    return sum(count_by_kind(by, filters).values())


def count_open(leads: Sequence[Membership]) -> dict[int, int]:
    """Return how many disagreements are open to each of these leads of different projects, by the
    key of the lead. At most seven queries if nothing has changed, however many leads there are.
    """
    return {pk: number for pk, (number, _newest) in _count_open(leads).items()}


def notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return a notice of the disagreements each lead can settle, with the newest one's time."""
    leads = [member for member in members if member.leads]
    counts = _count_open(leads)
    url = {lead.pk: reverse("audit:disagreements", args=[lead.project.slug]) for lead in leads}
    text = "Disagreements to settle"
    return {
        lead.pk: [Notice(lead.project, "disputes", text, number, newest, url[lead.pk])]
        for lead in leads
        for number, newest in (counts[lead.pk],)
        if number and newest is not None
    }


def _count_open(leads: Sequence[Membership]) -> dict[int, tuple[int, datetime | None]]:
    """Return how many are open to each of these leads, and the time of the newest."""
    numbers: Counter[int] = Counter()
    since: dict[int, list[datetime]] = defaultdict(list)
    for row in _open_answers(Reader(*leads)) if leads else ():
        numbers[row.project] += row.number
        since[row.project] += [row.since] if row.since is not None else []
    return {
        lead.pk: (numbers[lead.project_id], max(since[lead.project_id], default=None))
        for lead in leads
    }


def _count_by_kind(
    reader: Reader, filters: QueueFilter, open_answers: list[OpenAnswers] | None
) -> dict[Kind, int]:
    counts = dict.fromkeys(Kind, 0)
    if open_answers is not None:
        for row in open_answers:
            if row.kind in filters.kinds:
                counts[row.kind] += row.number
        return counts
    return counts | {
        kind: build_source(kind, reader, filters).rows.count() for kind in reader.kinds(filters)
    }


def _open_answers_of(reader: Reader, filters: QueueFilter) -> list[OpenAnswers] | None:
    """Return the rows of `_open_answers` of the query that a filter names, of every kind; None if
    the filter narrows by more than that, so that rows must be counted.
    """
    if filters != QueueFilter(kind=filters.kind, query=filters.query, order=filters.order):
        return None
    rows = _open_answers(reader)
    if filters.query is None:
        return rows
    narratives = Narrative.objects.filter(pair__query=filters.query)
    within = set(narratives.values_list("pk", flat=True))
    return [row for row in rows if row.narrative in within]


def _open_answers(reader: Reader) -> list[OpenAnswers]:
    """Return what is open to a lead in their projects; once in a request.

    Disagreements about documents follow from the counts of each narrative (`annotate.judgments.
    answer_counts`). Those that depend on the reader or on answers that were sent back are read row
    by row every time, as are reviews and checks: they are few.
    """
    return read_once((_open_answers, *sorted(reader.members)), lambda: _read_open_answers(reader))


def _read_open_answers(reader: Reader) -> list[OpenAnswers]:
    projects = {member.project_id: member.project for member in reader.memberships}
    states = cached_counts.states_of_newest(list(projects.values()))
    # Those that the reader still judges, and those with an open rejudge request, differ by reader.
    waiting, to_judge = reader.sent_back, set(reader.to_judge)
    apart = {
        state.narrative for state in states if state.narrative in waiting or state.pair in to_judge
    }
    counts = counts_of(state for state in states if state.narrative not in apart)
    rows = [
        OpenAnswers(state.project, state.narrative, *open_under)
        for state in states
        if state.narrative in counts
        for open_under in _open_under(counts[state.narrative], projects[state.project])
    ]
    for restricted in reader.by_consensus(apart):
        rows += _open_rows(Kind.JUDGMENT, restricted) + _open_rows(Kind.VERDICT, restricted)
    for kind in reader.kinds(QueueFilter()):
        if kind in (Kind.REVIEW, Kind.CHECK):
            rows += _open_rows(kind, reader)
    return rows


def _open_under(
    counts: AnswerCounts, project: Project
) -> Iterator[tuple[Kind, int, int, datetime | None]]:
    """Yield the last four fields of `OpenAnswers` under a narrative."""
    for pattern in counts.patterns:
        if pattern.outcome(project.consensus).state is State.DISPUTED:
            distance = pattern.grades[-1] - pattern.grades[0]
            yield Kind.JUDGMENT, distance, len(pattern.candidates), pattern.since
    for condition in counts.conditions:
        if condition.state(project.consensus) is State.DISPUTED:
            # Met, can't tell, not met: the first and the last are two apart.
            distance = 2 if {"met", "not_met"} <= set(condition.answers) else 1
            yield Kind.VERDICT, distance, condition.documents, condition.since


def _open_rows(kind: Kind, reader: Reader) -> list[OpenAnswers]:
    source = build_source(kind, reader, QueueFilter())
    rows = source.rows.order_by().values_list(source.project, source.ids[0], "distance", "since")
    return [
        OpenAnswers(project, narrative, kind, distance, 1, since)
        for project, narrative, distance, since in rows
    ]


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


def _read_positions(
    reader: Reader,
    filters: QueueFilter,
    open_answers: list[OpenAnswers] | None,
    after: QueuePosition | None,
    size: int,
) -> list[QueuePosition]:
    """Return the first `size` positions after `after`: one query for each kind."""
    positions: list[QueuePosition] = []
    for kind, narrowed in _narrow_reader(reader, filters, open_answers, after, size).items():
        source = build_source(kind, narrowed, filters)
        rows = source.rows.order_by(*_order_columns(filters), *source.ids)
        if after is not None:
            rows = rows.filter(_after_position(source, filters, after))
        positions += _positions(source, rows[:size])
    positions.sort(key=attrgetter("key"))
    for name in reversed(_order_columns(filters)):
        attribute = name.lstrip("-").replace("since", "at")
        positions.sort(key=attrgetter(attribute), reverse=name.startswith("-"))
    return positions[:size]


def _narrow_reader(
    reader: Reader,
    filters: QueueFilter,
    open_answers: list[OpenAnswers] | None,
    after: QueuePosition | None,
    size: int,
) -> dict[Kind, Reader]:
    """Return for each kind that can match the reader whose queries read it.

    With `open_answers` it has only the kinds that are open and, in the order by distance, only the
    narratives of the first `size` disagreements after `after`.
    """
    kinds = reader.kinds(filters)
    if open_answers is None:
        return dict.fromkeys(kinds, reader)
    kinds = [kind for kind in kinds if any(row.kind is kind for row in open_answers)]
    if filters.order is not Order.DISTANCE:
        return dict.fromkeys(kinds, reader)
    start = None if after is None else (-after.distance, after.key.kind, after.key.narrative)
    narratives: dict[Kind, list[int]] = {kind: [] for kind in kinds}
    numbers: Counter[Kind] = Counter()
    for row in sorted(open_answers, key=lambda row: (-row.distance, row.kind, row.narrative)):
        place = (-row.distance, row.kind, row.narrative)
        if row.kind not in narratives or numbers[row.kind] >= size or (start and place < start):
            continue
        narratives[row.kind].append(row.narrative)
        # The narrative of `after` has some disagreements before it and some after it.
        numbers[row.kind] += row.number if place != start else 0
    return {kind: reader.restricted_to(some) for kind, some in narratives.items() if some}


def _positions(source: Source, rows: QuerySet[Any, Any]) -> list[QueuePosition]:
    """Return the positions of rows of a source; one without a time is not in the list."""
    columns = rows.values_list("effect", "distance", "since", *source.ids)
    return [
        QueuePosition(effect, distance, since, DisagreementKey(source.kind, *[*ids, 0, 0][:3]))
        for effect, distance, since, *ids in columns
        if since is not None
    ]


def _after_position(source: Source, filters: QueueFilter, after: QueuePosition) -> Q:
    """Return the condition for rows after a position in the list."""
    behind, same = Q(), Q()
    for name in _order_columns(filters):
        column = name.lstrip("-")
        value = after.at if column == "since" else getattr(after, column)
        behind |= same & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{column: value})
    if source.kind > after.key.kind:
        return behind | same
    if source.kind is after.key.kind:
        for column, value in zip(source.ids, after.key[1:], strict=False):
            behind |= same & Q(**{f"{column}__gt": value})
            same &= Q(**{column: value})
    return behind


# --- items ----------------------------------------------------------------------------------------


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


def read_items(reader: Reader, positions: list[QueuePosition], filters: QueueFilter) -> list[Item]:
    """Read the items at these positions."""
    keys = [position.key for position in positions]
    narratives, candidates = read_documents((key.narrative, key.candidate) for key in keys)
    parts = {kind: [key.part for key in keys if key.kind is kind] for kind in Kind}
    conditions = Condition.objects.in_bulk(parts[Kind.VERDICT])
    samples = SampleItem.objects.select_related("sample").in_bulk(parts[Kind.CHECK])
    items = {
        key: Item(
            position,
            narratives[key.narrative],
            candidates.get(key.candidate),
            conditions.get(key.part) if key.kind is Kind.VERDICT else None,
            samples.get(key.part) if key.kind is Kind.CHECK else None,
            distance=position.distance,
        )
        for key, position in zip(keys, positions, strict=True)
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


def _revealed_keys(reader: Reader, keys: list[DisagreementKey]) -> set[tuple[int, int, int]]:
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
            str(item.key),
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
            item.position.at.isoformat(),
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
