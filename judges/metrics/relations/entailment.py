"""Lexical entailment between statements on a question.

Terms of the question weigh little, because sharing them proves nothing. Labels depend on shared words,
figures, units and negation, not on meaning.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judges.metrics.relations.model import Entailment
from judges.metrics.relations.overlap import TOLERANCE, Vocabulary
from judges.text.contradictions import ContradictionFinder, Figures, TermWeights
from judges.text.statements import Mark, Statement
from judges.text.tokens import terms

COVERED_FROM = 0.35
ANSWERED_FROM = 0.4
AGREES_FROM = 0.5
FIGURES_ASIDE = 0.6
CONTRADICTED_FROM = 0.4
FEW_TERMS = 2
TOPIC_FACTOR = 0.2


Relations: TypeAlias = Mapping[tuple[str, str], Entailment]


def entailment_weights(statements: Iterable[str], question: str) -> TermWeights:
    """Fit term weights for entailment on the statements of one question."""
    return TermWeights.fit(
        [frozenset(terms(statement)) for statement in statements], question, topic_factor=TOPIC_FACTOR
    )


def classify(
    premise: Statement, hypothesis: Statement, weights: TermWeights, finder: ContradictionFinder | None = None
) -> Entailment:
    """Classify the relation of a premise to a hypothesis on the same question.

    The premise entails the hypothesis if it has enough of the hypothesis's weight, or if it is a short answer
    and most of its new terms are in the hypothesis; figures must agree, and short statements must both be
    negated or not. It contradicts the hypothesis if both have the same subject but differ in a figure, a
    direction or a negation. `finder` is the hypothesis's finder, if known.
    """
    if not premise.axes.isdisjoint(hypothesis.axes):
        conflicts = (finder or ContradictionFinder((hypothesis,), weights)).conflicts(premise)
        if any(conflict.strength >= CONTRADICTED_FROM for conflict in conflicts):
            return Entailment.CONTRADICTION
    bag = premise.terms
    if premise.figures and hypothesis.figures:
        figures = Figures(premise.figures)
        # The same figure in another unit or rounding counts.
        bag |= {term for mark in hypothesis.figures if figures.have(mark) for term in terms(mark.text)}
    covered = weights.share(hypothesis.terms, bag, premise.related)
    new = premise.terms - weights.topic
    if covered < COVERED_FROM and not _answers(premise, hypothesis, new, weights):
        return Entailment.NEUTRAL
    if len(new) <= FEW_TERMS and premise.negated != hypothesis.negated:
        return Entailment.CONTRADICTION
    if not hypothesis.figures:
        return Entailment.ENTAILMENT
    agree = any(map(figures.have, hypothesis.figures)) if premise.figures else covered >= FIGURES_ASIDE
    return Entailment.ENTAILMENT if agree else Entailment.NEUTRAL


def _answers(premise: Statement, hypothesis: Statement, new: frozenset[str], weights: TermWeights) -> bool:
    if new:
        return weights.share(new, hypothesis.terms, hypothesis.related) >= ANSWERED_FROM
    shared = weights.share(premise.terms, hypothesis.terms, hypothesis.related)
    return shared > AGREES_FROM and premise.negated == hypothesis.negated


class StatementRelations:
    """Relations between the statements of a question's texts and of answers.

    Only pairs with enough common weight, or with different values of one axis, are compared; other pairs are
    neutral.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        self._own = list({statement.text: statement for statement in statements}.values())
        self._finders = {row.text: ContradictionFinder((row,), weights) for row in self._own}
        self._vocabulary = Vocabulary(self._own, weights)
        self._by_axis: defaultdict[str, list[tuple[int, Mark]]] = defaultdict(list)
        self._by_figure: defaultdict[float, set[int]] = defaultdict(set)
        for place, statement in enumerate(self._own):
            for mark in statement.marks:
                self._by_axis[mark.axis].append((place, mark))
            for mark in statement.figures:
                self._by_figure[mark.figure].add(place)
        self._columns = _Columns(self._own, self._vocabulary, weights)

    @cached_property
    def own(self) -> Relations:
        """All relations except neutral ones between the question's own statements."""
        return dict(self._pairs(self._own, self._columns, back=False))

    def of(self, statements: Iterable[Statement]) -> Relations:
        """Return all relations except neutral ones with other statements, in both directions."""
        rows = tuple(statements)
        return dict(self._pairs(rows, _Columns(rows, self._vocabulary, self._weights), back=True))

    def _pairs(
        self, statements: Sequence[Statement], columns: "_Columns", *, back: bool
    ) -> Iterable[tuple[tuple[str, str], Entailment]]:
        forward = columns.may_entail(self._columns)
        backward = self._columns.may_entail(columns).T if back else np.zeros_like(forward)
        for statement, ahead, behind in zip(statements, forward, backward, strict=True):
            own = ContradictionFinder((statement,), self._weights)
            conflicting = self._conflicting(statement)
            for place in sorted({*np.flatnonzero(ahead | behind).tolist(), *conflicting}):
                other = self._own[place]
                if statement.text == other.text:
                    continue
                conflicts = place in conflicting
                pairs = [(statement, other)] if conflicts or ahead[place] else []
                pairs += [(other, statement)] if back and (conflicts or behind[place]) else []
                for premise, hypothesis in pairs:
                    finder = own if hypothesis is statement else self._finders[hypothesis.text]
                    relation = classify(premise, hypothesis, self._weights, finder)
                    if relation is not Entailment.NEUTRAL:
                        yield (premise.text, hypothesis.text), relation

    def _conflicting(self, statement: Statement) -> set[int]:
        """Return the places of own statements that may have a conflict with a statement."""
        places = {
            place
            for mark in statement.marks
            for place, its in self._by_axis.get(mark.axis, ())
            if its.value != mark.value and not its.around.isdisjoint(mark.around)
        }
        figures = {mark.figure for mark in statement.figures}
        common = Counter(place for figure in figures for place in self._by_figure.get(figure, ()))
        return places.union(place for place, number in common.items() if number > 1)


class _Columns:
    """Statements as rows of matrices, which select the pairs that may be an entailment."""

    def __init__(self, statements: Sequence[Statement], vocabulary: Vocabulary, weights: TermWeights) -> None:
        self.rows = vocabulary.rows(statements)
        self._new = vocabulary.rows(statements, without=weights.topic)
        self._answers_from = np.array(
            [ANSWERED_FROM if row.terms - weights.topic else AGREES_FROM for row in statements]
        )
        self._of_topic = [not row.terms - weights.topic for row in statements]
        self._counts = np.array([bool(row.figures) for row in statements], dtype=bool)
        figures = [
            weights.total({term for mark in row.figures for term in terms(mark.text)} & row.terms)
            for row in statements
        ]
        self.of_figures = np.array(figures) / self.rows.total

    def may_entail(self, hypotheses: "_Columns") -> NDArray[np.bool_]:
        """Select pairs with enough common weight, shape (statements, hypotheses)."""
        covered = hypotheses.rows.shares(self.rows).T
        # The same figure in another unit or rounding counts.
        covered += np.outer(self._counts, hypotheses.of_figures)
        answers = self._new.shares(hypotheses.rows)
        if any(self._of_topic):
            answers[self._of_topic] = self.rows.shares(hypotheses.rows)[self._of_topic]
        return (covered >= COVERED_FROM - TOLERANCE) | (answers >= self._answers_from[:, None] - TOLERANCE)
