"""What people differ on, kind by kind, as rows that can be ordered, cut and counted.

Each kind is a `Source`: one query whose rows say how far apart the answers are (`distance`), what
settling does to the result (`effect`) and since when it stands there (`since`). Settled ones are
rows of their own tables and need no counting of answers.

- Judgments differ when people's current grades of a candidate come to no relevance by the project's
  rule (`annotate.judgments.consensus` says the same of one candidate); verdicts on a condition by
  the same rule. Both under narratives in force only.
- Reviews differ when one auditor rejects a narrative in force on a criterion and another does not.
- Checks differ when the first two of a claimed label do, or one of them cannot judge it.

The effect is 2 where settling decides on a document that was relevant before, or on a whole
instruction, 1 where it decides on another document, 0 where no document's relevance hangs on it:
all answers are on one side of `Project.relevant_from`, or the answer is no relevance in the qrels
(verdicts and checks). In the order of `Order.MEASURE` the effect of a judgment is what settling it
would move a measure by, in millionths, as the newest evaluation of systems found it; of all else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from audit.settling.kinds.checks import checks
from audit.settling.kinds.frame import Reader, Source
from audit.settling.kinds.judgments import judgments
from audit.settling.kinds.reviews import reviews
from audit.settling.kinds.verdicts import verdicts
from audit.settling.queue_filters import DisagreementKey, Kind, Wanted


def source(
    kind: Kind,
    reader: Reader,
    wanted: Wanted,
    *,
    only: DisagreementKey | None = None,
    in_any_state: bool = False,
) -> Source:
    """Return what of one kind is wanted. `only`: that one disagreement, if it is among them;
    `in_any_state`: with what is settled and what the reader could not settle.
    """
    return _SOURCES[kind](reader, wanted, only, in_any_state)


_SOURCES: Mapping[Kind, Callable[[Reader, Wanted, DisagreementKey | None, bool], Source]] = {
    Kind.JUDGMENT: judgments,
    Kind.VERDICT: verdicts,
    Kind.REVIEW: reviews,
    Kind.CHECK: checks,
}
