"""What the rewrite page shows beside the text: affected documents, advice, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from annotate.judgments.document_names import names_for
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from annotate.rewriting import actions
from annotate.rewriting.models import Draft
from annotate.rewriting.rewrite_impact import advise, find_impact
from base.word_diff import Op


@dataclass(frozen=True)
class Desk:
    """One side of a pair as a member rewrites it: its source, current version and draft."""

    member: Membership
    pair: InstructionPair
    side: str
    # What it is written from, and its current version, if there is one yet.
    source: Narrative | None
    current: Narrative | None
    draft: Draft | None

    @property
    def version(self) -> int:
        """The number of the current version; 0 while there is none."""
        return self.current.version if self.current else 0

    @property
    def before(self) -> str:
        """The text that changes are shown against."""
        return self.source.text if self.source else ""

    def url(self, name: str) -> str:
        """Return the address of one of the page's routes, on this side."""
        address = reverse(f"annotate:{name}", args=[self.pair.pk])
        return f"{address}?side={self.side}" if self.side != Narrative.Side.ALTERED else address


def is_key(value: str) -> bool:
    """Return whether this can be the key of a row."""
    return value.isdecimal() and len(value) < 19


def impact_context(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """Return a page of the affected documents, with their ticks."""
    project = desk.pair.project
    drops = list(desk.draft.drops) if desk.draft else []
    if request.method == "POST":
        drops = sorted({*drops, *(int(key) for key in request.POST.getlist("drop") if is_key(key))})
    rewrite_impact = find_impact(desk.pair, request.GET, desk.member)
    return {
        "project": project,
        "member": desk.member,
        "pair": desk.pair,
        "query": desk.pair.query,
        "side": desk.side,
        "here": desk.url("rewrite"),
        "draft_url": desk.url("draft"),
        "advice_url": desk.url("advice"),
        "rewrite_impact": rewrite_impact,
        "names": names_for(desk.member, rewrite_impact.page.rows),
        "drops": drops,
        "grades": list(project.grades.order_by("value")),
        "show_prior": project.show_prior or desk.member.leads,
    }


def advice_context(desk: Desk, written: Mapping[str, Any], *, in_texts: bool) -> dict[str, Any]:
    """Return the advice on the typed text."""
    return {
        "side": desk.side,
        "checks": advise(
            desk.pair,
            side=desk.side,
            before=desk.before,
            after=str(written.get("text") or ""),
            conditions=str(written.get("conditions") or ""),
            in_texts=in_texts,
            reader=desk.member,
        ),
        "advice_url": desk.url("advice"),
    }


def changed_conditions(older: Narrative | None, found: Narrative) -> list[tuple[Op, str, str]]:
    """Return the conditions of a version, then those of the previous one that are gone."""
    now = actions.conditions_of(found)
    # A first version starts without conditions: those of its source do not count.
    before = actions.conditions_of(older) if older and older.side == found.side else []
    return [
        *((Op.KEPT if condition in before else Op.ADDED, *condition) for condition in now),
        *((Op.REMOVED, *condition) for condition in before if condition not in now),
    ]
