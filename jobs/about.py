"""What the work under way is about: the request that asked for it, and the job that does it."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextvars import ContextVar

from django_guid import get_guid
from django_guid.context import guid

_job: ContextVar[str | None] = ContextVar("job", default=None)


def current_request() -> uuid.UUID | None:
    """Return the id of the request being answered, or of the one that asked for this job."""
    known = get_guid()
    return uuid.UUID(known) if known else None


def write_plainly() -> None:
    """Let the id of the request be written in one way, however who sent it wrote it."""
    known = current_request()
    guid.set(known.hex if known else None)


def current_job() -> str | None:
    """Return the job under way, as in "exporters.export 7"; None outside of one."""
    return _job.get()


@contextlib.contextmanager
def at_work(job: str, request: uuid.UUID | None) -> Iterator[None]:
    """While entered, the log's lines are about `job` and carry the id of `request`.

    A job that nobody's request asked for has an id of its own, so that its lines can be told from
    others. Left through an exception it stays so: whoever logs that logs it of this job, and then
    calls `forget`.
    """
    named, asked = _job.set(job), guid.set((request or uuid.uuid4()).hex)
    yield
    guid.reset(asked)
    _job.reset(named)


def forget() -> None:
    """Let the log's lines be about nothing in particular again."""
    _job.set(None)
    guid.set(None)
