"""Take rows of a project out, with a reason, and bring them back.

A row records when, by whom and why it was taken out: `removed_at`, `removed_by`, `removed_reason`.
Nobody works on it, it is in no qrels, and texts and answers are kept. `Removable` has an instance
for each kind: queries, with all of their instructions, and instructions here, documents in
annotate.pools.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotate.collection.models import Query
from annotate.pairs.models import InstructionPair
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused, refuse_invalid_characters
from base.pagination import parse_key

MAX_REASON = 500
# How many rows somebody may name at once. A choice of topics takes out all others, however many.
MOST = 10_000
_BATCH = 500

# The fields of a row that is not taken out.
NOT_REMOVED: Mapping[str, Any] = {"removed_at": None, "removed_by": None, "removed_reason": ""}

T = TypeVar("T")


class ChangeCounts(NamedTuple):
    """How many rows were changed, and how many already had the requested state."""

    changed: int
    unchanged: Annotated[int, "Rows that already had that state."]


class Removable(ABC):
    """One kind of row that leads take out of a project and bring back."""

    # The first word of its events in the audit log.
    event: ClassVar[str]
    noun: ClassVar[str]
    nouns: ClassVar[str]
    # Whether a lead who still has to judge may not take any out.
    refused_while_blind: ClassVar[bool] = False

    @abstractmethod
    def rows(self, project: Project) -> QuerySet[Any]:
        """Return the rows of a project, also those that are taken out."""

    @abstractmethod
    def name_in_log(self, changed: int, rows: QuerySet[Any], keys: Sequence[int]) -> str:
        """Return how the audit log names the changed ones among the rows of a project; `keys` are
        those that were chosen.
        """

    # Few kinds need these two.
    def after_removing(  # noqa: B027
        self, keys: Sequence[int], fields: Mapping[str, Any]
    ) -> None:
        """Do what else follows when these rows are taken out."""

    def before_restoring(self, back: QuerySet[Any]) -> None:  # noqa: B027
        """Do what else follows when these rows are brought back. Refused: those that may not be."""

    def removed(self, project: Project) -> QuerySet[Any]:
        """Return the rows of a project that are taken out."""
        return self.rows(project).filter(removed_at__isnull=False)

    def remove(
        self,
        *,
        project: Project,
        keys: Sequence[int],
        reason: str,
        by: Membership | None,
        now: datetime | None = None,
    ) -> ChangeCounts:
        """Take rows out. One that is already out keeps its reason.

        Refused: a member who is not a lead, an archived project, no reason, a key of another
        project's row.
        """
        fields = removal_fields(reason, by, now)
        with transaction.atomic():
            rows = self.rows(project)
            keys = _lock(project, rows, keys, by)
            changed = 0
            for part in batches(keys):
                there = rows.filter(pk__in=part, removed_at__isnull=True)
                batch = list(there.values_list("pk", flat=True))
                changed += rows.filter(pk__in=batch).update(**fields)
                self.after_removing(batch, fields)
            if changed:
                record(
                    project=project,
                    what=f"{self.event}.removed",
                    about=self.name_in_log(changed, rows, keys),
                    words=fields["removed_reason"],
                    by=by,
                    now=now,
                )
        return ChangeCounts(changed, len(keys) - changed)

    def restore(
        self,
        *,
        project: Project,
        keys: Sequence[int],
        by: Membership | None,
        now: datetime | None = None,
    ) -> ChangeCounts:
        """Bring rows back; people's answers about them count again.

        Refused: a member who is not a lead, an archived project, a key of another project's row,
        and what `before_restoring` refuses.
        """
        with transaction.atomic():
            rows = self.rows(project)
            keys = _lock(project, rows, keys, by)
            changed = 0
            for part in batches(keys):
                back = rows.filter(pk__in=part, removed_at__isnull=False)
                self.before_restoring(back)
                changed += back.update(**NOT_REMOVED)
            if changed:
                record(
                    project=project,
                    what=f"{self.event}.restored",
                    about=self.name_in_log(changed, rows, keys),
                    by=by,
                    now=now,
                )
        return ChangeCounts(changed, len(keys) - changed)


def removal_fields(
    reason: str, by: Membership | None, now: datetime | None = None
) -> dict[str, Any]:
    """Return the field values of a row that is taken out.

    Refused: no reason, a reason that is too long or has forbidden characters.
    """
    reason = reason.strip()
    if not reason:
        raise Refused("Say why these are taken out.")
    if len(reason) > MAX_REASON:
        raise Refused(f"A reason has at most {MAX_REASON} characters.")
    refuse_invalid_characters(reason)
    return {"removed_at": now or timezone.now(), "removed_by": by, "removed_reason": reason}


def parse_keys(words: Iterable[str]) -> list[int]:
    """Parse the keys of rows that a page sends. Refused: anything that is not a key, too many."""
    keys = [parse_key(word) for word in distinct(words)]
    valid = [key for key in keys if key is not None]
    if len(valid) != len(keys):
        raise _not_of_this_project()
    return valid


def distinct(wanted: Iterable[T]) -> list[T]:
    """Return the distinct values in their order. Refused: more than `MOST`."""
    values = list(dict.fromkeys(wanted))
    if len(values) > MOST:
        raise Refused(f"At most {MOST:,} can be changed at once.")
    return values


def batches(of: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut a sequence into batches that fit into one statement."""
    return (of[start : start + _BATCH] for start in range(0, len(of), _BATCH))


def _lock(
    project: Project, rows: QuerySet[Any], wanted: Sequence[int], by: Membership | None
) -> list[int]:
    """Lock the project; return the distinct keys, all of them keys of `rows`.

    Refused: a member who is not a lead, an archived project, no keys, a key that is not in `rows`.
    """
    lock_project(
        project.pk, by, "Only leads of this project can take something out or bring it back."
    )
    keys = list(dict.fromkeys(wanted))
    if not keys:
        raise Refused("Choose one or more first.")
    if sum(rows.filter(pk__in=part).count() for part in batches(keys)) != len(keys):
        raise _not_of_this_project()
    return keys


def _not_of_this_project() -> Refused:
    return Refused("One of these does not belong to this project. Reload the page.")


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
