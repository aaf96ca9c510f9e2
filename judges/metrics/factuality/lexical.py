"""Relations without an LLM: by weighted terms, and by what differs in an otherwise repeated wording."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from judges.llm.requests import CallFailure
from judges.metrics.relations.head import Noticed, trained_head
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Pair, Related
from judges.metrics.relations.slots import Question, Slots
from judges.text.contradictions import ContradictionFinder, Figures
from judges.text.entailment import Entailment
from judges.text.needs import WINDOW, Bag, windows_over
from judges.text.statements import Statement, read_statement, read_statements
from judges.text.substitutions import SubstitutionFinder, content
from judges.text.term_weights import TermWeights
from judges.text.tokens import related

ENTAILED_FROM = 0.3
FOR_EACH_DOUBLING = 0.01
"""How much more of a claim's terms is asked for where twice as many passages may have them by chance."""
LOWEST, HIGHEST = 0.52, 0.98
CREDENCE = 0.6
"""How far a contradiction is believed: the head was fitted where half of all pairs are contradictions."""
WEAK = 0.7
"""Links below this are weak: all of a claim's together weigh as one link of this probability at most."""
FEWEST = 2.0
"""Counts up to this tell nothing by themselves: "the two views" of passages that never count them."""
ENDS = '.!?…。！？।:"”’»)'


class LexicalRelations:
    """Relates texts by their weighted terms, and by what differs in an otherwise repeated wording.

    A premise contradicts a hypothesis where the trained head says so of what was noticed: a figure, a
    direction, a word exchanged in a sentence that runs alike, another figure or date in the same slot.
    It entails it where two neighbouring sentences hold enough of its weighted terms, the more of them the
    surer; but not where the hypothesis has a figure, a date or a name that neither this premise nor the
    question has. Else it is neutral. What is enough rises with the number of premises that a hypothesis
    is held against.
    """

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Relate all pairs, the terms weighted over all their premises."""
        ground = _ground(frozenset(pair.premise for pair in pairs), question)
        premises: defaultdict[str, set[str]] = defaultdict(set)
        for pair in pairs:
            premises[pair.hypothesis].add(pair.premise)
        found = {
            pair: ground.relate(pair, among=len(premises[pair.hypothesis])) for pair in dict.fromkeys(pairs)
        }
        capped = _capped(found)
        return [capped[pair] for pair in pairs]


def notice(pair: Pair, *, question: str) -> tuple[Noticed, ...]:
    """What speaks for a contradiction in each sentence of a hypothesis; what the head is trained on."""
    return _ground(frozenset({pair.premise}), question).notice(pair)


def _capped(found: Mapping[Pair, Related]) -> Mapping[Pair, Related]:
    """Lower the weak links of each hypothesis where together they would weigh more than one of `WEAK`.

    Passages that share a few words with a claim do so for one reason, its topic; they are no independent
    witnesses, which is what the network takes its edges for.
    """
    weak: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair, relation in found.items():
        if relation.stance is Entailment.ENTAILMENT and relation.probability < WEAK:
            weak[pair.hypothesis].append(pair)
    lowered = dict(found)
    for links in weak.values():
        together = math.fsum(_log_odds(found[pair].probability) for pair in links)
        share = min(1.0, _log_odds(WEAK) / together)
        for pair in links:
            odds = share * _log_odds(found[pair].probability)
            lowered[pair] = replace(found[pair], probability=1 / (1 + math.exp(-odds)))
    return lowered


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


class _Premise:
    """One premise, and what finds contradictions to it; what it repeats is looked at once.

    Its title, a first line without an end, names things and dates but states nothing.
    """

    def __init__(
        self, statements: tuple[Statement, ...], weights: TermWeights, plain: TermWeights, question: Question
    ) -> None:
        self.statements = statements
        titled = len(statements) > 1 and statements[0].text[-1] not in ENDS
        stating = _distinct(statements[1:] if titled else statements)
        places: dict[frozenset[str], int] = {}
        windows = windows_over(statements)
        for place, window in enumerate(windows):
            places.setdefault(window.terms, place)
        self.windows: Mapping[int, Bag] = {place: windows[place] for place in places.values()}
        self.related = frozenset[str]().union(*(statement.related for statement in statements))
        self._figures = Figures(mark for statement in statements for mark in statement.figures)
        self._finder = ContradictionFinder(stating, weights)
        self._swaps = SubstitutionFinder(stating, weights)
        self._slots = Slots(stating, statements, plain, question)

    def lacks_figure(self, statement: Statement, asked: Figures) -> bool:
        """Whether a statement has a figure or date that neither the premise nor the question has."""
        telling = [
            mark for mark in statement.figures if mark.figure > FEWEST or not mark.axis.startswith("count")
        ]
        known = all(self._figures.have(mark) or asked.have(mark) for mark in telling)
        return not known or self._slots.lacks_month(statement)

    def noticed(self, statement: Statement) -> tuple[Noticed, str]:
        """What speaks for a contradiction, and the sentence that it is to."""
        marks = [(found.strength, found.against.text) for found in self._finder.find(statement)]
        strength, against = max(marks, default=(0.0, ""))
        swap = self._swaps.find(statement)
        clash = self._slots.clash(statement)
        if swap is not None and swap.strength > strength:
            against = swap.against.text
        noticed = Noticed(
            mark=strength, swap=swap.strength if swap else 0.0, slot=clash.slot, asked=clash.asked
        )
        return noticed, against or clash.against


class _Premises:
    """All premises of one question."""

    def __init__(self, texts: Iterable[str], question: str) -> None:
        premises = {text: read_statements(text) for text in texts}
        sentences = [statement.terms for statements in premises.values() for statement in statements]
        self._weights = TermWeights.fit_terms(sentences, question)
        plain = TermWeights.fit_terms(sentences)
        asked = read_statement(question)
        self._asked = Figures(asked.figures)
        self._asked_related = asked.related
        topic = Question(asked)
        self._premises = {
            text: _Premise(statements, self._weights, plain, topic) for text, statements in premises.items()
        }
        self._between: dict[tuple[Pair, int], Related] = {}

    def notice(self, pair: Pair) -> tuple[Noticed, ...]:
        """What speaks for a contradiction in each sentence of a hypothesis."""
        premise = self._premises[pair.premise]
        return tuple(premise.noticed(statement)[0] for statement in read_statements(pair.hypothesis))

    def relate(self, pair: Pair, *, among: int) -> Related:
        """Relate one pair; `among` is the number of premises that its hypothesis is held against."""
        if pair.hypothesis not in self._premises:
            return self._relate(pair, among)
        # What passages say of each other is the same for every answer.
        known = self._between.get((pair, among))
        if known is None:
            known = self._between[pair, among] = self._relate(pair, among)
        return known

    def _relate(self, pair: Pair, among: int) -> Related:
        premise = self._premises[pair.premise]
        hypothesis = read_statements(pair.hypothesis)
        distinct = _distinct(hypothesis)
        head = trained_head()
        noticed = [premise.noticed(statement) for statement in distinct]
        surest, against = max(
            ((head.probability(found), against) for found, against in noticed),
            default=(0.0, ""),
        )
        if surest >= head.contradicted_from:
            return Related(Entailment.CONTRADICTION, _contradicted(surest), against)
        masses = [self._weights.total(statement.terms) for statement in hypothesis]
        if not premise.statements or not sum(masses):
            return Related(Entailment.NEUTRAL, 1.0)
        best = {statement.text: _support(statement, premise, self._weights) for statement in distinct}
        shares = [best[statement.text][0] for statement in hypothesis]
        support = sum(share * mass for share, mass in zip(shares, masses, strict=True)) / sum(masses)
        enough = ENTAILED_FROM + FOR_EACH_DOUBLING * math.log2(among)
        if support >= enough and not any(self._invents(statement, premise) for statement in distinct):
            return Related(Entailment.ENTAILMENT, _supported(support), best[hypothesis[0].text][1])
        return Related(Entailment.NEUTRAL, 1 - support)

    def _invents(self, statement: Statement, premise: _Premise) -> bool:
        """Whether a statement has a figure, date or name that neither this premise nor the question has."""
        if premise.lacks_figure(statement, self._asked):
            return True
        return any(
            word.name
            and related(word.term) not in premise.related
            and related(word.term) not in self._asked_related
            for word in content(statement.text)
        )


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _ground(premises: frozenset[str], question: str) -> _Premises:
    """The premises of a question, read once for all answers; nothing depends on their order."""
    return _Premises(premises, question)


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


def _contradicted(probability: float) -> float:
    """What the head says, as the probability of an edge: few claims of real answers are wrong."""
    return 0.5 + CREDENCE * (probability - 0.5)


def _supported(share: float) -> float:
    """A share of terms as the probability of being entailed: it rises from LOWEST with the share."""
    above = (share - ENTAILED_FROM) / (1 - ENTAILED_FROM)
    return max(LOWEST, 0.5 + (HIGHEST - 0.5) * above)
