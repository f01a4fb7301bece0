"""The order in which a person judges the documents of a pair."""

from __future__ import annotations

import hashlib

from annotate.pairs.models import InstructionPair
from annotate.pairs.pool import candidates_to_judge
from annotate.projects.models import Membership, Project


def judging_order(*, pair: InstructionPair, by: Membership) -> list[int]:
    """Return the candidates of a pair in the order in which `by` judges them: one query.

    Shuffled: each person has their own fixed order, which anybody can reproduce: ascending by the
    16-byte BLAKE2b of "seed:member name:query_id:doc_id" in UTF-8, without a key.

    The same for all: documents whose ids judges see come first, in byte order of the ids; the
    others follow, shuffled with an empty member name. Sorting by hidden ids would reveal them:
    "9_positive" comes after "9_hn1".
    """
    return [pk for pk, _ in ordered_pool(pair, by)]


def ordered_pool(pair: InstructionPair, by: Membership) -> list[tuple[int, str]]:
    """Return the candidates of a pair with their document ids, in the judging order of `by`."""
    project = pair.project
    is_shared = project.judge_order == Project.Order.DOC_ID
    prefix = f"{project.order_seed}:{'' if is_shared else by.name}:{pair.query.query_id}:"

    def sort_key(row: tuple[int, str, int | None]) -> tuple[bool, bytes, int]:
        key, doc_id, length = row
        is_shown = is_shared and project.show_ids and length is None
        return (not is_shown, doc_id.encode() if is_shown else _digest(prefix + doc_id), key)

    rows = candidates_to_judge(pair).values_list("pk", "document__doc_id", "document__length")
    return [(key, doc_id) for key, doc_id, _length in sorted(rows, key=sort_key)]


def _digest(words: str) -> bytes:
    return hashlib.blake2b(words.encode(), digest_size=16).digest()
