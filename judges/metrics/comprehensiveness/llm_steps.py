"""The steps of the NLI-based metric by an LLM (listings 3 to 7), as tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from data.models import MetricItem, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import ScoreField, Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.metrics.comprehensiveness.claims import Claim, ClaimKind, Missing, Relations, Wordings
from judges.metrics.comprehensiveness.graph import Relation
from judges.metrics.relations.model import Entailment
from judges.metrics.stubs import first_words, says, texts
from judges.text.sentences import split_sentences

LONGEST_TEXT = 1_500
"""Words that are read at once; longer texts are read in parts that end with a sentence."""


class ContentUnit(BaseModel):
    """One unit of a text and its form."""

    text: str = Field(description="The unit as a short sentence.")
    kind: ClaimKind = Field(description="Its form.")


class ExtractedClaims(BaseModel):
    """The reply to `extract_claims`."""

    claims: list[ContentUnit]


class RevisedClaim(BaseModel):
    """What one extracted claim became."""

    number: int = Field(ge=1, description="The id of the claim that was revised.")
    claims: list[str] = Field(description="It, self-contained; several where it joined several statements.")


class RevisedClaims(BaseModel):
    """The reply to `revise_claims`."""

    claims: list[RevisedClaim]


class Relevance(BaseModel):
    """The reply to `rate_relevance`."""

    relevance: int = Field(ge=1, le=5, description="1: unrelated … 5: no answer is right without it.")


class RelationReply(BaseModel):
    """The reply to `classify_relation`."""

    relation: Entailment


EXTRACT_CLAIMS = Task(name="extract_claims", reply=ExtractedClaims, max_tokens=4_096)
REVISE_CLAIMS = Task(
    name="revise_claims",
    reply=RevisedClaims,
    max_tokens=4_096,
    stub=lambda inputs: {
        "claims": [
            {"number": number, "claims": [text]} for number, text in enumerate(texts(inputs["claims"]), 1)
        ]
    },
)
RATE_RELEVANCE = Task(
    name="rate_relevance",
    reply=Relevance,
    max_tokens=64,
    score=ScoreField(field="relevance", values=(1, 2, 3, 4, 5)),
    stub=lambda _: {"relevance": 5},
)


def _relation(inputs: Mapping[str, Input]) -> Mapping[str, Any]:
    (premise,), (hypothesis,) = texts(inputs["premise"]), texts(inputs["hypothesis"])
    return {"relation": "entailment" if says(premise, hypothesis) else "neutral"}


CLASSIFY_RELATION = Task(name="classify_relation", reply=RelationReply, max_tokens=64, stub=_relation)


class LlmSteps:
    """The steps for one item, asked of an LLM."""

    def __init__(self, runner: TaskRunner, item: MetricItem) -> None:
        self._runner = runner
        self._question = item.question

    async def claims(self, text: str, source: str) -> tuple[Claim, ...] | Missing:
        """Extract the claims of a text and make them self-contained."""
        by_part = await asyncio.gather(*(self._claims_of(part, source) for part in parts(text)))
        claims: list[Claim] = []
        for part_claims in by_part:
            if isinstance(part_claims, Missing):
                return part_claims
            claims += part_claims
        return tuple(claims)

    async def relevance(self, claims: Sequence[Claim]) -> tuple[float, ...] | Missing:
        """Rate every distinct claim once."""
        texts = list(dict.fromkeys(claim.text for claim in claims))
        rated = await asyncio.gather(*(self._rate(text) for text in texts))
        ratings: dict[str, float] = {}
        for text, rating in zip(texts, rated, strict=True):
            if isinstance(rating, Missing):
                return rating
            ratings[text] = rating
        return tuple(ratings[claim.text] for claim in claims)

    async def relations(
        self, wordings: Wordings, wanted: Callable[[str, str], bool] | None = None
    ) -> Relations | Missing:
        """Ask about every pair; the scheduler sends them together."""
        pairs = [pair for pair in wordings.pairs() if wanted is None or wanted(*pair)]
        replies = await asyncio.gather(*(self._relate(first, second) for first, second in pairs))
        relations: dict[tuple[str, str], Relation] = {}
        for pair, relation in zip(pairs, replies, strict=True):
            if isinstance(relation, Missing):
                return relation
            if relation is not Relation.NEUTRAL:
                relations[pair] = relation
        return relations

    async def _claims_of(self, text: str, source: str) -> list[Claim] | Missing:
        tagged = Tagged("passage", text, source) if source else Tagged("answer", text)
        extracted = await self._runner.run(EXTRACT_CLAIMS, {"text": tagged})
        if isinstance(extracted, CallFailure):
            return Missing(extracted.outcome, extracted.detail)
        units = [unit for unit in extracted.claims if unit.text.strip()]
        if not units:
            return []
        numbered = [Tagged("claim", unit.text, str(number)) for number, unit in enumerate(units, 1)]
        revised = await self._runner.run(REVISE_CLAIMS, {"text": tagged, "claims": numbered})
        if isinstance(revised, CallFailure):
            return Missing(revised.outcome, revised.detail)
        wordings = {
            entry.number: [text.strip() for text in entry.claims if text.strip()] for entry in revised.claims
        }
        return [
            Claim(wording, source, unit.kind)
            for number, unit in enumerate(units, 1)
            for wording in wordings.get(number) or [unit.text]
        ]

    async def _rate(self, claim: str) -> float | Missing:
        reply = await self._runner.run_fully(RATE_RELEVANCE, {"question": self._question, "claim": claim})
        if isinstance(reply, CallFailure):
            return Missing(reply.outcome, reply.detail)
        return float(reply.value.relevance) if reply.weighted is None else reply.weighted

    async def _relate(self, premise: str, hypothesis: str) -> Relation | Missing:
        inputs = {"premise": premise, "hypothesis": hypothesis}
        reply = await self._runner.run(CLASSIFY_RELATION, inputs)
        if isinstance(reply, CallFailure):
            return Missing(reply.outcome, reply.detail)
        return Relation(reply.relation.value)


def parts(text: str) -> list[str]:
    """Cut a long text into parts of at most `LONGEST_TEXT` words, at sentence ends where there are any."""
    if len(text.split()) <= LONGEST_TEXT:
        return [text]
    groups: list[list[str]] = [[]]
    for sentence in split_sentences(text):
        words = sentence.split()
        for at in range(0, len(words), LONGEST_TEXT):
            piece = words[at : at + LONGEST_TEXT]
            if groups[-1] and len(groups[-1]) + len(piece) > LONGEST_TEXT:
                groups.append([])
            groups[-1] += piece
    return [" ".join(words) for words in groups]


class PassageSummary(BaseModel):
    """The reply to `summarize_passage`."""

    summary: str = Field(description="The summary, or an empty string where nothing bears on the question.")


SUMMARIZE_PASSAGE = Task(
    name="summarize_passage", reply=PassageSummary, max_tokens=2_048, stub=first_words("passage", 80)
)


class LlmSummariser:
    """Summaries by an LLM (listing 1); a passage that says nothing to the question is left out."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...] | Missing:
        """Return the summaries under the passages' ids."""
        replies = await asyncio.gather(
            *(
                self._runner.run(SUMMARIZE_PASSAGE, {"question": question, "passage": passage})
                for passage in passages
            )
        )
        summaries = []
        for passage, reply in zip(passages, replies, strict=True):
            if isinstance(reply, CallFailure):
                return Missing(reply.outcome, reply.detail)
            if reply.summary.strip() and reply.summary.strip().casefold() != "none":
                summaries.append(Passage(passage.id, reply.summary.strip(), passage.title))
        return tuple(summaries)
