"""The constants of the comprehensiveness metrics, with the paper's values."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ComprehensivenessSettings(BaseModel):
    """What the metrics can be told.

    Attributes:
        relevance: Claims and questions rated below this are left out (T_rel, section 4.1).
        confidence: Answers held with less confidence than this are left out (T_conf, section 4.1).
        summarise: Whether passages are first cut down to what bears on the question (listing 1).
        similarity: Pairs of claims that share less than this of their weight are not asked about but
            taken as neutral; 0 asks about every pair.
        most_pairs: An item with more pairs of claims than this is not scored.
        nli: The folder of an NLI model that relates claims, in place of words or of the LLM.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance: Annotated[float, Field(ge=1, le=5)] = 3.5
    confidence: Annotated[float, Field(ge=1, le=5)] = 2.0
    summarise: bool = False
    similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    most_pairs: Annotated[int, Field(ge=1)] = 1_000_000
    nli: str = ""
