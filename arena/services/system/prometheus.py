"""What Prometheus scrapes: counts from the database, read at each scrape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from data.records import JobState, RoundState
from data.records.applications import ApplicationState
from data.store import Store
from data.store.monitoring import Figures


@dataclass(frozen=True, slots=True)
class ArenaCollector(Collector):
    """The state of an arena as Prometheus metrics."""

    store: Store

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, from one read of the database."""
        figures: Figures = self.store.counting.figures()
        rounds = {state.value: figures.rounds.get(state.value, 0) for state in RoundState}
        jobs = {state.value: figures.jobs.get(state.value, 0) for state in JobState}
        yield _by("arena_rounds", "Rounds by state.", "state", rounds)
        applied = {state.value: figures.applications.get(state.value, 0) for state in ApplicationState}
        yield _by("arena_applications", "Applications for teams by state.", "state", applied)
        yield _by("arena_jobs", "Jobs by state.", "state", jobs)
        yield _by(
            "arena_battles",
            "Battles of rounds that are not finished, by outcome.",
            "outcome",
            figures.battles,
        )
        yield GaugeMetricFamily(
            "arena_workers", "Workers that hold a lease, with a recent heartbeat.", figures.workers
        )
        yield GaugeMetricFamily(
            "arena_queue_age_seconds", "How long the oldest queued job has waited.", figures.queue_age
        )
        yield GaugeMetricFamily("arena_boards", "Published boards that are not retracted.", figures.boards)
        yield CounterMetricFamily("arena_judgments", "Judgments that are stored.", figures.judgments)
        yield CounterMetricFamily("arena_replies", "Replies in the cache.", figures.replies)
        yield CounterMetricFamily("arena_spent_usd", "USD that rounds were charged.", figures.spent_usd)
        yield GaugeMetricFamily("arena_reserved_usd", "USD set aside for calls now.", figures.reserved_usd)
        yield CounterMetricFamily(
            "arena_lost_usd", "USD that calls may have cost of which no reply came back.", figures.lost_usd
        )
        tokens = CounterMetricFamily("arena_tokens", "Tokens that rounds have used.", labels=["kind"])
        tokens.add_metric(["input"], figures.input_tokens)
        tokens.add_metric(["output"], figures.output_tokens)
        yield tokens


def metrics_of(store: Store) -> bytes:
    """The metrics of an arena and of this process, in Prometheus' text format.

    Raises:
        StoreError: The database cannot be used.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    registry.register(ArenaCollector(store))
    return generate_latest(registry)


def _by(name: str, text: str, label: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for word, count in counts.items():
        family.add_metric([word], count)
    return family
