"""The steps without an LLM: sentences as claims, lexical relevance, lexical entailment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from data.records import MetricItem, Passage
from judges.cleaning import clean, is_no_answer
from judges.comprehensiveness.claims import Claim, Missing, yardstick_of
from judges.comprehensiveness.graph import Relation
from judges.text.entailment import classify, entailment_weights
from judges.text.statements import read_statement, read_statements
from judges.text.tokens import kin, terms
from judges.text.weights import TermWeights

NAME = "lexical-1"
LOWEST, HIGHEST = 1.0, 5.0
ON_TOPIC = 0.5


class LexicalSteps:
    """The steps for one item, with term weights fitted on its passages."""

    def __init__(self, item: MetricItem) -> None:
        self._question = item.question
        self._passages = yardstick_of(item)

    async def claims(self, text: str, source: str) -> tuple[Claim, ...] | Missing:
        """Every sentence with something to say is a claim; a "no answer" has none."""
        bare = text if source else clean(text)
        if not source and is_no_answer(bare):
            return ()
        return tuple(Claim(statement.text, source) for statement in read_statements(bare))

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...] | Missing:
        """Rate a claim by how much of the question its passage, or it alone, speaks of."""
        return tuple(self.rate(claim) for claim in claims)

    async def relations(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...] | Missing:
        """Compare the two claims of each pair."""
        return tuple(
            Relation(classify(read_statement(first), read_statement(second), self.weights).value)
            for first, second in pairs
        )

    def rate(self, claim: Claim) -> float:
        """The relevance of one claim, 1–5: 3 where its passage shares nothing with the question."""
        of_passage = self._on_topic.get(claim.source, 0.0)
        alone = self._share(frozenset(map(kin, terms(claim.text))))
        most = max(self._on_topic.values(), default=0.0)
        share = max(of_passage, alone) / most if most else 1.0
        return LOWEST + (HIGHEST - LOWEST) * (ON_TOPIC + (1 - ON_TOPIC) * min(1.0, share))

    @cached_property
    def weights(self) -> TermWeights:
        """Term weights of the item's passages, the question's terms weighing little."""
        texts = [statement.text for passage in self._passages for statement in read_statements(passage.text)]
        return entailment_weights(texts, self._question)

    @cached_property
    def _on_topic(self) -> dict[str, float]:
        return {passage.id: self._share(self._roots(passage)) for passage in self._passages}

    @cached_property
    def _asked(self) -> frozenset[str]:
        return frozenset(map(kin, terms(self._question)))

    @staticmethod
    def _roots(passage: Passage) -> frozenset[str]:
        return frozenset(kin(term) for term in terms(f"{passage.title} {passage.text}"))

    def _share(self, roots: frozenset[str]) -> float:
        return len(self._asked & roots) / len(self._asked) if self._asked else 0.0
