"""LLM tasks and settings of factuality."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from data.models import Reply
from judges.llm.replies import MIN_SHARE, tokens_of
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.metrics.comprehensiveness.llm_steps import CLASSIFY_RELATION
from judges.metrics.dry_run import first_words, texts
from judges.metrics.factuality.contexts import PER_CLAIM
from judges.metrics.factuality.graph import CLAIM_PRIOR, CONTEXT_PRIOR, FactorTables, Inference
from judges.metrics.relations.model import Entailment, Pair, Related
from judges.metrics.shortening import MAX_PASSAGE_WORDS


class Finding(StrEnum):
    """Possible verdicts of a verifier on a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True)


class TrueReply(_Reply):
    """Reply: is a claim true given the passages?"""

    answer: bool


class FindingReply(_Reply):
    """Reasons first, then what was found."""

    reasons: str
    finding: Finding


class QueryReply(_Reply):
    """A search query."""

    query: str


class SummaryReply(_Reply):
    """Reply: summary of a passage's words about a claim; empty where it says nothing."""

    summary: str


RELATION = replace(CLASSIFY_RELATION, logprobs=True)
FACTSCORE = Task(name="factuality_factscore", reply=TrueReply, max_tokens=64, stub=lambda _: {"answer": True})
FACTVERIFY = Task(
    name="factuality_factverify",
    reply=FindingReply,
    stub=lambda _: {"reasons": "word " * 40, "finding": "undecided"},
)
VERISCORE = replace(FACTVERIFY, name="factuality_veriscore")
DIRECT = replace(FACTVERIFY, name="factuality_direct", max_tokens=2_048)
QUERY = Task(
    name="factuality_query",
    reply=QueryReply,
    max_tokens=128,
    stub=lambda inputs: {"query": " ".join(texts(inputs["claim"]))},
)
SUMMARY = Task(name="factuality_summary", reply=SummaryReply, max_tokens=512, stub=first_words("passage", 40))

LABEL_PLACE = re.compile(r'"relation"\s*:\s*"')
AROUND = " \t\n\"'"


def relation_probability(reply: Reply, relation: Entailment) -> float | None:
    """Return the probability of the LLM's relation among the three.

    The first token of the label decides, because the three labels begin differently.

    Returns:
        0–1; None without token probabilities, or if other tokens have most of the probability.

    Source: FactReasoner, section 3.1 (the probability of the label's token).
    """
    tokens = tokens_of(reply)
    text = "".join(str(token["token"]) for token in tokens)
    places = list(LABEL_PLACE.finditer(text))
    if not places:
        return None
    token = _token_at(tokens, places[-1].end())
    if token is None:
        return None
    shares = dict.fromkeys(Entailment, 0.0)
    alternatives = token.get("top_logprobs")
    for alternative in alternatives if isinstance(alternatives, Sequence) and alternatives else [token]:
        stance = _begins(str(alternative["token"]))
        if stance is not None:
            logprob = alternative.get("logprob")
            if not isinstance(logprob, int | float) or not math.isfinite(logprob):
                return None
            shares[stance] += math.exp(min(0.0, logprob))
    total = sum(shares.values())
    # A label forced by a grammar does not express the model's belief.
    return shares[relation] / total if shares[relation] and total >= MIN_SHARE else None


def _begins(token: str) -> Entailment | None:
    bare = token.strip(AROUND).lower()
    return next((stance for stance in Entailment if bare and stance.value.startswith(bare)), None)


def _token_at(tokens: Sequence[Mapping[str, Any]], place: int) -> Mapping[str, Any] | None:
    after = 0
    for token in tokens:
        after += len(str(token["token"]))
        if place < after:
            return token
    return None


DEFAULT_PROBABILITY = 0.9


class LlmRelations:
    """Classifies relations with an LLM; the probability is that of the label's token."""

    def __init__(self, runner: TaskRunner, *, default: float = DEFAULT_PROBABILITY) -> None:
        self._runner = runner
        self._default = default

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Ask about all distinct pairs concurrently."""
        del question  # not in the prompt, so that comprehensiveness shares the replies
        distinct = list(dict.fromkeys(pairs))
        replies = await asyncio.gather(*(self._ask(pair) for pair in distinct))
        by_pair = dict(zip(distinct, replies, strict=True))
        return [by_pair[pair] for pair in pairs]

    async def _ask(self, pair: Pair) -> Related | CallFailure:
        inputs = {"premise": pair.premise, "hypothesis": pair.hypothesis}
        reply = await self._runner.run_fully(RELATION, inputs)
        if isinstance(reply, CallFailure):
            return reply
        stance = reply.value.relation
        probability = relation_probability(reply.reply, stance)
        return Related(stance, self._default if probability is None else probability)


Share = Annotated[float, Field(ge=0, le=1)]


class FactualitySettings(BaseModel):
    """Settings of factuality.

    Attributes:
        contexts_per_claim: k of retrieval: 5 as in the paper for web search (3 for Wikipedia).
        recall_k: K of F1@K, the median number of claims of the set; None for no F1@K.
        claim_prior: Probability of a claim before any evidence.
        context_prior: Probability of a context before any evidence.
        source_priors: Context priors by passage id, for less reliable sources.
        default_probability: Probability of relations without token probabilities.
        write_queries: Whether the LLM writes a search query for each claim.
        summarise: Whether the LLM summarises each context with regard to the claim.
        longest_passage: Maximum words of a passage for an LLM; longer passages are shortened with regard to
            question and claims (the paper caps contexts at 4,000 characters, section 4).
        nli: Folder of an NLI model that relates texts instead of words or the LLM.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    contexts_per_claim: Annotated[int, Field(ge=1, le=100)] = PER_CLAIM
    recall_k: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    claim_prior: Share = CLAIM_PRIOR
    context_prior: Share = CONTEXT_PRIOR
    source_priors: dict[str, Share] = {}
    factors: FactorTables = FactorTables.TABLE1
    inference: Inference = Inference.AUTO
    default_probability: Share = DEFAULT_PROBABILITY
    write_queries: bool = False
    summarise: bool = False
    longest_passage: Annotated[int, Field(ge=20)] = MAX_PASSAGE_WORDS
    nli: str = ""
