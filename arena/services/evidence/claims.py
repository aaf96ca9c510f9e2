"""What factuality found: an answer's claims with passages for and against, conflicts and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from data.records import ENGINE
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


class PassageStance(_Stored):
    """A passage with a say in a conflict: for or against the point, how surely, and its words."""

    passage: str
    supports: bool
    probability: float
    prior: float
    words: str = Field(validation_alias="why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How a conflict between passages ended where one answer's claims are weighed too.

    Attributes:
        point: What the passages disagree on: a claim of the answer, or a sentence of a passage.
        sentence: Which side is upheld and why, or why neither does.
        reasons: The passages that support the point and those that contradict it, in their words.
        claims: The answer's claims that one of the passages supports or contradicts.
    """

    system: str
    point: str
    sentence: str
    decided: bool
    reasons: tuple[PassageStance, ...]
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictView:
    """Two passages of a question that contradict each other, by their own words or over a claim."""

    first: str
    second: str
    words: tuple[str, ...]
    resolutions: tuple[Resolution, ...]


def read_claims(details: Mapping[str, Any]) -> tuple[ClaimView, ...]:
    """The claims behind a factuality score, as they come in the answer; none where it has no posteriors."""
    return tuple(
        ClaimView.model_validate(claim) for claim in details.get("claims", ()) if "posterior" in claim
    )


def source_of(score: ScoredAnswer) -> Scorer:
    """Who scored an answer, and how often that scorer is right."""
    return scorer_of(score.judge, str(score.details.get(ENGINE) or ""))


def conflicts_of(scores: Sequence[ScoredAnswer]) -> tuple[ConflictView, ...]:
    """The conflicts that the factuality scores of one question's answers met, the settled ones first."""
    words: dict[tuple[str, str], dict[str, None]] = {}
    resolutions: dict[tuple[str, str], dict[str, Resolution]] = {}
    for score in scores:
        claims = read_claims(score.details)
        for conflict in _settled(score.details):
            first, second = sorted(map(str, conflict["passages"]))
            words.setdefault((first, second), {})[str(conflict["why"])] = None
            resolutions.setdefault((first, second), {}).setdefault(
                score.system, _resolution(score, conflict, claims)
            )
    views = [
        ConflictView(
            first=pair[0],
            second=pair[1],
            words=tuple(text for text in words[pair] if text),
            resolutions=tuple(sorted(by_system.values(), key=lambda resolution: not resolution.decided)),
        )
        for pair, by_system in resolutions.items()
    ]
    return tuple(sorted(views, key=lambda view: not view.resolutions[0].decided))


def _settled(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The conflicts that say how they end, those with an upheld side first."""
    settled = [conflict for conflict in details.get("conflicts", ()) if "resolution" in conflict]
    return sorted(settled, key=lambda conflict: not conflict["resolution"]["stands"])


def _resolution(score: ScoredAnswer, conflict: Mapping[str, Any], claims: Sequence[ClaimView]) -> Resolution:
    resolution = conflict["resolution"]
    pair = set(map(str, conflict["passages"]))
    touched = tuple(
        claim
        for claim in claims
        if any(witness.passage in pair for witness in (*claim.support, *claim.against))
    )
    return Resolution(
        system=score.system,
        point=str(resolution["point"]),
        sentence=str(resolution["reason"]),
        decided=bool(resolution["stands"]),
        reasons=tuple(map(PassageStance.model_validate, resolution["voices"])),
        claims=touched,
    )
