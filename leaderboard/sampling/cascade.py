"""Cascades: a cheap judge decides where it is sure, an expensive one the rest.

The threshold on the cheap judge's confidence is set on pairs that both judged (or people labelled), such that
among the battles that the cheap judge decides it agrees with the other at least so often, with a
confidence of 95 % that holds although the threshold was chosen: from five starts, which share the 5 %,
thresholds are tested downwards, each by an exact binomial bound, until one fails, and the least that passed
is taken. Thresholds and starts follow from the confidences of all battles and the number of labels, not
from what the labels say.

Sources: Jung, Brahman & Choi (2024, "Trust or Escalate"), section 2; Angelopoulos et al. (2021, "Learn then
Test"), section 3 (fixed-sequence testing, with several starts); Clopper & Pearson (1934); Korn & Graubard
(1998) for pairs that share questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from data.errors import InputError
from data.stats import LEVEL

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

THRESHOLDS = 20
"""How many thresholds are tried at most, each leaving as much more to the cheap judge."""
STARTS = 5
"""One start alone, among few pairs, would often fail by luck where looser thresholds pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """When to ask the expensive judge.

    Attributes:
        threshold: Least confidence with which the cheap judge decides; None where no threshold reaches the
            level, and every battle goes to the expensive judge.
        level: Agreement that was asked for.
        confidence: Of the guarantee.
        agreement: How often the judges agreed on labelled pairs above the threshold; where there is none,
            above the start with the highest bound; None where labels were too few to test any.
        lower: Lower bound of that agreement.
        escalated: Expected part of the battles that goes to the expensive judge, abstentions included.
        abstained: Battles on which the cheap judge has no verdict or no confidence: all go on.
        labelled: Pairs that the threshold rests on.
        kept: Those of them above the threshold.
        unreadable: Pairs left out because a verdict of either judge is missing.
    """

    threshold: float | None
    level: float
    confidence: float
    agreement: float | None
    lower: float | None
    escalated: float
    abstained: int
    labelled: int
    kept: int
    unreadable: int

    def escalates(self, confidence: Floats) -> Flags:
        """(N,) whether each battle goes to the expensive judge; NaN, an abstention, always does."""
        if self.threshold is None:
            return np.ones(len(confidence), dtype=bool)
        return ~(confidence >= self.threshold)

    def __str__(self) -> str:
        asked = f"{self.level:.0%} agreement with {self.confidence:.0%} confidence"
        if self.agreement is None or self.lower is None:
            return f"{self.labelled} pairs that both judged are too few to promise {asked}."
        if self.threshold is None:
            return (
                f"No threshold promises {asked}: at best {self.kept} pairs agree in "
                f"{self.agreement:.1%}, at least {self.lower:.1%}. Every battle goes to the expensive judge."
            )
        return (
            f"From a confidence of {self.threshold:.3g} on the cheap judge decides: {self.agreement:.1%} "
            f"agreement on {self.kept} of {self.labelled} pairs, at least {self.lower:.1%}; "
            f"{self.escalated:.0%} of the battles go to the expensive judge."
        )


@dataclass(frozen=True, slots=True)
class _Tested:
    threshold: float
    kept: int
    agreement: float
    lower: float


def set_cascade(
    population: Floats,
    confidence: Floats,
    agrees: Floats,
    *,
    level: float,
    questions: Sequence[str] | None = None,
    certainty: float = LEVEL,
) -> Cascade:
    """Set the threshold on pairs that both judged.

    Args:
        population: (N,) the cheap judge's confidence on every battle of the round; NaN where it abstained.
        confidence: (n,) the same on pairs that were labelled, a random sample of battles like these.
        agrees: (n,) 1 where the expensive judge (or people) said the same, else 0; NaN where unreadable.
        level: Agreement to reach among what the cheap judge decides, within 0–1.
        questions: (n,) question of each pair, where pairs share them; None where all are independent.
        certainty: Confidence of the guarantee.

    Raises:
        InputError: Lengths differ, the level is not within 0–1, or there is no battle.
    """
    _check(population, confidence, agrees, level, questions)
    readable = np.isfinite(agrees)
    usable = readable & np.isfinite(confidence)
    names = np.arange(len(agrees)) if questions is None else np.unique(questions, return_inverse=True)[1]
    sample = confidence[usable], agrees[usable], names[usable]
    share = 1 - (1 - certainty) / STARTS
    thresholds = _thresholds(population, int(readable.sum()), level, share)
    tests = [_test(float(threshold), *sample, share) for threshold in thresholds]
    passed = _passed(tests, level)
    shown = passed or max(tests[:: _stride(tests)], key=lambda test: test.lower, default=None)
    decided = float(np.mean(population >= passed.threshold)) if passed else 0.0
    return Cascade(
        threshold=passed.threshold if passed else None,
        level=level,
        confidence=certainty,
        agreement=None if shown is None else shown.agreement,
        lower=None if shown is None else shown.lower,
        escalated=1 - decided,
        abstained=int(np.isnan(population).sum()),
        labelled=int(usable.sum()),
        kept=0 if shown is None else shown.kept,
        unreadable=int((~readable).sum()),
    )


def _passed(tests: Sequence[_Tested], level: float) -> _Tested | None:
    """The least threshold that some start reaches without a failure; tests are strictest first."""
    least = -1
    for start in range(0, len(tests), _stride(tests)):
        for place in range(start, len(tests)):
            if tests[place].lower < level:
                break
            least = max(least, place)
    return tests[least] if least >= 0 else None


def _stride(tests: Sequence[_Tested]) -> int:
    """Thresholds from one start to the next."""
    return max(1, math.ceil(len(tests) / STARTS))


def _check(
    population: Floats, confidence: Floats, agrees: Floats, level: float, questions: Sequence[str] | None
) -> None:
    lengths = {len(confidence), len(agrees), len(agrees if questions is None else questions)}
    if len(lengths) > 1 or not len(population):
        message = f"{len(confidence)} confidences and {len(agrees)} labels for {len(population)} battles."
        raise InputError(message, advice="Give a confidence, a label and a question for each labelled pair.")
    if not 0 < level < 1:
        message = f"An agreement of {level} cannot be promised."
        raise InputError(message, advice="Ask for a part between 0 and 1, such as 0.9.")


def _thresholds(population: Floats, labels: int, level: float, certainty: float) -> Floats:
    """From the strictest that so many labels could confirm at all down to deciding everything."""
    sure = np.sort(population[np.isfinite(population)])[::-1]
    # Without any disagreement so many pairs confirm the level: certainty = 1 − levelⁿ.
    fewest = math.ceil(math.log(1 - certainty) / math.log(level))
    first = math.ceil(1.5 * fewest / max(labels, 1) * len(population))
    if not len(sure) or first > len(sure):
        return np.empty(0)
    places = np.linspace(first, len(sure), THRESHOLDS).astype(np.int64) - 1
    return np.unique(sure[places])[::-1]


def _test(
    threshold: float, confidence: Floats, agrees: Floats, names: NDArray[np.int64], certainty: float
) -> _Tested:
    above = confidence >= threshold
    kept = int(above.sum())
    if not kept:
        return _Tested(threshold, 0, 0.0, 0.0)
    agreement = float(agrees[above].mean())
    units = kept / _design_effect(agrees[above], names[above])
    hits = agreement * units
    lower = float(betaincinv(hits, units - hits + 1, 1 - certainty)) if hits > 0 else 0.0
    return _Tested(threshold, kept, agreement, lower)


def _design_effect(agrees: Floats, names: NDArray[np.int64]) -> float:
    """How many times the variance of the mean exceeds that of independent pairs; at least 1.

    Where all agree there is no variance to compare: then each question counts once.
    """
    sums, sizes = np.bincount(names, agrees), np.bincount(names)
    clusters, mean = int((sizes > 0).sum()), float(agrees.mean())
    if not 0 < mean < 1 or clusters == 1:
        return len(agrees) / clusters
    clustered = float(((sums - mean * sizes) ** 2).sum()) * clusters / (clusters - 1)
    return 1.0 if clusters == len(agrees) else max(1.0, clustered / (len(agrees) * mean * (1 - mean)))


def confidence_of_shares(shares: Floats) -> Floats:
    """(N,) 0–1 from shares of the win, such as a scoring judge's; NaN stays: an abstention."""
    return np.asarray(np.abs(2 * shares - 1))


def confidence_of_margins(margins: Floats) -> Floats:
    """(N,) 0–1 from log-probability margins of one answer's token over the other's."""
    return np.asarray(np.abs(np.tanh(margins / 2)))


def confidence_of_orders(named_first: Floats, named_second: Floats) -> Floats:
    """(N,) 0–1 from side a's shares in both orders: 0 where the order turns the verdict."""
    first, second = 2 * named_first - 1, 2 * named_second - 1
    return np.asarray(np.where(first * second < 0, 0.0, np.abs(first + second) / 2))


def confidence_of_votes(for_a: Floats, for_b: Floats, ties: Floats) -> Floats:
    """(N,) 0–1 from counts of votes: the majority's part beyond the next; NaN without votes."""
    votes = np.sort(np.stack([for_a, for_b, ties]), axis=0)
    total = votes.sum(axis=0)
    return np.where(total > 0, (votes[2] - votes[1]) / np.where(total > 0, total, 1.0), np.nan)
