"""Access for leads who are not blind: to a pair's labels, and to what tells others' answers."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied

from annotate.judgments.blindness import may_see, must_answer_first
from annotate.pairs import access as pairs_access
from annotate.pairs.models import InstructionPair
from annotate.projects.access import Person, lead
from annotate.projects.models import Membership

BLIND = "You are still judging here. Finish or release the task, then come back."


def unblinded_lead(user: Person, slug: str, refusal: str) -> Membership:
    """Return a lead who may know what others answered, or raise Http404 or PermissionDenied.

    `refusal`: the sentence for a lead who still has to answer.
    """
    member = lead(user, slug)
    if must_answer_first(member):
        raise PermissionDenied(refusal)
    return member


def pair_for_lead(user: Person, pk: int) -> tuple[Membership, InstructionPair]:
    """Return a lead's membership and the pair; raise PermissionDenied while they judge it.

    Raises Http404 if there is no such pair.
    """
    member, pair = pairs_access.led_pair(user, pk)
    if not may_see(member, pair):
        raise PermissionDenied(BLIND)
    return member, pair
