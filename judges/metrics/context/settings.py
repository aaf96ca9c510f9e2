"""The constants of the context metrics, the paper's where it gives one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from judges.metrics.context.measures import ALPHA, DENSITY_WEIGHT
from judges.metrics.context.ratings import HIGHEST, THRESHOLD
from judges.metrics.context.subsets import Order

SUB_QUESTIONS = 10


class ContextSettings(BaseModel):
    """What the metrics can be told.

    Attributes:
        threshold: The rating from which a sub-question is answerable (η, section 3.1).
        alpha: How much a repeated answer is discounted in ranked coverage.
        density_weight: The exponent w of density (Eq. 5).
        required: The order in which the required subset, the Z* of density, is chosen.
        sub_questions: How many to write where a question has none (15 for DUC, 10 for Multi-News).
        weighted: Whether a rating is the expected one over the probabilities of its token.
        ratings: What passages were rated before, by sub-question and text; only others are rated.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[float, Field(gt=0, le=HIGHEST)] = THRESHOLD
    alpha: Annotated[float, Field(ge=0, le=1)] = ALPHA
    density_weight: Annotated[float, Field(gt=0, le=10)] = DENSITY_WEIGHT
    required: Order = Order.STATIC
    sub_questions: Annotated[int, Field(ge=1, le=50)] = SUB_QUESTIONS
    weighted: bool = False
    ratings: Mapping[str, Mapping[str, Annotated[float, Field(ge=0, le=HIGHEST)]]] = Field(
        default_factory=dict
    )
