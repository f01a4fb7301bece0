"""Grade patterns: documents of a narrative grouped by the grades that people gave them.

What follows from grades alone is computed once per pattern, not once per document. The patterns of
a narrative are cached until something changes under it (`annotate.judgments.revisions`).
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotate.collection.models import Candidate
from annotate.judgments import revisions
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.in_force import in_pools, judgments_that_count
from annotate.judgments.models import Adjudication
from annotate.pairs.pool import WHOLE_POOL, PoolRules
from annotate.projects.models import Project
from base import bulk
from base.prepared_queries import Built, prepared

# The most narratives read by one query, whose rows are documents.
_AT_ONCE = 100


@dataclass(frozen=True)
class GradePattern:
    """Documents under one narrative version to which people gave the same grades."""

    # The loaded relevance of the documents.
    prior: int | None
    # Sorted; one grade for each person.
    grades: tuple[int, ...]
    settled: int | None
    # The documents, by the keys of their candidates, sorted.
    candidates: Sequence[int]

    def outcome(self, rule: str) -> Outcome:
        """Return the outcome under a project's rule of consensus."""
        return consensus(list(self.grades), rule, self.settled)


def patterns_of(states: Iterable[revisions.NarrativeState]) -> dict[int, list[GradePattern]]:
    """Return the patterns of these narratives by key: one query if anything has changed.

    Documents that the project does not put before its judges are included.
    """
    known = list(states)
    return _PATTERNS.of(known, {state.project: None for state in known})


def uncached_patterns(narratives: Sequence[int]) -> dict[int, list[GradePattern]]:
    """Return the patterns of narratives (by key) from the rows of this transaction, uncached."""
    return dict(_count_patterns(None, list(narratives)))


def count_put_before_judges(
    project: Project, prior: int | None, candidates: Sequence[int], excluded: Collection[int]
) -> int:
    """Count how many of these documents the project puts before its judges.

    `prior`: their common loaded relevance. `excluded`: the result of `kept_from_judges`.
    """
    if project.judge_scope not in WHOLE_POOL and (prior is None or prior < project.relevant_from):
        return 0
    return (
        sum(candidate not in excluded for candidate in candidates) if excluded else len(candidates)
    )


def kept_from_judges(project: Project) -> Collection[int]:
    """Return the generated candidates (by key), if the project keeps them from its judges."""
    if project.judge_scope != Project.Scope.EXISTING:
        return frozenset()
    rows = Candidate.objects.filter(query__project=project, made_for__isnull=False)
    return frozenset(rows.values_list("pk", flat=True))


def _count_patterns(_rules: None, narratives: list[int]) -> dict[int, list[GradePattern]]:
    found: dict[int, list[GradePattern]] = {}
    for start in range(0, len(narratives), _AT_ONCE):
        some = narratives[start : start + _AT_ONCE]
        alike: dict[int, dict[tuple[int | None, str, int | None], array[int]]] = defaultdict(dict)
        for narrative, candidate, prior, grades, settled in _documents.rows(narratives=some):
            by_grades = alike[narrative]
            key = (prior, grades, settled)
            if (candidates := by_grades.get(key)) is None:
                candidates = by_grades[key] = array("q")
            candidates.append(candidate)
        for narrative, by_grades in alike.items():
            found[narrative] = list(_merge_patterns(by_grades))
    return found


def _merge_patterns(
    by_grades: dict[tuple[int | None, str, int | None], array[int]],
) -> Iterator[GradePattern]:
    """Merge the patterns whose grades the database lists in different orders."""
    merged: dict[tuple[int | None, tuple[int, ...], int | None], list[int]] = defaultdict(list)
    for (prior, grades, settled), candidates in by_grades.items():
        merged[prior, tuple(sorted(map(int, grades.split()))), settled] += candidates
    for (prior, values, settled), keys in merged.items():
        yield GradePattern(prior, values, settled, array("q", sorted(keys)))


_PATTERNS = revisions.CachedCounts(_count_patterns)


@prepared("narratives")
def _documents(narratives: int) -> Built:
    """Return each judged or settled document under these narratives: narrative, candidate, loaded
    relevance, people's grades ("0 1 1"), settled relevance.
    """
    everything = PoolRules(Project.Scope.POOL, 0)
    judgments = judgments_that_count(everything).filter(narrative__in=[narratives])
    columns = judgments.order_by().values_list("narrative_id", "candidate_id", "relevance")
    sql, parameters = columns.query.sql_with_params()
    decided = Adjudication.objects.current().filter(in_pools(), narrative__in=[narratives])
    decisions = decided.order_by().values_list("narrative_id", "candidate_id", "relevance")
    settled, more = decisions.query.sql_with_params()
    listed = (
        "string_agg(CAST(relevance AS text), ' ')"
        if bulk.on_postgresql()
        else "group_concat(relevance, ' ')"
    )
    return (
        f"""
        WITH judgments (narrative, candidate, relevance) AS ({sql}),
        settled (narrative, candidate, relevance) AS ({settled}),
        documents (narrative, candidate, grades) AS (
            SELECT narrative, candidate, {listed} FROM judgments GROUP BY narrative, candidate
        )
        SELECT d.narrative, d.candidate, c.prior_relevance, d.grades, s.relevance
        FROM documents d JOIN annotate_candidate c ON c.id = d.candidate
        LEFT JOIN settled s ON s.narrative = d.narrative AND s.candidate = d.candidate
        UNION ALL
        SELECT s.narrative, s.candidate, c.prior_relevance, '', s.relevance
        FROM settled s JOIN annotate_candidate c ON c.id = s.candidate
        WHERE NOT EXISTS (
            SELECT 1 FROM documents d
            WHERE d.narrative = s.narrative AND d.candidate = s.candidate
        )
        """,  # noqa: S608 (Django's own queries)
        [*parameters, *more],
    )
