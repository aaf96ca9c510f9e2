"""Relation models: words, an NLI model, or an LLM; and the words for posteriors of claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from judges.llm.requests import CallFailure

QUESTION_CACHE_SIZE = 8
"""Questions whose own texts a metric keeps as read: answers to one are scored one after the other."""


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
        why: The wording of the premise that decided, where it is known.
    """

    stance: Entailment
    probability: float
    why: str = ""


class RelationModel(Protocol):
    """Tells how texts bear on each other."""

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Return one relation a pair, in their order."""
        ...


CONTRADICTED_BELOW = 0.3
"""People's labels confirm a contradiction below this posterior in more than four cases of five."""
SUPPORTED_FROM = 0.7
"""They confirm support from this posterior as often."""


MEASURED: Mapping[str, str] = MappingProxyType(
    {
        version: f": of the claims that it calls contradicted, {wrong[0]} are wrong by people's labels on "
        f"WikiContradict's shared half and {wrong[1]} on QA-Feedback; of those that it calls supported "
        f"{right[0]} and {right[1]} are right; it was made seeing these data, so expect less elsewhere."
        for version, wrong, right in (
            (
                "lexical-5",
                ("86 % (74 to 96 %)", "83 % (60 to 100 %)"),
                ("88 % (78 to 97 %)", "93 % (91 to 95 %)"),
            ),
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
        )
    }
)
"""By `benchmarks/metric_agreement.py`, with 95 % intervals over questions."""


class Verdict(StrEnum):
    """The word for a claim. A score counts by one half; words ask for more."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNCONFIRMED = "not confirmed"


def verdict_of(posterior: float) -> Verdict:
    """Return the word for a claim of this posterior, 0–1."""
    if posterior >= SUPPORTED_FROM:
        return Verdict.SUPPORTED
    return Verdict.CONTRADICTED if posterior < CONTRADICTED_BELOW else Verdict.UNCONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """The version, NLI model or LLM that scored, and a sentence on how often it is right."""

    name: str
    sentence: str


def scorer_of(judge: str, engine: str) -> Scorer:
    """Return the scorer of a stored score.

    Args:
        judge: The name that the score is stored under; empty, or options alone, for the embedded version.
        engine: The detail of the score that names its version; empty where it has none.
    """
    if "@" in judge.partition("=")[0]:
        return Scorer(
            name=judge, sentence=f"Decided by {judge}; how often it is right was not measured here."
        )
    version, _, model = engine.partition(", ")
    if model:
        name = model.removeprefix("nli:")
        sentence = f"Decided by the NLI model {name}; how often it is right was not measured here."
        return Scorer(name=f"{version} with {model}", sentence=sentence)
    former = version or "an earlier lexical version"
    right = MEASURED.get(version, "; how often it is right is not known.")
    return Scorer(name=former, sentence=f"Decided by {former}, which compares words{right}")
