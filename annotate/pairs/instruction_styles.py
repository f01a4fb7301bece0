"""Two styles of one instruction: a list of conditions, and the same in running words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Q

from annotate.pairs.models import InstructionPair


class OtherStyle(NamedTuple):
    """A pair with the same instruction as another; `in_words`: whether it is in running words."""

    pk: int
    pair_id: str
    in_words: bool


def other_styles(
    pairs: Sequence[InstructionPair], among: Sequence[InstructionPair] | None = None
) -> dict[int, list[OtherStyle]]:
    """Map each pair's key to the pairs with the same instruction in the other style.

    Takes one query, or none if `among` gives the pairs to search: those of the same queries.
    """
    if among is None:
        keys = [pair.pk for pair in pairs]
        listed = [pair.restates_id for pair in pairs if pair.restates_id]
        restatements = InstructionPair.objects.filter(Q(pk__in=listed) | Q(restates__in=keys))
        among = list(restatements.order_by("pk"))
    return {
        pair.pk: [
            OtherStyle(member.pk, member.pair_id, member.restates_id == pair.pk)
            for member in among
            if member.restates_id == pair.pk or member.pk == pair.restates_id
        ]
        for pair in pairs
    }
