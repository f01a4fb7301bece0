"""People's answers to conditions, with documents of the same answers counted together.

The counts are cached until something changes under the narrative (`annotate.judgments.revisions`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from annotate.judgments import revisions
from annotate.judgments.models import ConditionAdjudication, Verdict
from base import bulk
from base.prepared_queries import Built, prepared


class VerdictPattern(NamedTuple):
    """Documents for which people gave the same answers to a condition (by key)."""

    condition: int
    # Each answer once for every person who gave it.
    answers: tuple[str, ...]
    settled: str | None
    documents: int


def verdict_patterns(states: Iterable[revisions.NarrativeState]) -> list[VerdictPattern]:
    """Return the patterns of the conditions of these narratives: one query if something has changed
    since the last call.
    """
    known = list(states)
    counts = _PATTERNS.of(known, {state.project: None for state in known})
    return [one for state in known for one in counts.get(state.narrative, ())]


def _count(_rules: None, narratives: list[int]) -> dict[int, list[VerdictPattern]]:
    found: dict[int, list[VerdictPattern]] = defaultdict(list)
    for narrative, condition, answers, settled, documents in _documents.rows(narratives=narratives):
        pattern = VerdictPattern(condition, tuple(answers.split()), settled, documents)
        found[narrative].append(pattern)
    return found


_PATTERNS = revisions.CachedCounts(_count)


@prepared("narratives")
def _documents(narratives: int) -> Built:
    """Count documents. Columns: narrative, condition, answers ("met not_met"), decision, count."""
    verdicts = Verdict.objects.current().of_people().filter(judgment__narrative__in=[narratives])
    sql, parameters = (
        verdicts.order_by()
        .values_list("judgment__narrative_id", "condition_id", "judgment__candidate_id", "answer")
        .query.sql_with_params()
    )
    settled, more = (
        ConditionAdjudication.objects.current()
        .filter(condition__narrative__in=[narratives])
        .order_by()
        .values_list("condition_id", "candidate_id", "answer")
        .query.sql_with_params()
    )
    listed = "string_agg(answer, ' ')" if bulk.on_postgresql() else "group_concat(answer, ' ')"
    return (
        f"""
        WITH verdicts (narrative, condition, candidate, answer) AS ({sql}),
        settled (condition, candidate, answer) AS ({settled}),
        documents (narrative, condition, candidate, answers) AS (
            SELECT narrative, condition, candidate, {listed} FROM verdicts
            GROUP BY narrative, condition, candidate
        )
        SELECT d.narrative, d.condition, d.answers, s.answer, COUNT(*)
        FROM documents d
        LEFT JOIN settled s ON s.condition = d.condition AND s.candidate = d.candidate
        GROUP BY d.narrative, d.condition, d.answers, s.answer
        """,  # noqa: S608 (Django's own queries)
        [*parameters, *more],
    )
