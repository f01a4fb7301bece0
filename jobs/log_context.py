"""Context of the current work for the log: the request that asked for it, and its job."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextvars import ContextVar

from django_guid import get_guid
from django_guid.context import guid

_job: ContextVar[str | None] = ContextVar("job", default=None)


def current_request() -> uuid.UUID | None:
    """Return the id of the current request, or of the request that asked for the current job."""
    request_id = get_guid()
    return uuid.UUID(request_id) if request_id else None


def normalize_request_id() -> None:
    """Normalize the request's id: clients may send a UUID in several notations."""
    request_id = current_request()
    guid.set(request_id.hex if request_id else None)


def current_job() -> str | None:
    """Return the current job's label, as in "export 7"; None outside a job."""
    return _job.get()


@contextlib.contextmanager
def job_context(job: str, request: uuid.UUID | None) -> Iterator[None]:
    """Tag log lines with `job` and the id of `request` inside this context.

    A job without a request gets a new id, so that its lines can be told apart from others. After an
    exception the context stays set: whoever logs the exception logs it for this job, and then calls
    `clear_context`.
    """
    job_token, guid_token = _job.set(job), guid.set((request or uuid.uuid4()).hex)
    yield
    guid.reset(guid_token)
    _job.reset(job_token)


def clear_context() -> None:
    """Clear the job and request of log lines."""
    _job.set(None)
    guid.set(None)
