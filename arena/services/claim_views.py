"""What factuality found: an answer's claims with passages for and against, conflicts and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data.store.scores import ScoredAnswer
from judges.factuality.graph import FactRelation
from judges.factuality.measures import Label

APART = 0.05
"""Passages whose posteriors are closer than this are taken to be equally credible."""
LONGEST_NAME = 70
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
        reasons: For each of the two, what it agrees with and what it is at odds with.
        claims: The answer's claims that one of the passages supports or contradicts.
    """

    system: str
    sentence: str
    reasons: tuple[str, ...]
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
    reasons = tuple(filter(None, (_reason(score.details, passage) for passage in pair)))
    return Resolution(system=score.system, sentence=sentence, reasons=reasons, claims=touched)


def _reason(details: Mapping[str, Any], passage: str) -> str:
    """What a passage agrees with and is at odds with, each with how surely and how far that is believed."""
    names = {str(one["id"]): str(one["passage"]) for one in details.get("contexts", ())}
    names |= {str(one["id"]): f"“{_shortened(str(one['text']))}”" for one in details.get("claims", ())}
    trust = {str(one["id"]): float(one["posterior"]) for one in details.get("contexts", ())}
    trust |= {str(one["id"]): float(one["posterior"]) for one in details.get("claims", ())}
    sides: dict[bool, list[str]] = {True: [], False: []}
    for edge in details.get("graph", {}).get("edges", ()):
        ends = (str(edge["from"]), str(edge["to"]))
        if not any(names.get(end) == passage for end in ends):
            continue
        other = ends[0] if names.get(ends[1]) == passage else ends[1]
        said = (
            f"{names.get(other, other)} ({edge['probability']:.2f}; held true at {trust.get(other, 0.0):.2f})"
        )
        sides[edge["relation"] != FactRelation.CONTRADICTION].append(said)
    parts = [
        f"{verb} {', '.join(sides[agrees])}"
        for agrees, verb in ((True, "agrees with"), (False, "is at odds with"))
        if sides[agrees]
    ]
    return f"{passage} {'; '.join(parts)}." if parts else ""


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME].rsplit(' ', 1)[0]} …"


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
