"""Grounding of claims, and their alignment with aspects of the question (ICAT, sections 3.2 to 4.4)."""

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
from judges.metrics.relations.windows import NeedReader, windows_of
from judges.text.contradictions import ContradictionFinder, TermWeights
from judges.text.statements import Statement, read_statement, read_statements
from judges.text.tokens import related, terms

SUPPORTED_FROM = 0.35
UNTRUE_FROM = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """A claim, its best-ranked supporting chunk out of `looked_at`, and the reason if undecided."""

    claim: Claim
    support: Passage | None = None
    looked_at: int = 0
    undecided: str = ""


class LlmSupport:
    """Asks rank by rank until a chunk supports the claim."""

    def __init__(self, relations: RelationModel) -> None:
        self._relations = relations

    async def first(
        self, claims: Sequence[tuple[Claim, Sequence[Passage]]], *, question: str
    ) -> Sequence[int | CallFailure | None]:
        """Return the index of each claim's first supporting chunk, None, or a failure."""
        return await asyncio.gather(
            *(self._first_support(claim, chunks, question) for claim, chunks in claims)
        )

    async def _first_support(
        self, claim: Claim, chunks: Sequence[Passage], question: str
    ) -> int | CallFailure | None:
        failure: CallFailure | None = None
        for place, chunk in enumerate(chunks):
            pair = Pair(passage_text(chunk), claim.text)
            (relation,) = await self._relations.relate([pair], question=question)
            if isinstance(relation, CallFailure):
                failure = failure or relation
                if relation.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
                    return relation
            elif relation.stance is Entailment.ENTAILMENT:
                return place
        return failure


class LexicalSupport:
    """Decides by words: a chunk supports a claim if two neighbouring sentences have enough of its weight.

    Less than half of the weight is enough, because paraphrases are common and chance overlaps are rare. A
    claim that differs from the chunks in a figure, a direction or a negation has no support.
    """

    async def first(
        self, claims: Sequence[tuple[Claim, Sequence[Passage]]], *, question: str
    ) -> Sequence[int | CallFailure | None]:
        """Find the first supporting chunk of every claim."""
        texts = dict.fromkeys(passage_text(chunk) for _, chunks in claims for chunk in chunks)
        weights = _weights(frozenset(texts), question)
        finder = ContradictionFinder([row for text in texts for row in read_statements(text)], weights)
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
    # Most answers to a question retrieve the same chunks; a set makes the key independent of their order.
    statements = [row.terms for text in texts for row in read_statements(text)]
    return TermWeights.fit(statements, question)


async def ground(
    claims: Sequence[Claim], source: Source, support: Support, *, k: int, question: str
) -> tuple[Grounded, ...] | CallFailure:
    """Ground claims in order.

    A failed or skipped search or request is returned instead, because a retry may help; an unreadable reply
    leaves its claim undecided.
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
MIN_RELEVANCE = 0.6


class SetAspects:
    """Uses the aspects of the question set (variants M and S); `origin` is a description."""

    origin = "given"

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Return the item's aspects."""
        return distinct(item.aspects)


class LlmAspects:
    """Lets an LLM write the aspects from the question (variant A).

    Unlike in ICAT's public code, the set's aspects do not reach the alignment prompt.
    """

    origin = "written by an LLM"

    def __init__(self, runner: TaskRunner, *, maximum: int) -> None:
        self._runner = runner
        self._maximum = maximum

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Ask once."""
        reply = await self._runner.run(ASPECTS, {"question": item.question, "most": self._maximum})
        return reply if isinstance(reply, CallFailure) else distinct(reply.aspects)[: self._maximum]


class LeadingStatements:
    """Uses statements of the passages, the embedded substitute for generated aspects.

    The choice maximises weight and relevance of the passage, and minimises overlap with earlier choices.
    """

    origin = "leading statements of the passages"

    def __init__(self, *, maximum: int) -> None:
        self._maximum = maximum

    async def find(self, item: MetricItem) -> tuple[str, ...] | CallFailure:
        """Choose statements."""
        return _leading(item.passages, item.question, self._maximum)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def _leading(passages: tuple[Passage, ...], question: str, maximum: int) -> tuple[str, ...]:
    topic = frozenset(map(related, terms(question)))
    roots = {
        passage.id: topic.intersection(map(related, terms(f"{passage.title} {passage.text}")))
        for passage in passages
    }
    nearest = max(map(len, roots.values()), default=0) or 1
    left = [row for passage in passages for row in read_statements(passage.text, passage.id)]
    weights = TermWeights.fit([statement.terms for statement in left], question)
    chosen: list[str] = []
    covered, roots_covered = frozenset[str](), frozenset[str]()

    def gain(statement: Statement) -> float:
        relevance = MIN_RELEVANCE + (1 - MIN_RELEVANCE) * len(roots[statement.source]) / nearest
        novel = max(0.0, 1 - weights.share(statement.terms, covered, roots_covered) / NOVELTY)
        return math.sqrt(weights.total(statement.terms)) * relevance * novel

    while left and len(chosen) < maximum:
        best = max(left, key=gain)
        if not gain(best):
            break
        chosen.append(best.text)
        left.remove(best)
        covered, roots_covered = covered | best.terms, roots_covered | best.related
    return distinct(tuple(chosen))


def distinct(aspects: tuple[str, ...]) -> tuple[str, ...]:
    """Remove empty and repeated aspects."""
    return tuple(dict.fromkeys(" ".join(aspect.split()) for aspect in aspects if aspect.strip()))


AspectSource = SetAspects | LlmAspects | LeadingStatements
ALIGNED_FROM = 0.25


@dataclass(frozen=True, slots=True)
class Alignment:
    """Indexes of the claims that cover each covered aspect.

    `ignored` counts unknown ids of aspects or claims in the LLM's reply.
    """

    claims: Mapping[int, tuple[int, ...]]
    ignored: int = 0


class JudgedAligner:
    """Aligns a claim with the aspects that people assigned to its supporting passage (variant M)."""

    def __init__(self, judgments: AspectJudgments) -> None:
        self._judgments = judgments

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | CallFailure:
        """Look up the supporting passages."""
        by_aspect: dict[int, list[int]] = {}
        for number, claim in enumerate(claims):
            if claim.support is not None:
                for place in self._judgments.covered(item.id, claim.support.id, aspects):
                    by_aspect.setdefault(place, []).append(number)
        return _alignment(by_aspect)


class LlmAligner:
    """Asks an LLM once about all grounded claims and aspects (variants S and A)."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def align(
        self, item: MetricItem, claims: Sequence[Grounded], aspects: Sequence[str]
    ) -> Alignment | CallFailure:
        """Ask for the alignment; unknown ids are dropped and counted."""
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
    """Aligns by words of the aspect and of the closest clauses in the passages and the reference."""

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
    statements = [statement.terms for text in (reference, *texts) for statement in read_statements(text)]
    return NeedReader([[reference], texts], TermWeights.fit(statements, question))


def _alignment(aligned: Mapping[int, Sequence[int]], ignored: int = 0) -> Alignment:
    in_order = {place: tuple(sorted(set(numbers))) for place, numbers in sorted(aligned.items())}
    return Alignment(MappingProxyType(in_order), ignored)


Aligner = JudgedAligner | LlmAligner | EmbeddedAligner
