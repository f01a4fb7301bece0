"""Logging: lines for people or one JSON object per line, with the request or job concerned.

No line has a secret of a URL, and of many similar lines only some are written. Both are filters of
the only log handler, so they also apply to every library.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Any, Literal

from jobs.errors import is_away
from jobs.log_context import current_job

Style = Literal["text", "json"]

# Names of record attributes in a line of JSON; other attributes keep their names.
FIELD_NAMES = {"levelname": "level", "name": "logger", "exc_info": "traceback"}
# These log at every request or every few seconds, which would hide what people look for.
QUIET_LOGGERS = {
    **dict.fromkeys(("django_guid", "celery.beat", "celery.redirected"), "WARNING"),
    # The web server warns whenever a request waits for a thread.
    "waitress.queue": "ERROR",
}

REPLACEMENT = "…"
# The text before a secret, and the secret, up to the next character that ends it.
SECRETS = re.compile(
    r"((?:/|%2F)invitations(?:/|%2F))(?!\d+(?:[/\s]|$))[^/\s'\"]+"
    r"|(/password/reset/|%2Fpassword%2Freset%2F)(?!(?:sent|done)(?:[/\s]|$))[^/\s'\"]+"
    r"|(/email/confirmation/|%2Femail%2Fconfirmation%2F)[^/\s'\"]+"
    r"|(\b(?:code|state|token|key|id_token|access_token|csrfmiddlewaretoken)=)[^&\s'\"]+"
    r"|(\brejudge_)[\w-]+"
)

# At most `MAX_LINES` similar lines are written in `WINDOW_SECONDS`; the next one counts the others.
MAX_LINES = 10
WINDOW_SECONDS = 60.0


def logging_config(style: Style) -> dict[str, Any]:
    """Return the logging configuration for `logging.config.dictConfig`.

    `text` is for a terminal: warnings and errors, and what the worker does. `json` also has a line
    for each request.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request": {
                "()": "django_guid.log_filters.CorrelationId",
                "correlation_id_field": "request",
            },
            "job": {"()": "config.logs.JobFilter"},
            "sparing": {"()": "config.logs.RepetitionFilter"},
            "secrets": {"()": "config.logs.SecretsFilter"},
        },
        "formatters": {
            "text": {
                "format": "{asctime} {levelname:7} {name}: {message}",
                "datefmt": "%H:%M:%S",
                "style": "{",
            },
            "json": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "fmt": "%(levelname)s %(name)s %(message)s %(request)s %(job)s",
                "rename_fields": FIELD_NAMES,
                "timestamp": "time",
            },
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": style,
                # The last one formats the record as text, in which it can search for secrets.
                "filters": ["request", "job", "sparing", "secrets"],
            },
        },
        "root": {"handlers": ["console"], "level": "INFO" if style == "json" else "WARNING"},
        "loggers": {
            # Django's own handlers would write to a developer's terminal, send mail, or do nothing.
            "django": {"handlers": [], "level": "INFO" if style == "json" else "WARNING"},
            "celery": {"level": "INFO"},
            **{name: {"level": level} for name, level in QUIET_LOGGERS.items()},
        },
    }


class JobFilter(logging.Filter):
    """Adds the job that a record is about, as in export 7."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.job = current_job()
        return True


def remove_secrets(text: str) -> str:
    """Return the text with the secrets in URLs replaced."""
    return SECRETS.sub(lambda found: next(filter(None, found.groups())) + REPLACEMENT, text)


class SecretsFilter(logging.Filter):
    """Removes the secrets in URLs from the message and traceback of every record."""

    _format = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = remove_secrets(record.getMessage()), None
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = self._format.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = remove_secrets(record.exc_text)
        # Both formatters use `exc_text` if there is no `exc_info`.
        record.exc_info = None
        return True


class RepetitionFilter(logging.Filter):
    """Shortens records of refused requests and of an unavailable database to one line.

    It drops such lines if there are many.
    """

    def __init__(self, name: str = "", *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(name)
        self._clock = clock
        # For each kind of line: when counting began, and how many there have been since.
        self._counts: dict[object, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        status = getattr(record, "status_code", None)
        refused = isinstance(status, int) and 400 <= status < 500
        away = is_away(error)
        if not (refused or away):
            return True
        kind = (record.name, record.msg, type(error) if away else None)
        record.exc_info = record.exc_text = None
        if away:
            record.msg, record.args = f"{record.getMessage()} ({_one_line(error)})", None
        return self._should_write(kind, record)

    def _should_write(self, kind: object, record: logging.LogRecord) -> bool:
        """Return whether to write the line; the first line after dropped ones gets their number."""
        now = self._clock()
        began, lines = self._counts.get(kind, (now, 0))
        if now - began >= WINDOW_SECONDS:
            if lines > MAX_LINES:
                more = f"{record.getMessage()} (and {lines - MAX_LINES} more like it before)"
                record.msg, record.args = more, None
            began, lines = now, 0
        self._counts[kind] = (began, lines + 1)
        return lines < MAX_LINES


def _one_line(error: BaseException | None) -> str:
    """Return an exception as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
