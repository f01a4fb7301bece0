"""Metrics of each request as it is answered, with its log line, and of the installation if asked.

They are never about one project or one person; of an address they contain only the route, and its
slug and key.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator

from django.db import DatabaseError, connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from config import installation_status
from jobs.log_context import normalize_request_id
from jobs.status import workers

logger = logging.getLogger(__name__)

request_logger = logging.getLogger("rejudge.requests")

VERBS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Seconds. A judgment should take a tenth of a second.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

COUNTED = Counter(
    "rejudge_requests", "Requests answered, by route, verb and status.", ["route", "verb", "status"]
)
TIMED = Histogram(
    "rejudge_request_seconds",
    "Seconds until the answer to a request began, by route.",
    ["route"],
    buckets=BOUNDS,
)


def exposition() -> bytes:
    """Return all metrics in Prometheus's text format."""
    counted = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    looked_up = CollectorRegistry()
    looked_up.register(_InstallationCollector())
    return generate_latest(counted) + generate_latest(looked_up)


class _InstallationCollector(Collector):
    """Current metrics of jobs, workers, the broker and the database."""

    def describe(self) -> Iterator[Metric]:
        # Empty, so that registering the collector does not query the database for names.
        return iter(())

    def collect(self) -> Iterator[Metric]:
        try:
            figures = list(_database_metrics())
        except DatabaseError:
            logger.exception("The database does not answer")
            connection.close()
            figures = []
        yield GaugeMetricFamily(
            "rejudge_database_up", "Whether the database answers.", value=bool(figures)
        )
        yield from figures
        waiting = installation_status.count_messages()
        yield GaugeMetricFamily(
            "rejudge_broker_up", "Whether the broker answers.", value=waiting is not None
        )
        if waiting is not None:
            yield GaugeMetricFamily(
                "rejudge_broker_messages", "Messages that no worker has taken yet.", value=waiting
            )


def _database_metrics() -> Iterator[Metric]:
    now = timezone.now()
    jobs = GaugeMetricFamily(
        "rejudge_jobs", "Jobs waiting, running or failed, by kind.", labels=["kind", "state"]
    )
    oldest = GaugeMetricFamily(
        "rejudge_jobs_oldest_seconds", "How long the oldest job has waited.", labels=["kind"]
    )
    for queue in installation_status.queues():
        for state in ("waiting", "running", "failed"):
            jobs.add_metric([queue.kind, state], getattr(queue, state))
        waited = (now - queue.oldest).total_seconds() if queue.oldest else 0
        oldest.add_metric([queue.kind], waited)
    yield jobs
    yield oldest
    seen = GaugeMetricFamily(
        "rejudge_worker_silent_seconds", "Time since a worker was last seen.", labels=["worker"]
    )
    for worker in workers(now=now):
        seen.add_metric([worker.name], (now - worker.seen_at).total_seconds())
    yield seen


def requests(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: count, time and log every request.

    The request's id, which the middleware before this one read or made, is normalized here.
    """

    def measure(request: HttpRequest) -> HttpResponseBase:
        normalize_request_id()
        began = time.perf_counter()
        response = get_response(request)
        seconds = time.perf_counter() - began
        match = request.resolver_match
        route = (match.view_name if match else "") or "none"
        verb = request.method if request.method in VERBS else "other"
        COUNTED.labels(route, verb, str(response.status_code)).inc()
        TIMED.labels(route).observe(seconds)
        if request_logger.isEnabledFor(logging.INFO):
            # Not the address itself: it may contain a secret, as in a password-reset link.
            request_logger.info(
                "%s %s %s",
                verb,
                route,
                response.status_code,
                extra={
                    "verb": verb,
                    "route": route,
                    "status": response.status_code,
                    "ms": round(seconds * 1_000, 1),
                    **{
                        name: value
                        for name, value in (match.kwargs if match else {}).items()
                        if name in {"slug", "pk"} and isinstance(value, str | int)
                    },
                },
            )
        return response

    return measure
