"""Whether one statement says what another says, without an LLM.

Both are read as statements on the question: what they share with it tells nothing, so its terms weigh
little. A label from here is lexical, not semantic: it rests on shared words, figures, units and negation.
"""

from __future__ import annotations

from enum import StrEnum

from judges.text.contradictions import ContradictionFinder, Figures
from judges.text.statements import MarkKind, Statement
from judges.text.term_weights import TermWeights
from judges.text.tokens import terms

SAID_FROM = 0.35
ANSWERED_FROM = 0.4
AGREES_FROM = 0.5
FIGURES_ASIDE = 0.6
CONTRADICTED_FROM = 0.4
FEW_TERMS = 2
TOPIC_FACTOR = 0.2


class Entailment(StrEnum):
    """What a premise says of a hypothesis."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


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
    if _differ(premise, hypothesis, weights):
        return Entailment.CONTRADICTION
    converted = _converted(premise, hypothesis)
    stated = weights.share(hypothesis.terms, premise.terms | converted, premise.related)
    new = premise.terms - weights.topic
    if stated < SAID_FROM and not _answers(premise, hypothesis, new, weights):
        return Entailment.NEUTRAL
    if len(new) <= FEW_TERMS and premise.negated != hypothesis.negated:
        return Entailment.CONTRADICTION
    return Entailment.ENTAILMENT if _figures_agree(premise, hypothesis, stated) else Entailment.NEUTRAL


def _differ(premise: Statement, hypothesis: Statement, weights: TermWeights) -> bool:
    """Whether the two differ in a figure or a direction; most pairs have none that could."""
    swappable = len(premise.figures) > 1 and len(hypothesis.figures) > 1
    if premise.axes.isdisjoint(hypothesis.axes) and not swappable:
        return False
    return any(
        contradiction.strength >= CONTRADICTED_FROM
        for contradiction in ContradictionFinder((hypothesis,), weights).find(premise)
        if contradiction.kind is not MarkKind.NEGATION
    )


def _converted(premise: Statement, hypothesis: Statement) -> frozenset[str]:
    """The terms of the hypothesis's figures that the premise gives in another unit or rounding."""
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
