"""Whether one statement says what another says, without an LLM.

Both are read as statements on the question: what they share with it tells nothing, so its terms weigh
little. A label from here is lexical, not semantic: it depends on shared words, figures, units and negation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from judges.text.contradictions import LEAST_CONTEXT, ContradictionFinder, Figures
from judges.text.statements import Mark, MarkKind, Statement
from judges.text.term_weights import TermWeights
from judges.text.tokens import related, terms

SAID_FROM = 0.35
ANSWERED_FROM = 0.4
AGREES_FROM = 0.5
FIGURES_ASIDE = 0.6
CONTRADICTED_FROM = 0.4
FEW_TERMS = 2
TOPIC_FACTOR = 0.2
NO_WEIGHT = (0.0, 0.0)
ROUNDED = 1 - 1e-9
"""What sums in another order may be short of a threshold that they reach."""


class Entailment(StrEnum):
    """What a premise says of a hypothesis."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


Relations: TypeAlias = Mapping[tuple[str, str], Entailment]


def entailment_weights(statements: list[str], question: str) -> TermWeights:
    """Fit term weights for entailment on the statements of one question."""
    return TermWeights.fit(statements, question, topic_factor=TOPIC_FACTOR)


def classify(premise: Statement, hypothesis: Statement, weights: TermWeights) -> Entailment:
    """Tell what a premise says of a hypothesis, both being statements on the question.

    The premise entails the hypothesis where it has enough of the hypothesis's weight, or, being a short
    answer, where most of what it adds to the question is in the hypothesis; figures must agree and
    short statements must both deny or both affirm. It contradicts it where the two speak of one thing
    and differ in a figure, a direction or a negation.
    """
    finder = ContradictionFinder((hypothesis,), weights) if _may_differ(premise, hypothesis) else None
    return _classify(premise, hypothesis, weights, finder)


def _classify(
    premise: Statement, hypothesis: Statement, weights: TermWeights, finder: ContradictionFinder | None
) -> Entailment:
    """As `classify`; without a finder the two have nothing in which they could differ."""
    conflicts = finder.conflicts(premise) if finder is not None else ()
    if any(conflict.strength >= CONTRADICTED_FROM for conflict in conflicts):
        return Entailment.CONTRADICTION
    converted = _converted(premise, hypothesis)
    given = premise.terms | converted if converted else premise.terms
    stated = weights.share(hypothesis.terms, given, premise.related)
    new = premise.terms - weights.topic
    if stated < SAID_FROM and not _answers(premise, hypothesis, new, weights):
        return Entailment.NEUTRAL
    if len(new) <= FEW_TERMS and premise.negated != hypothesis.negated:
        return Entailment.CONTRADICTION
    return Entailment.ENTAILMENT if _figures_agree(premise, hypothesis, stated) else Entailment.NEUTRAL


def _may_differ(premise: Statement, hypothesis: Statement) -> bool:
    """Whether two statements have what could differ, a figure or a direction; most pairs have not."""
    swappable = len(premise.figures) > 1 and len(hypothesis.figures) > 1
    return swappable or not premise.axes.isdisjoint(hypothesis.axes)


def _converted(premise: Statement, hypothesis: Statement) -> frozenset[str]:
    """The terms of the hypothesis's figures that the premise gives in another unit or rounding."""
    if not premise.figures or not hypothesis.figures:
        return frozenset()
    figures = Figures(premise.figures)
    return frozenset(term for mark in hypothesis.figures if figures.have(mark) for term in terms(mark.text))


def _answers(premise: Statement, hypothesis: Statement, new: frozenset[str], weights: TermWeights) -> bool:
    """Whether a short answer is found in a longer statement."""
    if new:
        return weights.share(new, hypothesis.terms, hypothesis.related) >= ANSWERED_FROM
    shared = weights.share(premise.terms, hypothesis.terms, hypothesis.related)
    return shared > AGREES_FROM and premise.negated == hypothesis.negated


def _figures_agree(premise: Statement, hypothesis: Statement, stated: float) -> bool:
    """Whether the hypothesis's figures are the premise's; one without figures must say the more."""
    if not hypothesis.figures:
        return True
    if not premise.figures:
        return stated >= FIGURES_ASIDE
    return any(map(Figures(premise.figures).have, hypothesis.figures))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A statement as most pairs can be told by.

    Attributes:
        statement: The statement.
        roots: For each root of its terms, the weight of those terms, and of those beyond the question's.
        stated_from: The weight from which on another statement says enough of it.
        answers_from: The weight of what it adds to the question from which on it may be a short answer.
        figured: The weight of its terms that belong to figures, which may be given in other units.
        figures: Its plain numbers.
    """

    statement: Statement
    roots: Mapping[str, tuple[float, float]]
    stated_from: float
    answers_from: float
    figured: float
    figures: frozenset[float]

    @classmethod
    def of(cls, statement: Statement, weights: TermWeights) -> _Weighed:
        new = statement.terms - weights.topic
        telling = new or statement.terms
        roots: dict[str, tuple[float, float]] = {}
        whole = of_telling = 0.0
        for term in statement.terms:
            weight = weights.of(term)
            told = weight if term in telling else 0.0
            root = related(term)
            before = roots.get(root, NO_WEIGHT)
            roots[root] = (before[0] + weight, before[1] + told)
            whole, of_telling = whole + weight, of_telling + told
        figured = {term for mark in statement.figures for term in terms(mark.text)} & statement.terms
        return cls(
            statement=statement,
            roots=roots,
            stated_from=ROUNDED * SAID_FROM * whole,
            answers_from=ROUNDED * (ANSWERED_FROM if new else AGREES_FROM) * of_telling,
            figured=weights.total(figured),
            figures=frozenset(mark.figure for mark in statement.figures),
        )


class StatementRelations:
    """What the statements of one question's texts, and of answers to it, say of each other.

    The same as `classify` says of each pair, but most pairs are never looked at: where two share too few
    roots of words to reach any threshold, and have nothing in which they could differ, they are neutral.

    Args:
        statements: The statements of the question's own texts.
        weights: Fitted on them.
    """

    def __init__(self, statements: Iterable[Statement], weights: TermWeights) -> None:
        self._weights = weights
        distinct = {statement.text: statement for statement in statements}
        self._own = tuple(_Weighed.of(statement, weights) for statement in distinct.values())
        self._by_root: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        self._by_axis: defaultdict[str, list[tuple[int, Mark]]] = defaultdict(list)
        for place, each in enumerate(self._own):
            for root, (weight, told) in each.roots.items():
                self._by_root[root].append((place, weight, told))
            for mark in each.statement.marks:
                if mark.kind is not MarkKind.NEGATION:
                    self._by_axis[mark.axis].append((place, mark))
        self._with_figures = [place for place, each in enumerate(self._own) if each.figures]

    @cached_property
    def own(self) -> Relations:
        """Every relation but neutrality between two of the question's own statements."""
        told: dict[tuple[str, str], Entailment] = {}
        for each in self._own:
            self._tell(each, told, back=False)
        return told

    def of(self, others: Iterable[Statement]) -> Relations:
        """Every relation but neutrality between other statements and the question's, in both directions."""
        told: dict[tuple[str, str], Entailment] = {}
        for other in others:
            self._tell(_Weighed.of(other, self._weights), told, back=True)
        return told

    def _tell(self, one: _Weighed, told: dict[tuple[str, str], Entailment], *, back: bool) -> None:
        """Add what one statement says of the question's, and what those say of it."""
        size = len(self._own)
        said, answering, stated, answered = [0.0] * size, [0.0] * size, [0.0] * size, [0.0] * size
        for root, (weight, beyond) in one.roots.items():
            for place, its_weight, its_beyond in self._by_root.get(root, ()):
                said[place] += its_weight
                answering[place] += beyond
                stated[place] += weight
                answered[place] += its_beyond
        for place in self._with_figures if one.figures else ():
            said[place] += self._own[place].figured
            stated[place] += one.figured
        forth, differing_back = self._differing(one)
        for place, its in enumerate(self._own):
            if its.statement.text == one.statement.text:
                continue
            if place in forth or said[place] >= its.stated_from or answering[place] >= one.answers_from:
                self._add(told, one.statement, its.statement, may_differ=place in forth)
            if back and (
                place in differing_back
                or stated[place] >= one.stated_from
                or answered[place] >= its.answers_from
            ):
                self._add(told, its.statement, one.statement, may_differ=place in differing_back)

    def _add(
        self,
        told: dict[tuple[str, str], Entailment],
        premise: Statement,
        hypothesis: Statement,
        *,
        may_differ: bool,
    ) -> None:
        finder = ContradictionFinder((hypothesis,), self._weights) if may_differ else None
        relation = _classify(premise, hypothesis, self._weights, finder)
        if relation is not Entailment.NEUTRAL:
            told[premise.text, hypothesis.text] = relation

    def _differing(self, one: _Weighed) -> tuple[set[int], set[int]]:
        """The places of the statements that one may contradict, and of those that may contradict it.

        Two marks on one axis with different values must stand among shared terms, and figures that changed
        places be two in both.
        """
        swapped = {place for place in self._with_figures if len(one.figures & self._own[place].figures) > 1}
        forth, back = set(swapped), swapped
        for mark in one.statement.marks:
            for place, its in self._by_axis.get(mark.axis, ()):
                if its.value != mark.value and not its.around.isdisjoint(mark.around):
                    if len(mark.around) >= LEAST_CONTEXT:
                        forth.add(place)
                    if len(its.around) >= LEAST_CONTEXT:
                        back.add(place)
        return forth, back
