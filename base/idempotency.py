"""A write that a program names with a key is done once, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from base.errors import Refused
from base.users import User

# A program that asks again does so within minutes; a day is ample.
KEPT = timedelta(days=1)


class Done(NamedTuple):
    """An answer: its HTTP status, and its content as it is sent."""

    status: int
    body: str


class Once(NamedTuple):
    """The answer to a write, and whether it was given before."""

    done: Done
    again: bool


def once(
    *,
    key: str,
    digest: str,
    do: Callable[[], Done],
    by: User,
    apart: bool = False,
    now: datetime | None = None,
) -> Once:
    """Do it, or return the answer that was given when `by` sent the same key before.

    The key and what is done are one transaction: neither is there without the other, and of two at
    the same moment the second waits and gets the first one's answer. What `do` raises is raised,
    and nothing is kept. `apart`: what takes long, and may be done twice, keeps its own transaction;
    then the key is written after it. Refused: a key that was used for something else (another
    `digest`).
    """
    now = now or timezone.now()
    if found := _earlier_answer(key, digest, by, now):
        return Once(found, again=True)
    if apart:
        done = do()
        return _keep(key, digest, done, by, now)
    try:
        with transaction.atomic():
            row = _claim(key, digest, by, now)
            done = do()
            KeptAnswer.objects.filter(pk=row.pk).update(status=done.status, body=done.body)
    except _Claimed:
        if found := _earlier_answer(key, digest, by, now):
            return Once(found, again=True)
        # Whoever was first was refused, or threw it away meanwhile.
        raise Refused(_("The same key is being used. Send it again.")) from None
    return Once(done, again=False)


class _Claimed(Exception):
    """Somebody else has written this key meanwhile."""


def _earlier_answer(key: str, digest: str, by: User, now: datetime) -> Done | None:
    found = KeptAnswer.objects.filter(user=by, key=key, at__gt=now - KEPT).first()
    if found is None:
        return None
    if found.digest != digest:
        raise Refused(_("This key was used for something else. Take a new one for each request."))
    return Done(found.status, found.body)


def _claim(key: str, digest: str, by: User, now: datetime) -> KeptAnswer:
    # Here, because nothing else comes by as regularly.
    KeptAnswer.objects.filter(user=by, at__lte=now - KEPT).delete()
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(user=by, key=key, digest=digest, status=0, at=now)
    except IntegrityError as error:
        raise _Claimed from error


def _keep(key: str, digest: str, done: Done, by: User, now: datetime) -> Once:
    try:
        with transaction.atomic():
            row = _claim(key, digest, by, now)
            KeptAnswer.objects.filter(pk=row.pk).update(status=done.status, body=done.body)
    except _Claimed:
        if found := _earlier_answer(key, digest, by, now):
            return Once(found, again=True)
    return Once(done, again=False)


class KeptAnswer(models.Model):
    """The answer to a write that a program named with a key: asked again, it gets the same, and
    nothing is done twice.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    # SHA-256 of method, address and content: the same key must not be used for something else.
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    # As it was sent; empty where it had no content.
    body = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "annotate"  # its table is where it always was
        constraints: ClassVar = [
            # The referee: two that come at the same moment are done once.
            models.UniqueConstraint(name="kept_answer_once", fields=["user", "key"]),
        ]
        indexes: ClassVar = [
            # What is too old, to be thrown away.
            models.Index(fields=["user", "at"], name="kept_answer_age"),
        ]

    def __str__(self) -> str:
        return self.key
