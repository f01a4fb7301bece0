"""The names shown in a disagreement: real ones, or pseudonyms until the reader reveals them.

The pages and the API follow this one rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects import access as assignments
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from audit.checks.models import SampleItem
from audit.reviews.passes import positions_of, pseudonym
from audit.settling.models import Reveal
from audit.settling.queue_filters import DisagreementKey, reveal_keys
from base.errors import Refused


class Naming(NamedTuple):
    """Whether names are hidden from a reader, and who has revealed them so far."""

    disagreement_key: DisagreementKey
    hidden: bool
    reveals: list[Reveal]

    def displayed(self, people: Mapping[int, str]) -> dict[int, str]:
        """Return the displayed names of people (real names by the keys of memberships)."""
        return display_names(self.disagreement_key, people, self.hidden)


def display_names(
    disagreement_key: DisagreementKey, people: Mapping[int, str], hidden: bool
) -> dict[int, str]:
    """Return the names or pseudonyms of people, in an order that does not depend on the names."""
    in_order = positions_of(reveal_keys(disagreement_key), people)
    if hidden:
        return {member: pseudonym(place) for member, place in in_order.items()}
    return {member: people[member] for member in in_order}


def naming_for(reader: Membership, disagreement_key: DisagreementKey) -> Naming:
    """Return how `reader` sees people's names in a disagreement: one query."""
    narrative, candidate, item = reveal_keys(disagreement_key)
    reveals = list(
        Reveal.objects.filter(narrative=narrative, candidate=candidate or None, item=item or None)
        .select_related("by")
        .order_by("at", "pk")
    )
    seen = any(reveal.by_id == reader.pk for reveal in reveals)
    return Naming(disagreement_key, reader.project.hide_names and not seen, reveals)


def reveal_names(
    *,
    narrative: Narrative,
    by: Membership,
    candidate: Candidate | None = None,
    item: SampleItem | None = None,
    now: datetime | None = None,
) -> Reveal:
    """Record that `by` looks up names: the reviewers of a narrative; with `candidate`, its judges;
    with `item`, the checkers of that label. Repeating changes nothing. Refused: not a lead.
    """
    if not by.leads or by.project_id != narrative.pair.project_id:
        raise Refused("Only leads of this project can reveal names.")
    assignments.refuse_if_archived(by.project)
    if item is not None:
        narrative, candidate = item.narrative, item.candidate
    with transaction.atomic():
        # After a double click, the second request waits here and then finds the first one's row.
        Membership.objects.select_for_update().get(pk=by.pk)
        revealed, made = Reveal.objects.get_or_create(
            narrative=narrative,
            candidate=candidate,
            item=item,
            by=by,
            defaults={"at": now or timezone.now()},
        )
        if made:
            whose = candidate.document if candidate is not None else "its reviewers"
            record(
                project=by.project,
                what="names.revealed",
                about=revealed,
                named=f"{narrative.pair} · {narrative} · {whose}",
                by=by,
                now=now,
            )
    return revealed
