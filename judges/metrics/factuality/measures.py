"""Measures of factuality from the posteriors of an answer's claims."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median

import numpy as np

from data.errors import StatisticsError

UNDECIDED = 0.5
EVEN = 1e-6
"""Maximum rounding error of an undecided posterior."""


class Label(StrEnum):
    """Verdict on a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of an answer's claims by verdict."""

    supported: int
    contradicted: int
    undecided: int

    @property
    def claims(self) -> int:
        """Total number of claims."""
        return self.supported + self.contradicted + self.undecided


def label_of(posterior: float) -> Label:
    """Return supported if true is more likely than false, contradicted if less, else undecided.

    Source: FactReasoner, section 3.2.
    """
    if abs(posterior - UNDECIDED) <= EVEN:
        return Label.UNDECIDED
    return Label.SUPPORTED if posterior > UNDECIDED else Label.CONTRADICTED


def count(labels: Sequence[Label]) -> Counts:
    """Count labels."""
    counts = Counter(labels)
    return Counts(
        supported=counts[Label.SUPPORTED],
        contradicted=counts[Label.CONTRADICTED],
        undecided=counts[Label.UNDECIDED],
    )


def precision(counts: Counts) -> float:
    """Return the share of supported claims, 0–1.

    Source: FactReasoner, equation 5.
    """
    if not counts.claims:
        raise _nothing("precision", "claims")
    return counts.supported / counts.claims


def recall_at(counts: Counts, k: float) -> float:
    """Return the ratio of supported claims to the `k` claims of a full answer, at most 1.

    Source: FactReasoner, equation 6.
    """
    if k <= 0:
        message = f"Recall at K = {k} is undefined."
        raise StatisticsError(message, advice="Use the median number of claims of the set.")
    return min(counts.supported / k, 1.0)


def f1_at(counts: Counts, k: float) -> float:
    """Return the harmonic mean of precision and recall at `k`; 0 without supported claims.

    Source: FactReasoner, equation 7.
    """
    p, r = precision(counts), recall_at(counts, k)
    return 2 * p * r / (p + r) if counts.supported else 0.0


def median_claims(numbers: Sequence[int]) -> float:
    """Return the K of F1@K: the median number of claims over the answers of a set."""
    if not numbers:
        raise _nothing("The median number of claims", "answers")
    return float(median(numbers))


def entropy_measure(posteriors: Sequence[float]) -> float:
    """Return the mean of −P·log10 P, as in the paper.

    It is 0 if every claim is certain, true or false, 0.150515 if all are undecided, and largest at P = 1/e.

    Source: FactReasoner, equation 1, base 10.
    """
    if not posteriors:
        raise _nothing("The entropy measure", "posteriors")
    return fmean(_surprise(p) for p in posteriors)


def repaired_entropy_measure(posteriors: Sequence[float]) -> float:
    """Return a variant of the entropy measure that decreases monotonically from false to true.

    It equals the paper's measure from P = 1/2 on and is point-symmetric below, so that it is 0 if all claims
    are true and 0.30103 if all are false.
    """
    if not posteriors:
        raise _nothing("The repaired entropy measure", "posteriors")
    return fmean(
        _surprise(p) if p >= UNDECIDED else 2 * _surprise(UNDECIDED) - _surprise(1 - p) for p in posteriors
    )


def _surprise(p: float) -> float:
    return float(-p * np.log10(p)) if p > 0 else 0.0


def _nothing(noun: str, of: str) -> StatisticsError:
    return StatisticsError(f"{noun.capitalize()} needs {of}.", advice="Score answers that make claims.")
