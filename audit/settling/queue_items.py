"""The items of the list of disagreements: each with its answers and its decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotate.collection.models import Candidate
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Condition, Narrative
from audit.checks.models import SampleItem
from audit.settling.kinds import KINDS, current_decisions
from audit.settling.kinds.base import Item, Voice, Voices
from audit.settling.models import Reveal
from audit.settling.names import display_names
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    QueueFilter,
    QueuePosition,
    reveal_keys,
)
from audit.settling.reader import Reader

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
