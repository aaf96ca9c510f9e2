"""Lexical entailment between statements on a question.

Terms of the question weigh little, because sharing them proves nothing. Labels depend on shared words,
figures, units and negation, not on meaning.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

from judges.metrics.relations.model import Entailment
from judges.text.contradictions import ContradictionFinder, Figures, TermWeights
from judges.text.statements import Statement
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

    Only pairs with a common word or axis, or with figures in both, are compared; other pairs are neutral.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        self._own = list({statement.text: statement for statement in statements}.values())
        self._finders = {row.text: ContradictionFinder((row,), weights) for row in self._own}
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, statement in enumerate(self._own):
            for key in _keys(statement):
                self._places[key].append(place)

    @cached_property
    def own(self) -> Relations:
        """All relations except neutral ones between the question's own statements."""
        return dict(self._pairs(self._own, back=False))

    def of(self, statements: Iterable[Statement]) -> Relations:
        """Return all relations except neutral ones with other statements, in both directions."""
        return dict(self._pairs(statements, back=True))

    def _pairs(
        self, statements: Iterable[Statement], *, back: bool
    ) -> Iterable[tuple[tuple[str, str], Entailment]]:
        for statement in statements:
            own = ContradictionFinder((statement,), self._weights)
            places = {place for key in _keys(statement) for place in self._places.get(key, ())}
            for other in (self._own[place] for place in sorted(places)):
                if statement.text == other.text:
                    continue
                pair = (statement, other)
                for premise, hypothesis in (pair, pair[::-1]) if back else (pair,):
                    finder = own if hypothesis is statement else self._finders[hypothesis.text]
                    relation = classify(premise, hypothesis, self._weights, finder)
                    if relation is not Entailment.NEUTRAL:
                        yield (premise.text, hypothesis.text), relation


def _keys(statement: Statement) -> frozenset[str]:
    return statement.related | statement.axes | ({"#"} if statement.figures else set())
