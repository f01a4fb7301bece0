"""Mail with new notices, at most once a day, for everybody who asked for it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotate.overview.notices import Notice, new_among, notices_of
from annotate.people.invitation_mail import MAIL_REFUSED
from base.users import Preferences

log = logging.getLogger(__name__)
DAY = timedelta(days=1)


def send_digests(*, now: datetime | None = None) -> int:
    """Mail new notices to everybody who asked for them; return how many mails were sent.

    A notice is new if it came after the person last marked notices as read or was mailed. Nobody
    is mailed twice within a day, or when nothing is new.
    """
    now = now or timezone.now()
    due = (
        Preferences.objects.filter(mail_digest=True, user__is_active=True)
        .exclude(user__email="")
        .filter(Q(digest_sent_at__isnull=True) | Q(digest_sent_at__lte=now - DAY))
        .select_related("user")
        .order_by("pk")
    )
    sent = 0
    for row in due:
        seen = [at for at in (row.notices_seen_at, row.digest_sent_at) if at is not None]
        new = new_among(notices_of(row.user), max(seen, default=None))
        if not new or not _claim(row, now):
            continue
        try:
            _mail(row, new).send()
        except MAIL_REFUSED:
            _release(row)
            log.warning("The mail with notices to user %s was refused.", row.user_id)
            continue
        except OSError:
            _release(row)
            log.warning("The mail server could not be reached, so no digests are sent now.")
            break
        sent += 1
    return sent


def _claim(row: Preferences, now: datetime) -> bool:
    """Record that the mail is sent; return False if another process sends it."""
    same = Preferences.objects.filter(pk=row.pk, digest_sent_at=row.digest_sent_at)
    return bool(same.update(digest_sent_at=now))


def _release(row: Preferences) -> None:
    """Undo the claim, so that the next run tries again."""
    Preferences.objects.filter(pk=row.pk).update(digest_sent_at=row.digest_sent_at)


def _mail(row: Preferences, new: Sequence[Notice]) -> EmailMessage:
    origin = settings.CSRF_TRUSTED_ORIGINS[0] if settings.CSRF_TRUSTED_ORIGINS else ""
    subject = f"{len(new)} notice" if len(new) == 1 else f"{len(new)} notices"
    url = origin + reverse("annotate:notices") if origin else ""
    body = render_to_string("overview/notices_mail.txt", {"notices": new, "url": url})
    return EmailMessage(settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, body, to=[row.user.email])
