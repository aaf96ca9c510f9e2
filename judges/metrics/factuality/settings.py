"""The constants of the factuality metrics, the paper's where it gives one."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from judges.metrics.factuality.contexts import PER_CLAIM
from judges.metrics.factuality.graph import CLAIM_PRIOR, CONTEXT_PRIOR
from judges.metrics.factuality.tasks import DEFAULT_PROBABILITY
from judges.metrics.factuality.vocabulary import FactorTables, Inference
from judges.metrics.shortening import LONGEST_PASSAGE

Share = Annotated[float, Field(ge=0, le=1)]


class FactualitySettings(BaseModel):
    """How factuality is assessed.

    Attributes:
        contexts_per_claim: The k of retrieval: 5, the paper's for web search (3 for Wikipedia).
        recall_k: The K of F1@K: the median number of claims of the set; without it there is no F1@K.
        claim_prior: Probability of a claim before any evidence.
        context_prior: Probability of a context before any evidence.
        source_priors: The same for passages by their ids, where a source is less reliable.
        factors: The factor tables.
        inference: The engine.
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
