"""Entailment between statements on a question, without an LLM.

What two statements share with the question tells nothing, so its terms weigh little. A label is lexical, not
semantic: it depends on shared words, figures, units and negation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judges.metrics.relations.model import Entailment
from judges.text.contradictions import ContradictionFinder, Figures, TermWeights
from judges.text.statements import Statement
from judges.text.tokens import related, terms

SAID_FROM = 0.35
ANSWERED_FROM = 0.4
AGREES_FROM = 0.5
FIGURES_ASIDE = 0.6
CONTRADICTED_FROM = 0.4
FEW_TERMS = 2
TOPIC_FACTOR = 0.2
BELOW = 1 - 1e-9
"""Of a share that is enough: sums of products are not exact."""


Relations: TypeAlias = Mapping[tuple[str, str], Entailment]
Table: TypeAlias = NDArray[np.float64]


def entailment_weights(statements: Iterable[str], question: str) -> TermWeights:
    """Fit term weights for entailment on the statements of one question."""
    return TermWeights.fit(
        [frozenset(terms(statement)) for statement in statements], question, topic_factor=TOPIC_FACTOR
    )


def classify(
    premise: Statement,
    hypothesis: Statement,
    weights: TermWeights,
    finder: ContradictionFinder | None = None,
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

    Only pairs that share enough words or an axis, or both have figures, are compared; all others are neutral.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        self._own = list({statement.text: statement for statement in statements}.values())
        roots = dict.fromkeys(chain.from_iterable(statement.related for statement in self._own))
        self._columns = {root: column for column, root in enumerate(roots)}
        self._table = self._tabled(self._own)
        self._finders = [ContradictionFinder((statement,), weights) for statement in self._own]
        self._marked: defaultdict[str, list[int]] = defaultdict(list)
        for place, statement in enumerate(self._own):
            for key in _marks(statement):
                self._marked[key].append(place)

    @cached_property
    def own(self) -> Relations:
        """Every relation but neutrality between two of the question's own statements."""
        return dict(self._pairs(self._own, back=False))

    def of(self, others: Iterable[Statement]) -> Relations:
        """Every relation but neutrality between other statements and the question's, in both directions."""
        return dict(self._pairs(list(others), back=True))

    def _pairs(
        self, statements: Sequence[Statement], *, back: bool
    ) -> Iterable[tuple[tuple[str, str], Entailment]]:
        one, own = self._tabled(statements), self._table
        forth = _enough(one, own)
        tried = forth | _enough(own, one).T if back else forth
        for row, statement in enumerate(statements):
            for key in _marks(statement):
                tried[row, self._marked.get(key, [])] = True
        finders = [ContradictionFinder((statement,), self._weights) for statement in statements if back]
        for row, place in np.argwhere(tried).tolist():
            first, second = statements[row], self._own[place]
            if first.text == second.text:
                continue
            said = classify(first, second, self._weights, self._finders[place])
            if said is not Entailment.NEUTRAL:
                yield (first.text, second.text), said
            if back:
                said = classify(second, first, self._weights, finders[row])
                if said is not Entailment.NEUTRAL:
                    yield (second.text, first.text), said

    def _tabled(self, statements: Sequence[Statement]) -> Table:
        """Return each statement's roots: which it has, their weights, and those beyond the question's."""
        table = np.zeros((3, len(statements), len(self._columns) + 1))
        for row, statement in enumerate(statements):
            for term in statement.terms:
                # Others' roots meet none of the question's statements: they only count in sums.
                column = self._columns.get(related(term), -1)
                weight = self._weights.of(term)
                table[:, row, column] += (1.0, weight, 0.0 if term in self._weights.topic else weight)
        return table


def _enough(premises: Table, hypotheses: Table) -> NDArray[np.bool_]:
    """Return where a premise may share enough with a hypothesis, (premises, hypotheses)."""
    (said, whole, new), (theirs, wanted, _) = premises, hypotheses
    said, theirs = said[:, :-1] > 0, theirs[:, :-1] > 0
    stated = said @ wanted[:, :-1].T >= BELOW * SAID_FROM * wanted.sum(axis=1)
    # Without a word beyond the question's, all of them are compared.
    telling = np.where(new.any(axis=1)[:, None], new, whole)
    answers = telling[:, :-1] @ theirs.T >= BELOW * ANSWERED_FROM * telling.sum(axis=1)[:, None]
    return np.asarray(stated | answers)


def _marks(statement: Statement) -> frozenset[str]:
    return statement.axes | ({"#"} if statement.figures else set())
