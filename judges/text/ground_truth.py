"""A ground truth: the statements that answers to one question are held against, and how much each counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from data.records import Passage
from judges.text.statements import Statement, read_statements
from judges.text.term_weights import KIN_CREDIT, TermWeights
from judges.text.tokens import related, terms

FloatArray = NDArray[np.float64]
LEAST_RELEVANCE = 0.6


@dataclass(frozen=True)
class GroundTruthText:
    """The statements of passages (or of one reference) with their weights.

    Attributes:
        statements: In the order of the passages.
        weights: The term weights, fitted on the statements.
        relevance: 0–1 for each statement: how much its passage has to do with the question, beside
            the passage that has most.
    """

    statements: tuple[Statement, ...]
    weights: TermWeights
    relevance: FloatArray

    @classmethod
    def read(cls, passages: Sequence[Passage], question: str) -> GroundTruthText:
        """Read passages; each is a source of its own."""
        statements = tuple(
            statement for passage in passages for statement in read_statements(passage.text, passage.id)
        )
        weights = TermWeights.fit([statement.text for statement in statements], question)
        return cls(statements, weights, _relevance(passages, statements, weights.topic))

    @cached_property
    def masses(self) -> FloatArray:
        """The weight of each statement: that of its terms."""
        return np.array([self.weights.total(statement.terms) for statement in self.statements])

    def coverage(self, bags: Sequence[Statement]) -> FloatArray:
        """How much of each statement the given sentences have, 0–1, taken together.

        Returns:
            One share a statement: the weight of its terms found, related words counting in part.
        """
        shares: FloatArray = (self._matrix @ self._credit(bags)) / np.maximum(self.masses, 1e-12)
        return shares

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(sorted(self.weights.known))}

    @cached_property
    def _related_columns(self) -> dict[str, list[int]]:
        columns: dict[str, list[int]] = {}
        for term, column in self._columns.items():
            columns.setdefault(related(term), []).append(column)
        return columns

    @cached_property
    def _matrix(self) -> FloatArray:
        matrix = np.zeros((len(self.statements), len(self._columns)))
        for row, statement in enumerate(self.statements):
            for term in statement.terms:
                matrix[row, self._columns[term]] = self.weights.of(term)
        return matrix

    def _credit(self, sentences: Sequence[Statement]) -> FloatArray:
        """What each known term gets: 1 where the sentences have it, less where they have a relative."""
        credit = np.zeros(len(self._columns))
        for sentence in sentences:
            for root in sentence.related:
                columns = self._related_columns.get(root)
                if columns:
                    credit[columns] = np.maximum(credit[columns], KIN_CREDIT)
        for sentence in sentences:
            for term in sentence.terms:
                column = self._columns.get(term)
                if column is not None:
                    credit[column] = 1.0
        return credit


def _relevance(
    passages: Sequence[Passage], statements: Sequence[Statement], topic: frozenset[str]
) -> FloatArray:
    """How much of the question each statement's passage (with its title) speaks of, the best being 1."""
    roots = {
        passage.id: {related(term) for term in terms(f"{passage.title} {passage.text}")}
        for passage in passages
    }
    topic_roots = {related(term) for term in topic}
    rarity = {
        root: 1.0 / (1 + sum(root in passage_roots for passage_roots in roots.values()))
        for root in topic_roots
    }
    share = {
        name: sum(rarity[root] for root in topic_roots & passage_roots)
        for name, passage_roots in roots.items()
    }
    most = max(share.values(), default=0.0)
    if not most:
        return np.ones(len(statements))
    return np.array(
        [LEAST_RELEVANCE + (1 - LEAST_RELEVANCE) * share[statement.source] / most for statement in statements]
    )
