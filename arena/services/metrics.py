"""Metrics over stored answers: scored once, kept beside the answer, resumable."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data.records import Outcome, Score, Submission
from data.store import Store
from judges.metrics import METRICS, Metric, MetricInfo

BATCH = 200
RETRIED = (Outcome.FAILED, Outcome.SKIPPED)
MetricReport = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRun:
    """What a run of a metric over a set did: answers by outcome, those of earlier runs left out."""

    metric: str
    judge: str
    outcomes: Counter[Outcome]


class MetricService:
    """Use cases around metrics."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def known(self) -> tuple[MetricInfo, ...]:
        """Every metric, without loading any."""
        return METRICS

    def run(
        self,
        set_name: str,
        metric: Metric,
        *,
        judge: str = "",
        systems: Sequence[str] = (),
        report: MetricReport,
    ) -> MetricRun:
        """Score every answer of a set's newest submissions that has no score yet.

        Args:
            set_name: The question set.
            metric: The metric, built with or without an LLM.
            judge: Name of the judge that the metric asks; empty for the embedded version.
            systems: Systems to score; empty: all, the reference left out.
            report: Called with the answers scored and those to score.
        """
        entrants = self._entrants(set_name, systems)
        outcomes: Counter[Outcome] = Counter()
        total = sum(entrant.answers for entrant in entrants)
        for entrant in entrants:
            pending = self._store.scores.unscored(entrant.id, metric=metric.name, judge=judge, again=RETRIED)
            batch: list[tuple[int, Score]] = []
            for number, item in pending:
                batch.append((number, asyncio.run(metric.score(item))))
                if len(batch) == BATCH:
                    outcomes.update(self._keep(judge, batch))
                    report(outcomes.total(), total)
            outcomes.update(self._keep(judge, batch))
            report(outcomes.total(), total)
        return MetricRun(metric=metric.name, judge=judge, outcomes=outcomes)

    def _keep(self, judge: str, batch: list[tuple[int, Score]]) -> Counter[Outcome]:
        self._store.scores.put(judge, batch)
        outcomes = Counter(score.outcome for _, score in batch)
        batch.clear()
        return outcomes

    def _entrants(self, set_name: str, systems: Sequence[str]) -> tuple[Submission, ...]:
        self._store.sets.summary(set_name)
        live = self._store.submissions.find(set_name=set_name, newest=True)
        return tuple(entrant for entrant in live if not systems or entrant.system in systems)
