"""Relations without an LLM: by weighted terms, and by what differs in an otherwise repeated wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judges.llm.requests import CallFailure
from judges.metrics.factuality.tasks import Pair, Related
from judges.text.contradictions import ContradictionFinder, Figures
from judges.text.entailment import Entailment
from judges.text.needs import WINDOW, Bag, windows_over
from judges.text.statements import Statement, read_statements
from judges.text.substitutions import SubstitutionFinder, content
from judges.text.term_weights import TermWeights
from judges.text.tokens import related

ENTAILED_FROM = 0.3
CONTRADICTED_FROM = 0.4
LOWEST, HIGHEST = 0.52, 0.98
LEAST_SURE = 0.3


class LexicalRelations:
    """Relates texts by their weighted terms, and by what differs in an otherwise repeated wording.

    A premise contradicts a hypothesis where the contradiction finder of the lexical judge says so (a
    figure, a direction), or where a word was exchanged in a sentence that runs alike.
    It entails it where two neighbouring sentences hold `ENTAILED_FROM` of its weighted terms, the more
    of them the surer; but not where the hypothesis has a figure or a name that neither any premise nor
    the question has. Else it is neutral.
    """

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Relate all pairs, the terms weighted over all their premises."""
        premises = {pair.premise: read_statements(pair.premise) for pair in pairs}
        ground = _Premises.of(premises, question)
        related = {pair: ground.relate(pair) for pair in dict.fromkeys(pairs)}
        return [related[pair] for pair in pairs]


@dataclass(frozen=True, slots=True)
class _Premise:
    """One premise, and what finds contradictions to it; what it repeats is looked at once.

    `windows` are by the place of their first statement.
    """

    statements: tuple[Statement, ...]
    windows: Mapping[int, Bag]
    finder: ContradictionFinder
    swaps: SubstitutionFinder

    @classmethod
    def of(cls, statements: tuple[Statement, ...], weights: TermWeights) -> _Premise:
        """Prepare the statements of a premise."""
        places: dict[frozenset[str], int] = {}
        windows = windows_over(statements)
        for place, window in enumerate(windows):
            places.setdefault(window.terms, place)
        distinct = _distinct(statements)
        return cls(
            statements,
            {place: windows[place] for place in places.values()},
            ContradictionFinder(distinct, weights),
            SubstitutionFinder(distinct, weights),
        )

    def contradiction(self, statement: Statement) -> tuple[float, str]:
        """The strength of the surest contradiction and the sentence that it is to."""
        contradictions = [
            (contradiction.strength, contradiction.against.text)
            for contradiction in self.finder.find(statement)
        ]
        swap = self.swaps.find(statement)
        if swap is not None:
            contradictions.append((swap.strength, swap.against.text))
        return max(contradictions, default=(0.0, ""))


class _Premises:
    """All premises of one question."""

    def __init__(self, premises: Mapping[str, _Premise], weights: TermWeights, question: str) -> None:
        self._premises = premises
        self._weights = weights
        statements = [statement for premise in premises.values() for statement in premise.statements]
        statements += read_statements(question)
        self._figures = Figures(mark for statement in statements for mark in statement.figures)
        self._known = frozenset[str]().union(*(statement.related for statement in statements))

    @classmethod
    def of(cls, premises: Mapping[str, tuple[Statement, ...]], question: str) -> _Premises:
        """Read the premises of a question."""
        sentences = [statement.text for statements in premises.values() for statement in statements]
        weights = TermWeights.fit(sentences, question)
        read = {text: _Premise.of(statements, weights) for text, statements in premises.items()}
        return cls(read, weights, question)

    def relate(self, pair: Pair) -> Related:
        """Relate one pair."""
        premise, hypothesis = self._premises[pair.premise], read_statements(pair.hypothesis)
        distinct = _distinct(hypothesis)
        contradictions = [(*premise.contradiction(statement), statement.text) for statement in distinct]
        strength, against, point = max(contradictions, default=(0.0, "", ""))
        if strength >= CONTRADICTED_FROM:
            return Related(Entailment.CONTRADICTION, _contradiction_probability(strength), against, point)
        masses = [self._weights.total(statement.terms) for statement in hypothesis]
        if not premise.statements or not sum(masses):
            return Related(Entailment.NEUTRAL, 1.0)
        best = {statement.text: _support(statement, premise, self._weights) for statement in distinct}
        shares = [best[statement.text][0] for statement in hypothesis]
        support = sum(share * mass for share, mass in zip(shares, masses, strict=True)) / sum(masses)
        if support >= ENTAILED_FROM and not any(map(self._invents, distinct)):
            return Related(Entailment.ENTAILMENT, _supported(support), best[hypothesis[0].text][1])
        return Related(Entailment.NEUTRAL, 1 - support)

    def _invents(self, statement: Statement) -> bool:
        """Whether a statement has a figure or a name that neither premises nor question have."""
        if not all(map(self._figures.have, statement.figures)):
            return True
        return any(word.name and related(word.term) not in self._known for word in content(statement.text))


def _distinct(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements without those that are worded like an earlier one."""
    return tuple({statement.text: statement for statement in statements}.values())


def _support(statement: Statement, premise: _Premise, weights: TermWeights) -> tuple[float, str]:
    """The greatest share of a statement's terms in two neighbouring sentences, and the closer of them."""
    shares = {
        place: weights.share(statement.terms, window.terms, window.related)
        for place, window in premise.windows.items()
    }
    at = max(shares, key=shares.__getitem__, default=0)
    most = shares.get(at, 0.0)
    if not most:
        return 0.0, ""
    closer = max(
        premise.statements[at : at + WINDOW],
        key=lambda candidate: weights.share(statement.terms, candidate.terms, candidate.related),
    )
    return most, closer.text


def _contradiction_probability(strength: float) -> float:
    """The strength of a contradiction as a probability: 0.64 at least, since a wording was found for it."""
    above = (strength - CONTRADICTED_FROM) / (1 - CONTRADICTED_FROM)
    return 0.5 + (HIGHEST - 0.5) * min(1.0, LEAST_SURE + (1 - LEAST_SURE) * above)


def _supported(share: float) -> float:
    """A share of terms as the probability of being entailed: it rises from LOWEST with the share."""
    above = (share - ENTAILED_FROM) / (1 - ENTAILED_FROM)
    return max(LOWEST, 0.5 + (HIGHEST - 0.5) * above)
