"""Idempotency keys: a write sent with a key is done once, however often it is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple

from django.db import IntegrityError, models, transaction
from django.utils import timezone

from base.errors import Refused
from base.users import User

# Programs retry within minutes; a day is ample.
KEPT_FOR = timedelta(days=1)


class StoredResponse(NamedTuple):
    """A response: its HTTP status and its body."""

    status: int
    body: str


class Outcome(NamedTuple):
    """The response to a write, and whether it repeats an earlier one."""

    done: StoredResponse
    is_replay: bool


def run_once(
    *,
    key: str,
    digest: str,
    do: Callable[[], StoredResponse],
    by: User,
    apart: bool = False,
    now: datetime | None = None,
) -> Outcome:
    """Call `do`, or return the stored response if `by` has sent the same key before.

    The key is stored in the same transaction as what `do` writes. Of two simultaneous requests the
    second waits and gets the first one's response. An exception from `do` is passed on, and nothing
    is stored. With `apart`, `do` manages its own transaction and the key is stored after it: for
    work that takes long and may be done twice. Refused: a key that was used for a different request
    (another `digest`).
    """
    now = now or timezone.now()
    if stored := _stored_response(key, digest, by, now):
        return Outcome(stored, is_replay=True)
    if apart:
        done = do()
        return _store_response(key, digest, done, by, now)
    try:
        with transaction.atomic():
            row = _claim(key, digest, by, now)
            done = do()
            KeptAnswer.objects.filter(pk=row.pk).update(status=done.status, body=done.body)
    except _KeyTaken:
        if stored := _stored_response(key, digest, by, now):
            return Outcome(stored, is_replay=True)
        # The first request was refused, or its key has been deleted since.
        raise Refused("A request with this key is being processed. Send it again.") from None
    return Outcome(done, is_replay=False)


class _KeyTaken(Exception):
    """Another request has stored this key since we looked."""


def _stored_response(key: str, digest: str, by: User, now: datetime) -> StoredResponse | None:
    kept = KeptAnswer.objects.filter(user=by, key=key, at__gt=now - KEPT_FOR).first()
    if kept is None:
        return None
    if kept.digest != digest:
        raise Refused("This key was used for another request. Use a new key for each request.")
    return StoredResponse(kept.status, kept.body)


def _claim(key: str, digest: str, by: User, now: datetime) -> KeptAnswer:
    # Expired keys are deleted here because this runs regularly.
    KeptAnswer.objects.filter(user=by, at__lte=now - KEPT_FOR).delete()
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(user=by, key=key, digest=digest, status=0, at=now)
    except IntegrityError as error:
        raise _KeyTaken from error


def _store_response(
    key: str, digest: str, done: StoredResponse, by: User, now: datetime
) -> Outcome:
    try:
        with transaction.atomic():
            row = _claim(key, digest, by, now)
            KeptAnswer.objects.filter(pk=row.pk).update(status=done.status, body=done.body)
    except _KeyTaken:
        if stored := _stored_response(key, digest, by, now):
            return Outcome(stored, is_replay=True)
    return Outcome(done, is_replay=False)


class KeptAnswer(models.Model):
    """The stored response to a write with an idempotency key, returned when it is sent again."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    # SHA-256 of method, address and body: a key must not be used again for a different request.
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    # The body as sent; empty if there was none.
    body = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "annotate"  # keeps the table's old name
        constraints: ClassVar = [
            # Of two simultaneous requests only one is carried out.
            models.UniqueConstraint(name="kept_answer_once", fields=["user", "key"]),
        ]
        indexes: ClassVar = [
            # For deleting expired answers.
            models.Index(fields=["user", "at"], name="kept_answer_age"),
        ]

    def __str__(self) -> str:
        return self.key
