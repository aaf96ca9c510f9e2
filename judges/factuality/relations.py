"""Relation models: whether a text entails or contradicts another, and how probably."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judges.factuality.tasks import RELATION, relation_probability
from judges.llm.requests import Unanswered
from judges.llm.tasks import TaskRunner
from judges.text.contradictions import ContradictionFinder
from judges.text.entailment import Entailment
from judges.text.statements import Statement, read_statements
from judges.text.weights import TermWeights

DEFAULT_PROBABILITY = 0.9
ENTAILED_FROM = 0.65
CONTRADICTED_FROM = 0.4
HIGHEST = 0.98


@dataclass(frozen=True, slots=True)
class Pair:
    """An ordered pair of texts."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Related:
    """How a premise bears on a hypothesis; `why` is the wording that decided, where there is one."""

    stance: Entailment
    probability: float
    why: str = ""


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


class LexicalRelations:
    """Relates texts by their weighted terms and by figures, directions and negations that differ.

    A hypothesis is contradicted where the contradiction finder of the lexical judge says so, entailed
    where neighbouring sentences of the premise hold most of its weighted terms, else neutral.
    """

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | Unanswered]:
        """Relate all pairs, the terms weighted over all their premises."""
        premises = {pair.premise: read_statements(pair.premise) for pair in pairs}
        sentences = [statement.text for found in premises.values() for statement in found]
        weights = TermWeights.fit(sentences, question)
        finders = {text: ContradictionFinder(found, weights) for text, found in premises.items()}
        return [
            _relate(premises[pair.premise], read_statements(pair.hypothesis), finders[pair.premise], weights)
            for pair in pairs
        ]


def _relate(
    premise: Sequence[Statement],
    hypothesis: Sequence[Statement],
    finder: ContradictionFinder,
    weights: TermWeights,
) -> Related:
    conflicts = [found for statement in hypothesis for found in finder.find(statement)]
    worst = max(conflicts, key=lambda found: found.strength, default=None)
    if worst is not None and worst.strength >= CONTRADICTED_FROM:
        return Related(
            Entailment.CONTRADICTION, _probability(worst.strength, CONTRADICTED_FROM), worst.against.text
        )
    masses = [weights.total(statement.terms) for statement in hypothesis]
    if not premise or not sum(masses):
        return Related(Entailment.NEUTRAL, 1.0)
    best = [_support(statement, premise, weights) for statement in hypothesis]
    shares = sum(share * mass for (share, _), mass in zip(best, masses, strict=True)) / sum(masses)
    if shares >= ENTAILED_FROM:
        return Related(Entailment.ENTAILMENT, _probability(shares, ENTAILED_FROM), best[0][1])
    return Related(Entailment.NEUTRAL, 1 - shares)


def _support(statement: Statement, premise: Sequence[Statement], weights: TermWeights) -> tuple[float, str]:
    """The greatest share of a statement's terms in two neighbouring sentences, and the closer of them."""
    alone = [weights.share(statement.terms, each.terms, each.kin) for each in premise]
    best = (0.0, "")
    for at in range(max(1, len(premise) - 1)):
        window = premise[at : at + 2]
        held = frozenset[str]().union(*(each.terms for each in window))
        related = frozenset[str]().union(*(each.kin for each in window))
        share = weights.share(statement.terms, held, related)
        if share > best[0]:
            closer = max(range(at, at + len(window)), key=alone.__getitem__)
            best = (share, premise[closer].text)
    return best


def _probability(strength: float, least: float) -> float:
    """A strength between `least` and 1 as a probability between one half and `HIGHEST`."""
    return 0.5 + (HIGHEST - 0.5) * min(1.0, 0.3 + 0.7 * (strength - least) / (1 - least))
