"""The addresses of disagreements: the page of each kind, its actions, the list with its filter."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.urls import reverse

from annotate.pairs.models import Condition
from audit.settling.forms import QueueFilterForm, joined_values
from audit.settling.kinds import KINDS
from audit.settling.models import Reveal
from audit.settling.queue_filters import DisagreementKey, Kind, QueuePosition
from base.pagination import parse_key
from base.requests import PageRequest


def disagreement_url(
    disagreement_key: DisagreementKey, asked: Mapping[str, str] | None = None
) -> str:
    """Return the address of the page that settles a disagreement."""
    return add_filter(_reverse(disagreement_key, 0), asked or {})


def withdrawal_url(disagreement_key: DisagreementKey) -> str:
    """Return the address that withdraws a decision."""
    return _reverse(disagreement_key, 1)


def reveal_url(disagreement_key: DisagreementKey) -> str:
    """Return the address that reveals names to a lead."""
    if disagreement_key.kind is Kind.VERDICT:
        # The people who answered a condition are the judges of the document.
        disagreement_key = disagreement_key._replace(kind=Kind.JUDGMENT)
    return _reverse(disagreement_key, 2)


def _reverse(disagreement_key: DisagreementKey, route: int) -> str:
    kind = disagreement_key.kind
    keys = KINDS[kind].keys_of(disagreement_key)
    return reverse(f"audit:{KINDS[kind].routes[route]}", kwargs=keys)


def list_url(slug: str, asked: Mapping[str, str]) -> str:
    """Return the address of the list with this filter."""
    return add_filter(reverse("audit:disagreements", args=[slug]), asked)


def filter_in(query: Mapping[str, str]) -> dict[str, str]:
    """Return the filter in an address, to be passed on to other addresses."""
    names = (*QueueFilterForm.base_fields, "one", "other")
    return {name: joined_values(query, name) for name in names if query.get(name)}


def add_filter(url: str, asked: Mapping[str, str]) -> str:
    """Add a filter to an address; empty values are left out."""
    filled = {name: value for name, value in asked.items() if value}
    return f"{url}?{urlencode(filled)}" if filled else url


def parse_position(text: str) -> QueuePosition | None:
    """Return the position in the list that an address names, or None if it is invalid."""
    try:
        return QueuePosition.parse(text)
    except ValueError:
        return None


def parse_disagreement(text: str) -> DisagreementKey | None:
    """Return the disagreement that a form or an address names, or None if it is invalid."""
    try:
        return DisagreementKey.parse(text)
    except ValueError:
        return None


def disagreement_of_form(request: PageRequest, narrative: int, candidate: int) -> DisagreementKey:
    """Return whose page a form was sent from: a document's, or one of its conditions'."""
    condition = parse_key(request.POST.get("condition", ""))
    if condition and Condition.objects.filter(pk=condition, narrative=narrative).exists():
        return DisagreementKey(Kind.VERDICT, narrative, candidate, condition)
    return DisagreementKey(Kind.JUDGMENT, narrative, candidate, 0)


def revealed_disagreement(reveal: Reveal) -> DisagreementKey:
    """Return the disagreement whose names somebody revealed."""
    candidate = reveal.candidate_id or 0
    if reveal.item_id is not None:
        return DisagreementKey(Kind.CHECK, reveal.narrative_id, candidate, reveal.item_id)
    kind = Kind.JUDGMENT if candidate else Kind.REVIEW
    return DisagreementKey(kind, reveal.narrative_id, candidate, 0)
