"""Metrics over stored answers and files; embedded ones run in other processes."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.services.boards.metric_columns import NO_CITATIONS, board_metrics
from arena.services.jobs.cancellation import StopEvent, call_when_set, forward_stop, stopping_on_interrupt
from arena.services.metrics.embedded import AnswerScorer, EmbeddedMetrics, Rows, ScoreRows, scored
from arena.services.metrics.factory import MetricAccess, MetricRequest, OpenedMetric
from arena.services.metrics.scoring import RETRIED, MetricRun, entrants_of, score_pending
from arena.services.text_process import TextWork
from arena.settings import Settings
from data.errors import FileFormatError, JudgeError, SpecError, StoppedError
from data.files.labelled_pairs import read_items
from data.files.strict_json import parse_json
from data.files.text_files import ReadLimits, read_text
from data.models import Json, MetricItem, Score, Submission, SubmissionKind
from data.progress import counted
from data.store import Store
from data.store.scores import EMBEDDED
from judges.metrics.context import CONTEXT
from judges.metrics.registry import MetricInfo, Need, added_metrics, metric_info

if TYPE_CHECKING:
    from judges.metrics.factuality.graph import FactorTables, Inference

ANSWERS_AT_ONCE = 32
"""Answers to one question that a process scores in one batch."""
IN_FLIGHT = 2
"""Batches per process, so that it never waits for the next batch."""


def scorer_of(
    opened: OpenedMetric, names: Sequence[str], work: TextWork, processes: int
) -> tuple[ScoreRows, int, int]:
    """Return the scoring function, batch size and batches in flight; without an LLM it uses processes."""
    if opened.options is None:

        async def in_process(rows: Rows) -> list[list[Score]]:
            return [[await scored(opened.metric, item)] for item, _ in rows]

        return in_process, 1, opened.concurrency
    embedded = EmbeddedMetrics([AnswerScorer(name, opened.options) for name in names], work)
    return embedded.score, ANSWERS_AT_ONCE, IN_FLIGHT * max(1, processes)


MAX_REASONS = 5
Emit = Callable[[dict[str, Any]], None]


class MetricService:
    """Service for metrics; an answer may take the settings' `work_seconds`."""

    def __init__(self, store: Store, access: MetricAccess, settings: Settings) -> None:
        self._store = store
        self._access = access
        self._settings = settings

    def run(self, set_name: str, request: MetricRequest, *, systems: Sequence[str] = ()) -> MetricRun:
        """Score the unscored, failed and skipped answers of a set's newest submissions by a metric.

        After Ctrl-C the next run continues. Without `systems` all systems but the reference are scored.
        """
        kind = None if request.metric == CONTEXT else SubmissionKind.ANSWERS
        return self._run({request.metric: entrants_of(self._store, set_name, systems, kind=kind)}, request)

    def score_board(
        self,
        set_name: str,
        note: Callable[[str], None],
        stop_event: StopEvent | None = None,
        entrants: Sequence[Submission] = (),
        *,
        every: bool = False,
    ) -> None:
        """Score the answers of `entrants` (default: the newest) and reference by the board's metrics.

        Metrics that boards show by default only for an LLM's scores are skipped, unless `every` is set.
        """
        added = added_metrics()
        for problem in added.problems:
            note(problem)
        wanted: dict[str, Sequence[Submission]] = {}
        for on_board in board_metrics(self._store, set_name):
            metric = on_board.info
            if on_board.missing:
                note(f"not scoring {metric.name}: {on_board.missing}")
                continue
            if metric.column is not None and metric.column.llm_only and not every:
                note(f"not scoring {metric.name}: only scores by an LLM show by default (--metrics adds it)")
                continue
            reference = self._store.submissions.reference(set_name)
            systems = entrants or entrants_of(self._store, set_name)
            scored = (*systems, *([reference] if metric.of_reference else []))
            if Need.CITATIONS in metric.inputs:
                scored = self._citing(metric, scored, note)
            note(self._announced(metric, scored))
            wanted[metric.name] = scored
        of_plugins = {info.name for info in added.entries}
        # Our own metrics share the reading of an answer; plugins run one by one, since they may fail.
        own = {name: wanted[name] for name in wanted if name not in of_plugins}
        for together in filter(None, (own, *({name: wanted[name]} for name in wanted if name in of_plugins))):
            first, names = next(iter(together)), ", ".join(together)
            try:
                pending = self._run(together, MetricRequest(metric=first), stop_event).pending
            except (JudgeError, SpecError) as error:
                if first not in of_plugins or isinstance(error, StoppedError):
                    raise
                note(f"not scoring the plugin {names}: {error.message}")
                continue
            if pending:
                raise StoppedError(
                    f"Scoring by {names} was stopped, so nothing is published.",
                    advice="Publish again to continue.",
                )

    def _citing(
        self, metric: MetricInfo, entrants: Sequence[Submission], note: Callable[[str], None]
    ) -> tuple[Submission, ...]:
        """Select the submissions with citations, and note the rest, instead of scoring them 0."""
        citing = tuple(row for row in entrants if self._store.scores.with_citations([row.id]))
        silent = [row.system for row in entrants if row not in citing]
        if silent:
            note(f"not scoring {metric.name} of {', '.join(silent)}: {NO_CITATIONS}")
        return citing

    def _announced(self, metric: MetricInfo, entrants: Sequence[Submission]) -> str:
        count = self._pending([entrant.id for entrant in entrants], metric.name, EMBEDDED)
        message = f"scoring by {metric.name}: {count:,} answers have no score yet"
        return f"{message} (--no-metrics publishes without)" if count else message

    def _run(
        self,
        wanted: Mapping[str, Sequence[Submission]],
        request: MetricRequest,
        stop_event: StopEvent | None = None,
    ) -> MetricRun:
        return asyncio.run(self._scored(wanted, request, stop_event))

    async def _scored(
        self, wanted: Mapping[str, Sequence[Submission]], request: MetricRequest, stop_event: StopEvent | None
    ) -> MetricRun:
        numbers = {name: [entrant.id for entrant in entrants] for name, entrants in wanted.items()}
        stop = asyncio.Event()
        answers = sum(entrant.answers for entrants in wanted.values() for entrant in entrants)
        processes = self._settings.processes_for(answers)
        with stopping_on_interrupt(stop), TextWork(self._settings.work_seconds, processes) as texts:
            async with (
                forward_stop(stop_event, stop),
                call_when_set(stop, texts.stop),
                self._access.open(request, stop) as opened,
            ):
                pending = sum(self._pending(some, name, opened.judge) for name, some in numbers.items())
                score, at_once, concurrency = scorer_of(opened, list(wanted), texts, processes)
                scored = await score_pending(
                    self._store,
                    score,
                    judge=opened.judge,
                    wanted=numbers,
                    at_once=at_once,
                    concurrency=concurrency,
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
            reasons=tuple(scored.reasons.most_common(MAX_REASONS)),
            notes=tuple(scored.notes.most_common(MAX_REASONS)),
            mean=scored.mean,
            usage=opened.usage,
        )

    def _pending(self, numbers: Sequence[int], metric: str, judge: str) -> int:
        return self._store.scores.pending(numbers, metric=metric, judge=judge, again=RETRIED)

    def score_file(self, path: Path, request: MetricRequest, emit: Emit) -> None:
        """Score the lines of a JSONL file; `emit` gets the JSON of each score in order."""
        metric_info(request.metric)
        items = read_items(path, ReadLimits())
        processes = self._settings.processes_for(len(items))
        asyncio.run(self._score_items(items, request, emit, processes))

    def lines_of(self, items: Sequence[MetricItem], request: MetricRequest) -> list[dict[str, Any]]:
        """Return the JSON of the scores of items in order, as `score_file` emits them."""
        lines: list[dict[str, Any]] = []
        asyncio.run(self._score_items(items, request, lines.append, processes=1))
        return lines

    async def _score_items(
        self, items: Sequence[MetricItem], request: MetricRequest, emit: Emit, processes: int
    ) -> None:
        async with self._access.open(request, asyncio.Event()) as opened:
            with TextWork(self._settings.work_seconds, processes) as work:
                score, _, in_flight = scorer_of(opened, [request.metric], work, processes)
                await _score_in_order(items, request.metric, score, in_flight, emit)


async def _score_in_order(
    items: Sequence[MetricItem], name: str, score: ScoreRows, in_flight: int, emit: Emit
) -> None:
    pending: deque[asyncio.Future[list[list[Score]]]] = deque()
    try:
        for item in counted(items, f"scoring by {name}", len(items)):
            pending.append(asyncio.ensure_future(score([(item, (name,))])))
            if len(pending) >= in_flight:
                emit(_line(await pending.popleft()))
        while pending:
            emit(_line(await pending.popleft()))
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def _line(scores: list[list[Score]]) -> dict[str, Any]:
    ((score,),) = scores
    return {
        "id": score.id,
        "metric": score.metric,
        "outcome": score.outcome.value,
        "score": score.score,
        "details": dict(score.details),
    }


def coverage_of(path: Path) -> dict[str, Json] | list[dict[str, Json]]:
    """Return the coverage of a fact graph, or a list for a file with several."""
    from judges.metrics.comprehensiveness.graph import analyse, coverage_json, read_graphs

    value = _json(path)
    reports = [coverage_json(analyse(graph)) for graph in read_graphs(value, where=path.name)]
    several = isinstance(value, list) or (isinstance(value, Mapping) and "graphs" in value)
    return reports if several else reports[0]


def marginals_of(path: Path, *, factors: "FactorTables", inference: "Inference") -> dict[str, Any]:
    """Return the posterior of every node of a fact graph."""
    from judges.metrics.factuality.graph import load_graph
    from judges.metrics.factuality.inference.marginals import marginals

    graph = load_graph(path)
    return marginals(graph, factors=factors, inference=inference).as_json()


def context_of(path: Path) -> dict[str, Any]:
    """Return measures of a context from the ratings of its passages by sub-question."""
    from judges.metrics.context.measures import context_report

    return dict(context_report(_json(path)))


def _json(path: Path) -> object:
    try:
        parsed: object = parse_json(read_text(path, ReadLimits()), 0)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error.message}", advice=error.advice, code=error.code) from error
    return parsed
