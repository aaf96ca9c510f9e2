"""How probable a contradiction is, given what was noticed: a logistic model of four features.

Its coefficients are in `head.toml`; `benchmarks/relations.py train` writes them. Exchanged words are too
rare where it was fitted for their weight to be known, so a difference in wording has a probability of its
own, and the greater of the two holds.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

WORDED_FROM = 0.45
WORDED_LEAST, WORDED_MOST = 0.6, 0.8
"""The probability of a contradiction for a difference in wording, from `WORDED_FROM` on to strength 1."""
COEFFICIENTS = Path(__file__).with_name("head.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What speaks for a contradiction between a sentence and a premise, each 0–1.

    Attributes:
        mark: The strength of the surest contradicting figure, direction or negation.
        swap: The strength of the surest exchanged word.
        slot: How closely the premise has another figure in the place of the sentence's.
        asked: How much of the question stands where the premise has another figure of the kind it asks for.
    """

    mark: float = 0.0
    swap: float = 0.0
    slot: float = 0.0
    asked: float = 0.0

    def values(self) -> tuple[float, ...]:
        """The features in the order of their fields."""
        return tuple(getattr(self, feature.name) for feature in fields(self))


class Head(BaseModel):
    """The coefficients of the model, and from which probability on it speaks of a contradiction.

    Attributes:
        intercept: In log-odds.
        mark: In log-odds for each unit of the feature; `swap`, `slot` and `asked` likewise.
        contradicted_from: The probability from which on 85 % were right where it was fitted.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    intercept: float
    mark: float
    swap: float
    slot: float
    asked: float
    contradicted_from: float

    def probability(self, noticed: Noticed) -> float:
        """The probability of a contradiction."""
        products = (
            self.mark * noticed.mark,
            self.swap * noticed.swap,
            self.slot * noticed.slot,
            self.asked * noticed.asked,
        )
        odds = self.intercept + math.fsum(products)
        return max(1 / (1 + math.exp(-odds)), _worded(max(noticed.mark, noticed.swap)))


def _worded(strength: float) -> float:
    if strength < WORDED_FROM:
        return 0.0
    above = (min(1.0, strength) - WORDED_FROM) / (1 - WORDED_FROM)
    return WORDED_LEAST + (WORDED_MOST - WORDED_LEAST) * above


@lru_cache(maxsize=1)
def trained_head() -> Head:
    """The fitted model."""
    return Head.model_validate(tomllib.loads(COEFFICIENTS.read_text(encoding="utf-8"))["coefficients"])
