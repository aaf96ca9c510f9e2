"""Measures of factuality: from the posteriors of an answer's claims, and over the answers of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median

import numpy as np

from data.errors import StatisticsError

UNDECIDED = 0.5
EVEN = 1e-6
"""A posterior this close to one half is undecided: no more than rounding parts it from it."""
BINS = 10


class Label(StrEnum):
    """What was found of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many claims of an answer were found to be what."""

    supported: int
    contradicted: int
    undecided: int

    @property
    def claims(self) -> int:
        """All of them."""
        return self.supported + self.contradicted + self.undecided


def label_of(posterior: float) -> Label:
    """Supported where true is likelier than false, contradicted where less, else undecided.

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
    """The share of the claims that is supported, 0–1.

    Raises:
        StatisticsError: There are no claims.

    Source: FactReasoner, equation 5.
    """
    if not counts.claims:
        raise _nothing("precision", "claims")
    return counts.supported / counts.claims


def recall_at(counts: Counts, k: float) -> float:
    """Supported claims beside the `k` that a full answer has, at most 1.

    Raises:
        StatisticsError: `k` is not positive.

    Source: FactReasoner, equation 6.
    """
    if k <= 0:
        message = f"Recall at K = {k} does not exist."
        raise StatisticsError(message, advice="Use the median number of claims of the set.")
    return min(counts.supported / k, 1.0)


def f1_at(counts: Counts, k: float) -> float:
    """The harmonic mean of precision and recall at `k`; 0 where nothing is supported.

    Raises:
        StatisticsError: There are no claims, or `k` is not positive.

    Source: FactReasoner, equation 7.
    """
    p, r = precision(counts), recall_at(counts, k)
    return 2 * p * r / (p + r) if counts.supported else 0.0


def median_claims(numbers: Sequence[int]) -> float:
    """The K of F1@K: the median number of claims over the answers of a set.

    Raises:
        StatisticsError: There are no answers.
    """
    if not numbers:
        raise _nothing("The median number of claims", "answers")
    return float(median(numbers))


def entropy_measure(posteriors: Sequence[float]) -> float:
    """The mean of −P·log10 P, as the paper prints it.

    It is 0 where every claim is certain, be it certainly true or certainly false, 0.150515 where all
    are undecided, and largest at P = 1/e.

    Raises:
        StatisticsError: There are no posteriors.

    Source: FactReasoner, equation 1, base 10.
    """
    if not posteriors:
        raise _nothing("The entropy measure", "posteriors")
    return fmean(_surprise(p) for p in posteriors)


def repaired_entropy_measure(posteriors: Sequence[float]) -> float:
    """The entropy measure continued so that it falls all the way from false to true.

    From P = 1/2 on it is the printed measure. Below, a claim counts as much above the undecided
    0.150515 as its negation counts below it, so that all-true is 0 and all-false 0.30103.

    Raises:
        StatisticsError: There are no posteriors.
    """
    if not posteriors:
        raise _nothing("The repaired entropy measure", "posteriors")
    return fmean(
        _surprise(p) if p >= UNDECIDED else 2 * _surprise(UNDECIDED) - _surprise(1 - p) for p in posteriors
    )


def _surprise(p: float) -> float:
    return float(-p * np.log10(p)) if p > 0 else 0.0


def brier(posteriors: Sequence[float], truths: Sequence[bool]) -> float:
    """The mean squared difference of posteriors and truths, 0 best.

    Raises:
        StatisticsError: There are none, or not as many of the one as of the other.
    """
    _matched(posteriors, truths, "The Brier score")
    return fmean((p - truth) ** 2 for p, truth in zip(posteriors, truths, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Claims with similar posteriors: how probable they were held to be, and how many were true."""

    lower: float
    upper: float
    claims: int
    mean_posterior: float
    share_true: float


def calibration_curve(
    posteriors: Sequence[float], truths: Sequence[bool], *, bins: int = BINS
) -> tuple[CalibrationBin, ...]:
    """Group claims by posterior into bins of equal width; empty bins are left out.

    Raises:
        StatisticsError: There are none, or not as many of the one as of the other.
    """
    _matched(posteriors, truths, "The calibration curve")
    filled = []
    for number in range(bins):
        inside = [
            (p, truth)
            for p, truth in zip(posteriors, truths, strict=True)
            if min(int(p * bins), bins - 1) == number
        ]
        if inside:
            filled.append(
                CalibrationBin(
                    lower=number / bins,
                    upper=(number + 1) / bins,
                    claims=len(inside),
                    mean_posterior=fmean(p for p, _ in inside),
                    share_true=fmean(truth for _, truth in inside),
                )
            )
    return tuple(filled)


def mean_absolute_error(precisions: Sequence[float], true_precisions: Sequence[float]) -> float:
    """The mean distance of the answers' precisions from the true ones.

    Raises:
        StatisticsError: There are none, or not as many of the one as of the other.

    Source: FactReasoner, equation 2.
    """
    _matched(precisions, true_precisions, "The mean absolute error")
    return fmean(abs(p - true) for p, true in zip(precisions, true_precisions, strict=True))


def label_f1(labels: Sequence[Label], truths: Sequence[bool]) -> float:
    """The F1 of `supported` against true labels; 0 where nothing true is found supported.

    Raises:
        StatisticsError: There are none, or not as many of the one as of the other.
    """
    _matched(labels, truths, "F1")
    predicted = [label is Label.SUPPORTED for label in labels]
    hits = sum(positive and truth for positive, truth in zip(predicted, truths, strict=True))
    return 2 * hits / (sum(predicted) + sum(truths)) if hits else 0.0


def better_than(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The p-value of a paired one-sided t-test that ours are greater on average; negate errors first.

    Raises:
        StatisticsError: There are fewer than two pairs, or all differences are the same.

    Source: FactReasoner, Table 4.
    """
    _matched(ours, theirs, "The t-test")
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if len(differences) < 2 or np.ptp(differences) == 0:  # noqa: PLR2004 - a spread needs two
        message = f"A t-test does not exist for {len(differences)} differences without spread."
        raise StatisticsError(message, advice="Compare assessors on several answers on which they differ.")
    from scipy import stats  # noqa: PLC0415 - loads when a test is asked for

    return float(stats.ttest_1samp(differences, 0.0, alternative="greater").pvalue)


def _nothing(noun: str, of: str) -> StatisticsError:
    return StatisticsError(
        f"{noun.capitalize()} does not exist without {of}.", advice="Score answers that make claims."
    )


def _matched(ones: Sequence[object], others: Sequence[object], noun: str) -> None:
    if not ones or len(ones) != len(others):
        message = f"{noun} does not exist for {len(ones)} values beside {len(others)}."
        raise StatisticsError(message, advice="Give one true value for each found one.")
