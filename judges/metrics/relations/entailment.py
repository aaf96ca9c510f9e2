"""Entailment between statements on a question, without an LLM.

What two statements share with the question tells nothing, so its terms weigh little. A label is lexical, not
semantic: it depends on shared words, figures, units and negation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

from judges.metrics.relations.model import Entailment
from judges.text.contradictions import ContradictionFinder, Figures, TermWeights
from judges.text.statements import Statement
from judges.text.tokens import terms

SAID_FROM = 0.35
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
    """Tell how a premise bears on a hypothesis, both being statements on the question.

    The premise entails the hypothesis where it has enough of the hypothesis's weight, or, being a short
    answer, where most of what it adds to the question is in the hypothesis; figures must agree and short
    statements must both deny or both affirm. It contradicts it where the two speak of one thing and differ
    in a figure, a direction or a negation. `finder` is that of the hypothesis, where it is known.
    """
    if not premise.axes.isdisjoint(hypothesis.axes):
        conflicts = (finder or ContradictionFinder((hypothesis,), weights)).conflicts(premise)
        if any(conflict.strength >= CONTRADICTED_FROM for conflict in conflicts):
            return Entailment.CONTRADICTION
    given = premise.terms
    if premise.figures and hypothesis.figures:
        figures = Figures(premise.figures)
        # A figure in another unit or rounding counts as said.
        given |= {term for mark in hypothesis.figures if figures.have(mark) for term in terms(mark.text)}
    stated = weights.share(hypothesis.terms, given, premise.related)
    new = premise.terms - weights.topic
    if stated < SAID_FROM and not _answers(premise, hypothesis, new, weights):
        return Entailment.NEUTRAL
    if len(new) <= FEW_TERMS and premise.negated != hypothesis.negated:
        return Entailment.CONTRADICTION
    if not hypothesis.figures:
        return Entailment.ENTAILMENT
    agree = any(map(figures.have, hypothesis.figures)) if premise.figures else stated >= FIGURES_ASIDE
    return Entailment.ENTAILMENT if agree else Entailment.NEUTRAL


def _answers(premise: Statement, hypothesis: Statement, new: frozenset[str], weights: TermWeights) -> bool:
    if new:
        return weights.share(new, hypothesis.terms, hypothesis.related) >= ANSWERED_FROM
    shared = weights.share(premise.terms, hypothesis.terms, hypothesis.related)
    return shared > AGREES_FROM and premise.negated == hypothesis.negated


class StatementRelations:
    """Relations of the statements of one question's texts, and of answers to it, with each other.

    Only pairs that share a word or an axis, or both have figures, are compared; all others are neutral.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        self._own = list({statement.text: statement for statement in statements}.values())
        self._finders = {each.text: ContradictionFinder((each,), weights) for each in self._own}
        self._having: defaultdict[str, list[int]] = defaultdict(list)
        for place, statement in enumerate(self._own):
            for key in _keys(statement):
                self._having[key].append(place)

    @cached_property
    def own(self) -> Relations:
        """Every relation but neutrality between two of the question's own statements."""
        return dict(self._pairs(self._own, back=False))

    def of(self, others: Iterable[Statement]) -> Relations:
        """Every relation but neutrality between other statements and the question's, in both directions."""
        return dict(self._pairs(others, back=True))

    def _pairs(
        self, statements: Iterable[Statement], *, back: bool
    ) -> Iterable[tuple[tuple[str, str], Entailment]]:
        for one in statements:
            own = ContradictionFinder((one,), self._weights)
            places = {place for key in _keys(one) for place in self._having.get(key, ())}
            for other in (self._own[place] for place in sorted(places)):
                if one.text == other.text:
                    continue
                for premise, hypothesis in ((one, other), (other, one)) if back else ((one, other),):
                    finder = own if hypothesis is one else self._finders[hypothesis.text]
                    relation = classify(premise, hypothesis, self._weights, finder)
                    if relation is not Entailment.NEUTRAL:
                        yield (premise.text, hypothesis.text), relation


def _keys(statement: Statement) -> frozenset[str]:
    return statement.related | statement.axes | ({"#"} if statement.figures else set())
