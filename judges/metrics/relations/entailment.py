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


Texts: TypeAlias = tuple[str, str]
Relations: TypeAlias = Mapping[Texts, Entailment]


def entailment_weights(statements: Iterable[str], question: str) -> TermWeights:
    """Fit term weights for entailment on the statements of one question."""
    return TermWeights.fit(
        [frozenset(terms(statement)) for statement in statements], question, topic_factor=TOPIC_FACTOR
    )


def classify(premise: Statement, hypothesis: Statement, weights: TermWeights) -> Entailment:
    """Classify the relation of a premise to a hypothesis on the same question.

    The premise entails the hypothesis if it has enough of the hypothesis's weight, or if it is a short answer
    and most of its new terms are in the hypothesis; figures must agree, and short statements must both be
    negated or not. It contradicts the hypothesis if both have the same subject but differ in a figure, a
    direction or a negation.
    """
    if _conflicts(premise, hypothesis, ContradictionFinder((hypothesis,), weights)):
        return Entailment.CONTRADICTION
    return _entailed(premise, hypothesis, weights)


def _conflicts(premise: Statement, hypothesis: Statement, finder: ContradictionFinder) -> bool:
    return not premise.axes.isdisjoint(hypothesis.axes) and any(
        conflict.strength >= CONTRADICTED_FROM for conflict in finder.conflicts(premise)
    )


def _entailed(premise: Statement, hypothesis: Statement, weights: TermWeights) -> Entailment:
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

    Products of matrices find the pairs with enough common weight. Most of them are entailments; the rest, and
    pairs with different values of one axis, are compared. Other pairs are neutral.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        self._own = tuple({statement.text: statement for statement in statements}.values())
        self._finders: dict[str, ContradictionFinder] = {}
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
        relations = self._entailments(self._columns, self._columns)
        return relations | self._conflicts(self._own)

    def of(self, statements: Iterable[Statement]) -> Relations:
        """Return all relations except neutral ones with other statements, in both directions."""
        rows = tuple(statements)
        columns = _Columns(rows, self._vocabulary, self._weights)
        forward, back = self._entailments(columns, self._columns), self._entailments(self._columns, columns)
        return forward | back | self._conflicts(rows)

    def _entailments(self, premises: "_Columns", hypotheses: "_Columns") -> dict[Texts, Entailment]:
        possible, sure = premises.entail(hypotheses)
        relations: dict[Texts, Entailment] = {}
        for at, to in np.argwhere(possible).tolist():
            premise, hypothesis = premises.statements[at], hypotheses.statements[to]
            if premise.text != hypothesis.text:
                relation = (
                    Entailment.ENTAILMENT if sure[at, to] else _entailed(premise, hypothesis, self._weights)
                )
                if relation is not Entailment.NEUTRAL:
                    relations[premise.text, hypothesis.text] = relation
        return relations

    def _conflicts(self, statements: Sequence[Statement]) -> dict[Texts, Entailment]:
        return {
            (premise.text, hypothesis.text): Entailment.CONTRADICTION
            for statement in statements
            for other in map(self._own.__getitem__, self._conflicting(statement))
            for premise, hypothesis in ((statement, other), (other, statement))
            if premise.text != hypothesis.text and _conflicts(premise, hypothesis, self._finder(hypothesis))
        }

    def _finder(self, statement: Statement) -> ContradictionFinder:
        if statement.text not in self._finders:
            self._finders[statement.text] = ContradictionFinder((statement,), self._weights)
        return self._finders[statement.text]

    def _conflicting(self, statement: Statement) -> set[int]:
        if not statement.marks:
            return set()
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
        self.statements = statements
        self.rows, self._new = vocabulary.rows(statements)
        self._new_terms = np.array([len(row.terms - weights.topic) for row in statements])
        self.negated = np.array([row.negated for row in statements], dtype=bool)
        self.counts = np.array([bool(row.figures) for row in statements], dtype=bool)
        figures = [
            weights.total({term for mark in row.figures for term in terms(mark.text)} & row.terms)
            for row in statements
        ]
        self.of_figures = np.array(figures) / self.rows.total

    def entail(self, hypotheses: "_Columns") -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Select the pairs that may be an entailment, and those that are one unless they conflict.

        Both have the shape (statements, hypotheses).
        """
        covered = hypotheses.rows.shares(self.rows).T
        answers = self._new.shares(hypotheses.rows)
        new, counts = self._new_terms[:, None], self.counts[:, None]
        # The same figure in another unit or rounding counts.
        possible = covered + counts * hypotheses.of_figures >= COVERED_FROM - TOLERANCE
        possible |= answers >= ANSWERED_FROM - TOLERANCE
        if not new.all():
            possible |= (new == 0) & (self.rows.shares(hypotheses.rows) >= AGREES_FROM - TOLERANCE)
        sure = (answers >= ANSWERED_FROM + TOLERANCE) & (new > 0) | (covered >= COVERED_FROM + TOLERANCE)
        sure &= ~hypotheses.counts | (~counts & (covered >= FIGURES_ASIDE + TOLERANCE))
        sure &= (new > FEW_TERMS) | (self.negated[:, None] == hypotheses.negated)
        return possible, sure
