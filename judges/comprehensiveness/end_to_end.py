"""Comprehensiveness in one reading (section 3.3 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from data.records import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.cleaning import clean, is_no_answer
from judges.comprehensiveness.claims import Claim, Missing, yardstick_of
from judges.comprehensiveness.embedded import NAME, LexicalSteps
from judges.comprehensiveness.report import NO_YARDSTICK, NOTHING_RELEVANT
from judges.comprehensiveness.settings import ComprehensivenessSettings
from judges.comprehensiveness.summaries import Summariser
from judges.llm.requests import Unanswered
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import UNSAFE_ID, Tagged
from judges.text.entailment import Entailment, classify
from judges.text.statements import Statement, merge_statements, read_statements


class FoundStatement(BaseModel):
    """A statement of the passages and where it stands."""

    statement: str = Field(description="One atomic, self-contained statement.")
    passages: list[str] = Field(description="The ids of the passages that make it.")


class CoverageReply(BaseModel):
    """The reply to `evaluate_coverage`."""

    reasoning: str = Field(description="A few sentences on what the answer has and what it lacks.")
    covered: list[FoundStatement]
    uncovered: list[FoundStatement]


EVALUATE_COVERAGE = Task(name="evaluate_coverage", reply=CoverageReply, max_tokens=4_096)


class EndToEndComprehensiveness:
    """Covered and missing statements at one go.

    Args:
        name: The metric's name.
        runner: Asks an LLM; without one, the embedded version reads.
        settings: Thresholds.
        summariser: Cuts passages down first, where that is asked for.
    """

    def __init__(
        self,
        name: str,
        *,
        runner: TaskRunner | None,
        settings: ComprehensivenessSettings,
        summariser: Summariser | None = None,
    ) -> None:
        self._name = name
        self._runner = runner
        self._settings = settings
        self._summariser = summariser

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; an empty one covers nothing."""
        passages = yardstick_of(item)
        if not passages:
            return unscored(item, self._name, Outcome.UNREADABLE, NO_YARDSTICK)
        if self._summariser is not None:
            summaries = await self._summariser(item.question, passages)
            if isinstance(summaries, Missing):
                return unscored(item, self._name, summaries.outcome, summaries.reason)
            passages = summaries
        read = replace(item, passages=passages)
        if self._runner is None:
            return self._report(item, NAME, *self._read_lexically(read))
        reply = await self._runner.run(
            EVALUATE_COVERAGE,
            {"question": item.question, "passages": passages, "answer": Tagged("answer", item.answer)},
        )
        if isinstance(reply, Unanswered):
            return unscored(item, self._name, reply.outcome, reply.detail)
        known = {UNSAFE_ID.sub("_", passage.id): passage.id for passage in passages}
        covered, missing = (_distinct(found, known) for found in (reply.covered, reply.uncovered))
        return self._report(
            item, self._runner.model, covered, [one for one in missing if one not in covered], []
        )

    def _read_lexically(self, item: MetricItem) -> tuple[list[Json], list[Json], list[Json]]:
        """Find for each relevant sentence of the passages whether the answer says it."""
        steps = LexicalSteps(item)
        answer = clean(item.answer)
        sentences = () if is_no_answer(answer) else tuple(dict.fromkeys(read_statements(answer)))
        readings = (merge_statements(sentences), *sentences) if len(sentences) > 1 else sentences
        covered: list[Json] = []
        missing: list[Json] = []
        contradicted: list[Json] = []
        for statement in _statements(item.passages):
            if steps.rate(Claim(statement.text, statement.source)) < self._settings.relevance:
                continue
            fact: dict[str, Json] = {"text": statement.text, "passages": [statement.source]}
            said = {classify(one, statement, steps.weights): one for one in readings}
            if Entailment.ENTAILMENT in said:
                covered.append(fact)
                continue
            missing.append(fact)
            if Entailment.CONTRADICTION in said:
                contradicted.append({**fact, "answer": said[Entailment.CONTRADICTION].text})
        return covered, missing, contradicted

    def _report(
        self,
        item: MetricItem,
        engine: str,
        covered: list[Json],
        missing: list[Json],
        contradicted: list[Json],
    ) -> Score:
        if not covered and not missing:
            return unscored(item, self._name, Outcome.UNREADABLE, NOTHING_RELEVANT)
        return Score(
            id=item.id,
            metric=self._name,
            outcome=Outcome.JUDGED,
            score=len(covered) / (len(covered) + len(missing)),
            details={
                "covered": covered,
                "missing": missing,
                "basis": missing,
                "contradicted": contradicted,
                "counts": {"covered": len(covered), "missing": len(missing), "basis": len(missing)},
                "engine": engine,
            },
        )


def _statements(passages: Sequence[Passage]) -> list[Statement]:
    """The sentences of the passages, each wording once."""
    found: dict[str, Statement] = {}
    for passage in passages:
        for statement in read_statements(passage.text, passage.id):
            found.setdefault(" ".join(statement.text.casefold().split()), statement)
    return list(found.values())


def _distinct(found: Sequence[FoundStatement], known: Mapping[str, str]) -> list[Json]:
    """Each wording once, with those of its passages that exist."""
    distinct: dict[str, Json] = {}
    for one in found:
        if one.statement.strip():
            passages = [known[name] for name in one.passages if name in known]
            distinct.setdefault(one.statement.strip(), {"text": one.statement.strip(), "passages": passages})
    return list(distinct.values())
