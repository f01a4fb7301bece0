"""Queries and instructions are taken out of a project and brought back.

Taking out a query takes out all of its instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet

from annotate.collection.models import Query
from annotate.collection.removal import NOT_REMOVED, Removable, batches, distinct
from annotate.pairs.models import InstructionPair
from annotate.projects.models import Project
from base.errors import Refused

# The maximum number of ids named in an audit event.
_NAMED = 3


class _RemovableById(Removable):
    """Rows that have one id within a project."""

    id_field: ClassVar[str]

    def keys_of(self, project: Project, ids: Iterable[str]) -> list[int]:
        """Return the keys of the rows with these ids. Refused: an unknown id."""
        unique_ids = distinct(ids)
        keys: dict[str, int] = {}
        for part in batches(unique_ids):
            rows = self.rows(project).filter(**{f"{self.id_field}__in": part})
            keys |= dict(rows.values_list(self.id_field, "pk"))
        for row_id in unique_ids:
            if row_id not in keys:
                raise Refused(f"There is no {self.noun} {row_id[:100]} in this project.")
        return [keys[row_id] for row_id in unique_ids]

    def name_in_log(self, changed: int, rows: QuerySet[Any], keys: Sequence[int]) -> str:
        """Return the audit log's name of the changed rows: "3 queries · 301, 302 …"."""
        ids = list(rows.filter(pk__in=keys[: _NAMED + 1]).values_list(self.id_field, flat=True))
        rest = " …" if len(ids) > _NAMED else ""
        noun = self.noun if changed == 1 else self.nouns
        return f"{changed} {noun} · {', '.join(ids[:_NAMED])}{rest}"


class _Queries(_RemovableById):
    event = "queries"
    noun, nouns = "query", "queries"
    id_field = "query_id"

    def rows(self, project: Project) -> QuerySet[Query]:
        return Query.objects.filter(project=project)

    def after_removing(self, keys: Sequence[int], fields: Mapping[str, Any]) -> None:
        InstructionPair.objects.filter(query__in=keys, removed_at__isnull=True).update(**fields)

    def before_restoring(self, back: QuerySet[Query]) -> None:
        """Bring back the instructions that were taken out with their query."""
        for query in back:
            InstructionPair.objects.filter(
                query=query, removed_at=query.removed_at, removed_reason=query.removed_reason
            ).update(**NOT_REMOVED)


class _Instructions(_RemovableById):
    event = "pairs"
    noun, nouns = "instruction", "instructions"
    id_field = "pair_id"

    def rows(self, project: Project) -> QuerySet[InstructionPair]:
        return InstructionPair.objects.filter(project=project)

    def removed(self, project: Project) -> QuerySet[InstructionPair]:
        """Return the instructions that were taken out individually.

        Their query is not taken out, and they were not removed by a decision on their reviews.
        """
        rows = super().removed(project).filter(query__removed_at__isnull=True)
        return rows.exclude(removed_reason="")

    def before_restoring(self, back: QuerySet[InstructionPair]) -> None:
        """Refuse instructions whose query, or whose reviews, took them out."""
        if of_query := back.filter(query__removed_at__isnull=False).first():
            raise Refused(
                f"Instruction {of_query.pair_id} is taken out with its query. Bring the query back."
            )
        if decided := back.filter(removed_reason="").first():
            raise Refused(
                f"Instruction {decided.pair_id} was removed by a decision on its reviews. "
                "Withdraw the decision there."
            )


QUERIES = _Queries()
INSTRUCTIONS = _Instructions()
