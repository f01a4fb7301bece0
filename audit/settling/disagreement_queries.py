"""The disagreements of each kind as rows that can be ordered, paged and counted.

Each kind is a `Source`: one query whose rows hold the distance between the answers (`distance`),
the effect of settling on the result (`effect`) and the time of the disagreement (`since`). Settled
ones are rows of the decision tables, so no answers are counted for them.

- Judgments differ when people's current grades of a candidate lead to no relevance by the project's
  rule (`annotate.judgments.consensus` applies it to one candidate); verdicts on a condition differ
  by the same rule. Both only under current narratives.
- Reviews differ when one auditor rejects a current narrative on a criterion and another does not.
- Checks differ when the first two checks of a claimed label do, or one of them is "cannot judge".

The effect is 2 if settling decides on a document that was relevant before, or on a whole
instruction; 1 if it decides on another document; 0 if no document's relevance depends on it: all
answers are on one side of `Project.relevant_from`, or the answer is not a relevance in the qrels
(verdicts and checks). With `Order.MEASURE` the effect of a judgment is how far settling it would
move a measure, in millionths, in the newest evaluation of systems; that of other kinds is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from operator import or_

from django.db.models import Q

from audit.settling.kinds.checks import check_source
from audit.settling.kinds.frame import Reader, Source
from audit.settling.kinds.judgments import judgment_source
from audit.settling.kinds.reviews import review_source
from audit.settling.kinds.verdicts import verdict_source
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter


def build_source(
    kind: Kind,
    reader: Reader,
    filters: QueueFilter,
    *,
    only: DisagreementKey | None = None,
    in_any_state: bool = False,
) -> Source:
    """Return the wanted disagreements of one kind. `only`: just this one, if it is among them;
    `in_any_state`: also those that are settled, or that the reader cannot settle.
    """
    source = _SOURCES[kind](reader, filters, only, in_any_state)
    if filters.document:
        document = f"{source.ids[1].removesuffix('_id')}__document__doc_id"
        source = replace(source, rows=source.rows.filter(**{document: filters.document}))
    if filters.only:
        keys = [key for key in filters.only if key.kind is kind]
        either = reduce(or_, (_match_key(source, key) for key in keys))
        source = replace(source, rows=source.rows.filter(either))
    return source


def _match_key(source: Source, key: DisagreementKey) -> Q:
    """Return the condition for the row of one disagreement."""
    return Q(**dict(zip(source.ids, key[1:], strict=False)))


_SOURCES: Mapping[Kind, Callable[[Reader, QueueFilter, DisagreementKey | None, bool], Source]] = {
    Kind.JUDGMENT: judgment_source,
    Kind.VERDICT: verdict_source,
    Kind.REVIEW: review_source,
    Kind.CHECK: check_source,
}
