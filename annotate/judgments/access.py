"""Access to a pair's labels, for leads who are not judging the pair."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.judgments.blindness import may_see
from annotate.pairs import access as pairs_access
from annotate.pairs.models import InstructionPair
from annotate.projects.access import Person
from annotate.projects.models import Membership

BLIND = "You are still judging here. Finish or release the task, then come back."


def pair_for_lead(user: Person, pk: int) -> tuple[Membership, InstructionPair]:
    """Return a lead's membership and the pair; raise PermissionDenied while they judge it.

    Raises Http404 if there is no such pair.
    """
    member, pair = pairs_access.led_pair(user, pk)
    if not may_see(member, pair):
        raise PermissionDenied(BLIND)
    return member, pair
