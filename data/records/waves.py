"""Rounds whose own judge is asked about a part of the battles: proxy verdicts, waves, and their end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data.records.judging import Verdict
from data.records.vocabulary import Outcome, Preference, WavesEnd

if TYPE_CHECKING:
    # Commands import the records before they know that they need arrays.
    import numpy as np
    from numpy.typing import NDArray

SHARES = {Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}
"""What a preference gives side a of the win."""


def soft_share(verdict: Verdict) -> float | None:
    """Side a's share of the win: as the judge scores it, else by its mean margin, else by its preference.

    None where it gave no verdict.
    """
    if verdict.preference is None:
        return None
    if verdict.score is not None:
        return verdict.score
    margins = [judgment.margin for judgment in verdict.judgments if judgment.margin is not None]
    return SHARES[verdict.preference] if not margins else 0.5 - sum(margins) / len(margins) / 2


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Wave:
    """A draw of battles for the round's own judge.

    Attributes:
        number: From 1; the first is the pilot.
        seed: Of the draw.
        battles: How many were drawn.
        width: What was reached before it, in rating points; None where that was not known.
        sampling_probs: (N,) probability of each planned battle, by its number, to have been drawn in this
            wave or in any before, whether it was or not.
    """

    number: int
    seed: int
    battles: int
    width: float | None
    sampling_probs: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class EndOfWaves:
    """Why a round drew no further wave.

    Attributes:
        reason: Why.
        width: What was reached, in rating points; None where no interval exists.
        shares: (N, K) what each proxy judge gave side a of each planned battle; 0.5 where nothing.
    """

    reason: WavesEnd
    width: float | None
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class WaveArrays:
    """What waves are planned from, by battle in the order of their numbers.

    Attributes:
        numbers: (N,) the battles' numbers in the store.
        wave: (N,) the wave that drew each; 0 for none.
        cheap: (N, K) shares of side a by the proxy judges; NaN where one has none.
    """

    numbers: NDArray[np.int64]
    wave: NDArray[np.int64]
    cheap: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheapCounts:
    """How far a round's proxy judge is, by its place: battles with each outcome, and those pending."""

    place: int
    outcomes: Mapping[Outcome, int]
    pending: int
    cost_usd: float
