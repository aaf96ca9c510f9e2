"""Cut passages down to what bears on the question, before anything else is done with them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from data.records import MetricItem, Passage
from judges.comprehensiveness.claims import Claim, Missing
from judges.comprehensiveness.embedded import LexicalSteps
from judges.llm.requests import Unanswered
from judges.llm.tasks import Task, TaskRunner
from judges.text.sentences import split_sentences


class Summariser(Protocol):
    """Summarises passages; one that says nothing to the question is left out."""

    async def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...] | Missing:
        """Return the summaries under the passages' ids."""
        ...


class PassageSummary(BaseModel):
    """The reply to `summarize_passage`."""

    summary: str = Field(description="The summary, or an empty string where nothing bears on the question.")


SUMMARIZE_PASSAGE = Task(name="summarize_passage", reply=PassageSummary, max_tokens=2_048)


class LlmSummariser:
    """Summaries by an LLM (listing 1)."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...] | Missing:
        """Ask for every passage at once."""
        found = await asyncio.gather(
            *(self._runner.run(SUMMARIZE_PASSAGE, {"question": question, "passage": one}) for one in passages)
        )
        summaries = []
        for passage, reply in zip(passages, found, strict=True):
            if isinstance(reply, Unanswered):
                return Missing(reply.outcome, reply.detail)
            if reply.summary.strip() and reply.summary.strip().casefold() != "none":
                summaries.append(Passage(passage.id, reply.summary.strip(), passage.title))
        return tuple(summaries)


class LexicalSummariser:
    """The sentences of each passage that are relevant enough, in their order."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    async def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...] | Missing:
        """Pick sentences."""
        steps = LexicalSteps(MetricItem(id="", question=question, answer="", passages=tuple(passages)))
        kept = [
            Passage(passage.id, " ".join(self._pick(steps, passage)), passage.title) for passage in passages
        ]
        return tuple(passage for passage in kept if passage.text)

    def _pick(self, steps: LexicalSteps, passage: Passage) -> list[str]:
        sentences = split_sentences(passage.text)
        return [one for one in sentences if steps.rate(Claim(one, passage.id)) >= self._threshold]
