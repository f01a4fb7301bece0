"""A lead's latest decision, which one key withdraws."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.judgments.models import Adjudication, ConditionAdjudication
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.reviews.models import Decision
from audit.settling.queue_filters import DisagreementKey, Kind
from audit.settling.views.addresses import withdrawal_url

# For how long all pages offer to withdraw a decision with one key; later only its own page does.
UNDO_OFFERED = timedelta(hours=1)


def last_decision(member: Membership) -> dict[str, Any] | None:
    """Return this lead's latest decision if it is recent, so that one key can withdraw it."""
    recent = {"at__gt": timezone.now() - UNDO_OFFERED}
    judged = _newest(
        Adjudication.objects.current().filter(by=member, **recent),
        "narrative__pair",
        "candidate__document",
    )
    answered = _newest(
        ConditionAdjudication.objects.current().filter(by=member, **recent),
        "condition__narrative__pair",
        "candidate__document",
    )
    decided = _newest(Decision.objects.current().filter(by=member, **recent), "narrative__pair")
    checked = _newest(
        Check.objects.current().filter(checker=member, place=Check.SETTLES, **recent),
        "item__narrative__pair",
        "item__candidate__document",
    )
    found: list[tuple[datetime, DisagreementKey, list[Any], Any]] = []
    if judged is not None:
        key = DisagreementKey(Kind.JUDGMENT, judged.narrative_id, judged.candidate_id, 0)
        found.append((judged.at, key, [judged.candidate, judged.narrative], judged.relevance))
    if answered is not None:
        narrative = answered.condition.narrative
        key = DisagreementKey(
            Kind.VERDICT, narrative.pk, answered.candidate_id, answered.condition_id
        )
        outcome = answered.get_answer_display()
        found.append((answered.at, key, [answered.candidate, narrative], outcome))
    if decided is not None:
        key = DisagreementKey(Kind.REVIEW, decided.narrative_id, 0, 0)
        found.append((decided.at, key, [decided.narrative], decided.get_outcome_display()))
    if checked is not None:
        item = checked.item
        about = [item.candidate, item.narrative]
        found.append((checked.at, key_of_label(item), about, check_value(checked)))
    if not found:
        return None
    at, key, about, outcome = max(found, key=lambda one: one[0])
    if judged is not None and judged.batch and key.kind is Kind.JUDGMENT:
        # One undo withdraws the whole batch.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, judged.batch])
        return {"at": at, "url": url, "what": _("many documents together"), "outcome": ""}
    *documents, narrative = about
    what = " · ".join([*(one.document.doc_id for one in documents), narrative.pair.pair_id])
    return {"at": at, "url": withdrawal_url(key), "what": what, "outcome": outcome}


def _newest(rows: QuerySet[Any], *beside: str) -> Any:
    return rows.select_related(*beside).order_by("-at", "-pk").first()


def key_of_label(item: SampleItem) -> DisagreementKey:
    """Return the key of the disagreement on a sampled label."""
    return DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)


def check_value(check: Check) -> int | str:
    """Return a check's grade, or the words for "cannot judge", for use in a sentence."""
    return _("“cannot judge”") if check.relevance is None else check.relevance
