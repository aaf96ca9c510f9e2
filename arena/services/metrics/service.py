"""Metrics over stored answers and files; embedded ones score in other processes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.services.boards.metric_columns import NO_CITATIONS, board_metrics
from arena.services.jobs.cancellation import StopEvent, stopping_on_halt, stopping_on_interrupt, telling
from arena.services.metrics.factory import MetricAccess, MetricRequest, OpenedMetric
from arena.services.metrics.scoring import RETRIED, MetricRun, entrants_of, score_pending, scored
from arena.services.text_process import TextWork
from arena.settings import Settings
from data.errors import FileFormatError, JudgeError, SpecError, StoppedError, WorkError
from data.files.labelled_pairs import read_items
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, read_text
from data.models import Json, MetricItem, Outcome, Passage, Score, Submission, SubmissionKind, unscored
from data.progress import counted
from data.store import Store
from data.store.scores import EMBEDDED
from judges.base import reason_of
from judges.metrics.context import CONTEXT
from judges.metrics.registry import Metric, MetricInfo, Need, added_metrics, build_metric, metric_info

if TYPE_CHECKING:
    from judges.metrics.factuality.graph import FactorTables, Inference

IN_FLIGHT = 64
"""Answers a process has at hand: it never waits for the next, and has all answers to a question."""


def scored_elsewhere(opened: OpenedMetric, work: TextWork, processes: int) -> tuple[Metric, int]:
    """Return a metric and its answers in flight; in other processes where it needs nothing of this one."""
    if opened.options is None:
        return opened.metric, opened.concurrency
    return EmbeddedMetric(opened.metric.name, opened.options, work), IN_FLIGHT * max(1, processes)


class EmbeddedMetric:
    """An embedded metric whose answers are scored in other processes."""

    def __init__(self, name: str, options: Mapping[str, Json], work: TextWork) -> None:
        self._score = AnswerScorer(name, json.dumps(dict(options), sort_keys=True))
        self._work = work

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._score.name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; one that takes too long is not scored, and no other is concerned (A4)."""
        if self._work.here(item):
            return await scored(self._score.metric, item)
        try:
            return await self._work.do(self._score, item)
        except WorkError as error:
            return unscored(item, self.name, Outcome.FAILED, reason_of(error))


class AnswerScorer:
    """Scores one answer; in another process, the metric is built once."""

    def __init__(self, name: str, options: str) -> None:
        self.name = name
        self._options = options

    def __reduce__(self) -> tuple[Callable[..., AnswerScorer], tuple[object, ...]]:
        """Let another process build it before the first answer, which takes longer than to score one."""
        return _ready_scorer, (self.name, self._options)

    def __call__(self, item: MetricItem) -> Score:
        """Score one answer."""
        return asyncio.run(scored(self.metric, item))

    @property
    def metric(self) -> Metric:
        """The metric, of this process."""
        return _metric(self.name, self._options)


def _ready_scorer(name: str, options: str) -> AnswerScorer:
    scorer = AnswerScorer(name, options)
    # What a first text loads is no answer's own time.
    scorer(
        MetricItem(
            id="", question="Which is it?", answer="It is the first.", passages=(Passage("", "It is."),)
        )
    )
    return scorer


@lru_cache(maxsize=16)
def _metric(name: str, options: str) -> Metric:
    return build_metric(name, options=json.loads(options))


MOST_REASONS = 5
Emit = Callable[[dict[str, Any]], None]


class MetricService:
    """Use cases around metrics.

    An embedded metric may work on one answer for the settings' `work_seconds`; so many `processes` do, by
    default as many as there are processors.
    """

    def __init__(self, store: Store, access: MetricAccess, settings: Settings) -> None:
        self._store = store
        self._access = access
        self._settings = settings

    def run(self, set_name: str, request: MetricRequest, *, systems: Sequence[str] = ()) -> MetricRun:
        """Score every answer of a set's newest submissions that has no score by a metric yet.

        Failed and skipped answers are tried again. Ctrl-C keeps what is scored; the next run goes on. Without
        `systems` all are scored, the reference left out.

        Raises:
            JudgeError: Scoring cannot go on; what was scored is stored.
        """
        kind = None if request.metric == CONTEXT else SubmissionKind.ANSWERS
        return self._run(entrants_of(self._store, set_name, systems, kind=kind), request)

    def score_board(
        self,
        set_name: str,
        note: Callable[[str], None],
        stop_event: StopEvent | None = None,
        entrants: Sequence[Submission] = (),
    ) -> None:
        """Score the answers of a set, the reference's too, by the metrics that every board shows.

        Without `entrants` these are the newest submission of each system.

        Raises:
            StoppedError: Ctrl-C, SIGTERM or `stop_event`, set by another thread, ended it early; what was
                scored is stored.
        """
        added = added_metrics()
        for problem in added.problems:
            note(problem)
        for on_board in board_metrics(self._store, set_name):
            metric = on_board.info
            if on_board.missing:
                note(f"not scoring {metric.name}: {on_board.missing}")
                continue
            reference = self._store.submissions.reference(set_name)
            systems = entrants or entrants_of(self._store, set_name)
            scored = (*systems, *([reference] if metric.of_reference else []))
            if Need.CITATIONS in metric.inputs:
                scored = self._citing(metric, scored, note)
            note(self._announced(metric, scored))
            try:
                pending = self._run(scored, MetricRequest(metric=metric.name), stop_event).pending
            except (JudgeError, SpecError) as error:
                if metric not in added.entries or isinstance(error, StoppedError):
                    raise
                note(f"not scoring {metric.name}, which a plugin adds: {error.message}")
                continue
            if pending:
                raise StoppedError(
                    f"Scoring by {metric.name} was stopped, so nothing is published.",
                    advice="Publish again to go on.",
                )

    def _citing(
        self, metric: MetricInfo, entrants: Sequence[Submission], note: Callable[[str], None]
    ) -> tuple[Submission, ...]:
        """Select the submissions whose answers have citations; the others are named, not scored 0."""
        citing = tuple(one for one in entrants if self._store.scores.with_citations([one.id]))
        silent = [one.system for one in entrants if one not in citing]
        if silent:
            note(f"not scoring {metric.name} of {', '.join(silent)}: {NO_CITATIONS}")
        return citing

    def _announced(self, metric: MetricInfo, entrants: Sequence[Submission]) -> str:
        count = self._pending([entrant.id for entrant in entrants], metric.name, EMBEDDED)
        message = f"scoring by {metric.name}: {count:,} answers have no score yet"
        return f"{message} (--no-metrics publishes without)" if count else message

    def _run(
        self, entrants: Sequence[Submission], request: MetricRequest, stop_event: StopEvent | None = None
    ) -> MetricRun:
        return asyncio.run(self._scored(entrants, request, stop_event))

    async def _scored(
        self, entrants: Sequence[Submission], request: MetricRequest, stop_event: StopEvent | None
    ) -> MetricRun:
        numbers, stop = [entrant.id for entrant in entrants], asyncio.Event()
        answers = sum(entrant.answers for entrant in entrants)
        processes = self._settings.processes_for(answers)
        with stopping_on_interrupt(stop), TextWork(self._settings.work_seconds, processes) as texts:
            async with (
                stopping_on_halt(stop_event, stop),
                telling(stop, texts.stop),
                self._access.open(request, stop) as opened,
            ):
                pending = self._pending(numbers, opened.metric.name, opened.judge)
                metric, at_once = scored_elsewhere(opened, texts, processes)
                scored = await score_pending(
                    self._store,
                    metric,
                    judge=opened.judge,
                    submissions=numbers,
                    concurrency=at_once,
                    stop=stop,
                )
        return MetricRun(
            metric=request.metric,
            judge=opened.judge,
            model=opened.model,
            answers=answers,
            kept=answers - pending,
            outcomes=scored.outcomes,
            pending=pending - scored.outcomes.total(),
            reasons=tuple(scored.reasons.most_common(MOST_REASONS)),
            notes=tuple(scored.notes.most_common(MOST_REASONS)),
            mean=scored.mean,
            usage=opened.usage,
        )

    def _pending(self, numbers: Sequence[int], metric: str, judge: str) -> int:
        return self._store.scores.pending(numbers, metric=metric, judge=judge, again=RETRIED)

    def score_file(self, path: Path, request: MetricRequest, emit: Emit) -> None:
        """Score the lines of a JSONL file; `emit` gets the object of each line's score, in order."""
        metric_info(request.metric)
        items = read_items(path, ReadLimits())
        processes = self._settings.processes_for(len(items))
        asyncio.run(self._score_items(items, request, emit, processes))

    def lines_of(self, items: Sequence[MetricItem], request: MetricRequest) -> list[dict[str, Any]]:
        """Return the JSON of the scores of some items, in order, as `score_file` emits them."""
        lines: list[dict[str, Any]] = []
        asyncio.run(self._score_items(items, request, lines.append, processes=1))
        return lines

    async def _score_items(
        self, items: Sequence[MetricItem], request: MetricRequest, emit: Emit, processes: int
    ) -> None:
        async with self._access.open(request, asyncio.Event()) as opened:
            with TextWork(self._settings.work_seconds, processes) as work:
                metric, at_once = scored_elsewhere(opened, work, processes)
                await _score_each(items, metric, at_once, emit)


async def _score_each(items: Sequence[MetricItem], metric: Metric, concurrency: int, emit: Emit) -> None:
    flying: deque[asyncio.Task[Score]] = deque()
    try:
        for item in counted(items, f"scoring by {metric.name}", len(items)):
            flying.append(asyncio.create_task(metric.score(item)))
            if len(flying) >= concurrency:
                emit(_line(await flying.popleft()))
        while flying:
            emit(_line(await flying.popleft()))
    finally:
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)


def _line(score: Score) -> dict[str, Any]:
    return {
        "id": score.id,
        "metric": score.metric,
        "outcome": score.outcome.value,
        "score": score.score,
        "details": dict(score.details),
    }


def coverage_of(path: Path) -> dict[str, Json] | list[dict[str, Json]]:
    """Return the coverage of a fact graph; a file of several graphs gives a list."""
    from judges.metrics.comprehensiveness.graph import analyse, coverage_json, read_graphs

    value = _json(path)
    reports = [coverage_json(analyse(graph)) for graph in read_graphs(value, where=path.name)]
    several = isinstance(value, list) or (isinstance(value, Mapping) and "graphs" in value)
    return reports if several else reports[0]


def marginals_of(path: Path, *, factors: FactorTables, inference: Inference) -> dict[str, Any]:
    """Return the posterior of every node of a fact graph.

    Raises:
        StatisticsError: Certain relations and priors contradict each other.
    """
    from judges.metrics.factuality.graph import load_graph
    from judges.metrics.factuality.inference.marginals import marginals

    graph = load_graph(path)
    return marginals(graph, factors=factors, inference=inference).as_json()


def context_of(path: Path) -> dict[str, Any]:
    """Return how well a context answers sub-questions, from the ratings of its passages."""
    from judges.metrics.context.measures import context_report

    return dict(context_report(_json(path)))


def _json(path: Path) -> object:
    try:
        parsed: object = parse_json(read_text(path, ReadLimits()), 0)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error.message}", advice=error.advice, code=error.code) from error
    return parsed
