"""Grounding of claims in the first text that supports each (ICAT, sections 3.2 and 4.3)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from data.models import Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.templates import passage_text
from judges.metrics.coverage.sources import Source
from judges.metrics.factuality.evidence import Claim
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Entailment, Pair, RelationModel
from judges.text.contradictions import ContradictionFinder
from judges.text.overlap import TermWeights, windows_of
from judges.text.statements import read_statement, read_statements

SUPPORTED_FROM = 0.35
UNTRUE_FROM = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """A claim, the best-ranked of `looked_at` chunks that supports it, and why that is undecided."""

    claim: Claim
    support: Passage | None = None
    looked_at: int = 0
    undecided: str = ""


class LlmSupport:
    """Asks rank by rank, so that nothing is asked below the first chunk that supports a claim."""

    def __init__(self, relations: RelationModel) -> None:
        self._relations = relations

    async def first(
        self, claims: Sequence[tuple[Claim, Sequence[Passage]]], *, question: str
    ) -> Sequence[int | CallFailure | None]:
        """Return the place of each claim's first supporting chunk, None, or why that is not known."""
        return await asyncio.gather(
            *(self._first_support(claim, chunks, question) for claim, chunks in claims)
        )

    async def _first_support(
        self, claim: Claim, chunks: Sequence[Passage], question: str
    ) -> int | CallFailure | None:
        unknown: CallFailure | None = None
        for place, chunk in enumerate(chunks):
            pair = Pair(passage_text(chunk), claim.text)
            (relation,) = await self._relations.relate([pair], question=question)
            if isinstance(relation, CallFailure):
                unknown = unknown or relation
                if relation.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
                    return relation
            elif relation.stance is Entailment.ENTAILMENT:
                return place
        return unknown


class LexicalSupport:
    """Decides by words: a chunk supports a claim where two neighbouring sentences have enough of its weight.

    A claim that says otherwise than the chunks, in a figure, a direction or a negation, is supported by none.
    Paraphrase is common and chance overlap of two sentences rare, so less than half of a claim's weight
    is enough.
    """

    async def first(
        self, claims: Sequence[tuple[Claim, Sequence[Passage]]], *, question: str
    ) -> Sequence[int | CallFailure | None]:
        """Look for the first supporting chunk of every claim."""
        texts = dict.fromkeys(passage_text(chunk) for _, chunks in claims for chunk in chunks)
        weights = _weights(frozenset(texts), question)
        finder = ContradictionFinder([each for text in texts for each in read_statements(text)], weights)
        places: list[int | CallFailure | None] = []
        for claim, chunks in claims:
            statement = read_statement(claim.text)
            wrong = any(contradiction.strength >= UNTRUE_FROM for contradiction in finder.find(statement))
            supporting = (
                place
                for place, chunk in enumerate(chunks)
                if any(
                    weights.share(statement.terms, window.terms, window.related) >= SUPPORTED_FROM
                    for window in windows_of(passage_text(chunk))
                )
            )
            places.append(None if wrong else next(supporting, None))
        return places


Support = LlmSupport | LexicalSupport


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _weights(texts: frozenset[str], question: str) -> TermWeights:
    """Most answers to a question find the same chunks, and weights do not depend on their order."""
    statements = [each.terms for text in texts for each in read_statements(text)]
    return TermWeights.fit(statements, question)


async def ground(
    claims: Sequence[Claim], source: Source, support: Support, *, k: int, question: str
) -> tuple[Grounded, ...] | CallFailure:
    """Ground claims.

    Returns:
        One a claim, in order. A search or request that failed or found no budget is returned instead,
        since asking again may help; a reply that came and was of no use leaves its claim undecided.
    """
    retrieved = await asyncio.gather(*(source.find(claim.text, k) for claim in claims))
    failures = [result for result in retrieved if isinstance(result, CallFailure)]
    if failures:
        return failures[0]
    chunks = [result for result in retrieved if not isinstance(result, CallFailure)]
    places = await support.first(list(zip(claims, chunks, strict=True)), question=question)
    grounded = []
    for claim, retrieved_chunks, place in zip(claims, chunks, places, strict=True):
        entry = Grounded(claim=claim, looked_at=len(retrieved_chunks))
        if isinstance(place, CallFailure):
            if place.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
                return place
            entry = replace(entry, undecided=place.detail)
        elif place is not None:
            entry = replace(entry, support=retrieved_chunks[place])
        grounded.append(entry)
    return tuple(grounded)
