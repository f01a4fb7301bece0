"""Logging: lines for people or one JSON object per line, with the request or job concerned."""

from __future__ import annotations

import logging
from typing import Any, Literal

from jobs.about import current_job

Style = Literal["text", "json"]

# Names of record attributes in a line of JSON; other attributes keep their names.
FIELD_NAMES = {"levelname": "level", "name": "logger", "exc_info": "traceback"}
# These log at every request or every few seconds, which would hide what people look for.
QUIET_LOGGERS = {
    **dict.fromkeys(("django_guid", "celery.beat", "celery.redirected"), "WARNING"),
    # The web server warns whenever a request waits for a thread.
    "waitress.queue": "ERROR",
}


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
            "sparing": {"()": "config.log_filters.RepetitionFilter"},
            "secrets": {"()": "config.log_filters.SecretsFilter"},
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
