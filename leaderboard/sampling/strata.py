"""Questions sampled within domains, and means of such samples with the right intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from data.errors import InputError, StatisticsError
from data.stats import LEVEL, Interval

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST = 2
"""Questions of a stratum without which its spread is unknown."""


class Allocation(StrEnum):
    """How a sample is divided over domains.

    `PROPORTIONAL`: as the questions are. `EQUAL`: the same from each, which serves per-domain rates.
    `NEYMAN`: by size times spread, the best for the overall rate where spreads are known.
    """

    PROPORTIONAL = "proportional"
    EQUAL = "equal"
    NEYMAN = "neyman"


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Sample:
    """Chosen items of a list.

    Attributes:
        chosen: Their positions, ascending.
        probability: (N,) each item's chance of being chosen, whether it was or not.
    """

    chosen: Codes
    probability: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedMean:
    """A mean over all domains from a sample within each.

    Attributes:
        mean: Each domain's mean, weighted by its questions.
        error: Standard error.
        interval: t interval with Satterthwaite's degrees of freedom.
        sampled: Questions in the sample.
        population: Questions there are.
    """

    mean: float
    error: float
    interval: Interval
    sampled: int
    population: int


def allocate(
    sizes: Mapping[str, int],
    total: int,
    allocation: Allocation = Allocation.PROPORTIONAL,
    spreads: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """Divide a sample over domains: at least two of each, never more than there are.

    Args:
        sizes: Questions by domain.
        total: Questions to sample.
        allocation: The rule.
        spreads: Neyman's alone: standard deviation of the outcome by domain, from a pilot.

    Raises:
        InputError: The total is out of reach, or Neyman's rule lacks a spread.

    Source: Cochran (1977), sections 5.5 and 5.9.
    """
    least = {domain: min(LEAST, size) for domain, size in sizes.items()}
    if not sum(least.values()) <= total <= sum(sizes.values()):
        message = f"{total} questions cannot be sampled from {sum(sizes.values())} in {len(sizes)} domains."
        raise InputError(message, advice=f"Choose between {sum(least.values())} and {sum(sizes.values())}.")
    shares = {domain: _share(domain, size, allocation, spreads) for domain, size in sizes.items()}
    sample_sizes = dict(least)
    for _ in range(total - sum(sample_sizes.values())):
        # The domain that is furthest below its share gets the next question.
        short = [domain for domain in sizes if sample_sizes[domain] < sizes[domain]]
        sample_sizes[max(short, key=lambda domain: shares[domain] / (sample_sizes[domain] + 1))] += 1
    return sample_sizes


def _share(domain: str, size: int, allocation: Allocation, spreads: Mapping[str, float] | None) -> float:
    if allocation is Allocation.EQUAL:
        return 1.0
    if allocation is Allocation.PROPORTIONAL:
        return float(size)
    if spreads is None or not spreads.get(domain, -1.0) >= 0:
        message = f"Neyman's allocation needs the spread of {domain}."
        raise InputError(message, advice="Judge a small proportional sample first.")
    return size * spreads[domain]


def sample_questions(
    domains: Sequence[str],
    total: int,
    *,
    seed: int,
    allocation: Allocation = Allocation.PROPORTIONAL,
    spreads: Mapping[str, float] | None = None,
) -> Sample:
    """Draw questions within each domain without replacement.

    Args:
        domains: The domain of each question.
        total: Questions to sample.
        seed: Of the draw.
        allocation: How the sample is divided.
        spreads: See `allocate`.

    Raises:
        InputError: See `allocate`.
    """
    names, codes = np.unique(np.asarray(domains, dtype=np.str_), return_inverse=True)
    sizes = {str(name): int((codes == code).sum()) for code, name in enumerate(names)}
    sample_sizes = allocate(sizes, total, allocation, spreads)
    random = np.random.default_rng(seed)
    chosen: list[Codes] = []
    probability = np.zeros(len(codes))
    for code, name in enumerate(names):
        members = np.flatnonzero(codes == code)
        chosen.append(random.choice(members, sample_sizes[str(name)], replace=False))
        probability[members] = sample_sizes[str(name)] / len(members)
    return Sample(chosen=np.sort(np.concatenate(chosen)), probability=probability)


def stratified_mean(
    values: Sequence[float],
    domains: Sequence[str],
    sizes: Mapping[str, int],
    *,
    finite: bool = False,
    level: float = LEVEL,
) -> StratifiedMean:
    """Estimate the mean over all questions from a sample within each domain.

    Args:
        values: One a sampled question: for instance a system's mean score on it.
        domains: The domain of each.
        sizes: Questions by domain, sampled or not.
        finite: True for an interval of what judging *every* question would say; False for one of what
            questions like these say, which a full round's intervals mean too.
        level: Of the interval.

    Raises:
        StatisticsError: A domain with questions has fewer than two in the sample.

    Source: Cochran (1977), sections 5.3 and 5.4 (5.12 for degrees of freedom).
    """
    data, labels = np.asarray(values, dtype=np.float64), np.asarray(domains, dtype=np.str_)
    population = sum(sizes.values())
    mean = variance = satterthwaite = 0.0
    for domain, size in sizes.items():
        part = data[labels == domain]
        if len(part) < min(LEAST, size):
            message = f"{len(part)} of {size} questions of {domain} are in the sample."
            raise StatisticsError(message, advice="A domain's spread needs two of them.")
        if not size:
            continue
        finite_factor = 1 - len(part) / size if finite else 1.0
        spread = float(part.var(ddof=1)) if len(part) > 1 else 0.0
        piece = (size / population) ** 2 * finite_factor * spread / len(part)
        mean += size / population * float(part.mean())
        variance += piece
        satterthwaite += piece**2 / max(1, len(part) - 1)
    error = math.sqrt(variance)
    freedom = variance**2 / satterthwaite if satterthwaite else math.inf
    half = error * float(stdtrit(min(freedom, 1e6), (1 + level) / 2))
    return StratifiedMean(
        mean=mean,
        error=error,
        interval=Interval(mean - half, mean + half),
        sampled=len(data),
        population=population,
    )
