"""Metrics, embedded or with the LLM of a judge's spec."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from arena.services.jobs.cancellation import call_when_set
from arena.services.judging.llm_access import StoredJournal, StoredReplies, access_settings
from arena.services.retrieval import HASH_SHOWN, SearchRequest
from arena.settings import Settings
from data.errors import InputError, SpecError
from data.files.text_files import ReadLimits
from data.files.trec import Qrels, read_qrels
from data.models import Json, JudgeKind, Question
from data.store import Store
from data.store.scores import EMBEDDED
from judges.llm.client import open_client
from judges.llm.costs import Ledger, MemoryLedger, Usage
from judges.llm.tasks import TaskRunner
from judges.metrics.coverage.judgments import read_judgments
from judges.metrics.registry import Metric, SourcedMetric, build_metric, metric_info, metrics
from judges.metrics.shortening import build_reading
from judges.retrieval import BM25, Opened, RankedSource
from judges.spec import JudgeSpec

CONCURRENCY = 16
JUDGMENTS = "judgments"
RATINGS = "ratings"
MAX_VALUE = 60
MAX_NAME = 100
NO_OPTIONS: Mapping[str, Json] = MappingProxyType({})
LoadSpec = Callable[[str], JudgeSpec]
OpenSource = Callable[[SearchRequest], AbstractAsyncContextManager[Opened | None]]
IN_PASSAGES = SearchRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRequest:
    """Request for a run of a metric.

    Attributes:
        judge: Name or path of a judge's spec whose LLM is used; empty or a lexical judge means embedded.
        options: Constants of the metric that differ from the paper's.
        concurrency: Maximum answers and calls in flight.
        search: Source of evidence; by default the passages of each item.
        judgments: File of judgments on passages by aspect, for `coverage-icat-m`.
        ratings: Set and file of ratings of its passages by sub-question, for the metrics of contexts.
    """

    metric: str
    judge: str = EMBEDDED
    options: Mapping[str, Json] = field(default_factory=lambda: NO_OPTIONS)
    budget_usd: float | None = None
    concurrency: int = CONCURRENCY
    search: SearchRequest = IN_PASSAGES
    judgments: Path | None = None
    ratings: tuple[str, Path] | None = None

    def __post_init__(self) -> None:
        if self.budget_usd is not None and not 0 <= self.budget_usd < float("inf"):
            raise InputError(
                f"The budget {self.budget_usd} is not an amount in USD.", advice="Use 0 or more."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMetric:
    """Metric that is ready to score.

    Attributes:
        judge: Name of its scores in the store: `JUDGE@MODEL` or empty if embedded, then changed options and
            the corpus.
        model: Name of the LLM; empty if embedded.
        usage: Usage of the LLM so far.
        options: Constants to build it in another process; None if that is impossible.
    """

    metric: Metric
    judge: str
    model: str
    usage: Usage
    concurrency: int
    options: Mapping[str, Json] | None = None


class MetricAccess:
    """Opener of metrics."""

    def __init__(
        self, store: Store, settings: Settings, load_spec: LoadSpec, open_source: OpenSource
    ) -> None:
        self._store = store
        self._settings = settings
        self._load_spec = load_spec
        self._open_source = open_source

    @asynccontextmanager
    async def open(self, request: MetricRequest, stop: asyncio.Event) -> AsyncIterator[OpenedMetric]:
        """Open a metric in this event loop; once `stop` is set, it sends no new calls."""
        request = self.completed(request)
        spec = self.llm(request.judge)
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        async with self._open_source(request.search) as source:
            if spec is None:
                yield OpenedMetric(
                    metric=_metric(request, None, source),
                    judge=_score_name(EMBEDDED, request.options, source),
                    model="",
                    usage=Usage(),
                    concurrency=1,
                    options=request.options if source is None else None,
                )
                return
            async with self.open_runner(spec, ledger, stop, concurrency=request.concurrency) as (
                runner,
                usage,
            ):
                yield OpenedMetric(
                    metric=_metric(request, runner, source),
                    judge=_score_name(f"{spec.name}@{spec.model}", request.options, source),
                    model=spec.model,
                    usage=usage,
                    concurrency=request.concurrency,
                )

    @asynccontextmanager
    async def dry_running(self, request: MetricRequest, runner: TaskRunner) -> AsyncIterator[OpenedMetric]:
        """Open a metric with a runner that sends no requests; only BM25 searches run."""
        request = self.completed(request)
        free = request.search.retriever == BM25
        async with self._open_source(request.search if free else IN_PASSAGES) as source:
            yield OpenedMetric(
                metric=_metric(request, runner, source),
                judge=_score_name(self._judge_name(request.judge), request.options, source),
                model=runner.model,
                usage=Usage(),
                concurrency=1,
            )

    @asynccontextmanager
    async def open_runner(
        self, spec: JudgeSpec, ledger: Ledger | None, stop: asyncio.Event, *, concurrency: int = CONCURRENCY
    ) -> AsyncIterator[tuple[TaskRunner, Usage]]:
        """Open a task runner for the LLM of a judge's spec; once `stop` is set, it sends no new calls."""
        replies = StoredReplies(self._store)
        access = access_settings(self._settings, concurrency=concurrency)
        try:
            async with open_client(access, replies, ledger, journal=StoredJournal(self._store)) as client:
                runner = TaskRunner(
                    client,
                    endpoint=spec.endpoint,
                    model=spec.model,
                    without=spec.without,
                    free=spec.price == 0,
                )
                async with call_when_set(stop, client.stop):
                    yield runner, client.usage
        finally:
            await replies.close()

    def completed(self, request: MetricRequest) -> MetricRequest:
        """Return a request whose options include its judgments and ratings."""
        from judges.metrics.context.ratings import THRESHOLD

        request = _with_judgments(request)
        if request.ratings is None:
            return request
        if not metric_info(request.metric).takes_ratings:
            message = f"The metric {request.metric} does not use ratings of passages by sub-question."
            takers = " or ".join(info.name for info in metrics() if info.takes_ratings)
            raise InputError(message, advice=f"Leave out --ratings, or choose {takers}.")
        set_name, file = request.ratings
        qrels = read_qrels(file, rated=True)
        questions = self._store.sets.get(set_name).questions
        options: dict[str, Json] = {"threshold": qrels.relevant_from, **request.options}
        if options["threshold"] == THRESHOLD:
            del options["threshold"]
        return replace(request, options={**options, RATINGS: known_ratings(questions, qrels)}, ratings=None)

    def score_name(self, judge: str, options: Mapping[str, Json]) -> str:
        """Return the name of a judge's scores in the store, for items with their own passages."""
        return _score_name(self._judge_name(judge), options, None)

    def _judge_name(self, judge: str) -> str:
        spec = self.llm(judge)
        return EMBEDDED if spec is None else f"{spec.name}@{spec.model}"

    def llm(self, judge: str) -> JudgeSpec | None:
        """Return the spec of the LLM to ask; None for the embedded version."""
        if not judge:
            return None
        spec = self._load_spec(judge)
        if spec.kind is JudgeKind.LEXICAL:
            return None
        if spec.kind is not JudgeKind.LLM:
            message = f"A metric needs a single LLM, but the judge {spec.name} is a {spec.kind}."
            raise SpecError(message, advice="Choose a judge with a single LLM: see `arena judges list`.")
        return spec


def known_ratings(questions: Sequence[Question], qrels: Qrels) -> dict[str, dict[str, float]]:
    """Return the ratings of the questions' own passages, by sub-question and text."""
    from judges.metrics.context.raters import text_key

    known: dict[str, dict[str, float]] = {}
    for question in questions:
        grades = qrels.judgments.get(question.id, {})
        for number, sub_question in enumerate(question.sub_questions, start=1):
            own = grades.get(str(number), {})
            rated = {text_key(part.text): own[part.id] for part in question.passages if part.id in own}
            known.setdefault(sub_question, {}).update(rated)
    return known


def _with_judgments(request: MetricRequest) -> MetricRequest:
    if request.judgments is None:
        return request
    if JUDGMENTS in request.options:
        message = "The judgments are given twice: as a file and as an option."
        raise InputError(message, advice="Leave out one of them.")
    if not metric_info(request.metric).takes_judgments:
        takers = ", ".join(info.name for info in metrics() if info.takes_judgments)
        message = f"The metric {request.metric} does not use judgments of passages."
        raise InputError(message, advice=f"Leave them out, or choose {takers}.")
    read = read_judgments(request.judgments, ReadLimits()).as_json()
    return replace(request, options={**request.options, JUDGMENTS: read}, judgments=None)


def _short(value: str) -> str:
    return value if len(value) <= MAX_VALUE else sha256(value.encode()).hexdigest()[:HASH_SHOWN]


def _metric(request: MetricRequest, runner: TaskRunner | None, source: Opened | None) -> Metric:
    if source is None and runner is not None:
        return build_reading(request.metric, runner=runner, options=request.options)
    if source is None:
        return build_metric(request.metric, options=request.options)
    built = build_metric(
        request.metric, runner=runner, options=request.options, source=RankedSource(source.ranker)
    )
    return SourcedMetric(built, source.about)


def _score_name(judge: str, options: Mapping[str, Json], source: Opened | None) -> str:
    changed = (f"{name}={_short(json.dumps(options[name], sort_keys=True))}" for name in sorted(options))
    name = " ".join((judge, *changed, *([] if source is None else [source.key]))).strip()
    if len(name) <= MAX_NAME:
        return name
    digest = sha256(name.encode()).hexdigest()[:HASH_SHOWN]
    return f"{name[: MAX_NAME - HASH_SHOWN - 1]}~{digest}"
