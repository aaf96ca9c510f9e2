"""Claims of an answer with the passages for and against each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data.models import ENGINE
from data.store.boards.scores import ScoredAnswer
from judges.metrics.relations.verdicts import Scorer, Verdict, scorer_of, verdict_of


class _Stored(BaseModel):
    """A part of a score's details, as the metric left it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


class Witness(_Stored):
    """A passage for or against a claim: how surely it says so, and its words."""

    passage: str
    probability: float
    words: str = Field(validation_alias="why")


class ClaimView(_Stored):
    """A claim of an answer with its posterior (0–1) and the reason in a sentence."""

    id: str
    text: str
    posterior: float
    reason: str
    support: tuple[Witness, ...] = Field(validation_alias="for")
    against: tuple[Witness, ...]

    @property
    def verdict(self) -> Verdict:
        """What it is called: only what the scorer is sure of is supported or contradicted."""
        return verdict_of(self.posterior)


def read_claims(details: Mapping[str, Any]) -> tuple[ClaimView, ...]:
    """The claims behind a factuality score, as they come in the answer; none where it has no posteriors."""
    return tuple(
        ClaimView.model_validate(claim) for claim in details.get("claims", ()) if "posterior" in claim
    )


def source_of(score: ScoredAnswer) -> Scorer:
    """Who scored an answer, and how often that scorer is right."""
    return scorer_of(score.judge, str(score.details.get(ENGINE) or ""))
