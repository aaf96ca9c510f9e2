"""Claims of an answer and their contexts, the same for every assessor."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from data.models import MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.metrics.comprehensiveness.embedded import LexicalSteps
from judges.metrics.comprehensiveness.graph import CONTENT_KINDS, Steps, UnscoredError, require_reply
from judges.metrics.comprehensiveness.llm_steps import LlmSteps
from judges.metrics.coverage.sources import LocalSource, Source
from judges.metrics.factuality.contexts import Contexts, PassageIndex, gather, passage_index
from judges.metrics.factuality.tasks import QUERY, SUMMARY, FactualitySettings
from judges.metrics.shortening import shorten
from judges.text.tokens import terms

ClaimSteps = Callable[[MetricItem], Steps]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer; ids are a1, a2, … in the order of the answer."""

    id: str
    text: str


def steps_of(runner: TaskRunner | None) -> ClaimSteps:
    """Return the steps for claims: an LLM's (Atomizer, Reviser), or sentences."""
    return LexicalSteps if runner is None else lambda item: LlmSteps(runner, item)


async def claims_of(item: MetricItem, steps: ClaimSteps) -> tuple[Claim, ...]:
    """Return the distinct claims of an answer, without statements about the answer itself.

    Source: FactReasoner, section 3.3.
    """
    claims = await steps(item).claims(item.answer, "")
    return numbered([claim.text for claim in claims if claim.kind in CONTENT_KINDS])


def numbered(texts: Sequence[str]) -> tuple[Claim, ...]:
    """Assign numbers to distinct claims in order."""
    distinct = filter(None, dict.fromkeys(" ".join(text.split()) for text in texts))
    return tuple(Claim(f"a{number}", text) for number, text in enumerate(distinct, start=1))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The claims of an answer and their contexts.

    `cut` has the shortened passages with their words before and after.
    """

    claims: tuple[Claim, ...]
    contexts: Contexts
    cut: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def require(failure: CallFailure) -> None:
    """Raise `UnscoredError` for failures that a retry may resolve; callers count unreadable replies."""
    if failure.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
        raise UnscoredError(failure.outcome, failure.detail)


class EvidenceSource:
    """Finds claims and contexts, the same for every assessor."""

    def __init__(
        self,
        claims: ClaimSteps,
        settings: FactualitySettings,
        *,
        runner: TaskRunner | None = None,
        source: Source | None = None,
    ) -> None:
        self._claims = claims
        self._settings = settings
        self._runner = runner
        self._source = source

    async def collect(self, item: MetricItem, claim_texts: Sequence[str] | None = None) -> Evidence:
        """Return the claims of the answer, or `claim_texts`, with their contexts."""
        source = self._source or LocalSource(_own_passages(item))
        claims = await claims_of(item, self._claims) if claim_texts is None else numbered(claim_texts)
        if not claims:
            raise UnscoredError(Outcome.UNREADABLE, "The answer makes no claim.")
        queries = await self._queries(claims, item)
        retrieved: Sequence[Sequence[Passage]] = await self._search(source, queries)
        cut: dict[str, tuple[int, int]] = {}
        if self._runner is not None:
            retrieved = self._shorten(retrieved, item, claims, cut)
        if self._runner is not None and self._settings.summarise:
            retrieved = await self._summaries(self._runner, claims, retrieved)
        return Evidence(claims=claims, contexts=gather(retrieved), cut=cut)

    def _shorten(
        self,
        retrieved: Sequence[Sequence[Passage]],
        item: MetricItem,
        claims: Sequence[Claim],
        cut: dict[str, tuple[int, int]],
    ) -> list[list[Passage]]:
        """Shorten long passages in the same way for all claims, so that each stays one context."""
        limit = self._settings.longest_passage
        query = set(terms(" ".join([item.question, *(claim.text for claim in claims)])))
        rows = [[shorten(passage, query, limit) for passage in passages] for passages in retrieved]
        for before, after in zip(chain(*retrieved), chain(*rows), strict=True):
            if after is not before:
                cut[before.id] = (len(before.text.split()), len(after.text.split()))
        return rows

    async def _search(self, source: Source, queries: Sequence[str]) -> list[Sequence[Passage]]:
        k = self._settings.contexts_per_claim
        replies = await asyncio.gather(*(source.find(query, k) for query in queries))
        return list(map(require_reply, replies))

    async def _queries(self, claims: Sequence[Claim], item: MetricItem) -> list[str]:
        runner = self._runner
        if runner is None or not self._settings.write_queries:
            return [claim.text for claim in claims]
        replies = await asyncio.gather(
            *(runner.run(QUERY, {"question": item.question, "claim": claim.text}) for claim in claims)
        )
        queries = []
        for claim, reply in zip(claims, replies, strict=True):
            if isinstance(reply, CallFailure):
                require(reply)
            # After an unreadable query, the claim itself is the query.
            queries.append(claim.text if isinstance(reply, CallFailure) else reply.query)
        return queries

    async def _summaries(
        self, runner: TaskRunner, claims: Sequence[Claim], retrieved: Sequence[Sequence[Passage]]
    ) -> list[list[Passage]]:
        async def summarise(claim: Claim, passage: Passage) -> Passage | None:
            reply = await runner.run(SUMMARY, {"claim": claim.text, "passage": passage})
            if isinstance(reply, CallFailure):
                require(reply)
                return passage
            text = reply.summary.strip()
            return Passage(passage.id, text, passage.title) if text else None

        rows = await asyncio.gather(
            *(
                asyncio.gather(*(summarise(claim, passage) for passage in passages))
                for claim, passages in zip(claims, retrieved, strict=True)
            )
        )
        return [[passage for passage in row if passage is not None] for row in rows]


def _own_passages(item: MetricItem) -> PassageIndex:
    passages = item.passages or item.contexts
    if not any(passage.text.strip() for passage in passages):
        raise UnscoredError(
            Outcome.UNREADABLE, "There are neither passages nor contexts to check claims against."
        )
    return passage_index(passages)
