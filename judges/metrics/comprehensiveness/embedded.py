"""Comprehensiveness without an LLM: clauses as claims, with relevance and relations by shared words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType

from data.declines import declines
from data.models import EMBEDDED_ENGINE, Json, MetricItem, Passage
from judges.metrics.comprehensiveness.graph import Claim, Relation, Relations, Wordings, ground_truth_of
from judges.metrics.comprehensiveness.report import ComprehensivenessSettings, Facts
from judges.metrics.relations.entailment import StatementRelations, entailment_weights
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Entailment
from judges.pairwise.cleaning import clean
from judges.text.sentences import CACHED_TEXTS, read_sentences, split_clauses, split_sentences, stating
from judges.text.statements import read_statement

MIN_LEAD_WORDS = 3
LOWEST, HIGHEST = 1.0, 5.0
ON_TOPIC = 0.5
AS_CLOSE, AS_NEAR, ENOUGH = 0.4, 0.1, 0.25
"""A claim with these shares of the best claim's and the best passage's weight gets `ENOUGH`: a relevance of
3.5, the paper's threshold."""
IN_CONTEXT = 0.5
"""Weight of a question's term that only the passage's title or earlier claims contain."""
RELATIONS: Mapping[Entailment, Relation] = MappingProxyType(
    {kind: Relation(kind.value) for kind in Entailment}
)


@lru_cache(maxsize=CACHED_TEXTS)
def claims_of(text: str) -> tuple[str, ...]:
    """Split a passage into claims: its clauses, with short leading parts joined to the next clause."""
    claims: list[str] = []
    for sentence in split_sentences(text):
        lead = ""
        for clause in split_clauses(sentence):
            whole = f"{lead}: {clause}" if lead else clause
            lead = whole if len(whole.split()) < MIN_LEAD_WORDS else ""
            if not lead:
                claims.append(whole)
        if lead:
            claims.append(lead)
    return tuple(claim for claim in claims if read_statement(claim).terms)


class Ground:
    """A question with its parsed passages, shared by all answers."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        claims = {passage.id: claims_of(passage.text) for passage in passages}
        texts = [text for own in claims.values() for text in own]
        self._relations = StatementRelations(map(read_statement, texts), entailment_weights(texts, question))
        self._question = read_statement(question).related
        self._first = {passage.id: _first_places(passage) for passage in passages}
        self._place = {
            (name, text): place
            for name, own in claims.items()
            for place, text in reversed(list(enumerate(own)))
        }
        self._near = {name: len(self._question & first.keys()) for name, first in self._first.items()}
        self._nearest = max(self._near.values(), default=0)
        self._rates: dict[Claim, float] = {}
        self._best = {
            name: max((self._here(Claim(text, name)) for text in own), default=0.0)
            for name, own in claims.items()
        }

    def relations(self, claims: Iterable[str]) -> dict[tuple[str, str], Entailment]:
        """Return all relations except neutral ones among the passages' claims and with an answer's claims."""
        return {**self._relations.own, **self._relations.of(map(read_statement, claims))}

    def rate(self, claim: Claim) -> float:
        """Return the relevance of a claim, 1–5, from its own and its passage's share of the question."""
        if claim not in self._rates:
            self._rates[claim] = self._rate(claim)
        return self._rates[claim]

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
        """Weigh the terms of the question in a claim; terms of earlier claims count in part."""
        own = self._question & read_statement(claim.text).related
        first = self._first.get(claim.source, {})
        place = self._place.get((claim.source, claim.text), 0)
        before = sum(first.get(term, place) < place for term in self._question - own)
        return len(own) + IN_CONTEXT * before


def _first_places(passage: Passage) -> dict[str, int]:
    """Return the index of the claim in which each root of a passage first occurs; −1 for its title."""
    places = dict.fromkeys(read_statement(passage.title).related, -1)
    for place, text in enumerate(claims_of(passage.text)):
        for root in read_statement(text).related:
            places.setdefault(root, place)
    return places


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def ground_of(question: str, passages: tuple[Passage, ...]) -> Ground:
    """Return the parsed texts of a question, shared by all systems' answers."""
    return Ground(question, passages)


class LexicalSteps:
    """Lexical steps for one item, with term weights fitted on its passages."""

    def __init__(self, item: MetricItem) -> None:
        self._item = item

    @cached_property
    def _ground(self) -> Ground:
        return ground_of(self._item.question, ground_truth_of(self._item))

    async def claims(self, text: str, source: str) -> tuple[Claim, ...]:
        """Return the clauses of a passage, or the stating sentences of an answer, as claims."""
        if source:
            return tuple(Claim(clause, source) for clause in claims_of(text))
        bare = clean(text)
        if declines(bare, self._item.question):
            return ()
        texts = (sentence.text for sentence in stating(read_sentences(bare)))
        return tuple(Claim(text) for text in texts if read_statement(text).terms)

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...]:
        """Rate claims by their share of the question."""
        return tuple(map(self._ground.rate, claims))

    async def relations(
        self, wordings: Wordings, select: Callable[[str, str], bool] | None = None
    ) -> Relations:
        """Compare the two claims of each pair."""
        relations = self._ground.relations(wordings.of_answer)
        return {pair: RELATIONS[row] for pair, row in relations.items() if select is None or select(*pair)}

    def rate(self, claim: Claim) -> float:
        """Rate the relevance of a claim, 1–5; 3 if it or its passage shares no term with the question."""
        return self._ground.rate(claim)


class LexicalEndToEndReader:
    """Finds covered and missing claims by words."""

    engine = EMBEDDED_ENGINE

    def __init__(self, settings: ComprehensivenessSettings) -> None:
        self._settings = settings

    async def read(self, item: MetricItem) -> Facts:
        """Compare each relevant claim of the passages with the answer and its sentences."""
        steps = LexicalSteps(item)
        answer = await steps.claims(item.answer, "")
        sentences = tuple(claim.text for claim in answer)
        whole = " ".join(sentences)
        relations = ground_of(item.question, ground_truth_of(item)).relations({whole, *sentences} - {""})
        claims: dict[str, Claim] = {}
        for passage in ground_truth_of(item):
            for text in claims_of(passage.text):
                claims.setdefault(" ".join(text.casefold().split()), Claim(text, passage.id))
        covered: list[Json] = []
        missing: list[Json] = []
        contradicted: list[Json] = []
        for claim in claims.values():
            if steps.rate(claim) < self._settings.relevance:
                continue
            fact: dict[str, Json] = {"text": claim.text, "passages": [claim.source]}
            by_relation = {
                Entailment.ENTAILMENT if text == claim.text else relations.get((text, claim.text)): text
                for text in (whole, *sentences)
            }
            if Entailment.ENTAILMENT in by_relation:
                covered.append(fact)
                continue
            missing.append(fact)
            if Entailment.CONTRADICTION in by_relation:
                contradicted.append({**fact, "answer": by_relation[Entailment.CONTRADICTION]})
        return Facts(covered=covered, missing=missing, basis=missing, contradicted=contradicted)
