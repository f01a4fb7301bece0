"""Published pairs as records of `pairs-jsonl`, with current narratives and without authors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from annotate.pairs.models import InstructionPair, Narrative
from exporters.exports.selection.conditions import conditions_by_narrative, records_of
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
    rows = InstructionPair.objects.filter(pk__in=[pair.pk for pair in pairs])
    return {
        row.pk: StoredFields(
            model=row.model,
            domain=row.query.domain,
            restates=row.restates.pair_id if row.restates else "",
            core=row.query.core if row.query.core_given else "",
            source_fields=row.source_fields,
        )
        for row in rows.select_related("query", "restates")
    }


def conditions_of(pairs: Sequence[Pair], side: str) -> dict[int, tuple[ConditionRecord, ...]]:
    """Return the conditions of the current narratives on a side, by key of the pair."""
    of = {pair.versions[side].pk: pair.pk for pair in pairs if side in pair.versions}
    asked = conditions_by_narrative(of)
    return {of[narrative]: records_of(conditions) for narrative, conditions in asked.items()}


def current_pair_records(pairs: Sequence[Pair]) -> Iterator[PairRecord]:
    """Yield these pairs as records of `pairs-jsonl`, with each current narrative as version 1."""
    keys = [version.pk for pair in pairs for version in pair.versions.values()]
    conditions = conditions_by_narrative(keys)
    versions = Narrative.objects.in_bulk(keys)
    kept = stored_fields_of(pairs)
    written = {pair.pair_id for pair in pairs}
    for pair in pairs:
        narratives = []
        if Narrative.Side.ORIGINAL not in pair.versions:
            narratives.append(NarrativeRecord(Narrative.Side.ORIGINAL, 1, ""))
        for side in Narrative.Side.values:
            if side in pair.versions:
                version = versions[pair.versions[side].pk]
                narratives.append(
                    NarrativeRecord(
                        side,
                        1,
                        version.text,
                        conditions=records_of(conditions.get(version.pk, ())),
                        origin=version.origin,
                        model=version.model,
                    )
                )
        stored = kept[pair.pk]
        yield PairRecord(
            pair_id=pair.pair_id,
            query_id=pair.query.query_id,
            title=pair.query.title,
            description=pair.query.description,
            category=pair.category,
            origin=pair.origin,
            model=stored.model,
            narratives=tuple(narratives),
            domain=stored.domain,
            restates=stored.restates if stored.restates in written else "",
            core=stored.core,
            source_fields=stored.source_fields,
        )
