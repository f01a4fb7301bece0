"""Taking queries and instructions out of a project, with a reason, and bringing them back.

What is taken out is nobody's work and in no qrels; what people said and wrote stays. With a query
all of its instructions are out. Candidates are taken out in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection.models import Query
from annotate.pairs.models import InstructionPair
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused, refuse_strange
from base.pagination import key

MAX_REASON = 500
# At once, by any way.
MOST = 10_000
_BATCH = 500
# How many ids the audit log names.
_NAMED = 3


class Changed(NamedTuple):
    """How many rows were changed, and how many were so already."""

    changed: int
    unchanged: int


def query_keys(project: Project, ids: Iterable[str]) -> list[int]:
    """Return the keys of the queries with these ids. Refused, naming the first: no such query."""
    return _keys_of(Query.objects.filter(project=project), "query_id", ids, _("query"))


def pair_keys(project: Project, ids: Iterable[str]) -> list[int]:
    """Return the keys of the pairs with these ids. Refused, naming the first: no such pair."""
    found = InstructionPair.objects.filter(project=project)
    return _keys_of(found, "pair_id", ids, _("instruction pair"))


def keys_sent(words: Iterable[str]) -> list[int]:
    """Read keys of rows as a page sends them. Refused: what is no key."""
    keys = [key(word) for word in words]
    found = [one for one in keys if one is not None]
    if len(found) != len(keys):
        raise Refused(_("One of these is none of this project. Load the page anew."))
    return found


def remove_queries(
    *,
    project: Project,
    queries: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Take queries out, with all of their instructions. One that is out keeps its reason.

    Refused: who does not lead, an archived project, no reason, what is no query here.
    """
    reason = _checked(reason)
    fields = {"removed_at": now or timezone.now(), "removed_by": by, "removed_reason": reason}
    with transaction.atomic():
        rows, keys = _locked(Query.objects.filter(project=project), project, queries, by)
        changed = 0
        for part in _parts(keys):
            there = list(
                rows.filter(pk__in=part, removed_at__isnull=True).values_list("pk", flat=True)
            )
            changed += rows.filter(pk__in=there).update(**fields)
            InstructionPair.objects.filter(query__in=there, removed_at__isnull=True).update(
                **fields
            )
        if changed:
            about = _about(changed, "query", "queries", rows, keys, "query_id")
            record(
                project=project, what="queries.removed", about=about, words=reason, by=by, now=now
            )
    return Changed(changed, len(keys) - changed)


def restore_queries(
    *,
    project: Project,
    queries: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Bring queries back, with the instructions that were taken out with them.

    Refused: who does not lead, an archived project, what is no query here.
    """
    with transaction.atomic():
        rows, keys = _locked(Query.objects.filter(project=project), project, queries, by)
        changed = 0
        for part in _parts(keys):
            for query in rows.filter(pk__in=part, removed_at__isnull=False):
                InstructionPair.objects.filter(
                    query=query, removed_at=query.removed_at, removed_reason=query.removed_reason
                ).update(**_BACK)
                changed += rows.filter(pk=query.pk).update(**_BACK)
        if changed:
            about = _about(changed, "query", "queries", rows, keys, "query_id")
            record(project=project, what="queries.restored", about=about, by=by, now=now)
    return Changed(changed, len(keys) - changed)


def remove_pairs(
    *,
    project: Project,
    pairs: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Take instructions out. One that is out keeps its reason.

    Refused: who does not lead, an archived project, no reason, what is no pair here.
    """
    reason = _checked(reason)
    fields = {"removed_at": now or timezone.now(), "removed_by": by, "removed_reason": reason}
    with transaction.atomic():
        every = InstructionPair.objects.filter(project=project)
        rows, keys = _locked(every, project, pairs, by)
        changed = 0
        for part in _parts(keys):
            changed += rows.filter(pk__in=part, removed_at__isnull=True).update(**fields)
        if changed:
            about = _about(changed, "instruction", "instructions", rows, keys, "pair_id")
            record(project=project, what="pairs.removed", about=about, words=reason, by=by, now=now)
    return Changed(changed, len(keys) - changed)


def restore_pairs(
    *,
    project: Project,
    pairs: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Bring instructions back.

    Refused: who does not lead, an archived project, what is no pair here, an instruction whose
    query is out, and one that a decision of a review removed.
    """
    with transaction.atomic():
        every = InstructionPair.objects.filter(project=project)
        rows, keys = _locked(every, project, pairs, by)
        changed = 0
        for part in _parts(keys):
            there = rows.filter(pk__in=part, removed_at__isnull=False)
            if of_query := there.filter(query__removed_at__isnull=False).first():
                raise Refused(
                    _("Instruction %(pair_id)s is out with its query. Bring the query back.")
                    % {"pair_id": of_query.pair_id}
                )
            if decided := there.filter(removed_reason="").first():
                raise Refused(
                    _(
                        "Instruction %(pair_id)s was removed by a decision on its reviews. "
                        "Withdraw the decision there."
                    )
                    % {"pair_id": decided.pair_id}
                )
            changed += there.update(**_BACK)
        if changed:
            about = _about(changed, "instruction", "instructions", rows, keys, "pair_id")
            record(project=project, what="pairs.restored", about=about, by=by, now=now)
    return Changed(changed, len(keys) - changed)


def removed_queries(project: Project) -> QuerySet[Query]:
    """Return the queries of a project that are taken out."""
    return Query.objects.filter(project=project, removed_at__isnull=False)


def removed_pairs(project: Project) -> QuerySet[InstructionPair]:
    """Return the instructions that are taken out on their own: their query is not, and no decision
    removed them.
    """
    return InstructionPair.objects.filter(
        project=project, removed_at__isnull=False, query__removed_at__isnull=True
    ).exclude(removed_reason="")


_BACK: dict[str, Any] = {"removed_at": None, "removed_by": None, "removed_reason": ""}


def _checked(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise Refused(_("Say why these are taken out."))
    if len(reason) > MAX_REASON:
        raise Refused(_("A reason has at most %(most)d characters.") % {"most": MAX_REASON})
    refuse_strange(reason)
    return reason


def _locked(
    rows: QuerySet[Any], project: Project, wanted: Sequence[int], by: Membership | None
) -> tuple[QuerySet[Any], list[int]]:
    """Lock the project; return the rows of it, and the keys among these without repetition."""
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project take queries and instructions out."))
    refuse_if_archived(Project.objects.select_for_update(no_key=True).get(pk=project.pk))
    keys = list(dict.fromkeys(wanted))
    if not keys:
        raise Refused(_("Choose one or more first."))
    if len(keys) > MOST:
        raise Refused(_("At most %(most)s are changed at once.") % {"most": f"{MOST:,}"})
    if sum(rows.filter(pk__in=part).count() for part in _parts(keys)) != len(keys):
        raise Refused(_("One of these is none of this project. Load the page anew."))
    return rows, keys


def _keys_of(rows: QuerySet[Any], field: str, ids: Iterable[str], noun: str) -> list[int]:
    wanted = list(dict.fromkeys(ids))
    if len(wanted) > MOST:
        raise Refused(_("At most %(most)s are changed at once.") % {"most": f"{MOST:,}"})
    found: dict[str, int] = {}
    for part in _parts(wanted):
        found |= dict(rows.filter(**{f"{field}__in": part}).values_list(field, "pk"))
    for one in wanted:
        if one not in found:
            raise Refused(
                _("There is no %(noun)s %(id)s in this project.") % {"noun": noun, "id": one[:100]}
            )
    return [found[one] for one in wanted]


def _about(
    changed: int, one: str, several: str, rows: QuerySet[Any], keys: list[int], field: str
) -> str:
    """Name what was changed, as the audit log keeps it: "3 queries · 301, 302 …"."""
    ids = [row[0] for row in rows.filter(pk__in=keys[: _NAMED + 1]).values_list(field)]
    rest = " …" if len(ids) > _NAMED else ""
    return f"{changed} {one if changed == 1 else several} · {', '.join(ids[:_NAMED])}{rest}"


def _parts(of: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (of[start : start + _BATCH] for start in range(0, len(of), _BATCH))
