"""Comprehensiveness in one reading (section 3.3 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from data.records import EMBEDDED_ENGINE, Json, MetricItem, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import UNSAFE_ID, Tagged
from judges.metrics.comprehensiveness.answering import claims_of, read
from judges.metrics.comprehensiveness.claims import Claim, Missing, yardstick_of
from judges.metrics.comprehensiveness.nli import LexicalSteps
from judges.metrics.comprehensiveness.report import Facts
from judges.metrics.comprehensiveness.settings import ComprehensivenessSettings
from judges.text.entailment import Entailment
from judges.text.statements import merge_statements


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


class EndToEndReader:
    """Covered and missing statements in one reply of an LLM.

    Args:
        runner: Asks an LLM.
    """

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self.engine = runner.model

    async def read(self, item: MetricItem) -> Facts | Missing:
        """Ask once; what the reply lists on both sides counts as covered."""
        passages = yardstick_of(item)
        reply = await self._runner.run(
            EVALUATE_COVERAGE,
            {"question": item.question, "passages": passages, "answer": Tagged("answer", item.answer)},
        )
        if isinstance(reply, CallFailure):
            return Missing(reply.outcome, reply.detail)
        known = {UNSAFE_ID.sub("_", passage.id): passage.id for passage in passages}
        covered = _distinct(reply.covered, known)
        listed = _distinct(reply.uncovered, known)
        missing = [fact for text, fact in listed.items() if text not in covered]
        return Facts(covered=list(covered.values()), missing=missing, basis=missing)


class LexicalEndToEndReader:
    """Covered and missing sentences by words alone.

    Args:
        settings: Thresholds.
    """

    engine = EMBEDDED_ENGINE

    def __init__(self, settings: ComprehensivenessSettings) -> None:
        self._settings = settings

    async def read(self, item: MetricItem) -> Facts | Missing:
        """Find for each relevant sentence of the passages whether the answer says it."""
        steps = LexicalSteps(item)
        sentences = tuple(read(claim) for claim in await _claims_of_answer(steps, item.answer))
        readings = (merge_statements(sentences), *sentences) if len(sentences) > 1 else sentences
        covered: list[Json] = []
        missing: list[Json] = []
        contradicted: list[Json] = []
        for claim in _distinct_claims(yardstick_of(item)):
            if steps.rate(claim) < self._settings.relevance:
                continue
            fact: dict[str, Json] = {"text": claim.text, "passages": [claim.source]}
            statement = read(claim.text)
            by_relation = {steps.relate(reading, statement): reading for reading in readings}
            if Entailment.ENTAILMENT in by_relation:
                covered.append(fact)
                continue
            missing.append(fact)
            if Entailment.CONTRADICTION in by_relation:
                contradicted.append({**fact, "answer": by_relation[Entailment.CONTRADICTION].text})
        return Facts(covered=covered, missing=missing, basis=missing, contradicted=contradicted)


async def _claims_of_answer(steps: LexicalSteps, answer: str) -> tuple[str, ...]:
    claims = await steps.claims(answer, "")
    return () if isinstance(claims, Missing) else tuple(dict.fromkeys(claim.text for claim in claims))


def _distinct_claims(passages: Sequence[Passage]) -> list[Claim]:
    """The claims of the passages, each wording once."""
    claims: dict[str, Claim] = {}
    for passage in passages:
        for text in claims_of(passage.text):
            claims.setdefault(" ".join(text.casefold().split()), Claim(text, passage.id))
    return list(claims.values())


def _distinct(statements: Sequence[FoundStatement], known: Mapping[str, str]) -> dict[str, Json]:
    """Each wording once, with those of its passages that exist."""
    distinct: dict[str, Json] = {}
    for entry in statements:
        if entry.statement.strip():
            passages = [known[name] for name in entry.passages if name in known]
            distinct.setdefault(
                entry.statement.strip(), {"text": entry.statement.strip(), "passages": passages}
            )
    return distinct
