"""How far a passage supports a sentence that cites it: an LLM's reading, or the embedded one's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.metrics.factuality.lexical import LexicalRelations
from judges.metrics.relations.model import Pair, Related
from judges.text.entailment import Entailment
from judges.text.sentences import split_clauses


class Support(StrEnum):
    """What a passage does for a sentence (the three grades of TREC's RAG track)."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


WEIGHTS: Mapping[Support, float] = MappingProxyType(
    {Support.FULL: 1.0, Support.PARTIAL: 0.5, Support.NONE: 0.0}
)
"""Source: Thakur et al. (2025), "Support Evaluation for the TREC 2024 RAG Track", section 3."""


class SupportReader(Protocol):
    """Grades pairs of a passage (the premise) and a sentence that cites it (the hypothesis)."""

    async def grade(self, pairs: Sequence[Pair], *, question: str) -> Sequence[Support | CallFailure]:
        """Grade all pairs, in order.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


class SupportReply(BaseModel):
    """The reply to `rate_support`."""

    model_config = ConfigDict(frozen=True)

    support: Support


RATE_SUPPORT = Task(name="rate_support", reply=SupportReply, max_tokens=64)


class LlmSupportReader:
    """Asks about each pair by itself."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def grade(self, pairs: Sequence[Pair], *, question: str) -> Sequence[Support | CallFailure]:
        """Ask about all pairs at once; the scheduler sets the pace."""
        return await asyncio.gather(*(self._ask(pair, question) for pair in pairs))

    async def _ask(self, pair: Pair, question: str) -> Support | CallFailure:
        inputs: dict[str, Input] = {
            "question": question,
            "sentence": Tagged("sentence", pair.hypothesis),
            "passage": Tagged("passage", pair.premise),
        }
        reply = await self._runner.run(RATE_SUPPORT, inputs)
        return reply if isinstance(reply, CallFailure) else reply.support


class LexicalSupportReader:
    """Full where the relation model finds the sentence entailed, partial where it so finds a clause."""

    def __init__(self) -> None:
        self._relations = LexicalRelations()

    async def grade(self, pairs: Sequence[Pair], *, question: str) -> Sequence[Support | CallFailure]:
        """Relate whole sentences and clauses to each passage by itself."""
        grades: list[Support | CallFailure] = []
        for pair in pairs:
            clauses = split_clauses(pair.hypothesis)
            parts = clauses if len(clauses) > 1 else ()
            asked = [pair, *(Pair(pair.premise, clause) for clause in parts)]
            whole, *of_parts = await self._relations.relate(asked, question=question)
            if isinstance(whole, CallFailure):
                grades.append(whole)
            elif whole.stance is Entailment.ENTAILMENT:
                grades.append(Support.FULL)
            elif any(_entailed(part) for part in of_parts):
                grades.append(Support.PARTIAL)
            else:
                grades.append(Support.NONE)
        return grades


def _entailed(relation: Related | CallFailure) -> bool:
    return isinstance(relation, Related) and relation.stance is Entailment.ENTAILMENT
