"""Metrics over stored answers: scored once, kept beside the answer, resumable."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.services.board_metrics import BoardMetric, board_metrics
from arena.services.interrupts import Halt, stopping_on_halt, stopping_on_interrupt
from arena.services.metric_access import EMBEDDED, MetricAccess, MetricRequest
from arena.services.metric_files import claim_evaluation_of, meta_evaluation_of
from arena.services.metric_pool import ScoringPool
from arena.services.scoring import MetricReport, Scored, score_pending
from data.errors import NotFoundError, StoppedError
from data.files import ReadLimits
from data.metric_items import read_items
from data.records import MetricItem, Outcome, Score, Submission
from data.store import Store
from judges.llm.metering import Tally
from judges.metrics import METRICS, Metric, MetricInfo, metric_info

Emit = Callable[[dict[str, Any]], None]
MOST_REASONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRun:
    """What a run of a metric over a set did.

    Attributes:
        metric: Its name.
        judge: Under what name the scores are kept; empty for the embedded version.
        model: The LLM's name; empty for the embedded version.
        answers: How many answers there are.
        kept: How many of them had a score from earlier runs.
        outcomes: How many this run scored, by outcome.
        pending: How many are left; not 0 only where the run was stopped.
        reasons: Why answers have no score, the most frequent first.
        mean: The mean score of this run's judged answers; None without any.
        usage: What was asked, used and paid.
    """

    metric: str
    judge: str
    model: str
    answers: int
    kept: int
    outcomes: Counter[Outcome]
    pending: int
    reasons: tuple[tuple[str, int], ...]
    mean: float | None
    usage: Tally

    def as_json(self) -> dict[str, Any]:
        """One object: counts of every outcome, what is pending, what it cost."""
        return {
            "metric": self.metric,
            "judge": self.judge or "embedded",
            "model": self.model or None,
            "answers": self.answers,
            "kept": self.kept,
            **{name.value: self.outcomes[name] for name in Outcome if name is not Outcome.MISSING},
            "pending": self.pending,
            "mean": self.mean,
            "reasons": dict(self.reasons),
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.cost_usd,
        }


class MetricService:
    """Use cases around metrics.

    Args:
        store: Where answers come from and scores go.
        access: Opens metrics.
        processes: How many score with embedded metrics; None: as many as there are processors.
    """

    def __init__(self, store: Store, access: MetricAccess, *, processes: int | None = None) -> None:
        self._store = store
        self._access = access
        self._processes = processes

    def known(self) -> tuple[MetricInfo, ...]:
        """Every metric, without loading any."""
        return METRICS

    def run(
        self, set_name: str, request: MetricRequest, *, systems: Sequence[str] = (), report: MetricReport
    ) -> MetricRun:
        """Score every answer of a set's newest submissions that has no score by a metric yet.

        Failed and skipped answers are tried again. Ctrl-C keeps what is scored; the next run goes on.

        Args:
            set_name: The question set.
            request: The metric, and the LLM that is asked.
            systems: Systems to score; empty: all, the reference left out.
            report: Called with the answers scored and those to score.

        Raises:
            NotFoundError: There is no such set, system, metric or judge.
            SpecError: The judge is no LLM, or the metric has no embedded version.
            JudgeError: Scoring cannot go on; what was scored is kept.
        """
        with ScoringPool(self._processes) as pool:
            return asyncio.run(self._run(self._entrants(set_name, systems), request, report, pool))

    def board_metrics(self, set_name: str) -> tuple[BoardMetric, ...]:
        """The metrics that boards show, each with why it is not computed for a set, where it is not."""
        return board_metrics(self._store, set_name)

    def score_board(self, set_name: str, note: Callable[[str], None], halt: Halt | None = None) -> None:
        """Score the answers of a set, the reference's too, by the metrics that every board shows.

        Raises:
            StoppedError: Ctrl-C, SIGTERM or `halt`, set by another thread, ended it early; what was scored
                is kept.
        """
        with ScoringPool(self._processes) as pool:
            for metric in self.board_metrics(set_name):
                if metric.missing:
                    note(f"not scoring {metric.name}: {metric.missing}")
                    continue
                note(f"scoring {metric.name}")
                reference = self._store.submissions.reference(set_name)
                entrants = (*self._entrants(set_name, ()), *([reference] if metric.of_reference else []))
                request = MetricRequest(metric=metric.name)
                if asyncio.run(self._run(entrants, request, _unreported, pool, halt)).pending:
                    raise StoppedError(
                        f"Scoring by {metric.name} was stopped, so nothing is published.",
                        advice="Publish again to go on.",
                    )

    def score_file(self, path: Path, request: MetricRequest, emit: Emit) -> None:
        """Score the lines of a JSONL file; `emit` gets the object of each line's score, in order.

        Raises:
            InvalidFileError: The file has problems; all of them are listed.
            NotFoundError: There is no such metric or judge.
            JudgeError: Scoring cannot go on.
        """
        metric_info(request.metric)
        asyncio.run(self._score_items(read_items(path, ReadLimits()), request, emit))

    def meta_evaluate(
        self, path: Path, request: MetricRequest, *, resamples: int, seed: int
    ) -> dict[str, Any]:
        """Hold a metric against the labels of a WikiContradict or ConflictBank file.

        Raises:
            FileFormatError: The file cannot be read or is neither.
            JudgeError: Scoring cannot go on.
        """

        async def evaluate() -> dict[str, Any]:
            async with self._access.open(request, asyncio.Event()) as opened:
                found = await meta_evaluation_of(path, opened.metric, resamples=resamples, seed=seed)
                return {"judge": opened.judge or "embedded", **found}

        return asyncio.run(evaluate())

    def evaluate_claims(self, path: Path, requests: Sequence[MetricRequest]) -> dict[str, Any]:
        """Hold assessors of factuality against labelled claims, and against each other.

        Raises:
            FileFormatError: The file cannot be read or has no labelled claims.
            SpecError: A metric is no assessor of claims.
            JudgeError: Scoring cannot go on.
        """

        async def evaluate() -> dict[str, Any]:
            async with AsyncExitStack() as stack:
                opened = [
                    await stack.enter_async_context(self._access.open(request, asyncio.Event()))
                    for request in requests
                ]
                found = await claim_evaluation_of(path, [one.metric for one in opened])
                return {"judge": opened[0].judge or "embedded", **found}

        return asyncio.run(evaluate())

    async def _run(
        self,
        entrants: Sequence[Submission],
        request: MetricRequest,
        report: MetricReport,
        pool: ScoringPool,
        halt: Halt | None = None,
    ) -> MetricRun:
        numbers = [entrant.id for entrant in entrants]
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            async with stopping_on_halt(halt, stop), self._access.open(request, stop) as opened:
                pending = self._pending(numbers, opened.metric, opened.judge)
                metric = pool.spread(opened.metric, pending) if opened.judge == EMBEDDED else opened.metric
                scored = await score_pending(
                    self._store,
                    metric,
                    judge=opened.judge,
                    submissions=numbers,
                    concurrency=opened.concurrency if metric is opened.metric else pool.in_flight,
                    report=report,
                    stop=stop,
                )
        answers = sum(entrant.answers for entrant in entrants)
        return MetricRun(
            metric=request.metric,
            judge=opened.judge,
            model=opened.model,
            answers=answers,
            kept=answers - pending,
            pending=pending - scored.outcomes.total(),
            usage=opened.tally,
            **_told(scored),
        )

    def _pending(self, numbers: Sequence[int], metric: Metric, judge: str) -> int:
        again = (Outcome.FAILED, Outcome.SKIPPED)
        return self._store.scores.pending(numbers, metric=metric.name, judge=judge, again=again)

    async def _score_items(self, items: Sequence[MetricItem], request: MetricRequest, emit: Emit) -> None:
        async with self._access.open(request, asyncio.Event()) as opened:
            flying: deque[asyncio.Task[Score]] = deque()
            try:
                for item in items:
                    flying.append(asyncio.create_task(_scored(opened.metric, item)))
                    if len(flying) >= opened.concurrency:
                        emit(_line(await flying.popleft()))
                while flying:
                    emit(_line(await flying.popleft()))
            finally:
                for task in flying:
                    task.cancel()
                await asyncio.gather(*flying, return_exceptions=True)

    def _entrants(self, set_name: str, systems: Sequence[str]) -> tuple[Submission, ...]:
        self._store.sets.summary(set_name)
        live = self._store.submissions.find(set_name=set_name, newest=True)
        if not systems:
            return live
        reference = self._store.submissions.reference(set_name)
        known = {entrant.system: entrant for entrant in (*live, reference)}
        unknown = [system for system in systems if system not in known]
        if unknown:
            message = f"{', '.join(unknown)} did not submit to {set_name}."
            raise NotFoundError(message, advice=f"There are: {', '.join(known)}.")
        return tuple(known[system] for system in dict.fromkeys(systems))


async def _scored(metric: Metric, item: MetricItem) -> Score:
    return await metric.score(item)


def _line(score: Score) -> dict[str, Any]:
    return {
        "id": score.id,
        "metric": score.metric,
        "outcome": score.outcome.value,
        "score": score.score,
        "details": dict(score.details),
    }


def _told(scored: Scored) -> dict[str, Any]:
    return {
        "outcomes": scored.outcomes,
        "reasons": tuple(scored.reasons.most_common(MOST_REASONS)),
        "mean": scored.mean,
    }


def _unreported(_made: int, _total: int) -> None:
    """No progress."""
