"""Interface of relation models, and verdicts on claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from judges.llm.requests import CallFailure

QUESTION_CACHE_SIZE = 8
"""Number of questions with cached texts; a few suffice, because answers are scored question by question."""


class Entailment(StrEnum):
    """Relation of a premise to a hypothesis."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


class Pair(NamedTuple):
    """An ordered pair of texts."""

    premise: str
    hypothesis: str


class Related(NamedTuple):
    """Relation of a premise to a hypothesis.

    Attributes:
        why: Decisive wording of the premise, if known.
    """

    stance: Entailment
    probability: float
    why: str = ""


class RelationModel(Protocol):
    """Classifies relations between texts."""

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Return the relation of each pair, in order."""
        ...


CONTRADICTED_BELOW = 0.3
"""Human labels confirm more than 80 % of the contradictions below this posterior."""
SUPPORTED_FROM = 0.7
"""Human labels confirm more than 80 % of the support from this posterior on."""


MEASURED: Mapping[str, str] = MappingProxyType(
    {
        version: f": by human labels, {wrong[0]} of its contradicted claims are wrong on half of "
        f"WikiContradict and {wrong[1]} on QA-Feedback; {right[0]} and {right[1]} of its supported claims "
        "are right. It was developed on these data, so expect less elsewhere."
        for version, wrong, right in (
            (
                "lexical-6",
                ("82 % (70 to 92 %)", "73 % (47 to 100 %)"),
                ("88 % (78 to 97 %)", "92 % (90 to 94 %)"),
            ),
            (
                "lexical-7",
                ("82 % (70 to 92 %)", "71 % (46 to 100 %)"),
                ("89 % (79 to 97 %)", "92 % (90 to 94 %)"),
            ),
            (
                "lexical-8",
                ("83 % (71 to 93 %)", "67 % (39 to 93 %)"),
                ("89 % (79 to 97 %)", "92 % (90 to 94 %)"),
            ),
        )
    }
)
"""Measured by `benchmarks/metric_agreement.py`, with 95 % intervals over questions."""


class Verdict(StrEnum):
    """Verdict on a claim, with stricter thresholds than scores."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNCONFIRMED = "not confirmed"


def verdict_of(posterior: float) -> Verdict:
    """Return the verdict for a posterior, 0–1."""
    if posterior >= SUPPORTED_FROM:
        return Verdict.SUPPORTED
    return Verdict.CONTRADICTED if posterior < CONTRADICTED_BELOW else Verdict.UNCONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """The version, NLI model or LLM that scored, and a sentence on its accuracy."""

    name: str
    sentence: str


def scorer_of(judge: str, engine: str) -> Scorer:
    """Return the scorer of a stored score.

    Args:
        judge: Judge in the score's name; empty, or only options, for the embedded version.
        engine: The score's detail `engine`; empty if missing.
    """
    if "@" in judge.partition("=")[0]:
        return Scorer(name=judge, sentence=f"Decided by {judge}, whose accuracy is not measured here.")
    version, _, model = engine.partition(", ")
    if model:
        name = model.removeprefix("nli:")
        sentence = f"Decided by the NLI model {name}, whose accuracy is not measured here."
        return Scorer(name=f"{version} with {model}", sentence=sentence)
    name = version or "an earlier lexical version"
    accuracy = MEASURED.get(version, "; its accuracy is unknown.")
    return Scorer(name=name, sentence=f"Decided by {name}, which compares words{accuracy}")
