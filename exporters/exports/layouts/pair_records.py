"""Published pairs as records of `pairs-jsonl`, with the narratives in force and without authors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotate.pairs.models import Condition, InstructionPair, Narrative
from exporters.exports.selection import Pair
from formats.records import ConditionRecord, NarrativeRecord, PairRecord


def in_force(pairs: Sequence[Pair]) -> Iterator[PairRecord]:
    """Yield these pairs as records of `pairs-jsonl`: each narrative in force is version 1."""
    keys = [version.pk for pair in pairs for version in pair.versions.values()]
    conditions: dict[int, list[ConditionRecord]] = {}
    asked = Condition.objects.filter(narrative__in=keys).order_by("number")
    for narrative, name, text in asked.values_list("narrative", "name", "text"):
        conditions.setdefault(narrative, []).append(ConditionRecord(name, text))
    texts: dict[int, tuple[str, str, str]] = {
        pk: (text, origin, model)
        for pk, text, origin, model in Narrative.objects.filter(pk__in=keys).values_list(
            "pk", "text", "origin", "model"
        )
    }
    of_pairs = InstructionPair.objects.filter(pk__in=[pair.pk for pair in pairs])
    written = {pair.pair_id for pair in pairs}
    facts = {
        pk: (model, domain, restates if restates in written else "")
        for pk, model, domain, restates in of_pairs.values_list(
            "pk", "model", "query__domain", "restates__pair_id"
        )
    }
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
        model, domain, restates = facts[pair.pk]
        yield PairRecord(
            pair.pair_id,
            pair.query.query_id,
            pair.query.title,
            pair.query.description,
            pair.category,
            pair.origin,
            model,
            tuple(narratives),
            domain,
            restates,
        )
