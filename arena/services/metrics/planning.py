"""Forecast of scoring by an LLM: requests, tokens and money, before anything is paid."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.services.metrics.factory import MetricAccess, MetricRequest
from arena.services.metrics.scoring import RETRIED, entrants_of
from data.models import Json, MetricItem, Score, TokenUsage
from data.models.words import to_json
from data.progress import working
from data.store import Store
from judges.llm.prices import Prices
from judges.metrics.dry_run import CLAIMS_PER_SENTENCE, DryRun, DryRunner
from judges.metrics.registry import metric_info
from judges.metrics.shortening import CUT, MAX_PASSAGE_WORDS
from judges.retrieval import BM25
from judges.spec import JudgeSpec

LoadPrices = Callable[[], Prices]
SAMPLED_QUESTIONS = 8
SAMPLED_ANSWERS = 32
MOST_REQUESTS = 60_000
"""Requests after which no further question is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """Requests, tokens and cost of one task of a metric."""

    task: str
    requests: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPlan:
    """Requests, tokens and cost of a run of a metric over a set.

    Attributes:
        judge: Under what name its scores are stored; empty for the embedded version.
        model: The LLM's; empty for the embedded version.
        answers: Answers of the set's newest submissions.
        sampled: Those of which the figures are.
        requests: Requests of all pending answers, identical ones once. Tokens likewise.
        cost_usd: At replies as long as foreseen; None where the model has no known price.
        cost_usd_most: With every reply at its limit and asked for twice; None likewise.
        claims_per_sentence: What texts are taken to say.
        cut: Answers of which the LLM reads passages in part, as they are too long.
        tasks: By task, the most requests first.
        warnings: What the numbers should make one think of.
    """

    set: str
    metric: str
    judge: str
    model: str
    answers: int
    pending: int
    sampled: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_usd_most: float | None
    claims_per_sentence: int
    cut: int
    tasks: tuple[TaskPlan, ...]
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """One object."""
        return {**to_json(self), "judge": self.judge or "embedded", "model": self.model or None}

    @property
    def sentence(self) -> str:
        """The plan in a line."""
        if not self.model:
            return f"{self.metric} of {self.set}: {self.pending:,} answers, embedded, no request."
        cost = "at an unknown price" if self.cost_usd is None else f"about {self.cost_usd:,.2f} USD"
        most = "" if self.cost_usd_most is None else f" (at most {self.cost_usd_most:,.2f})"
        return (
            f"{self.metric} of {self.set} by {self.model}: {self.pending:,} answers, about {self.requests:,} "
            f"requests, {self.input_tokens:,} tokens in and {self.output_tokens:,} out, {cost}{most}."
        )


class MetricPlanner:
    """Estimates runs without requests; stores nothing."""

    def __init__(self, store: Store, access: MetricAccess, load_prices: LoadPrices) -> None:
        self._store = store
        self._access = access
        self._load_prices = load_prices

    def plan(
        self,
        set_name: str,
        request: MetricRequest,
        *,
        systems: Sequence[str] = (),
        claims_per_sentence: int = CLAIMS_PER_SENTENCE,
    ) -> MetricPlan:
        """Try a run without the LLM on the answers to some questions, spread evenly over the set."""
        request = self._access.completed(request)
        entrants = entrants_of(self._store, set_name, systems)
        numbers = [entrant.id for entrant in entrants]
        spec = self._access.llm(request.judge)
        runner = DryRunner(
            endpoint="" if spec is None else spec.endpoint,
            model="" if spec is None else spec.model,
            claims_per_sentence=claims_per_sentence,
        )
        with working(f"planning {request.metric} of {set_name}"):
            if spec is None:
                seen = _Seen(self._access.kept_as(request.judge, request.options))
            else:
                seen = asyncio.run(self._dry_run(request, runner, numbers))
        stored_as = seen.stored_as
        pending = self._store.scores.pending(numbers, metric=request.metric, judge=stored_as, again=RETRIED)
        factor = pending / seen.sampled if seen.sampled else 0.0
        cut = round(seen.cut * factor)
        tasks = _tasks(runner.dry_run, factor)
        requests = sum(task.requests for task in tasks)
        sent, returned = sum(task.input_tokens for task in tasks), sum(task.output_tokens for task in tasks)
        longest = round(
            sum(one.requests * one.most_output for one in runner.dry_run.by_task.values()) * factor
        )
        return MetricPlan(
            set=set_name,
            metric=request.metric,
            judge=stored_as,
            model=runner.model,
            answers=sum(entrant.answers for entrant in entrants),
            pending=pending,
            sampled=seen.sampled,
            requests=requests,
            input_tokens=sent,
            output_tokens=returned,
            cost_usd=self._cost(spec, TokenUsage(sent, returned), requests),
            # A malformed reply is asked about once more, with itself in the request.
            cost_usd_most=self._cost(spec, TokenUsage(2 * sent + longest, 2 * longest), 2 * requests),
            claims_per_sentence=claims_per_sentence,
            cut=cut,
            tasks=tasks,
            warnings=_warnings(request, seen.details, cut),
        )

    def _cost(self, spec: JudgeSpec | None, usage: TokenUsage, calls: int) -> float | None:
        if spec is None:
            return 0.0
        return self._load_prices().cost(spec.endpoint, spec.model, usage, max(1, calls))

    async def _dry_run(self, request: MetricRequest, runner: DryRunner, numbers: Sequence[int]) -> "_Seen":
        async with self._access.dry_running(request, runner) as opened:
            seen = _Seen(opened.judge)
            for items in self._sample(numbers, request.metric, opened.judge):
                if seen.sampled >= SAMPLED_ANSWERS or runner.dry_run.requests >= MOST_REQUESTS:
                    break
                for item in items:
                    seen.add(await opened.metric.score(item))
            return seen

    def _sample(self, numbers: Sequence[int], metric: str, judge: str) -> list[list[MetricItem]]:
        by_question: dict[str, list[MetricItem]] = {}
        for _, item, _ in self._store.scores.unscored({metric: numbers}, judge=judge, again=RETRIED):
            by_question.setdefault(item.id, []).append(item)
        step = max(1, len(by_question) // SAMPLED_QUESTIONS)
        return list(by_question.values())[::step]


@dataclass(slots=True)
class _Seen:
    """Observations on the answers of a trial.

    Attributes:
        stored_as: Under what name scores are kept.
        cut: Of how many the LLM would read passages in part.
    """

    stored_as: str
    sampled: int = 0
    cut: int = 0
    details: list[Mapping[str, Json]] = field(default_factory=list)

    def add(self, score: Score) -> None:
        self.details.append(score.details)
        self.cut += bool(score.details.get(CUT))
        self.sampled += 1


def _tasks(asked: DryRun, factor: float) -> tuple[TaskPlan, ...]:
    rows = (
        TaskPlan(
            task=name,
            requests=round(of_task.requests * factor),
            input_tokens=round(of_task.tokens[0] * factor),
            output_tokens=round(of_task.tokens[1] * factor),
        )
        for name, of_task in asked.by_task.items()
    )
    return tuple(sorted(rows, key=lambda row: -row.requests))


def _warnings(request: MetricRequest, details: Sequence[Mapping[str, Json]], cut: int) -> tuple[str, ...]:
    warnings = []
    if cut:
        longest = request.options.get("longest_passage", MAX_PASSAGE_WORDS)
        warnings.append(
            f"About {cut:,} answers have passages of more than {longest} words: of these the LLM reads the "
            "sentences that bear on the matter most (--option longest_passage=N)."
        )
    if request.search.retriever != BM25:
        warnings.append(
            "What this search finds is not foreseen: the figures are of the items' own passages, "
            "and searches are not counted."
        )
    warn = metric_info(request.metric).warn
    warnings += [sentence] if warn and (sentence := warn(details)) else []
    return tuple(warnings)
