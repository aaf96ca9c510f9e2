"""Estimate of requests, tokens and cost of scoring by an LLM."""

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
MAX_REQUESTS = 60_000
"""Number of requests after which the trial ends."""


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
        judge: Name of its scores in the store; empty if embedded.
        model: Name of the LLM; empty if embedded.
        answers: Answers of the set's newest submissions.
        sampled: Answers behind the estimate.
        requests: Distinct requests of all pending answers; the tokens are those of these requests.
        cost_usd: Expected cost; None if the price is unknown.
        cost_usd_most: Maximum cost with the longest replies and one retry each; None if unknown.
        claims_per_sentence: Assumed number of claims.
        cut: Answers with passages too long for the LLM.
        tasks: Estimates by task, most requests first.
        warnings: Warnings on the estimate.
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
        """Return the plan as JSON."""
        return {**to_json(self), "judge": self.judge or "embedded", "model": self.model or None}

    @property
    def sentence(self) -> str:
        """Plan in a sentence."""
        if not self.model:
            return f"{self.metric} of {self.set}: {self.pending:,} answers, embedded, no request."
        cost = "at an unknown price" if self.cost_usd is None else f"about {self.cost_usd:,.2f} USD"
        most = "" if self.cost_usd_most is None else f" (at most {self.cost_usd_most:,.2f})"
        return (
            f"{self.metric} of {self.set} by {self.model}: {self.pending:,} answers, about {self.requests:,} "
            f"requests, {self.input_tokens:,} tokens in and {self.output_tokens:,} out, {cost}{most}."
        )


class MetricPlanner:
    """Planner of runs, without requests and storage."""

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
        """Estimate a run from a trial without the LLM on evenly spread questions."""
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
                trial = _Trial(self._access.score_name(request.judge, request.options))
            else:
                trial = asyncio.run(self._dry_run(request, runner, numbers))
        stored_as = trial.stored_as
        pending = self._store.scores.pending(numbers, metric=request.metric, judge=stored_as, again=RETRIED)
        factor = pending / trial.sampled if trial.sampled else 0.0
        cut = round(trial.cut * factor)
        tasks = _tasks(runner.dry_run, factor)
        requests = sum(task.requests for task in tasks)
        sent, returned = sum(task.input_tokens for task in tasks), sum(task.output_tokens for task in tasks)
        longest = round(
            sum(row.requests * row.most_output for row in runner.dry_run.by_task.values()) * factor
        )
        return MetricPlan(
            set=set_name,
            metric=request.metric,
            judge=stored_as,
            model=runner.model,
            answers=sum(entrant.answers for entrant in entrants),
            pending=pending,
            sampled=trial.sampled,
            requests=requests,
            input_tokens=sent,
            output_tokens=returned,
            cost_usd=self._cost(spec, TokenUsage(sent, returned), requests),
            # A malformed reply is retried once, with itself in the request.
            cost_usd_most=self._cost(spec, TokenUsage(2 * sent + longest, 2 * longest), 2 * requests),
            claims_per_sentence=claims_per_sentence,
            cut=cut,
            tasks=tasks,
            warnings=_warnings(request, trial.details, cut),
        )

    def _cost(self, spec: JudgeSpec | None, usage: TokenUsage, calls: int) -> float | None:
        if spec is None:
            return 0.0
        return self._load_prices().cost(spec.endpoint, spec.model, usage, max(1, calls))

    async def _dry_run(self, request: MetricRequest, runner: DryRunner, numbers: Sequence[int]) -> "_Trial":
        async with self._access.dry_running(request, runner) as opened:
            trial = _Trial(opened.judge)
            for items in self._sample(numbers, request.metric, opened.judge):
                if trial.sampled >= SAMPLED_ANSWERS or runner.dry_run.requests >= MAX_REQUESTS:
                    break
                for item in items:
                    trial.add(await opened.metric.score(item))
            return trial

    def _sample(self, numbers: Sequence[int], metric: str, judge: str) -> list[list[MetricItem]]:
        by_question: dict[str, list[MetricItem]] = {}
        for _, item, _ in self._store.scores.unscored({metric: numbers}, judge=judge, again=RETRIED):
            by_question.setdefault(item.id, []).append(item)
        step = max(1, len(by_question) // SAMPLED_QUESTIONS)
        return list(by_question.values())[::step]


@dataclass(slots=True)
class _Trial:
    """Observations on a trial: name of the scores, answers, cut answers, details."""

    stored_as: str
    sampled: int = 0
    cut: int = 0
    details: list[Mapping[str, Json]] = field(default_factory=list)

    def add(self, score: Score) -> None:
        self.details.append(score.details)
        self.cut += bool(score.details.get(CUT))
        self.sampled += 1


def _tasks(sample: DryRun, factor: float) -> tuple[TaskPlan, ...]:
    plans = (
        TaskPlan(
            task=name,
            requests=round(row.requests * factor),
            input_tokens=round(row.tokens[0] * factor),
            output_tokens=round(row.tokens[1] * factor),
        )
        for name, row in sample.by_task.items()
    )
    return tuple(sorted(plans, key=lambda plan: -plan.requests))


def _warnings(request: MetricRequest, details: Sequence[Mapping[str, Json]], cut: int) -> tuple[str, ...]:
    warnings = []
    if cut:
        longest = request.options.get("longest_passage", MAX_PASSAGE_WORDS)
        warnings.append(
            f"About {cut:,} answers have passages of more than {longest} words, of which the LLM reads "
            "only the most relevant sentences (--option longest_passage=N)."
        )
    if request.search.retriever != BM25:
        warnings.append(
            "The estimate cannot foresee search results: it uses the items' own passages, "
            "and searches are not counted."
        )
    warn = metric_info(request.metric).warn
    warnings += [sentence] if warn and (sentence := warn(details)) else []
    return tuple(warnings)
