"""Build the comprehensiveness metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from data.errors import SpecError
from data.models import EMBEDDED_ENGINE, Json, MetricItem, Outcome, Passage, Score, unscored
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import UNSAFE_ID, Input, Tagged
from judges.metrics.comprehensiveness import COMPREHENSIVENESS, report
from judges.metrics.comprehensiveness.embedded import LexicalEndToEndReader, LexicalSteps
from judges.metrics.comprehensiveness.graph import Steps, UnscoredError, ground_truth_of, require_reply
from judges.metrics.comprehensiveness.llm_steps import LlmSteps, LlmSummariser
from judges.metrics.comprehensiveness.qa import NliReader, NliSteps, QaReader
from judges.metrics.dry_run import texts
from judges.metrics.registry import Metric, read_options
from judges.metrics.relations.nli import open_nli
from judges.metrics.shortening import GuardedMetric
from judges.text.sentences import split_sentences

NO_GROUND_TRUTH = "There are neither passages nor a reference to compare the answer with."


class ComprehensivenessMetric:
    """Scores answers by a reader's facts, optionally on summaries of the passages."""

    def __init__(self, name: str, reader: "Reader", *, summariser: LlmSummariser | None = None) -> None:
        self.name = name
        self._reader = reader
        self._summariser = summariser

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; it stays unscored without a ground truth, or if a step fails."""
        try:
            passages = await self._passages(item)
            facts = await self._reader.read(replace(item, passages=passages, reference=None))
        except UnscoredError as stop:
            return unscored(item, self.name, stop.outcome, stop.reason)
        return report.score_facts(item, self.name, facts, self._reader.engine)

    async def _passages(self, item: MetricItem) -> tuple[Passage, ...]:
        passages = ground_truth_of(item)
        if not passages:
            raise UnscoredError(Outcome.UNREADABLE, NO_GROUND_TRUTH)
        if self._summariser is not None:
            passages = await self._summariser(item.question, passages)
            if not passages:
                raise UnscoredError(Outcome.UNREADABLE, report.NOTHING_RELEVANT)
        return passages


def build(name: str, *, runner: TaskRunner | None, options: Mapping[str, Json]) -> Metric:
    """Build a metric; without a runner, the embedded version."""
    settings = read_options(report.ComprehensivenessSettings, name, options)
    if runner is None and (settings.summarise or name == "comprehensiveness-qa"):
        message = f"The metric {name} has no embedded version with these options."
        raise SpecError(message, advice="Choose an LLM judge, or use comprehensiveness-nli.")
    reader = _reader(name, runner, settings)
    if runner is None:
        return GuardedMetric(ComprehensivenessMetric(name, reader))
    return ComprehensivenessMetric(
        name, reader, summariser=LlmSummariser(runner) if settings.summarise else None
    )


def _reader(name: str, runner: TaskRunner | None, settings: report.ComprehensivenessSettings) -> "Reader":
    if name == COMPREHENSIVENESS:
        return _nli(runner, settings)
    if runner is None:
        return LexicalEndToEndReader(settings)
    if name == "comprehensiveness-end-to-end":
        return EndToEndReader(runner)
    return QaReader(runner, settings=settings)


def _nli(runner: TaskRunner | None, settings: report.ComprehensivenessSettings) -> NliReader:
    model = open_nli(settings.nli) if settings.nli else None

    def steps(item: MetricItem) -> Steps:
        base: Steps = LexicalSteps(item) if runner is None else LlmSteps(runner, item)
        return base if model is None else NliSteps(base, model, item.question)

    engine = EMBEDDED_ENGINE if runner is None else runner.model
    return NliReader(steps, engine=engine if model is None else f"{engine}, {model.name}", settings=settings)


class FoundStatement(BaseModel):
    """A statement of the passages and where it stands."""

    statement: str = Field(description="One atomic, self-contained statement.")
    passages: list[str] = Field(description="The ids of the passages that make it.")


class CoverageReply(BaseModel):
    """The reply to `evaluate_coverage`."""

    reasoning: str = Field(description="A few sentences on what the answer has and what it lacks.")
    covered: list[FoundStatement]
    uncovered: list[FoundStatement]


def _all_covered(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    sentences = [row for text in texts(inputs["passages"]) for row in split_sentences(text)]
    covered = [{"statement": sentence, "passages": []} for sentence in sentences]
    return {"reasoning": " ".join(sentences[:2]), "covered": covered, "uncovered": []}


EVALUATE_COVERAGE = Task(name="evaluate_coverage", reply=CoverageReply, max_tokens=4_096, stub=_all_covered)


class EndToEndReader:
    """Finds covered and missing statements with one request to an LLM."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self.engine = runner.model

    async def read(self, item: MetricItem) -> report.Facts:
        """Ask once; statements in both lists count as covered."""
        passages = ground_truth_of(item)
        inputs: dict[str, Input] = {
            "question": item.question,
            "passages": passages,
            "answer": Tagged("answer", item.answer),
        }
        reply = require_reply(await self._runner.run(EVALUATE_COVERAGE, inputs))
        known = {UNSAFE_ID.sub("_", passage.id): passage.id for passage in passages}
        covered = _distinct(reply.covered, known)
        listed = _distinct(reply.uncovered, known)
        missing = [fact for text, fact in listed.items() if text not in covered]
        return report.Facts(covered=list(covered.values()), missing=missing, basis=missing)


def _distinct(statements: Sequence[FoundStatement], known: Mapping[str, str]) -> dict[str, Json]:
    distinct: dict[str, Json] = {}
    for entry in statements:
        if entry.statement.strip():
            passages = [known[name] for name in entry.passages if name in known]
            distinct.setdefault(
                entry.statement.strip(), {"text": entry.statement.strip(), "passages": passages}
            )
    return distinct


Reader = NliReader | QaReader | LexicalEndToEndReader | EndToEndReader
