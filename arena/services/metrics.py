"""Metrics over stored answers: scored once, kept beside the answer, resumable."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.files import ReadLimits
from data.metric_items import read_items
from data.records import Outcome, Score, Submission
from data.store import Store
from judges.metrics import METRICS, Metric, MetricInfo, build_metric

BATCH = 200
EMBEDDED = ""
BOARD_METRICS = ("comprehensiveness-nli",)
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
        self, set_name: str, metric: str, *, systems: Sequence[str] = (), report: MetricReport
    ) -> MetricRun:
        """Score every answer of a set's newest submissions that has no score by a metric yet.

        Args:
            set_name: The question set.
            metric: Name of the metric; its embedded version is run.
            systems: Systems to score; empty: all, the reference left out.
            report: Called with the answers scored and those to score.

        Raises:
            NotFoundError: There is no such set or metric.
            SpecError: The metric has no embedded version.
        """
        built = build_metric(metric)
        entrants = self._entrants(set_name, systems)
        outcomes = asyncio.run(self._score_all(built, entrants, report))
        return MetricRun(metric=metric, judge=EMBEDDED, outcomes=outcomes)

    def score_board(self, set_name: str, note: Callable[[str], None]) -> None:
        """Score the answers of a set, the reference's too, by the metrics that every board shows."""
        for metric in BOARD_METRICS:
            note(f"scoring {metric}")
            scored = (*self._entrants(set_name, ()), self._store.submissions.reference(set_name))
            asyncio.run(self._score_all(build_metric(metric), scored, _unreported))

    def score_file(self, path: Path, metric: str) -> Iterator[dict[str, Any]]:
        """Score the lines of a JSONL file, yielding the object of each line's score.

        Raises:
            InvalidFileError: The file has problems; all of them are listed.
            NotFoundError: There is no such metric.
        """
        built = build_metric(metric)
        for item in read_items(path, ReadLimits()):
            score = asyncio.run(built.score(item))
            yield {
                "id": score.id,
                "metric": score.metric,
                "outcome": score.outcome.value,
                "score": score.score,
                "details": dict(score.details),
            }

    async def _score_all(
        self, metric: Metric, entrants: Sequence[Submission], report: MetricReport
    ) -> Counter[Outcome]:
        outcomes: Counter[Outcome] = Counter()
        total = sum(entrant.answers for entrant in entrants)
        for entrant in entrants:
            batch: list[tuple[int, Score]] = []
            for number, item in self._store.scores.unscored(
                entrant.id, metric=metric.name, judge=EMBEDDED, again=RETRIED
            ):
                batch.append((number, await metric.score(item)))
                if len(batch) == BATCH:
                    outcomes.update(self._keep(EMBEDDED, batch))
                    report(outcomes.total(), total)
            outcomes.update(self._keep(EMBEDDED, batch))
            report(outcomes.total(), total)
        return outcomes

    def _keep(self, judge: str, batch: list[tuple[int, Score]]) -> Counter[Outcome]:
        self._store.scores.put(judge, batch)
        outcomes = Counter(score.outcome for _, score in batch)
        batch.clear()
        return outcomes

    def _entrants(self, set_name: str, systems: Sequence[str]) -> tuple[Submission, ...]:
        self._store.sets.summary(set_name)
        live = self._store.submissions.find(set_name=set_name, newest=True)
        return tuple(entrant for entrant in live if not systems or entrant.system in systems)


def _unreported(_made: int, _total: int) -> None:
    """No progress."""
