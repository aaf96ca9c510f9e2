"""Which side of a conflict between passages stands, and what that depends on.

A conflict is about a point: a claim of the answer, or a sentence of one passage that another one
contradicts. The point is weighed as a claim in a network of its own: every passage that supports it
stands for it, every passage that contradicts it against it, each as far as it is believed beforehand
and as surely as it says so. The posteriors of the passages in the answer's network are not used for
this: Table 1 lowers a passage's with every claim that it supports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isclose
from statistics import fmean

from data.records import Json
from data.records.plain import to_json
from judges.metrics.factuality.graph import (
    CLAIM_PRIOR,
    FactEdge,
    FactGraph,
    FactNode,
    FactRelation,
    NodeKind,
)
from judges.metrics.factuality.inference.marginals import marginals
from judges.metrics.factuality.vocabulary import FactorTables, Inference

CLEAR = 0.15
"""A side stands where the point is at least this far from an even chance."""
MIN_SUPPORT = 0.6
"""A third passage has a say from this probability on: what is hardly likelier than not sides with no one."""
POINT = "point"
PAIR = 2


class Basis(StrEnum):
    """What decides a conflict, or leaves it open."""

    AGREEMENT = "agreement"
    SOURCES = "sources"
    WORDING = "wording"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class PassageStance:
    """A passage for or against a point: how surely, how far believed beforehand, in which words."""

    passage: str
    supports: bool
    probability: float
    prior: float
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How a conflict ends.

    Attributes:
        point: What is in dispute.
        probability: Of the point, given all voices.
        basis: What decides; `WORDING` is the weakest, since it weighs how surely passages were read and
            not how many there are or how far they can be trusted.
        voices: Every passage with a say, those for the point first, the surest first.
    """

    point: str
    probability: float
    basis: Basis
    voices: tuple[PassageStance, ...]

    @property
    def decided(self) -> bool:
        """Whether one side stands."""
        return self.basis is not Basis.NOTHING

    @property
    def stands(self) -> tuple[str, ...]:
        """The passages of the side that stands; none where neither does."""
        ahead = self.probability > CLAIM_PRIOR
        return tuple(voice.passage for voice in self.voices if self.decided and voice.supports is ahead)

    def reason(self) -> str:
        """The outcome in a sentence for people."""
        ours = [voice for voice in self.voices if voice.supports]
        theirs = [voice for voice in self.voices if not voice.supports]
        ahead, behind = (ours, theirs) if self.probability >= CLAIM_PRIOR else (theirs, ours)
        sure = max(self.probability, 1 - self.probability)
        others = _names(behind)
        stand = f"{_names(ahead)} {'stands' if len(ahead) == 1 else 'stand'}"
        match self.basis:
            case Basis.AGREEMENT:
                return f"{stand} ({sure:.2f}): {_count(ahead)} against {_count(behind)} ({others})."
            case Basis.SOURCES:
                whose = "its source is" if len(ahead) == 1 else "their sources are"
                return f"{stand} ({sure:.2f}): {whose} given more credit than {others}."
            case Basis.WORDING:
                why = f"{_count(ahead)} against {_count(behind)} ({others}), but in surer words"
                average = " on average" if len(self.voices) > PAIR else ""
                surest = f"{_surety(ahead):.2f} against {_surety(behind):.2f}{average}"
                return f"{stand} by wording alone ({sure:.2f}): {why}, {surest}."
            case Basis.NOTHING:
                said = f"{_count(ours)} for it and {_count(theirs)} against it"
                return f"Undecided ({self.probability:.2f}): {said}, neither clearly ahead."

    def as_json(self) -> dict[str, Json]:
        """What is kept beside the score."""
        head = to_json(self, "voices")
        voices: list[Json] = [to_json(voice) for voice in self.voices]
        return {**head, "stands": list(self.stands), "reason": self.reason(), "voices": voices}


def resolve(point: str, voices: Sequence[PassageStance]) -> Resolution:
    """Weigh a point that passages disagree on; a passage that is heard several times counts once, its surest.

    Raises:
        StatisticsError: Certain passages contradict each other.
    """
    heard: dict[str, PassageStance] = {}
    for voice in voices:
        known = heard.get(voice.passage)
        if known is None or voice.probability > known.probability:
            heard[voice.passage] = voice
    ordered = tuple(sorted(heard.values(), key=lambda voice: (not voice.supports, -voice.probability)))
    probability = _weigh(ordered)
    return Resolution(
        point=point, probability=probability, basis=_basis(ordered, probability), voices=ordered
    )


def _weigh(voices: Sequence[PassageStance]) -> float:
    """The posterior of the point: FR2 of one claim, a false source leaving it at an even chance."""
    nodes = [FactNode(id=POINT, kind=NodeKind.CLAIM, prior=CLAIM_PRIOR)]
    nodes += [FactNode(id=f"c {voice.passage}", kind=NodeKind.CONTEXT, prior=voice.prior) for voice in voices]
    edges = [
        FactEdge(
            source=f"c {voice.passage}",
            target=POINT,
            relation=FactRelation.ENTAILMENT if voice.supports else FactRelation.CONTRADICTION,
            probability=voice.probability,
        )
        for voice in voices
    ]
    graph = FactGraph(nodes=tuple(nodes), edges=tuple(edges))
    found = marginals(graph, factors=FactorTables.REFERENCE_CODE, inference=Inference.AUTO, seed=0)
    return found.marginals[POINT]


def _basis(voices: Sequence[PassageStance], probability: float) -> Basis:
    """What the outcome depends on: how many passages, else how credible, else how sure their wording."""
    if abs(probability - CLAIM_PRIOR) < CLEAR:
        return Basis.NOTHING
    sides: Mapping[bool, list[PassageStance]] = {
        side: [voice for voice in voices if voice.supports is side] for side in (True, False)
    }
    ahead, behind = sides[probability > CLAIM_PRIOR], sides[probability < CLAIM_PRIOR]
    if len(ahead) > len(behind):
        return Basis.AGREEMENT
    credit, other = (fmean(voice.prior for voice in side) for side in (ahead, behind))
    return Basis.SOURCES if credit > other and not isclose(credit, other) else Basis.WORDING


def _names(voices: Sequence[PassageStance]) -> str:
    names = [voice.passage for voice in voices]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _surety(voices: Sequence[PassageStance]) -> float:
    return fmean(voice.probability for voice in voices)


def _count(voices: Sequence[PassageStance]) -> str:
    return "one passage" if len(voices) == 1 else f"{len(voices)} passages"
