"""Relation models: whether a text entails or contradicts another, and how probably."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judges.factuality.tasks import RELATION, relation_probability
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.text.entailment import Entailment

DEFAULT_PROBABILITY = 0.9


@dataclass(frozen=True, slots=True)
class Pair:
    """An ordered pair of texts."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Related:
    """How a premise bears on a hypothesis.

    Attributes:
        stance: Entailment, contradiction or neither.
        probability: How sure that is.
        why: The wording of the premise that decided, where it is known.
        point: The sentence of the hypothesis that is contradicted, where it is known.
    """

    stance: Entailment
    probability: float
    why: str = ""
    point: str = ""


class RelationModel(Protocol):
    """Tells how texts bear on each other."""

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | Unanswered]:
        """Return one relation a pair, in their order.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


class LlmRelations:
    """Asks an LLM about each pair; the probability is that of its label's token.

    Args:
        runner: Runs the task.
        default: The probability of a relation where the endpoint gives no token probabilities.
    """

    def __init__(self, runner: TaskRunner, *, default: float = DEFAULT_PROBABILITY) -> None:
        self._runner = runner
        self._default = default

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | Unanswered]:
        """Ask about all pairs at once, each distinct pair once; the scheduler sets the pace."""
        del question  # asked by itself, as in comprehensiveness, so that replies are shared
        distinct = list(dict.fromkeys(pairs))
        found = await asyncio.gather(*(self._ask(pair) for pair in distinct))
        by_pair = dict(zip(distinct, found, strict=True))
        return [by_pair[pair] for pair in pairs]

    async def _ask(self, pair: Pair) -> Related | Unanswered:
        inputs = {"premise": pair.premise, "hypothesis": pair.hypothesis}
        found = await self._runner.run_fully(RELATION, inputs)
        if isinstance(found, Unanswered):
            return found
        stance = found.value.relation
        probability = relation_probability(found.reply, stance)
        return Related(stance, self._default if probability is None else probability)
