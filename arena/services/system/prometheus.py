"""Metrics for Prometheus: counts from the database, read at each scrape."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest

from data.store import Store

METRICS = {
    "rounds": ("Rounds by state.", "state"),
    "jobs": ("Jobs by state.", "state"),
    "battles": ("Battles of open rounds by outcome.", "outcome"),
    "workers": ("Workers with a lease and a recent heartbeat.", ""),
    "boards": ("Published boards that are not retracted.", ""),
    "queue_age_seconds": ("Age of the oldest queued job.", ""),
    "spent_usd": ("USD charged to rounds.", ""),
    "lost_usd": ("USD that calls without a reply may have cost.", ""),
}


def metrics_of(store: Store) -> bytes:
    """The metrics of an arena and of this process, in Prometheus' text format."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    for name, counts in store.counts.all().items():
        text, label = METRICS[name]
        gauge = Gauge(f"arena_{name}", text, [label] if label else [], registry=registry)
        for value, count in counts.items():
            (gauge.labels(value) if label else gauge).set(count)
    return generate_latest(registry)
