"""A lead's latest decision, which one key withdraws."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership
from audit.checks.models import Check
from audit.reviews.models import Decision
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.views.addresses import withdrawal_url

# For how long all pages offer to withdraw a decision with one key; later only its own page does.
UNDO_OFFERED = timedelta(hours=1)


def last_decision(member: Membership) -> dict[str, Any] | None:
    """Return this lead's latest decision if it is recent, so that one key can withdraw it."""
    document = "candidate__document"
    checks = Check.objects.current().filter(checker=member, place=Check.SETTLES)
    newest = [
        _newest(Adjudication.objects.current().filter(by=member), "narrative__pair", document),
        _newest(
            ConditionAdjudication.objects.current().filter(by=member),
            "condition__narrative__pair",
            document,
        ),
        _newest(Decision.objects.current().filter(by=member), "narrative__pair"),
        _newest(checks, "item__narrative__pair", f"item__{document}"),
    ]
    last = max(filter(None, newest), key=lambda one: one.at, default=None)
    if last is None:
        return None
    if isinstance(last, Adjudication) and last.batch:
        # One undo withdraws the whole batch.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, last.batch])
        return {"at": last.at, "url": url, "what": "many documents together", "outcome": ""}
    key, narrative, candidate, outcome = _describe(last)
    documents = [candidate.document.doc_id] if candidate else []
    what = " · ".join([*documents, narrative.pair.pair_id])
    return {"at": last.at, "url": withdrawal_url(key), "what": what, "outcome": outcome}


def _describe(row: Any) -> tuple[DisagreementKey, Narrative, Candidate | None, int | str]:
    """Return what a decision settles: the disagreement, its narrative and document, the outcome."""
    if isinstance(row, Adjudication):
        key = DisagreementKey(Kind.JUDGMENT, row.narrative_id, row.candidate_id, 0)
        return key, row.narrative, row.candidate, row.relevance
    if isinstance(row, ConditionAdjudication):
        narrative = row.condition.narrative
        key = DisagreementKey(Kind.VERDICT, narrative.pk, row.candidate_id, row.condition_id)
        return key, narrative, row.candidate, row.get_answer_display()
    if isinstance(row, Check):
        item = row.item
        key = DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)
        return key, item.narrative, item.candidate, check_value(row)
    key = DisagreementKey(Kind.REVIEW, row.narrative_id, 0, 0)
    return key, row.narrative, None, row.get_outcome_display()


def _newest(rows: QuerySet[Any], *beside: str) -> Any:
    recent = rows.filter(at__gt=timezone.now() - UNDO_OFFERED)
    return recent.select_related(*beside).order_by("-at", "-pk").first()


def check_value(check: Check) -> int | str:
    """Return a check's grade, or the words for "cannot judge", for use in a sentence."""
    return "“cannot judge”" if check.relevance is None else check.relevance
