"""What the work page shows of each kind of disagreement, and of the session.

The views of the four kinds extend `templates/settling/_view.html` and have the same keys. Names are
hidden until the lead reveals them (`audit.settling.names`), unless the project shows them.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.forms import Form
from django.urls import reverse
from django.utils import timezone

from annotate.judgments.models import Adjudication
from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline, Membership
from audit.checks.models import Check
from audit.settling.kinds import (
    KINDS,
    Disagreement,
    current_decisions,
    key_of,
    kind_of,
)
from audit.settling.queue import keys_after
from audit.settling.queue_filters import QueueFilter
from audit.settling.views.addresses import (
    add_filter,
    disagreement_url,
    filter_in,
    list_url,
    reveal_url,
    withdrawal_url,
)
from base import keymap
from base.requests import PageRequest
from base.word_diff import diff

# For how long one key undoes a decision; later it is withdrawn on its own page.
UNDO_OFFERED = timedelta(hours=1)
# How many disagreements the page knows ahead.
AHEAD = 50
# How many of them the browser fetches ahead.
AHEAD_OF_READER = 8


def describe_last(member: Membership, last: Any) -> dict[str, Any] | None:
    """Return what a lead's latest decision settled, and the address that withdraws it."""
    if last is None:
        return None
    if isinstance(last, Adjudication) and last.batch:
        # One undo withdraws the whole batch.
        url = reverse("audit:batch_withdrawal", args=[member.project.slug, last.batch])
        return {"at": last.at, "url": url, "what": "many documents together", "outcome": ""}
    about = last.item if isinstance(last, Check) else last
    documents = [about.candidate.document.doc_id] if hasattr(about, "candidate") else []
    what = " · ".join([*documents, about.narrative.pair.pair_id])
    url = withdrawal_url(key_of(last))
    return {"at": last.at, "url": url, "what": what, "outcome": kind_of(last).words_of(last)}


def item_context(request: PageRequest, disagreement: Disagreement, form: Form) -> dict[str, Any]:
    """Return what the page shows of a disagreement: instruction, names, addresses, and what belongs
    to its kind.
    """
    narrative, key, naming = disagreement.narrative, disagreement.key, disagreement.naming
    candidate = disagreement.candidate
    asked = filter_in(request.GET)
    narrative.pair.read_current()
    original = narrative.pair.current(Narrative.Side.ORIGINAL)
    marked = original is not None and original.pk != narrative.pk and original.text
    newest = narrative.pair.current(narrative.side)
    item: dict[str, Any] = {
        "kind": key.kind.value,
        "disagreement_key": key,
        "pair": narrative.pair,
        "query": narrative.pair.query,
        "narrative": narrative,
        "stale": newest is not None and newest.pk != narrative.pk,
        "taken_out": bool(narrative.pair.removed_at or (candidate and candidate.removed_at)),
        "change": diff(original.text, narrative.text) if original and marked else None,
        # Independent of the filter, which only selects the next one.
        "differs": disagreement.differs(),
        "asked": add_filter("", asked),
        "settle_url": disagreement_url(key, asked),
        "withdraw_url": withdrawal_url(key),
        "hidden": naming.hidden,
        "reveals": naming.reveals,
        "reveal_url": add_filter(reveal_url(key), asked),
        "keys": keymap.keys_for(request.user),
    }
    context = item | disagreement.page_context(item) | {"form": form}
    decision, elsewhere = context["decision"], disagreement.other_page_url()
    mine = decision is not None and decision.by_id == disagreement.member.pk
    open_now = context["differs"] and disagreement.can_settle(context) and not elsewhere
    reason = getattr(decision, disagreement.reason, "")
    return context | {
        "own_decision": mine,
        "own_answer": decision and getattr(decision, disagreement.value),
        "elsewhere_url": elsewhere,
        # The reader's own decision may be replaced by another one.
        "adoptable": open_now and (decision is None or mine),
        "note": reason if mine else "",
        "answer_json": json.dumps(_answer_data(decision, reason)),
    }


def session_context(
    request: PageRequest, disagreement: Disagreement, filters: QueueFilter, decision: Any
) -> dict[str, Any]:
    """Return what the page shows of the session: what the reader has just settled, this
    disagreement with its `decision` (or None) and those that follow it in the filtered list.
    """
    member, key = disagreement.member, disagreement.key
    asked, slug = filter_in(request.GET), member.project.slug
    recent = recent_decisions(member)
    alone = {key_of(row): row for row in recent if getattr(row, "batch", None) is None}
    following = keys_after(member, filters, key, AHEAD)
    before = [other for other in alone if other not in {key, *following}]
    order = [*before, key, *following]
    decisions = {other: alone[other] for other in before}
    if decision is not None:
        decisions[key] = decision
    if filters.settled:
        decisions |= current_decisions(member.project_id, following)
    url = {other: disagreement_url(other, asked) for other in order}
    listed = list_url(slug, asked)
    documents = add_filter(reverse("audit:disagreement_views", args=[slug]), asked)
    return {
        "thing": "disagreement",
        "answered_by": "a decision",
        "note_title": "Reason",
        "guideline": Guideline.objects.latest_of(member.project),
        "done": len(decisions),
        "total": len(order),
        "back_url": listed,
        "list_url": listed,
        "previous_url": url[before[-1]] if before else "",
        "next_url": url[following[0]] if following else "",
        "next": str(following[0]) if following else "",
        "count_url": add_filter(reverse("audit:disagreement_count", args=[slug]), asked),
        "last": describe_last(member, recent[-1] if recent else None),
        "judging_session": {
            "user": member.user_id,
            "task": "decide",
            "candidate": str(key),
            "order": [str(other) for other in order],
            "answers": {
                str(other): ["decision", kind_of(row).value_of(row), str(row.uuid)]
                for other, row in decisions.items()
            },
            # What the reader settled last and can undo by a key, the latest at the end.
            "history": [str(other) for other in alone if other in decisions],
            "grades": [],
            "ahead": AHEAD_OF_READER,
            "addresses": {str(other): address for other, address in url.items()},
            "urls": {"documents": documents, "judging": listed},
        },
    }


def recent_decisions(member: Membership) -> list[Any]:
    """Return the reader's current decisions of the last hour that can be undone, the latest at the
    end: four queries.
    """
    since = timezone.now() - UNDO_OFFERED
    decisions: list[Any] = []
    for kind in KINDS.values():
        rows = kind.current_decisions(member.project_id).filter(kind.undoable)
        rows = rows.filter(**{kind.decided_by: member})
        decisions += rows.filter(at__gt=since).order_by("-at", "-pk")[:AHEAD]
    return sorted(decisions, key=lambda row: row.at)


def _answer_data(decision: Any, reason: str) -> dict[str, Any]:
    """Return a decision for the page's script: the fields of the form that gives it."""
    if decision is None:
        return {}
    fields = {"cause": getattr(decision, "cause", "")}
    return {"kind": "decision", "uuid": str(decision.uuid), "note": reason, "fields": fields}
