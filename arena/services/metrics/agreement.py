"""How metrics agree: contexts with answers over systems, coverage with people, and the bounds of a set."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena.services.metrics.factory import MetricAccess
from data.errors import SpecError
from data.files.text_files import ReadLimits
from data.records import MetricItem, Question, Submission
from data.store import Store
from data.store.boards.scores import EMBEDDED
from judges.llm.costs import MemoryLedger, Usage
from judges.llm.tasks import TaskRunner
from judges.metrics.context import ANSWER, CONTEXT
from judges.metrics.context.bounds import LlmWriter, summarise_bounds
from judges.metrics.context.metric import Oracle
from judges.metrics.context.settings import ContextSettings
from judges.metrics.coverage import ASPECT_COVERAGE
from judges.metrics.coverage.correlation import RESAMPLES, Coefficient, Correlation, correlate_systems
from judges.metrics.coverage.judgments import label_agreement, read_aspect_labels
from judges.metrics.options import read_options

FEWEST_SYSTEMS = 3
NO_SYSTEMS = "No system has both context and answer scores."
FEW_SYSTEMS = "A correlation over systems needs three with context and answer scores of the same questions."


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRequest:
    """What is to be held against what.

    Attributes:
        set_name: The question set whose stored scores are read.
        submissions: Whose scores are correlated, by number; empty: the newest of each system.
        judge: Judge that scored; empty: the embedded version.
        writer: Judge whose LLM answers for the bounds; empty: bounds without a writer alone.
        options: Constants that the CRUX scores were made with.
    """

    set_name: str
    submissions: tuple[int, ...] = ()
    judge: str = EMBEDDED
    metric: str = ASPECT_COVERAGE
    labels: Path | None = None
    writer: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    budget_usd: float | None = None
    resamples: int = RESAMPLES
    seed: int = 0


class AgreementService:
    """Use cases around the agreement of metrics."""

    def __init__(self, store: Store, access: MetricAccess) -> None:
        self._store = store
        self._access = access

    def measure(self, request: AgreementRequest) -> dict[str, Any]:
        """Correlate, and measure the bounds.

        Returns:
            `systems` (correlation of mean context and answer scores over systems), `bounds`, `labels` (null
            without a file), and what the bounds took.

        Raises:
            NotFoundError: There is no such set or judge.
            InvalidFileError: The labels have problems; all of them are listed.
            JudgeError: Asking cannot go on.
        """
        stored_as = self._access.kept_as(request.judge, request.options)
        labels = None if request.labels is None else self._labels(request, request.labels)
        bounds, used = asyncio.run(self._bounds(request))
        return {
            "set": request.set_name,
            "judge": stored_as or "embedded",
            "systems": self.systems(request),
            "bounds": bounds,
            "labels": labels,
            "calls": used.calls,
            "cost_usd": used.total_usd,
        }

    def of_board(self, set_name: str, entrants: Sequence[Submission]) -> dict[str, Any] | None:
        """What a board of some entrants shows of it, by the embedded versions; None without sub-questions."""
        if not any(question.sub_questions for question in self._questions(set_name)):
            return None
        numbers = tuple(entrant.id for entrant in entrants)
        measured = self.measure(AgreementRequest(set_name=set_name, submissions=numbers))
        return {"systems": measured["systems"], "bounds": measured["bounds"]}

    def systems(self, request: AgreementRequest) -> dict[str, Any]:
        """The correlation of mean context and answer scores over systems; nothing is asked.

        Raises:
            NotFoundError: There is no such judge.
        """
        stored_as = self._access.kept_as(request.judge, request.options)
        live = self._store.submissions.find(set_name=request.set_name, newest=True)
        numbers = request.submissions or [entrant.id for entrant in live]
        tables: dict[str, dict[str, dict[str, float]]] = {}
        for metric in (CONTEXT, ANSWER):
            by_system: dict[str, dict[str, float]] = defaultdict(dict)
            for scored in self._store.scores.detailed(numbers, metric=metric, judge=stored_as):
                if scored.score is not None:
                    by_system[scored.system][scored.question_id] = scored.score
            tables[metric] = by_system
        names = sorted(set(tables[CONTEXT]) & set(tables[ANSWER]))
        shared = _shared([tables[metric][name] for metric in (CONTEXT, ANSWER) for name in names])
        if not names or not shared:
            return {"systems": [], "questions": 0, "correlations": {}, "undefined": NO_SYSTEMS}
        context, answer = (
            [[tables[metric][name][question] for question in shared] for name in names]
            for metric in (CONTEXT, ANSWER)
        )
        correlations = correlate_systems(context, answer, resamples=request.resamples, seed=request.seed)
        return {
            "systems": [
                {"system": name, "context": _mean(of_contexts), "answer": _mean(of_answers)}
                for name, of_contexts, of_answers in zip(names, context, answer, strict=True)
            ],
            "questions": len(shared),
            "correlations": _shown(correlations),
            "undefined": FEW_SYSTEMS if len(names) < FEWEST_SYSTEMS else "",
        }

    def _labels(self, request: AgreementRequest, path: Path) -> dict[str, Any]:
        stored_as = self._access.kept_as(request.judge, {})
        live = self._store.submissions.find(set_name=request.set_name, newest=True)
        scored = self._store.scores.detailed(
            [entrant.id for entrant in live], metric=request.metric, judge=stored_as
        )
        coverage = {
            (answer.question_id, answer.system): float(answer.details["coverage"])
            for answer in scored
            if answer.score is not None and isinstance(answer.details.get("coverage"), int | float)
        }
        labels = read_aspect_labels(path, ReadLimits())
        agreement = label_agreement(labels, coverage, resamples=request.resamples, seed=request.seed)
        return {
            "metric": request.metric,
            "correlations": _shown(agreement.correlations),
            **{
                name: getattr(agreement, name)
                for name in ("answers", "questions", "unlabelled", "unscored", "undecided")
            },
        }

    async def _bounds(self, request: AgreementRequest) -> tuple[dict[str, Any], Usage]:
        judge = self._access.llm(request.judge)
        writer = self._access.llm(request.writer) if request.writer else None
        if request.writer and writer is None:
            message = f"The judge {request.writer} asks no LLM, so it cannot write answers."
            raise SpecError(message, advice="Name an LLM judge with --writer.")
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        stop = asyncio.Event()
        used: list[Usage] = []
        async with AsyncExitStack() as stack:
            runners: list[TaskRunner | None] = []
            for spec in (judge, writer):
                if spec is None:
                    runners.append(None)
                    continue
                runner, usage = await stack.enter_async_context(self._access.asking(spec, ledger, stop))
                runners.append(runner)
                used.append(usage)
            oracle = Oracle(runners[0], read_options(ContextSettings, ANSWER, request.options))
            items = [_item(question) for question in self._questions(request.set_name)]
            means = await summarise_bounds(
                items, oracle, None if runners[1] is None else LlmWriter(runners[1])
            )
        shown = {
            bound.value: {metric: asdict(mean) for metric, mean in by_metric.items()}
            for bound, by_metric in means.items()
        }
        return shown, Usage(
            calls=sum(part.calls for part in used),
            cost_usd=sum(part.cost_usd for part in used),
            unpriced=sum(part.unpriced for part in used),
        )

    def _questions(self, set_name: str) -> list[Question]:
        summary = self._store.sets.summary(set_name)
        return [question for _, question in self._store.sets.numbered(summary.id)]


def _item(question: Question) -> MetricItem:
    return MetricItem(
        id=question.id,
        question=question.question,
        answer="",
        passages=question.passages,
        reference=question.reference,
        sub_questions=question.sub_questions,
        domain=question.domain,
    )


def _shared(tables: Sequence[Mapping[str, float]]) -> list[str]:
    """The questions that every table has."""
    return sorted(set.intersection(*(set(table) for table in tables))) if tables else []


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _shown(correlations: Mapping[Coefficient, Correlation]) -> dict[str, Any]:
    return {kind.value: asdict(correlation) for kind, correlation in correlations.items()}
