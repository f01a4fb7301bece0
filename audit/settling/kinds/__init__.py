"""The kinds of disagreement, each a class in a module of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

from audit.settling.kinds.base import Disagreement as Disagreement
from audit.settling.kinds.base import Source
from audit.settling.kinds.checks import CheckDisagreement as CheckDisagreement
from audit.settling.kinds.judgments import JudgmentDisagreement as JudgmentDisagreement
from audit.settling.kinds.reviews import ReviewDisagreement as ReviewDisagreement
from audit.settling.kinds.verdicts import VerdictDisagreement as VerdictDisagreement
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter, Reader

KINDS: dict[Kind, type[Disagreement]] = {
    kind.kind: kind
    for kind in (JudgmentDisagreement, VerdictDisagreement, ReviewDisagreement, CheckDisagreement)
}


def build_source(
    kind: Kind, reader: Reader, filters: QueueFilter, *, in_any_state: bool = False
) -> Source:
    """Return the wanted disagreements of one kind. `in_any_state`: also those that are settled, or
    that the reader cannot settle.
    """
    source = KINDS[kind].source(reader, filters, in_any_state)
    if kind not in filters.replaced(kind=kind).kinds:
        return replace(source, rows=source.rows.none())
    if filters.document:
        document = f"{source.ids[1].removesuffix('_id')}__document__doc_id"
        source = replace(source, rows=source.rows.filter(**{document: filters.document}))
    if filters.only:
        either = reduce(or_, (source.matching(key) for key in filters.only if key.kind is kind))
        source = replace(source, rows=source.rows.filter(either))
    return source


def kind_of(decision: Any) -> type[Disagreement]:
    """Return the kind of disagreement that a decision settles."""
    return next(kind for kind in KINDS.values() if isinstance(decision, kind.model))


def key_of(decision: Any) -> DisagreementKey:
    """Return the disagreement that a decision settles."""
    return kind_of(decision).key_of(decision)


def current_decisions(project: int, keys: Iterable[DisagreementKey]) -> dict[DisagreementKey, Any]:
    """Return the current decision on each of these disagreements that has one: a query for each
    kind.
    """
    wanted = set(keys)
    decisions = {}
    for kind in KINDS.values():
        of_kind = [key for key in wanted if key.kind is kind.kind]
        if not of_kind:
            continue
        among = {
            f"{column}__in": {getattr(key, part) for key in of_kind}
            for column, part in kind.columns.items()
        }
        rows = kind.current_decisions(project).filter(**among)
        decisions.update({kind.key_of(row): row for row in rows})
    return {key: row for key, row in decisions.items() if key in wanted}
