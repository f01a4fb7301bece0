"""Published pairs as records of `pairs-jsonl`, with current narratives and without authors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from annotate.pairs.models import Condition, InstructionPair, Narrative
from exporters.exports.selection.selection import Pair
from formats.records import ConditionRecord, NarrativeRecord, PairRecord


class StoredFields(NamedTuple):
    """Stored fields of a pair besides its narratives; `core` only if a file named it."""

    model: str
    domain: str
    restates: str
    core: str
    source_fields: str

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of the pair's record in the source, by name."""
        return dict(json.loads(self.source_fields)) if self.source_fields else {}


def stored_fields_of(pairs: Sequence[Pair]) -> dict[int, StoredFields]:
    """Return the stored fields of each pair, by key."""
    rows = InstructionPair.objects.filter(pk__in=[pair.pk for pair in pairs]).values_list(
        *("pk", "model", "query__domain", "restates__pair_id"),
        *("query__core", "query__core_given", "source_fields"),
    )
    return {
        pk: StoredFields(model, domain, restates or "", core if names_core else "", source_fields)
        for pk, model, domain, restates, core, names_core, source_fields in rows
    }


def conditions_of(pairs: Sequence[Pair], side: str) -> dict[int, list[ConditionRecord]]:
    """Return the conditions of the current narratives on a side, by key of the pair."""
    of = {pair.versions[side].pk: pair.pk for pair in pairs if side in pair.versions}
    return {of[narrative]: asked for narrative, asked in _conditions_by_narrative(of).items()}


def _conditions_by_narrative(narratives: Iterable[int]) -> dict[int, list[ConditionRecord]]:
    by_narrative: dict[int, list[ConditionRecord]] = {}
    rows = Condition.objects.filter(narrative__in=list(narratives)).order_by("number")
    for narrative, *condition in rows.values_list("narrative", "name", "text", "negated"):
        by_narrative.setdefault(narrative, []).append(ConditionRecord._make(condition))
    return by_narrative


def current_pair_records(pairs: Sequence[Pair]) -> Iterator[PairRecord]:
    """Yield these pairs as records of `pairs-jsonl`, with each current narrative as version 1."""
    keys = [version.pk for pair in pairs for version in pair.versions.values()]
    conditions = _conditions_by_narrative(keys)
    texts: dict[int, tuple[str, str, str]] = {
        pk: (text, origin, model)
        for pk, text, origin, model in Narrative.objects.filter(pk__in=keys).values_list(
            "pk", "text", "origin", "model"
        )
    }
    kept = stored_fields_of(pairs)
    written = {pair.pair_id for pair in pairs}
    for pair in pairs:
        narratives = []
        if Narrative.Side.ORIGINAL not in pair.versions:
            narratives.append(NarrativeRecord(Narrative.Side.ORIGINAL, 1, ""))
        for side in Narrative.Side.values:
            if side in pair.versions:
                pk = pair.versions[side].pk
                text, origin, model = texts[pk]
                narratives.append(
                    NarrativeRecord(
                        side,
                        1,
                        text,
                        conditions=tuple(conditions.get(pk, ())),
                        origin=origin,
                        model=model,
                    )
                )
        yield PairRecord(
            pair.pair_id,
            pair.query.query_id,
            pair.query.title,
            pair.query.description,
            pair.category,
            pair.origin,
            kept[pair.pk].model,
            tuple(narratives),
            kept[pair.pk].domain,
            kept[pair.pk].restates if kept[pair.pk].restates in written else "",
            kept[pair.pk].core,
            kept[pair.pk].source_fields,
        )
