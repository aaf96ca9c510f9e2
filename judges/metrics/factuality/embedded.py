"""Lexical relations between texts: weighted terms, figures, directions and negations."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from judges.llm.requests import CallFailure
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Entailment, Pair, Related
from judges.metrics.relations.windows import WINDOW, windows_over
from judges.text.contradictions import ContradictionFinder, Figures, TermWeights
from judges.text.statements import Statement, read_statement, read_statements
from judges.text.tokens import related, terms

ENTAILED_FROM = 0.3
FOR_EACH_DOUBLING = 0.01
"""Increase of the required share of a claim's terms per doubling of the passages."""
LOWEST, HIGHEST = 0.52, 0.98
CONTRADICTED_FROM, PLACED_FROM = 0.45, 0.3
CREDENCE = 0.3
"""Excess over 0.5 of the probability of a contradiction at full strength."""
WEAK = 0.7
"""Probability below which links are weak; the weak links of a claim have at most this joint probability."""
MIN_COUNT = 2.0
"""Counts up to this are ignored, such as "the two views" of passages that never count them."""
SHORT = 3
NAME = re.compile(r"(?<=[^\W_] )[A-Z][^\W\d_]{2,}")
"""A capitalised word inside a sentence."""
ENDS = '.!?…。！？।:"”’»)'


class LexicalRelations:
    """Classifies relations by weighted terms, figures, directions and negations.

    A premise contradicts a hypothesis if it has another figure, direction or negation on the same subject. It
    entails the hypothesis if two neighbouring sentences contain enough of its weighted terms, unless the
    hypothesis has a figure, date or name that is neither in the premise nor in the question. Otherwise it is
    neutral. The required share grows with the number of premises per hypothesis.
    """

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Relate all pairs, with term weights fitted on all premises."""
        ground = _ground(frozenset(pair.premise for pair in pairs), question)
        premises: defaultdict[str, set[str]] = defaultdict(set)
        for pair in pairs:
            premises[pair.hypothesis].add(pair.premise)
        relations = {
            pair: ground.relate(pair, len(premises[pair.hypothesis])) for pair in dict.fromkeys(pairs)
        }
        capped = _cap(relations)
        return [capped[pair] for pair in pairs]


def _cap(relations: Mapping[Pair, Related]) -> Mapping[Pair, Related]:
    """Cap the joint weight of the weak links of each hypothesis at one link of `WEAK`.

    Passages share a few words with a claim because of its topic, so that they are not independent evidence,
    as the network assumes.
    """
    weak: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair, relation in relations.items():
        if relation.stance is Entailment.ENTAILMENT and relation.probability < WEAK:
            weak[pair.hypothesis].append(pair)
    capped = dict(relations)
    for links in weak.values():
        total = math.fsum(_log_odds(relations[pair].probability) for pair in links)
        share = min(1.0, _log_odds(WEAK) / total)
        for pair in links:
            odds = share * _log_odds(relations[pair].probability)
            capped[pair] = relations[pair]._replace(probability=1 / (1 + math.exp(-odds)))
    return capped


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


class _Premise:
    """A parsed premise."""

    def __init__(self, statements: Sequence[Statement], question: Statement, weights: TermWeights) -> None:
        self.statements = statements
        self.windows = windows_over(statements)
        self.figures = Figures(mark for row in statements for mark in row.figures)
        self.known = Figures(mark for row in (*statements, question) for mark in row.figures)
        self.roots = question.related.union(*(row.related for row in statements))
        titled = len(statements) > 1 and statements[0].text[-1] not in ENDS
        self.finder = ContradictionFinder(statements[1:] if titled else statements, weights)


class _Premises:
    """All premises of one question."""

    def __init__(self, texts: Iterable[str], question: str) -> None:
        by_text = {text: read_statements(text) for text in texts}
        sentences = [statement.terms for rows in by_text.values() for statement in rows]
        self._weights = TermWeights.fit(sentences, question)
        self._plain = TermWeights.fit(sentences)
        self._question = read_statement(question)
        self._question_figures = Figures(self._question.figures)
        self._premises = {
            text: _Premise(rows, self._question, self._weights) for text, rows in by_text.items()
        }
        self._between: dict[tuple[Pair, int], Related] = {}

    def relate(self, pair: Pair, among: int) -> Related:
        """Relate one pair; `among` is the number of premises of its hypothesis."""
        if pair.hypothesis not in self._premises:
            return self._related(pair, among)
        relation = self._between.get((pair, among))
        if relation is None:
            relation = self._between[pair, among] = self._related(pair, among)
        return relation

    def _related(self, pair: Pair, among: int) -> Related:
        premise, hypothesis = self._premises[pair.premise], read_statements(pair.hypothesis)
        surest, against = max((self._against(row, premise) for row in hypothesis), default=(0.0, ""))
        if surest:
            return Related(Entailment.CONTRADICTION, 0.5 + CREDENCE * surest, against)
        masses = [self._weights.total(statement.terms) for statement in hypothesis]
        if not premise.statements or not sum(masses):
            return Related(Entailment.NEUTRAL, 1.0)
        best = [self._support(statement, premise) for statement in hypothesis]
        support = sum(share * mass for (share, _), mass in zip(best, masses, strict=True)) / sum(masses)
        enough = ENTAILED_FROM + FOR_EACH_DOUBLING * math.log2(among)
        if support >= enough and not any(_invents(row, premise) for row in hypothesis):
            above = (support - ENTAILED_FROM) / (1 - ENTAILED_FROM)
            probability = max(LOWEST, 0.5 + (HIGHEST - 0.5) * above)
            return Related(Entailment.ENTAILMENT, probability, best[0][1])
        return Related(Entailment.NEUTRAL, 1 - support)

    def _against(self, statement: Statement, premise: _Premise) -> tuple[float, str]:
        if not statement.marks:
            return 0.0, ""
        direct = [(row.strength, row.against.text) for row in premise.finder.find(statement)]
        candidates = (
            (max(direct, default=(0.0, "")), CONTRADICTED_FROM),
            (max(self._displaced(statement, premise), default=(0.0, "")), PLACED_FROM),
        )
        return max((row for row, minimum in candidates if row[0] >= minimum), default=(0.0, ""))

    def _displaced(self, statement: Statement, premise: _Premise) -> Iterable[tuple[float, str]]:
        known = self._question_figures
        unknown = [mark for mark in statement.figures if not (premise.figures.have(mark) or known.have(mark))]
        if not unknown:
            return
        own = Figures(statement.figures)
        rest = frozenset(term for term in statement.terms if term[0] != "#")
        rest |= self._question.terms if len(statement.terms) <= SHORT else frozenset()
        for mark in unknown:
            for other in premise.statements:
                rivals = [figure for figure in other.figures if figure.axis == mark.axis]
                if any(not own.have(rival) and not known.have(rival) for rival in rivals):
                    yield self._plain.share(rest, other.terms, other.related), other.text

    def _support(self, statement: Statement, premise: _Premise) -> tuple[float, str]:
        share = self._weights.share
        shares = [share(statement.terms, window.terms, window.related) for window in premise.windows]
        highest = max(shares)
        if not highest:
            return 0.0, ""
        at = shares.index(highest)
        closer = max(
            premise.statements[at : at + WINDOW],
            key=lambda row: share(statement.terms, row.terms, row.related),
        )
        return highest, closer.text


def _invents(statement: Statement, premise: _Premise) -> bool:
    telling = (
        mark for mark in statement.figures if mark.figure > MIN_COUNT or not mark.axis.startswith("count")
    )
    if not all(map(premise.known.have, telling)):
        return True
    names = terms(" ".join(NAME.findall(statement.text)))
    return any(related(name) not in premise.roots for name in names)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _ground(premises: frozenset[str], question: str) -> _Premises:
    return _Premises(premises, question)
