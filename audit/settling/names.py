"""The names shown in a disagreement: real ones, or pseudonyms until the reader reveals them.

The pages and the API follow this one rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from annotate.projects.models import Membership
from audit.reviews.pseudonyms import positions_of, pseudonym
from audit.settling.models import Reveal
from audit.settling.queue_filters import DisagreementKey, reveal_keys


class Naming(NamedTuple):
    """Whether names are hidden from a reader, and who has revealed them so far."""

    disagreement_key: DisagreementKey
    hidden: bool
    reveals: list[Reveal]

    def displayed(self, people: Mapping[int, str]) -> dict[int, str]:
        """Return the displayed names of people (real names by the keys of memberships), in display
        order.
        """
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
