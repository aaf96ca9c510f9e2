"""The six nugget scores of TREC's RAG track, from the grades of an answer's nuggets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from types import MappingProxyType

from data.errors import JudgeError
from data.models import Importance


class Assignment(StrEnum):
    """Whether an answer states a nugget: in full, in part, or not."""

    SUPPORT = "support"
    PARTIAL = "partial_support"
    NONE = "not_support"


CREDIT: Mapping[Assignment, float] = MappingProxyType(
    {Assignment.SUPPORT: 1.0, Assignment.PARTIAL: 0.5, Assignment.NONE: 0.0}
)
STRICT: Mapping[Assignment, float] = MappingProxyType(
    {Assignment.SUPPORT: 1.0, Assignment.PARTIAL: 0.0, Assignment.NONE: 0.0}
)
WEIGHT: Mapping[Importance, float] = MappingProxyType({Importance.VITAL: 1.0, Importance.OKAY: 0.5})
"""Of the weighted scores."""
Graded = tuple[Importance, Assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetScores:
    """The six scores of an answer, 0–1.

    Attributes:
        all: Mean credit of all nuggets: 1 for support, ½ for partial support.
        all_strict: The same with no credit for partial support.
        vital: Mean credit of the vital nuggets; None without one.
        vital_strict: The same with no credit for partial support.
        weighted: Mean credit of all nuggets, an okay one weighing half.
        weighted_strict: The same with no credit for partial support.
    """

    all: float
    all_strict: float
    vital: float | None
    vital_strict: float | None
    weighted: float
    weighted_strict: float


def nugget_scores(graded: Sequence[Graded]) -> NuggetScores:
    """Score the grades of one answer's nuggets.

    Args:
        graded: Importance and assignment of each nugget, at least one.

    Raises:
        JudgeError: There is none.

    Source: Pradeep et al. (2024), "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the
    AutoNuggetizer Framework", the section on scoring. A question without vital nuggets, which the track's
    script scores 0, has no vital score here.
    """
    if not graded:
        raise JudgeError("There is no nugget to score.", advice="Give at least one.")
    alike = dict.fromkeys(Importance, 1.0)
    vital = {Importance.VITAL: 1.0, Importance.OKAY: 0.0}
    has_vital = any(importance is Importance.VITAL for importance, _ in graded)
    return NuggetScores(
        all=_mean(graded, alike, CREDIT),
        all_strict=_mean(graded, alike, STRICT),
        vital=_mean(graded, vital, CREDIT) if has_vital else None,
        vital_strict=_mean(graded, vital, STRICT) if has_vital else None,
        weighted=_mean(graded, WEIGHT, CREDIT),
        weighted_strict=_mean(graded, WEIGHT, STRICT),
    )


def _mean(
    graded: Sequence[Graded], weights: Mapping[Importance, float], credit: Mapping[Assignment, float]
) -> float:
    """Σ w·c / Σ w."""
    given = fsum(weights[importance] * credit[assignment] for importance, assignment in graded)
    return given / fsum(weights[importance] for importance, _ in graded)
