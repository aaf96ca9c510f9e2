"""LLM tasks of the NLI-based metric (listings 3 to 7) and the comparison of two answers.

A tool (Pint) compares quantities. If the endpoint rejects tools (HTTP 400, batches), the LLM calls it through
a field of its reply, and gets the result in a second request.
"""

import asyncio
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any, Self

from pydantic import BaseModel, Field, model_validator

from data.models import MetricItem, Outcome, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import ScoreField, Task, TaskRunner
from judges.llm.templates import Input, Tagged
from judges.llm.tools import LocalTool
from judges.metrics.comprehensiveness import graph
from judges.metrics.dry_run import first_words, says, texts
from judges.metrics.relations.model import Entailment
from judges.text.sentences import split_sentences

MAX_WORDS = 1_500
"""Maximum number of words per request; longer texts are split at sentence ends."""


class ContentUnit(BaseModel):
    """One unit of a text and its form."""

    text: str = Field(description="The unit as a short sentence.")
    kind: graph.ClaimKind = Field(description="Its form.")


class ExtractedClaims(BaseModel):
    """The reply to `extract_claims`."""

    claims: list[ContentUnit]


class RevisedClaim(BaseModel):
    """Result of revising one extracted claim."""

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
    """LLM steps for one item."""

    def __init__(self, runner: TaskRunner, item: MetricItem) -> None:
        self._runner = runner
        self._question = item.question

    async def claims(self, text: str, source: str) -> tuple[graph.Claim, ...]:
        """Extract the claims of a text and make them self-contained."""
        by_part = await graph.gather_all(self._claims_of(part, source) for part in parts(text))
        return tuple(chain.from_iterable(by_part))

    async def relevance(self, claims: Sequence[graph.Claim]) -> tuple[float, ...]:
        """Rate every distinct claim once."""
        texts = list(dict.fromkeys(claim.text for claim in claims))
        rated = await graph.gather_all(self._rate(text) for text in texts)
        ratings = dict(zip(texts, rated, strict=True))
        return tuple(ratings[claim.text] for claim in claims)

    async def relations(
        self, wordings: graph.Wordings, select: Callable[[str, str], bool] | None = None
    ) -> graph.Relations:
        """Ask about every pair concurrently."""
        pairs = [pair for pair in wordings.pairs() if select is None or select(*pair)]
        replies = await graph.gather_all(self._relate(first, second) for first, second in pairs)
        rows = zip(pairs, replies, strict=True)
        return {pair: relation for pair, relation in rows if relation is not graph.Relation.NEUTRAL}

    async def _claims_of(self, text: str, source: str) -> list[graph.Claim]:
        tagged = Tagged("passage", text, source) if source else Tagged("answer", text)
        extracted = graph.require_reply(await self._runner.run(EXTRACT_CLAIMS, {"text": tagged}))
        units = [unit for unit in extracted.claims if unit.text.strip()]
        if not units:
            return []
        numbered = [Tagged("claim", unit.text, str(number)) for number, unit in enumerate(units, 1)]
        revised = graph.require_reply(
            await self._runner.run(REVISE_CLAIMS, {"text": tagged, "claims": numbered})
        )
        wordings = {
            entry.number: [text.strip() for text in entry.claims if text.strip()] for entry in revised.claims
        }
        return [
            graph.Claim(wording, source, unit.kind)
            for number, unit in enumerate(units, 1)
            for wording in wordings.get(number) or [unit.text]
        ]

    async def _rate(self, claim: str) -> float:
        inputs = {"question": self._question, "claim": claim}
        reply = graph.require_reply(await self._runner.run_fully(RATE_RELEVANCE, inputs))
        return float(reply.value.relevance) if reply.weighted is None else reply.weighted

    async def _relate(self, premise: str, hypothesis: str) -> graph.Relation:
        inputs = {"premise": premise, "hypothesis": hypothesis}
        reply = graph.require_reply(await self._runner.run(CLASSIFY_RELATION, inputs))
        return graph.Relation(reply.relation.value)


def parts(text: str) -> list[str]:
    """Split a long text into parts of at most `MAX_WORDS` words, at sentence ends if possible."""
    if len(text.split()) <= MAX_WORDS:
        return [text]
    groups: list[list[str]] = [[]]
    for sentence in split_sentences(text):
        words = sentence.split()
        for at in range(0, len(words), MAX_WORDS):
            piece = words[at : at + MAX_WORDS]
            if groups[-1] and len(groups[-1]) + len(piece) > MAX_WORDS:
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
    """Summarises passages with an LLM (listing 1), dropping irrelevant passages."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner

    async def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return summaries with the passages' ids."""
        replies = await asyncio.gather(
            *(
                self._runner.run(SUMMARIZE_PASSAGE, {"question": question, "passage": passage})
                for passage in passages
            )
        )
        summaries = []
        for passage, reply in zip(passages, map(graph.require_reply, replies), strict=True):
            if reply.summary.strip() and reply.summary.strip().casefold() != "none":
                summaries.append(Passage(passage.id, reply.summary.strip(), passage.title))
        return tuple(summaries)


TOLERANCE = 0.02
QUANTITY = re.compile(r"^\D*?(?P<number>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?P<unit>[^\d(;]*)")
BOUND_WORDS = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa|ca)\b\.?", re.IGNORECASE
)
UNUSABLE = re.compile(r"[^A-Za-z°µμ%/*^ 0-9-]")
PER_CENT = "%"


def compare_quantities(first: str, second: str) -> str:
    """Compare two quantities in common units (Pint), as a sentence for an LLM.

    Differences up to 2 % are equal; unreadable quantities and different dimensions are incomparable.
    """
    a, b = _read(first), _read(second)
    if a is None or b is None or a.dimensionality != b.dimensionality:
        return f"{first!r} and {second!r} cannot be compared."
    left, right = (float(quantity.to_base_units().magnitude) for quantity in (a, b))
    word = "smaller than" if left < right else "larger than"
    if math.isclose(left, right, rel_tol=TOLERANCE):
        word = "equal to"
    return f"{first} is {word} {second} ({left:g} and {right:g} in the same unit)."


@lru_cache(maxsize=1)
def _registry() -> Any:  # noqa: ANN401 - Pint's types are not exported
    import pint  # noqa: PLC0415 - slow to import and rarely needed

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Any | None:  # noqa: ANN401 - as above
    import pint  # noqa: PLC0415 - as above

    match = QUANTITY.match(BOUND_WORDS.sub(" ", text).replace("\u2212", "-"))
    if match is None:
        return None
    unit = UNUSABLE.sub("", match["unit"]).strip().replace("°C", "degC").replace("°F", "degF")
    number = float(match["number"].replace(",", ""))
    try:
        return _registry().Quantity(number, unit.replace(PER_CENT, "percent") or "dimensionless")
    except (pint.errors.PintError, AttributeError, ValueError, TypeError, AssertionError):
        return None


NOT_CALLED = "(not called)"


class AnswerRelation(StrEnum):
    """Relation of two answers to one question."""

    EQUIVALENT = "equivalent"
    FIRST_IMPLIES_SECOND = "first implies second"
    SECOND_IMPLIES_FIRST = "second implies first"
    CONTRADICTORY = "contradictory"
    NEUTRAL = "neutral"


class QuantityCall(BaseModel):
    """A call of the tool that compares two quantities whatever their units."""

    first: str = Field(description="A number with its unit, as in the first answer.")
    second: str = Field(description="A number with its unit, as in the second answer.")


class RelatedAnswers(BaseModel):
    """The reply to `compare_answers` on an endpoint that calls tools."""

    reasoning: str
    relation: AnswerRelation


class ComparedAnswers(BaseModel):
    """The reply to `compare_answers` elsewhere: a tool call, or a reason and the relation."""

    compare_quantities: QuantityCall | None = Field(
        default=None, description="Call the tool first where both answers are quantities; else null."
    )
    reasoning: str = ""
    relation: AnswerRelation | None = Field(default=None, description="Null only with a tool call.")

    @model_validator(mode="after")
    def _decided(self) -> Self:
        if self.relation is None and self.compare_quantities is None:
            raise ValueError("there is neither a relation nor a tool call")
        return self


def _compare(call: QuantityCall) -> str:
    return compare_quantities(call.first, call.second)


QUANTITIES = LocalTool(
    name="compare_quantities",
    description="Compares two physical quantities exactly, whatever their units: equal, smaller or larger.",
    arguments=QuantityCall,
    run=_compare,
)
COMPARE_ANSWERS = Task(
    name="compare_answers",
    reply=ComparedAnswers,
    max_tokens=512,
    stub=lambda _: {"reasoning": "word " * 20, "relation": "neutral"},
)
COMPARE_WITH_TOOL = Task(
    name="compare_answers",
    reply=RelatedAnswers,
    prompt="compare_answers_with_tool",
    max_tokens=512,
    tools=(QUANTITIES,),
    stub=COMPARE_ANSWERS.stub,
)


class AnswerComparer:
    """Compares answers with an LLM, and remembers whether the endpoint supports tools."""

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self._tools: bool | None = None
        self._probe = asyncio.Lock()

    async def __call__(self, question: str, first: str, second: str) -> AnswerRelation:
        """Compare two answers; equal wordings are equivalent without a request."""
        if first.casefold() == second.casefold():
            return AnswerRelation.EQUIVALENT
        inputs: dict[str, Input] = {
            "question": question,
            "first": Tagged("first_answer", first),
            "second": Tagged("second_answer", second),
        }
        # Probe with one request, because many rejected requests would look like a failing endpoint.
        async with self._probe if self._tools is None else nullcontext():
            relation = await self._natively(inputs)
        return await self._by_field(inputs) if relation is None else relation

    async def _natively(self, inputs: dict[str, Input]) -> AnswerRelation | None:
        """Ask with the tool; None if the endpoint does not support tools."""
        if self._tools is False:
            return None
        reply = await self._runner.run(COMPARE_WITH_TOOL, inputs)
        if isinstance(reply, CallFailure) and reply.rejected and self._tools is None:
            self._tools = False
            return None
        relation = graph.require_reply(reply).relation
        self._tools = True
        return relation

    async def _by_field(self, inputs: dict[str, Input]) -> AnswerRelation:
        """Ask without tools; the LLM may call the tool once through a field of its reply."""
        first = inputs | {"tool_result": Tagged("tool_result", NOT_CALLED)}
        reply = graph.require_reply(await self._runner.run(COMPARE_ANSWERS, first))
        if reply.relation is None and reply.compare_quantities:
            second = inputs | {"tool_result": Tagged("tool_result", _compare(reply.compare_quantities))}
            reply = graph.require_reply(await self._runner.run(COMPARE_ANSWERS, second))
        if reply.relation is None:
            reason = "The LLM called the tool twice in the task compare_answers."
            raise graph.UnscoredError(Outcome.UNREADABLE, reason)
        return reply.relation
