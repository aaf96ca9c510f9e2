"""Runs of a metric over stored answers: in this process and its children, or on the nodes of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from arena.services.jobs.cancellation import (
    StopEvent,
    raise_if_stopped,
    stopping_on_halt,
    stopping_on_interrupt,
    telling,
)
from arena.services.jobs.engine import Engine
from arena.services.metrics.embedded import IN_FLIGHT, EmbeddedMetric
from arena.services.metrics.factory import MetricAccess, MetricRequest, OpenedMetric
from arena.services.metrics.scoring import RETRIED, MetricRun, Scored, score_pending
from arena.services.metrics.shares import Share, ShareDone, overrides_for, score_share, shares_of
from arena.services.system.text_process import TextWork
from arena.settings import EngineKind, Settings
from data.errors import JudgeError, StoppedError
from data.models import Submission
from data.progress import working
from data.store import Store
from judges.llm.costs import Usage
from judges.metrics.registry import Metric

MOST_REASONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is to be scored; `only` these answers, where it is given."""

    submissions: tuple[int, ...]
    request: MetricRequest
    only: Collection[int] | None = None
    stop_event: StopEvent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What came of it; `left` answers have no score since it was stopped."""

    judge: str
    model: str
    scored: Scored
    usage: Usage
    left: int


class ScoringRuns:
    """Scores answers that have no score yet; for the arguments see `MetricService`."""

    def __init__(
        self, store: Store, access: MetricAccess, settings: Settings, engine: Callable[[], Engine]
    ) -> None:
        self._store = store
        self._access = access
        self._settings = settings
        self._engine = engine

    def score_share(self, share: Share) -> ShareDone:
        """Score what a share has of answers without a score, in this process.

        Raises:
            JudgeError: Scoring cannot go on, or the scores would be stored under another name here.
        """
        only = frozenset(share.answers)
        work = _Work(submissions=share.submissions, request=share.request, only=only)
        done = asyncio.run(self._score(work, processes=1, judge=share.judge))
        return ShareDone(done.scored, done.usage)

    def run(
        self,
        entrants: Sequence[Submission],
        request: MetricRequest,
        stop_event: StopEvent | None = None,
    ) -> MetricRun:
        """Score the answers of some submissions.

        Raises:
            JudgeError: Scoring cannot go on; what was scored is stored.
        """
        answers = sum(entrant.answers for entrant in entrants)
        work = _Work(
            submissions=tuple(entrant.id for entrant in entrants),
            request=request,
            stop_event=stop_event,
        )
        if self._engine().kind is EngineKind.LOCAL:
            done = asyncio.run(self._score(work, processes=self._settings.processes_for(answers)))
        else:
            done = self._score_apart(work)
        scored = done.scored
        return MetricRun(
            metric=request.metric,
            judge=done.judge,
            model=done.model,
            answers=answers,
            kept=answers - done.left - scored.outcomes.total(),
            pending=done.left,
            usage=done.usage,
            outcomes=scored.outcomes,
            reasons=tuple(scored.reasons.most_common(MOST_REASONS)),
            notes=tuple(scored.notes.most_common(MOST_REASONS)),
            mean=scored.mean,
        )

    async def _score(self, work: _Work, *, processes: int, judge: str | None = None) -> _Done:
        """Score in this process and so many others; where scores must be stored as `judge`, no others are.

        Raises:
            JudgeError: They would be stored otherwise.
        """
        numbers, stop = work.submissions, asyncio.Event()
        with stopping_on_interrupt(stop), TextWork(self._settings.work_seconds, processes) as texts:
            async with (
                stopping_on_halt(work.stop_event, stop),
                telling(stop, texts.stop),
                self._access.open(work.request, stop) as opened,
            ):
                if judge not in {None, opened.judge}:
                    raise JudgeError(
                        f"Scores are stored as {opened.judge!r} here, as {judge!r} where this was started.",
                        advice="Let every node have the same judges and corpora.",
                    )
                pending = self._pending(numbers, opened.metric, opened.judge, work.only)
                metric = scored_elsewhere(opened, texts)
                scored = await score_pending(
                    self._store,
                    metric,
                    judge=opened.judge,
                    submissions=numbers,
                    concurrency=opened.concurrency if metric is opened.metric else IN_FLIGHT * processes,
                    stop=stop,
                    only=work.only,
                )
        return _Done(
            judge=opened.judge,
            model=opened.model,
            scored=scored,
            usage=opened.usage,
            left=pending - scored.outcomes.total(),
        )

    def _score_apart(self, work: _Work) -> _Done:
        """Let nodes of a cluster score shares, each storing its own scores.

        Raises:
            JudgeError: Scoring cannot go on, or nodes use another database.
        """
        request = self._access.completed(work.request)
        opened = asyncio.run(self._described(request))
        numbers, metric, judge = work.submissions, opened.metric, opened.judge
        answers = self._store.scores.unscored_numbers(
            numbers, metric=metric.name, judge=judge, again=RETRIED, only=work.only
        )
        scored, usage, stopped = Scored(), Usage(), False

        def shares(at_once: int) -> Iterable[tuple[Share]]:
            reaching = overrides_for(self._settings, at_once)
            whole = Share(
                submissions=numbers, answers=answers, request=request, judge=judge, reaching=reaching
            )
            return shares_of(whole, at_once)

        def poll() -> None:
            raise_if_stopped(work.stop_event)

        try:
            with working(f"scoring by {metric.name}", len(answers)) as progress:
                for done in self._engine().over_database(score_share, shares, poll=poll):
                    scored.join(done.scored)
                    usage = usage + done.usage
                    progress.done = scored.outcomes.total()
        except (KeyboardInterrupt, StoppedError):
            stopped = True
        left = self._pending(numbers, metric, judge, work.only) - sum(
            scored.outcomes[outcome] for outcome in RETRIED
        )
        if left > 0 and not stopped:
            raise JudgeError(
                f"{left:,} answers have no score though all nodes are done.",
                advice="Set ARENA_DATABASE_URL alike on every node, then start it again.",
            )
        return _Done(judge=judge, model=opened.model, scored=scored, usage=usage, left=max(0, left))

    async def _described(self, request: MetricRequest) -> OpenedMetric:
        async with self._access.open(request, asyncio.Event()) as opened:
            return opened

    def _pending(
        self, numbers: Sequence[int], metric: Metric, judge: str, only: Collection[int] | None
    ) -> int:
        return self._store.scores.pending(numbers, metric=metric.name, judge=judge, again=RETRIED, only=only)


def scored_elsewhere(opened: OpenedMetric, work: TextWork) -> Metric:
    """A metric that needs nothing of this process, scoring in others; another one as it is."""
    if opened.options is None:
        return opened.metric
    return EmbeddedMetric(opened.metric.name, opened.options, work)
