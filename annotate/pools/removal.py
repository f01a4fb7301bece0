"""Taking candidates out of their pools, with a reason, and bringing them back.

What is taken out is nobody's work and in no qrels; what people said of it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection.models import Candidate, Query
from annotate.pairs.models import Assignment
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import many, record
from annotate.projects.models import Membership, Project
from base.errors import Refused, refuse_strange
from base.pagination import key

MAX_REASON = 500
# At once, by any way.
MOST = 10_000
_BATCH = 500


class Changed(NamedTuple):
    """How many candidates were changed, and how many were so already."""

    changed: int
    unchanged: int


def named(project: Project, ids: Iterable[tuple[str, str]]) -> list[int]:
    """Return the keys of the candidates with these ids (query_id, doc_id).

    Refused, naming the first: a pair of ids that is no candidate.
    """
    wanted = list(dict.fromkeys(ids))
    if len(wanted) > MOST:
        raise Refused(_("At most %(most)s documents are taken at once.") % {"most": f"{MOST:,}"})
    found: dict[tuple[str, str], int] = {}
    for part in _parts(wanted):
        rows = Candidate.with_removed.filter(
            query__project=project,
            query__query_id__in={query_id for query_id, _doc in part},
            document__doc_id__in={doc_id for _query, doc_id in part},
        )
        for pk, *ids_of in rows.values_list("pk", "query__query_id", "document__doc_id"):
            found[ids_of[0], ids_of[1]] = pk
    for query_id, doc_id in wanted:
        if (query_id, doc_id) not in found:
            raise Refused(
                _("Document %(doc_id)s is no candidate of query %(query_id)s.")
                % {"doc_id": doc_id[:100], "query_id": query_id[:100]}
            )
    return [found[one] for one in wanted]


def named_keys(words: Iterable[str], query: Query | None = None) -> list[int]:
    """Read keys of candidates as a page sends them; of `query` alone, where it is given.

    Refused: what is no key, or the key of another query's candidate.
    """
    keys = [key(word) for word in words]
    found = [one for one in keys if one is not None]
    if len(found) == len(keys):
        if query is None:
            return found
        there = Candidate.with_removed.filter(query=query, pk__in=found[:MOST])
        if set(there.values_list("pk", flat=True)) == set(found):
            return found
    raise Refused(_("One of the documents is none of this project. Load the page anew."))


def remove_candidates(
    *,
    project: Project,
    candidates: Sequence[int],
    reason: str,
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Take candidates out of their pools. One that is out already keeps its reason.

    Refused: who does not lead, an archived project, no reason, what is no candidate here.
    """
    reason = reason.strip()
    if not reason:
        raise Refused(_("Say why these documents are taken out."))
    if len(reason) > MAX_REASON:
        raise Refused(_("A reason has at most %(most)d characters.") % {"most": MAX_REASON})
    refuse_strange(reason)
    with transaction.atomic():
        rows, keys = _locked(project, candidates, by)
        changed = 0
        for part in _parts(keys):
            changed += rows.filter(pk__in=part, removed_at__isnull=True).update(
                removed_at=now or timezone.now(), removed_by=by, removed_reason=reason
            )
        if changed:
            record(
                project=project,
                what="candidates.removed",
                about=many(changed, _queries_of(keys)),
                words=reason,
                by=by,
                now=now,
            )
    return Changed(changed, len(keys) - changed)


def restore_candidates(
    *,
    project: Project,
    candidates: Sequence[int],
    by: Membership | None,
    now: datetime | None = None,
) -> Changed:
    """Bring candidates back into their pools; what people said of them counts again.

    Refused: who does not lead, an archived project, what is no candidate here.
    """
    with transaction.atomic():
        rows, keys = _locked(project, candidates, by)
        changed = 0
        for part in _parts(keys):
            back = rows.filter(pk__in=part, removed_at__isnull=False)
            # There is work again for judges of these queries.
            queries = list(back.values_list("query_id", flat=True).distinct())
            Assignment.objects.filter(
                pair__query__in=queries, task=Assignment.Task.JUDGE, done_at__isnull=False
            ).update(done_at=None)
            changed += back.update(removed_at=None, removed_by=None, removed_reason="")
        if changed:
            record(
                project=project,
                what="candidates.restored",
                about=many(changed, _queries_of(keys)),
                by=by,
                now=now,
            )
    return Changed(changed, len(keys) - changed)


def removed_candidates(project: Project) -> QuerySet[Candidate]:
    """Return the candidates of a project that are out of their pools."""
    return Candidate.with_removed.filter(query__project=project, removed_at__isnull=False)


def _locked(
    project: Project, candidates: Sequence[int], by: Membership | None
) -> tuple[QuerySet[Candidate], list[int]]:
    """Return the project's candidates, and the keys among these that are some."""
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project can change its pools."))
    refuse_if_archived(Project.objects.select_for_update(no_key=True).get(pk=project.pk))
    keys = list(dict.fromkeys(candidates))
    if not keys:
        raise Refused(_("Choose one or more documents."))
    if len(keys) > MOST:
        raise Refused(_("At most %(most)s documents are taken at once.") % {"most": f"{MOST:,}"})
    rows = Candidate.with_removed.filter(query__project=project)
    if sum(rows.filter(pk__in=part).count() for part in _parts(keys)) != len(keys):
        raise Refused(_("One of the documents is none of this project. Load the page anew."))
    return rows, keys


def _queries_of(keys: list[int]) -> str:
    """Name the first queries of these candidates."""
    rows = Candidate.with_removed.filter(pk__in=keys[:_BATCH])
    ids = list(rows.order_by("query").values_list("query__query_id", flat=True).distinct()[:4])
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")


def _parts(of: list) -> Iterator[list]:  # type: ignore[type-arg]
    return (of[start : start + _BATCH] for start in range(0, len(of), _BATCH))
