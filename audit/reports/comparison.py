"""The agreement in two parts of a project, and by how much the two differ."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.utils import timezone

from annotate.projects.models import Grade, Membership, Project
from audit.reports.report_parts import Measure, coefficients
from audit.reports.scopes import Scope
from audit.reports.statements_since import through
from audit.reports.unit_counts import Pattern, Patterns, judgments_in, read_pattern, units_of
from jobs.runner import Progress

if TYPE_CHECKING:
    from agreement import Difference, Ratings

# The coefficients that mean the same for any number of people.
COMPARED = ("percent", "fleiss", "alpha_nominal", "alpha_ordinal", "gwet_ac1")


def comparison_of(
    project: Project,
    scope: Scope,
    against: Scope,
    *,
    seed: int,
    resamples: int,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return the agreement among people in two parts of a project, ready for JSON.

    Keys: project, scope, against, sha256, computed_at, through, scale, seed, resamples, first and
    second (measured scopes, as in `audit.reports.reliability.agreement_of`), paired (how many
    documents at least two people judged in both parts), differences (keys of COMPARED): first minus
    second, each with name, value (or None and the reason in note), interval and interval_note. Only
    judgments are compared.
    """
    progress = progress or Progress()
    frame: dict[str, Any] = {
        "project": project.slug,
        "scope": str(scope),
        "against": str(against),
        "computed_at": (now or timezone.now()).isoformat(),
        "through": through(project),
    }
    units = _count_in_both(project, scope, against)
    names = dict(Membership.objects.filter(project=project).values_list("pk", "name"))
    values = {value for both in units for pattern in both for _member, value in pattern}
    grades = Grade.objects.filter(project=project).values_list("value", flat=True)
    scale = sorted(values.union(grades))
    progress.start(2 + len(COMPARED), "Comparing two parts")
    measure = Measure(scale, names, seed, resamples, progress)
    first, second = _answers_in(units, 0), _answers_in(units, 1)
    measured = {"first": measure(first), "second": measure(second)}
    rows = _rows(units, scale)
    differences = {}
    for key in COMPARED:
        differences[key] = _difference(key, rows, seed=seed, resamples=resamples)
        progress.advance()
    return {
        **frame,
        "sha256": _checksum(units, names, scale),
        "scale": scale,
        "seed": seed,
        "resamples": resamples,
        **measured,
        "paired": sum(
            times for (first, other), times in units.items() if len(first) > 1 and len(other) > 1
        ),
        "differences": differences,
    }


def _answers_in(units: Counter[Any], which: int) -> Patterns:
    patterns: Patterns = Counter()
    for both, times in units.items():
        if both[which]:
            patterns[both[which]] += times
    return patterns


def _rows(units: Counter[Any], scale: Sequence[int]) -> tuple[Ratings, Ratings]:
    """Return both parts as matrices of units, because the package pairs units, not patterns. A unit
    in both parts has the same name in both. Each part has only the people who answered in it.
    """
    import numpy as np

    from agreement import Ratings

    times = np.fromiter(units.values(), dtype=np.int64, count=len(units))
    matrices = []
    for which in (0, 1):
        members = sorted({member for both in units for member, _value in both[which]})
        place = {member: at for at, member in enumerate(members)}
        patterns = np.full((len(units), len(members)), np.nan)
        for row, both in zip(patterns, units, strict=True):
            for member, value in both[which]:
                row[place[member]] = value
        kept = np.repeat(np.array([bool(both[which]) for both in units], dtype=bool), times)
        matrices.append(
            Ratings.from_matrix(
                np.repeat(patterns, times, axis=0)[kept],
                categories=list(scale) or "seen",
                units=np.flatnonzero(kept).tolist(),
            )
        )
    return matrices[0], matrices[1]


def _difference(
    key: str, rows: tuple[Ratings, Ratings], *, seed: int, resamples: int
) -> dict[str, Any]:
    from agreement import compare

    difference: Difference = compare(
        *rows, coefficient=coefficients()[key], interval="auto", seed=seed, resamples=resamples
    )
    interval = difference.interval
    return {
        "name": difference.name,
        "value": difference.value,
        "note": difference.note,
        "interval": None if interval is None else [interval.low, interval.high],
        "interval_note": difference.interval_note,
    }


def _checksum(units: Counter[Any], names: dict[int, str], scale: Sequence[int]) -> str:
    """Return the sum of everything that was counted, as in `audit.reports.unit_counts.Counts`."""
    lines = [json.dumps(["scale", list(scale)])]
    for both, times in units.items():
        patterns = [sorted((names[member], value) for member, value in pattern) for pattern in both]
        lines.append(json.dumps(["both", *patterns, times]))
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _count_in_both(project: Project, left: Scope, right: Scope) -> Counter[tuple[Pattern, Pattern]]:
    """Count units by people's answers in one scope and in the other, to compare two scopes. The
    answers are empty if a unit is not in a scope.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for number, scope in enumerate((left, right)):
        units = units_of(judgments_in(project, scope), scope)
        sql, more = units.order_by().query.sql_with_params()
        parts.append(f"SELECT {number} AS part, narrative_id, candidate_id, listed FROM ({sql}) u")  # noqa: S608 -- ours
        parameters += more
    counts: Counter[tuple[Pattern, Pattern]] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT on_left, on_right, COUNT(*) FROM ("  # noqa: S608 -- ours
            "SELECT MAX(CASE WHEN part = 0 THEN listed END) AS on_left, "
            "MAX(CASE WHEN part = 1 THEN listed END) AS on_right "
            f"FROM ({' UNION ALL '.join(parts)}) parts GROUP BY narrative_id, candidate_id"
            ") units GROUP BY on_left, on_right",
            parameters,
        )
        while rows := cursor.fetchmany(10_000):
            for first, second, times in rows:
                counts[read_pattern(first or ""), read_pattern(second or "")] += times
    return counts
