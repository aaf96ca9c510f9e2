"""Tasks of factuality for an LLM, the probability of a relation by a reply, and constants."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from data.models import Reply
from judges.llm.replies import LEAST_SHARE, tokens_of
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskRunner
from judges.metrics.comprehensiveness.llm_steps import CLASSIFY_RELATION
from judges.metrics.dry_run import first_words, texts
from judges.metrics.factuality.contexts import PER_CLAIM
from judges.metrics.factuality.graph import CLAIM_PRIOR, CONTEXT_PRIOR, FactorTables, Inference
from judges.metrics.relations.model import Entailment, Pair, Related
from judges.metrics.shortening import LONGEST_PASSAGE


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
    """Return the probability of the relation that the LLM named, among the three.

    The first token of the label decides, since the three labels begin differently.

    Returns:
        A share of 1; None where the endpoint gave no token probabilities, or most of the probability is on
        something else than a label.

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
    # What a grammar forced on a model is none of its own beliefs.
    return shares[relation] / total if shares[relation] and total >= LEAST_SHARE else None


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
    """Asks an LLM about each pair; the probability is that of its label's token."""

    def __init__(self, runner: TaskRunner, *, default: float = DEFAULT_PROBABILITY) -> None:
        self._runner = runner
        self._default = default

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Ask about all pairs at once, each distinct pair once; the scheduler sets the pace."""
        del question  # asked by itself, as in comprehensiveness, so that replies are shared
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
        contexts_per_claim: The k of retrieval: 5, the paper's for web search (3 for Wikipedia).
        recall_k: The K of F1@K: the median number of claims of the set; without it there is no F1@K.
        claim_prior: Probability of a claim before any evidence.
        context_prior: Probability of a context before any evidence.
        source_priors: The same for passages by their ids, where a source is less reliable.
        default_probability: Of a relation where the LLM gives no token probabilities.
        write_queries: Have the LLM write the search query of each claim.
        summarise: Have the LLM sum up, of each context, what bears on the claim.
        longest_passage: Words of a passage that an LLM reads at most; of a longer one the sentences that
            share most with question and claims (the paper caps contexts at 4,000 characters, section 4).
        nli: The folder of an NLI model that relates texts, in place of words or of the LLM.
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
    longest_passage: Annotated[int, Field(ge=20)] = LONGEST_PASSAGE
    nli: str = ""
