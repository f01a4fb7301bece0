"""A lead's latest decision, which one key withdraws."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects.models import Membership
from audit.checks.models import Check
from audit.settling.settling_session import key_of
from audit.settling.views.addresses import withdrawal_url


def describe_last(member: Membership, last: Any) -> dict[str, Any] | None:
    """Return what a lead's latest decision settled, and the address that withdraws it."""
    if last is None:
        return None
    if isinstance(last, Adjudication) and last.batch:
        # One undo withdraws the whole batch.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, last.batch])
        return {"at": last.at, "url": url, "what": "many documents together", "outcome": ""}
    about = last.item if isinstance(last, Check) else last
    of = last.condition.narrative if isinstance(last, ConditionAdjudication) else about.narrative
    documents = [about.candidate.document.doc_id] if hasattr(about, "candidate") else []
    what = " · ".join([*documents, of.pair.pair_id])
    url = withdrawal_url(key_of(last))
    return {"at": last.at, "url": url, "what": what, "outcome": outcome_of(last)}


def outcome_of(decision: Any) -> int | str:
    """Return the outcome of a decision, for use in a sentence."""
    if isinstance(decision, Adjudication):
        return decision.relevance
    if isinstance(decision, Check):
        return "“cannot judge”" if decision.relevance is None else decision.relevance
    if isinstance(decision, ConditionAdjudication):
        return decision.get_answer_display()
    return str(decision.get_outcome_display())
