"""Aspects of a question, the claims that cover each, and what supports them (ICAT, sections 3.2 to 4.4)."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from data.models import MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.llm.templates import Tagged, passage_text
from judges.metrics.coverage.judgments import AspectJudgments
from judges.metrics.coverage.settings import ALIGNMENT, ASPECTS
from judges.metrics.coverage.sources import Source
from judges.metrics.factuality.evidence import Claim
from judges.metrics.relations.model import QUESTION_CACHE_SIZE, Entailment, Pair, RelationModel
from judges.text.contradictions import ContradictionFinder, NeedReader, TermWeights, windows_of
from judges.text.statements import Statement, read_statement, read_statements
from judges.text.tokens import related, terms

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


NOVELTY = 0.5
LEAST_RELEVANCE = 0.6


class GivenAspects:
    """Takes the aspects that the question set gives (variants M and S); `origin` is for people."""

    origin = "given"

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Return the given aspects."""
        return distinct(item.aspects)


class LlmAspects:
    """Has an LLM write the aspects from the question alone (variant A).

    The given aspects are never shown: in ICAT's public code they reach the alignment prompt of A.
    """

    origin = "written by an LLM"

    def __init__(self, runner: TaskRunner, *, most: int) -> None:
        self._runner = runner
        self._most = most

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Ask once."""
        reply = await self._runner.run(ASPECTS, {"question": item.question, "most": self._most})
        return reply if isinstance(reply, CallFailure) else distinct(reply.aspects)[: self._most]


class LeadingStatements:
    """Takes statements of the passages, the embedded stand-in for generated aspects.

    Each is chosen for its weight and its passage's relevance, less what the chosen ones say already.
    """

    origin = "leading statements of the passages"

    def __init__(self, *, most: int) -> None:
        self._most = most

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Choose statements."""
        return _leading(item.passages, item.question, self._most)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _leading(passages: tuple[Passage, ...], question: str, most: int) -> tuple[str, ...]:
    """Return the leading statements; they are the same for every answer to a question."""
    topic = frozenset(map(related, terms(question)))
    roots = {
        passage.id: topic.intersection(map(related, terms(f"{passage.title} {passage.text}")))
        for passage in passages
    }
    nearest = max(map(len, roots.values()), default=0) or 1
    left = [each for passage in passages for each in read_statements(passage.text, passage.id)]
    weights = TermWeights.fit([statement.terms for statement in left], question)
    chosen: list[str] = []
    said, kin = frozenset[str](), frozenset[str]()

    def gain(statement: Statement) -> float:
        relevance = LEAST_RELEVANCE + (1 - LEAST_RELEVANCE) * len(roots[statement.source]) / nearest
        novel = max(0.0, 1 - weights.share(statement.terms, said, kin) / NOVELTY)
        return math.sqrt(weights.total(statement.terms)) * relevance * novel

    while left and len(chosen) < most:
        best = max(left, key=gain)
        if not gain(best):
            break
        chosen.append(best.text)
        left.remove(best)
        said, kin = said | best.terms, kin | best.related
    return distinct(tuple(chosen))


def distinct(aspects: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out empty and repeated aspects."""
    return tuple(dict.fromkeys(" ".join(aspect.split()) for aspect in aspects if aspect.strip()))


AspectSource = GivenAspects | LlmAspects | LeadingStatements
ALIGNED_FROM = 0.25


@dataclass(frozen=True, slots=True)
class Alignment:
    """The places of the claims that cover each covered aspect.

    `ignored` counts ids of the LLM's reply that are none of an aspect or a claim.
    """

    claims: Mapping[int, tuple[int, ...]]
    ignored: int = 0


class JudgedAligner:
    """Gives a claim the aspects that people judged its first supporting passage relevant to (variant M)."""

    def __init__(self, judgments: AspectJudgments) -> None:
        self._judgments = judgments

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | CallFailure:
        """Look the supports up under the item's question."""
        aligned: dict[int, list[int]] = {}
        for number, claim in enumerate(claims):
            if claim.support is not None:
                for place in self._judgments.covered(item.id, claim.support.id, aspects):
                    aligned.setdefault(place, []).append(number)
        return _alignment(aligned)


class LlmAligner:
    """Asks an LLM once for all grounded claims and aspects (variants S and A)."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | CallFailure:
        """Ask; ids that are none of what was shown are left out and counted."""
        by_aspect = {f"t{place}": place for place in range(1, len(aspects) + 1)}
        by_claim = {claim.claim.id: number for number, claim in enumerate(claims)}
        reply = await self._runner.run(
            ALIGNMENT,
            {
                "question": item.question,
                "aspects": [
                    Tagged("aspect", text, f"t{place}") for place, text in enumerate(aspects, start=1)
                ],
                "claims": [Tagged("claim", grounded.claim.text, grounded.claim.id) for grounded in claims],
            },
        )
        if isinstance(reply, CallFailure):
            return reply
        aligned: dict[int, list[int]] = {}
        ignored = 0
        for entry in reply.covered:
            numbers = [by_claim[name] for name in entry.claims if name in by_claim]
            ignored += len(entry.claims) - len(numbers) + (entry.aspect not in by_aspect)
            if entry.aspect in by_aspect and numbers:
                aligned.setdefault(by_aspect[entry.aspect] - 1, []).extend(numbers)
        return _alignment(aligned, ignored)


class EmbeddedAligner:
    """Aligns by words: those of the aspect and of what the passages and the reference say nearest to it."""

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | CallFailure:
        """Compare every claim with every aspect."""
        texts = tuple(passage.text for passage in item.passages)
        reader = _need_reader(item.question, item.reference or "", texts)
        windows = [windows_of(claim.claim.text) for claim in claims]
        aligned: dict[int, list[int]] = {}
        for place, aspect in enumerate(aspects):
            matching = [
                number
                for number, window in enumerate(windows)
                if reader.share(aspect, window) >= ALIGNED_FROM
            ]
            if matching:
                aligned[place] = matching
        return _alignment(aligned)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _need_reader(question: str, reference: str, texts: tuple[str, ...]) -> NeedReader:
    """Build the reader of a question's texts; it is the same for every answer."""
    statements = [statement.terms for text in (reference, *texts) for statement in read_statements(text)]
    return NeedReader([[reference], texts], TermWeights.fit(statements, question))


def _alignment(aligned: Mapping[int, Sequence[int]], ignored: int = 0) -> Alignment:
    in_order = {place: tuple(sorted(set(numbers))) for place, numbers in sorted(aligned.items())}
    return Alignment(MappingProxyType(in_order), ignored)


Aligner = JudgedAligner | LlmAligner | EmbeddedAligner
