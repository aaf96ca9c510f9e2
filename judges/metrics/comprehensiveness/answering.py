"""What a question asks for, and whether a statement of an answer says what a claim of a passage says to it.

A date or figure that is asked for must be the claim's own, whatever other words are shared; a "yes" or "no"
stands with the claims that affirm or deny what is asked. Everything else is told by shared words
(`judges.text.entailment`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

from data.records import Passage
from judges.metrics.comprehensiveness.claims import Claim
from judges.metrics.relations.model import QUESTION_CACHE_SIZE
from judges.metrics.relations.slots import Question, Values, beyond, values_of
from judges.text.entailment import Entailment, StatementRelations, classify, entailment_weights
from judges.text.sentences import split_clauses, split_sentences
from judges.text.statements import Statement, read_statement
from judges.text.term_weights import TermWeights

AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)(?:n['’]t)?"
)
ASKS_WHETHER = re.compile(rf"{AUXILIARY}\s")
THEN_WHETHER = re.compile(rf",\s{AUXILIARY}\s(?:he|she|it|they|there|the)\s")
"""A question for yes or no, perhaps after a clause: "When he was tried, was he …?"."""
VERDICT = re.compile(r"(?:answer)?[^\w.!?]{0,20}(yes|no)\b")
LATER_VERDICT = re.compile(r"[,:] (yes|no)(?=[,.;:!\n]|$)")
"""Behind an opening such as "According to the log, …", only what is set off is a verdict."""
SENTENCE_END = re.compile(r"[.!?]\s")
BEFORE_ANSWER = " \n\t\\*({[\"'"
EXCEPTING = re.compile(r"\b(?:except(?:ing)?|excluding|instead of|rather than|other than)\b")
TAKES_SIDES = 0.65
"""From this share of the question's weight on, a claim affirms or denies what is asked."""
SHORTEST_LEAD = 3


def straight(text: str) -> str:
    """A text with plain apostrophes, so that D'Oyly and D’Oyly are one name."""
    return text.replace("’", "'")


def read(text: str, source: str = "") -> Statement:
    """Read one statement, whatever its apostrophes are."""
    return read_statement(straight(text), source)


@lru_cache(maxsize=1 << 11)
def claims_of(text: str) -> tuple[str, ...]:
    """The claims of a passage: its clauses that say something, a leading word or two kept with the next."""
    claims: list[str] = []
    for sentence in split_sentences(text):
        lead = ""
        for clause in split_clauses(sentence):
            whole = f"{lead}: {clause}" if lead else clause
            lead = whole if len(whole.split()) < SHORTEST_LEAD else ""
            if not lead:
                claims.append(whole)
        if lead:
            claims.append(lead)
    return tuple(claim for claim in claims if read(claim).terms)


class Asked:
    """What one question asks for.

    Args:
        question: Its text.
        weights: Term weights of its passages, the question's terms weighing little.
        plain: The same with the question's terms in full.
    """

    def __init__(self, question: str, weights: TermWeights, plain: TermWeights) -> None:
        self.statement = read(question)
        self._question = Question(self.statement)
        self.weights = weights
        self._plain = plain
        asked = straight(question).strip().casefold()
        self.whether = bool(ASKS_WHETHER.match(asked) or THEN_WHETHER.search(asked))
        self._valued = not self.whether and any(map(self._question.asks_for, ("year", "count")))

    def verdict(self, answer: str) -> bool | None:
        """Whether an answer opens with "yes" or "no" where that is asked; None where it does not."""
        if not self.whether:
            return None
        text = answer.strip(BEFORE_ANSWER).casefold()
        said = VERDICT.match(text) or LATER_VERDICT.search(SENTENCE_END.split(text, maxsplit=1)[0])
        return said[1] == "yes" if said else None

    def side(self, claim: Statement) -> bool | None:
        """Whether a claim affirms what is asked; None where it has too little of it."""
        share = self._plain.share(self.statement.terms, claim.terms, claim.related)
        if not self.whether or share < TAKES_SIDES:
            return None
        denies = claim.negated or bool(EXCEPTING.search(claim.text.casefold()))
        return denies == self.statement.negated

    def relate(self, said: Statement, claim: Statement, verdict: bool | None) -> Entailment:
        """Tell what a statement of an answer says of a passage's claim; `verdict` is that of the answer."""
        held = _held(self.values(said), verdict, self.values(claim), self.side(claim))
        if held:
            return Entailment.ENTAILMENT
        by_words = classify(said, claim, self.weights)
        return Entailment.NEUTRAL if held is False and by_words is Entailment.ENTAILMENT else by_words

    def values(self, statement: Statement) -> Values:
        """The figures and dates of a statement that are of the kind that is asked for, and news."""
        if not self._valued:
            return ()
        news = beyond(values_of(statement.text), self._question.values)
        return tuple(value for value in news if self._question.asks_for(value.dimension))


def _held(ours: Values, verdict: bool | None, theirs: Values, side: bool | None) -> bool | None:
    """Whether what is asked for is the same in both; None where that decides nothing."""
    agree = _agree(ours, theirs)
    if agree is not None:
        return agree
    return None if side is None or verdict is None else side == verdict


def _agree(ours: Values, theirs: Values) -> bool | None:
    """Whether two texts have one value of each kind that both have; None where they have none in common."""
    kinds = {value.dimension for value in ours} & {value.dimension for value in theirs}
    if not kinds:
        return None
    agreed = {value.dimension for value in ours if any(map(value.same, theirs))}
    return kinds <= agreed


@dataclass(frozen=True, slots=True)
class _Answering:
    """What a claim of a passage says to the question: its values and its side, where it has any."""

    text: str
    values: Values
    side: bool | None


LOWEST, HIGHEST = 1.0, 5.0
ON_TOPIC = 0.5
AS_CLOSE, AS_NEAR, ENOUGH = 0.4, 0.1, 0.25
"""How much of the question a claim must have beside the best of its passage, and its passage beside the best
passage, to reach the share that makes 3.5, the paper's threshold."""
IN_CONTEXT = 0.5
"""What a term of the question counts for a claim where only its passage's title or earlier claims have it."""


class Ground:
    """A question with its passages, read once for all answers."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        claims = {passage.id: claims_of(passage.text) for passage in passages}
        read_claims = {text: read(text) for own in claims.values() for text in own}
        texts = [straight(text) for passage in passages for text in claims_of(passage.text)]
        weights = entailment_weights(texts, straight(question))
        self.asked = Asked(question, weights, TermWeights.fit(texts))
        self._by_words = StatementRelations(read_claims.values(), weights)
        # What is read has plain apostrophes; what is shown has those of the passage.
        self._written: dict[str, list[str]] = {}
        for text, claim in read_claims.items():
            self._written.setdefault(claim.text, []).append(text)
        answering = (
            _Answering(text, self.asked.values(claim), self.asked.side(claim))
            for text, claim in read_claims.items()
        )
        self._answering = {each.text: each for each in answering if each.values or each.side is not None}
        self._rates: dict[Claim, float] = {}
        self._terms = self.asked.statement.related
        self._first = {passage.id: _first_places(passage) for passage in passages}
        self._place = {
            (name, text): place
            for name, own in claims.items()
            for place, text in reversed(list(enumerate(own)))
        }
        self._near = {passage.id: len(self._terms & self._first[passage.id].keys()) for passage in passages}
        self._nearest = max(self._near.values(), default=0)
        self._best = {
            name: max((self._here(Claim(text, name)) for text in own), default=0.0)
            for name, own in claims.items()
        }

    def relations(self, of_answer: Iterable[str], verdict: bool | None) -> dict[tuple[str, str], Entailment]:
        """Every relation but neutrality among the passages' claims, and between these and an answer's.

        Args:
            of_answer: The claims of the answer.
            verdict: Its yes or no.
        """
        said = {text: read(text) for text in of_answer}
        written = self._written | {
            statement.text: [text, *self._written.get(statement.text, ())] for text, statement in said.items()
        }
        told = dict(self._own)
        for (first, second), relation in self._by_words.of(said.values()).items():
            told.update(dict.fromkeys(product(written[first], written[second]), relation))
        for text, statement in said.items():
            values = self.asked.values(statement)
            for name, claim in self._answering.items():
                held = _held(values, verdict, claim.values, claim.side)
                if held:
                    told[text, name] = Entailment.ENTAILMENT
                elif held is False and told.get((text, name)) is Entailment.ENTAILMENT:
                    del told[text, name]
        return told

    @cached_property
    def _own(self) -> dict[tuple[str, str], Entailment]:
        """What the passages' claims say of each other."""
        return {
            pair: relation
            for (first, second), relation in self._by_words.own.items()
            for pair in product(self._written[first], self._written[second])
        }

    def rate(self, claim: Claim) -> float:
        """The relevance of one claim, 1–5: by its own share of the question, and by its passage's."""
        rate = self._rates.get(claim)
        if rate is None:
            rate = self._rate(claim)
            if claim.source:
                self._rates[claim] = rate
        return rate

    def _rate(self, claim: Claim) -> float:
        if not self._nearest:
            return HIGHEST
        here = self._here(claim)
        best = max(here, self._best.get(claim.source, 0.0))
        close = here / best / AS_CLOSE if best else 0.0
        near = self._near.get(claim.source, 0) / self._nearest / AS_NEAR
        share = min(1.0, ENOUGH * min(close, near))
        return LOWEST + (HIGHEST - LOWEST) * (ON_TOPIC + (1 - ON_TOPIC) * share)

    def _here(self, claim: Claim) -> float:
        """How many terms of the question a claim has where it stands; what went before counts in part."""
        own = self._terms & read(claim.text).related
        first = self._first.get(claim.source, {})
        place = self._place.get((claim.source, claim.text), 0)
        before = sum(first.get(term, place) < place for term in self._terms - own)
        return len(own) + IN_CONTEXT * before


def _first_places(passage: Passage) -> dict[str, int]:
    """In which claim of a passage each of its words comes first; its title comes before all."""
    places = dict.fromkeys(read(passage.title).related, -1)
    for place, text in enumerate(claims_of(passage.text)):
        for root in read(text).related:
            places.setdefault(root, place)
    return places


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def ground_of(question: str, passages: tuple[Passage, ...]) -> Ground:
    """Every system's answer to a question is held against the same texts."""
    return Ground(question, passages)
