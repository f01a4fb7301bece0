"""Metrics that are looked up when /metrics is requested, not counted as events happen.

They are about the whole installation, never about one project or one person.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

from django.db import DatabaseError, connection
from django.utils import timezone
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from config import installation_status
from jobs.status import workers

logger = logging.getLogger(__name__)


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
