"""Notices of what waits for a person, counted from the causing rows at every request.

No notice is stored. Each has the time of its latest cause, and is new until the person marks their
notices as read after that. Like the home page, notices reveal nothing about others' answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import blindness, completion, open_pairs
from annotate.judgments.assignments import my_assignments, read_assignments
from annotate.pairs.models import Assignment, Narrative
from annotate.people.invitation_mail import MAIL_REFUSED
from annotate.projects import access
from annotate.projects.models import Membership, MembershipQuerySet, Project
from base.reader_preferences import preferences
from base.users import Preferences, User

# The most projects whose notices are read at once.
PROJECTS_AT_ONCE = 50


@dataclass(frozen=True)
class Notice:
    """One thing that waits for a person in a project, with the time of its latest cause."""

    project: Project
    kind: Annotated[str, "sent-back, look-again, held, open, to-check or disputes."]
    text: str
    count: int
    at: Annotated[datetime, "The time of its latest cause."]
    url: str


# Returns the notices of memberships of one person in different projects, by the key of each.
Provider = Callable[[Sequence[Membership]], Mapping[int, list[Notice]]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Register a provider of notices; call once, when an app starts."""
    if provider not in _providers:
        _providers.append(provider)


def projects_with_notices(user: User) -> Paginator[Membership]:
    """Return a person's memberships, those in use first, in pages whose notices are read at once:
    the same for the page, for programs and for mails, which read one page after the other.
    """
    return Paginator(in_use_first(access.memberships_of(user)), PROJECTS_AT_ONCE)


def in_use_first(members: MembershipQuerySet) -> list[Membership]:
    """Read a person's memberships: those of projects in which somebody has a task to do come first,
    in each half those that are newest.
    """
    to_do = Assignment.objects.filter(pair__project=OuterRef("project"), done_at__isnull=True)
    return list(members.order_by(Exists(to_do).desc(), "-joined_at", "pk"))


def notices_of(user: User) -> list[Notice]:
    """Return what waits for a person in all of their projects, newest first."""
    return _newest_first(
        notice for page in projects_with_notices(user) for notice in notices_in(list(page))
    )


def notices_in(members: Sequence[Membership]) -> list[Notice]:
    """Return what waits for a person by their memberships, newest first."""
    notices: list[Notice] = []
    for provider in (
        _sent_back_notices,
        _held_notices,
        _open_notices,
        *_providers,
    ):
        for several in provider(members).values():
            notices += several
    return _newest_first(notices)


def _newest_first(notices: Iterable[Notice]) -> list[Notice]:
    return sorted(
        notices, key=lambda notice: (-notice.at.timestamp(), notice.project.name, notice.kind)
    )


def seen_until(user: User) -> datetime | None:
    """Return the time up to which a person has marked their notices as read."""
    return preferences(user).notices_seen_at


def new_among(notices: Sequence[Notice], since: datetime | None) -> list[Notice]:
    """Return the notices whose latest cause is after `since`; all if it is None."""
    return [notice for notice in notices if since is None or notice.at > since]


def mark_read(*, until: datetime, by: User, now: datetime | None = None) -> Preferences:
    """Mark as read the notices that a person was shown at a time.

    A time before the stored one changes nothing; a time in the future counts as now.
    """
    until = min(until, now or timezone.now())
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=by.pk)
        row = Preferences.objects.filter(user=by).first() or Preferences(user=by)
        if row.notices_seen_at is None or row.notices_seen_at < until:
            row.notices_seen_at = until
            row.save()
    by.preferences = row
    return row


def _sent_back_notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return notices of sent-back narratives that these members wrote."""
    rows: Any = (
        Narrative.objects.current()
        .written_by(*members)
        .filter(pair__removed_at__isnull=True, sent_back_at__isnull=False)
        .values_list("author", "pair__query", "sent_back_at")
    )
    by_author: dict[int, list[tuple[datetime, int]]] = {}
    for author, query, sent_back_at in rows:
        by_author.setdefault(author, []).append((sent_back_at, query))
    notices = {}
    for member in members:
        if causes := by_author.get(member.pk):
            at, query = max(causes)
            url = reverse("annotate:query", args=[member.project.slug, query])
            text = "Your narrative was sent back"
            notices[member.pk] = [Notice(member.project, "sent-back", text, len(causes), at, url)]
    return notices


def _held_notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return notices of tasks with work left that these members hold, and of the documents in them
    that a lead asks them to look at again.
    """
    read_assignments(members)
    completion.prefetch_left(members)
    notices: dict[int, list[Notice]] = {}
    for member in members:
        held = my_assignments(member)
        if not held:
            continue
        at = max(work.assignment.taken_at for work in held)
        url = reverse("annotate:home")
        of_member = [Notice(member.project, "held", "Tasks that you hold", len(held), at, url)]
        if asked := [work for work in held if work.asked_at]:
            at = max(work.asked_at for work in asked if work.asked_at)
            url = reverse("annotate:judging", args=[asked[0].assignment.pair_id])
            text, count = "A lead asks you to look again", sum(work.again for work in asked)
            of_member.append(Notice(member.project, "look-again", text, count, at, url))
        notices[member.pk] = of_member
    return notices


def _open_notices(members: Sequence[Membership]) -> dict[int, list[Notice]]:
    """Return notices of tasks that these members could take.

    Tasks that would hide figures from a lead are left out.
    """
    counts: dict[int, int] = {}
    for task in Assignment.Task:
        asked = [member for member in members if not blindness.hides_figures(task=task, by=member)]
        work = open_pairs.open_work_of(task=task, members=members) if asked else {}
        for member in asked:
            if work[member.pk]:
                counts[member.pk] = counts.get(member.pk, 0) + len(work[member.pk])
    offered = [member for member in members if member.pk in counts]
    rows = Narrative.objects.in_force([member.project_id for member in offered])
    newest = dict(rows.order_by().values_list("pair__project").annotate(at=Max("created_at")))
    return {
        member.pk: [
            Notice(
                member.project,
                "open",
                "Tasks that you can take",
                counts[member.pk],
                max(member.joined_at, newest.get(member.project_id, member.joined_at)),
                reverse("annotate:home"),
            )
        ]
        for member in offered
    }


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
    # "https://*.example.org" is no address that a link could have.
    origin = next((origin for origin in settings.CSRF_TRUSTED_ORIGINS if "*" not in origin), "")
    subject = f"{len(new)} notice" if len(new) == 1 else f"{len(new)} notices"
    url = origin + reverse("annotate:notices") if origin else ""
    body = render_to_string("overview/notices_mail.txt", {"notices": new, "url": url})
    return EmailMessage(settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, body, to=[row.user.email])
