"""Relations without an LLM: by weighted terms, and by figures, directions and negations that differ."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from judges.llm.requests import CallFailure
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Entailment, Pair, Related
from judges.text.contradictions import WINDOW, ContradictionFinder, Figures, TermWeights, windows_over
from judges.text.statements import Statement, read_statement, read_statements
from judges.text.tokens import related, terms

ENTAILED_FROM = 0.3
FOR_EACH_DOUBLING = 0.01
"""Extra share of a claim's terms that is required where twice as many passages may have them by chance."""
LOWEST, HIGHEST = 0.52, 0.98
CONTRADICTED_FROM, PLACED_FROM = 0.45, 0.3
CREDENCE = 0.3
"""Belief in a contradiction at full strength, beyond an even chance."""
WEAK = 0.7
"""Links below this are weak: all of a claim's together weigh as one link of this probability at most."""
FEWEST = 2.0
"""Counts up to this tell nothing by themselves: "the two views" of passages that never count them."""
SHORT = 3
NAME = re.compile(r"(?<=[^\W_] )[A-Z][^\W\d_]{2,}")
"""A capital inside of a sentence."""
ENDS = '.!?…。！？।:"”’»)'


class LexicalRelations:
    """Relates texts by their weighted terms, and by figures, directions and negations that differ.

    A premise contradicts a hypothesis where it states another figure, direction or negation on the same
    thing. It entails it where two neighbouring sentences hold enough of its weighted terms, the more of them
    the surer; but not where the hypothesis has a figure, a date or a name that neither this premise nor the
    question has. Else it is neutral. The share that is enough rises with the number of premises that a
    hypothesis is compared with.
    """

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Relate all pairs, the terms weighted over all their premises."""
        ground = _ground(frozenset(pair.premise for pair in pairs), question)
        premises: defaultdict[str, set[str]] = defaultdict(set)
        for pair in pairs:
            premises[pair.hypothesis].add(pair.premise)
        found = {pair: ground.relate(pair, len(premises[pair.hypothesis])) for pair in dict.fromkeys(pairs)}
        capped = _capped(found)
        return [capped[pair] for pair in pairs]


def _capped(found: Mapping[Pair, Related]) -> Mapping[Pair, Related]:
    """Lower the weak links of each hypothesis where together they would weigh more than one of `WEAK`.

    Passages that share a few words with a claim do so for one reason, its topic; they are not independent
    witnesses, which is what the network takes its edges for.
    """
    weak: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair, relation in found.items():
        if relation.stance is Entailment.ENTAILMENT and relation.probability < WEAK:
            weak[pair.hypothesis].append(pair)
    lowered = dict(found)
    for links in weak.values():
        share = min(1.0, _log_odds(WEAK) / math.fsum(_log_odds(found[pair].probability) for pair in links))
        for pair in links:
            odds = share * _log_odds(found[pair].probability)
            lowered[pair] = found[pair]._replace(probability=1 / (1 + math.exp(-odds)))
    return lowered


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


class _Premise:
    """A premise with what all hypotheses are held against."""

    def __init__(self, statements: Sequence[Statement], asked: Statement, weights: TermWeights) -> None:
        self.statements = statements
        self.windows = windows_over(statements)
        self.figures = Figures(mark for each in statements for mark in each.figures)
        self.known = Figures(mark for each in (*statements, asked) for mark in each.figures)
        self.roots = asked.related.union(*(each.related for each in statements))
        titled = len(statements) > 1 and statements[0].text[-1] not in ENDS
        self.finder = ContradictionFinder(statements[1:] if titled else statements, weights)


class _Premises:
    """All premises of one question."""

    def __init__(self, texts: Iterable[str], question: str) -> None:
        read = {text: read_statements(text) for text in texts}
        sentences = [statement.terms for every in read.values() for statement in every]
        self._weights = TermWeights.fit(sentences, question)
        self._plain = TermWeights.fit(sentences)
        self._asked = read_statement(question)
        self._asked_figures = Figures(self._asked.figures)
        self._premises = {text: _Premise(own, self._asked, self._weights) for text, own in read.items()}
        self._between: dict[tuple[Pair, int], Related] = {}

    def relate(self, pair: Pair, among: int) -> Related:
        """Relate one pair; `among` is the number of premises that its hypothesis is compared with.

        Passages are related to each other once for all answers.
        """
        if pair.hypothesis not in self._premises:
            return self._related(pair, among)
        found = self._between.get((pair, among))
        if found is None:
            found = self._between[pair, among] = self._related(pair, among)
        return found

    def _related(self, pair: Pair, among: int) -> Related:
        premise, hypothesis = self._premises[pair.premise], read_statements(pair.hypothesis)
        surest, against = max((self._against(each, premise) for each in hypothesis), default=(0.0, ""))
        if surest:
            return Related(Entailment.CONTRADICTION, 0.5 + CREDENCE * surest, against)
        masses = [self._weights.total(statement.terms) for statement in hypothesis]
        if not premise.statements or not sum(masses):
            return Related(Entailment.NEUTRAL, 1.0)
        best = [self._support(statement, premise) for statement in hypothesis]
        support = sum(share * mass for (share, _), mass in zip(best, masses, strict=True)) / sum(masses)
        enough = ENTAILED_FROM + FOR_EACH_DOUBLING * math.log2(among)
        if support >= enough and not any(_invents(each, premise) for each in hypothesis):
            above = (support - ENTAILED_FROM) / (1 - ENTAILED_FROM)
            probability = max(LOWEST, 0.5 + (HIGHEST - 0.5) * above)
            return Related(Entailment.ENTAILMENT, probability, best[0][1])
        return Related(Entailment.NEUTRAL, 1 - support)

    def _against(self, statement: Statement, premise: _Premise) -> tuple[float, str]:
        if not statement.marks:
            return 0.0, ""
        found = [(one.strength, one.against.text) for one in premise.finder.find(statement)]
        surest = max(found, default=(0.0, ""))
        placed = max(self._displaced(statement, premise), default=(0.0, ""))
        certain = [
            one for one, least in ((surest, CONTRADICTED_FROM), (placed, PLACED_FROM)) if one[0] >= least
        ]
        return max(certain, default=(0.0, ""))

    def _displaced(self, statement: Statement, premise: _Premise) -> Iterable[tuple[float, str]]:
        asked = self._asked_figures
        strange = [m for m in statement.figures if not (premise.figures.have(m) or asked.have(m))]
        if not strange:
            return
        own = Figures(statement.figures)
        rest = frozenset(term for term in statement.terms if term[0] != "#")
        rest |= self._asked.terms if len(statement.terms) <= SHORT else frozenset()
        for mark in strange:
            for other in premise.statements:
                others = [its for its in other.figures if its.axis == mark.axis]
                if any(not own.have(its) and not asked.have(its) for its in others):
                    yield self._plain.share(rest, other.terms, other.related), other.text

    def _support(self, statement: Statement, premise: _Premise) -> tuple[float, str]:
        share = self._weights.share
        shares = [share(statement.terms, each.terms, each.related) for each in premise.windows]
        most = max(shares)
        if not most:
            return 0.0, ""
        at = shares.index(most)
        closer = max(
            premise.statements[at : at + WINDOW],
            key=lambda each: share(statement.terms, each.terms, each.related),
        )
        return most, closer.text


def _invents(statement: Statement, premise: _Premise) -> bool:
    telling = (
        mark for mark in statement.figures if mark.figure > FEWEST or not mark.axis.startswith("count")
    )
    if not all(map(premise.known.have, telling)):
        return True
    names = terms(" ".join(NAME.findall(statement.text)))
    return any(related(name) not in premise.roots for name in names)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _ground(premises: frozenset[str], question: str) -> _Premises:
    """Return the premises of a question, read once for all answers; nothing depends on their order."""
    return _Premises(premises, question)
