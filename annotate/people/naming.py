"""A person's consent to be named in publications of their project."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from base.errors import Refused


def set_named(*, named: bool, by: Membership, now: datetime | None = None) -> Membership:
    """Record that `by` agrees to be named in what their project publishes, or withdraws that.

    Only the person can do so. The same answer again changes nothing. Earlier publications stay as
    they are. Refused: a rater without an account.
    """
    if by.user_id is None:
        raise Refused("Only people who sign in can agree to be named.")
    now = now or timezone.now()
    with transaction.atomic():
        member = Membership.objects.select_for_update(no_key=True).get(pk=by.pk)
        if (member.named_at is not None) == named:
            return member
        member.named_at = now if named else None
        member.save(update_fields=["named_at"])
        what = "member.named" if named else "member.unnamed"
        record(project=member.project, what=what, about=member, by=member, now=now)
    return member
