"""What factuality found: an answer's claims with passages for and against, conflicts and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.store.scores import ScoredAnswer
from judges.factuality.measures import Label

APART = 0.05
"""Passages whose posteriors are closer than this are taken to be equally credible."""
UNDECIDED = "Neither prevails: {first} is held true at {one:.2f}, {second} at {other:.2f}."
PREVAILS = "{winner} prevails: it is held true at {high:.2f}, {loser} at {low:.2f}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A passage for or against a claim: how surely it says so, how far it is believed, and its words."""

    passage: str
    probability: float
    trust: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """A claim of an answer with its posterior (0–1) and the reason in a sentence."""

    id: str
    text: str
    posterior: float
    label: Label
    reason: str
    support: tuple[Witness, ...]
    against: tuple[Witness, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How a conflict between passages ended where one answer's claims are weighed too.

    Attributes:
        system: Whose answer.
        sentence: Which passage prevails.
        claims: The answer's claims that one of the passages supports or contradicts.
    """

    system: str
    sentence: str
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
    return tuple(_claim(found) for found in details.get("claims", ()) if "posterior" in found)


def conflicts_of(scores: Sequence[ScoredAnswer]) -> tuple[ConflictView, ...]:
    """The conflicts between passages that the factuality scores of one question's answers met."""
    words: dict[tuple[str, str], dict[str, None]] = {}
    resolutions: dict[tuple[str, str], dict[str, Resolution]] = {}
    for score in scores:
        claims = read_claims(score.details)
        for conflict in score.details.get("conflicts", ()):
            first, second = sorted(map(str, conflict["passages"]))
            words.setdefault((first, second), {})[str(conflict["why"])] = None
            resolutions.setdefault((first, second), {}).setdefault(
                score.system, _resolution(score, conflict, claims)
            )
    return tuple(
        ConflictView(
            first=pair[0],
            second=pair[1],
            words=tuple(text for text in words[pair] if text),
            resolutions=tuple(found.values()),
        )
        for pair, found in resolutions.items()
    )


def _resolution(score: ScoredAnswer, conflict: Mapping[str, Any], claims: Sequence[ClaimView]) -> Resolution:
    pair = list(map(str, conflict["passages"]))
    trust = dict(zip(pair, map(float, conflict["posteriors"]), strict=True))
    low, high = sorted(pair, key=trust.__getitem__)
    apart = trust[high] - trust[low] > APART
    sentence = (
        PREVAILS.format(winner=high, high=trust[high], loser=low, low=trust[low])
        if apart
        else UNDECIDED.format(first=pair[0], one=trust[pair[0]], second=pair[1], other=trust[pair[1]])
    )
    touched = tuple(
        claim
        for claim in claims
        if any(witness.passage in trust for witness in (*claim.support, *claim.against))
    )
    return Resolution(system=score.system, sentence=sentence, claims=touched)


def _claim(found: Mapping[str, Any]) -> ClaimView:
    return ClaimView(
        id=str(found["id"]),
        text=str(found["text"]),
        posterior=float(found["posterior"]),
        label=Label(found["label"]),
        reason=str(found["reason"]),
        support=tuple(_witness(one) for one in found["for"]),
        against=tuple(_witness(one) for one in found["against"]),
    )


def _witness(found: Mapping[str, Any]) -> Witness:
    return Witness(
        passage=str(found["passage"]),
        probability=float(found["probability"]),
        trust=float(found["posterior"]),
        words=str(found["why"]),
    )
