"""How wide intervals would be at so many verdicts, before any is paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.sampling.asks import Ask, widths_of
from leaderboard.sampling.waves import PILOT

REPEATS = 3
LEAST_CORRELATED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """What so many verdicts of the expensive judge would tell.

    Attributes:
        verdicts: How many.
        plain: Width with a plain sample, in rating points; None where it would rank no system.
        widths: Width with cheap judges, for each assumed correlation.
    """

    verdicts: int
    plain: float | None
    widths: tuple[float | None, ...]


def verdict_counts(battles: int, further: int | None = None) -> tuple[int, ...]:
    """A pilot and its doublings up to all battles, and one further count."""
    doublings = [PILOT * 2**step for step in range(40) if PILOT * 2**step < battles]
    asked = [] if further is None or further > battles else [further]
    return tuple(sorted({*doublings, *asked, battles}))


def width_curve(
    ask: Ask,
    verdicts: BattleTable,
    *,
    battles: int,
    counts: Sequence[int],
    correlations: Sequence[float],
    seed: int,
) -> tuple[CurvePoint, ...]:
    """The width of what is asked against the number of verdicts.

    A plain sample's width is that of samples of the verdicts given, which stand in for the expensive judge's.
    With cheap judges whose shares correlate r with its verdicts, the part of the variance that judging more
    of the battles would take away shrinks by 1 − r² (Angelopoulos et al., 2024, section 3); what more
    *questions* would take away stays.

    Args:
        ask: What is asked.
        verdicts: Verdicts of some judge on some or all of the battles.
        battles: How many are planned.
        counts: Numbers of verdicts, ascending.
        correlations: Assumed or measured ones, 0–1.
        seed: Of the samples.
    """
    full = _squared(ask, verdicts)
    floor = None if full is None else full * len(verdicts) / battles
    random = np.random.default_rng(seed)
    return tuple(
        _point(count, _sampled(ask, verdicts, count, random), floor, correlations) for count in counts
    )


def _point(
    count: int, squared: float | None, floor: float | None, correlations: Sequence[float]
) -> CurvePoint:
    if squared is None or floor is None:
        return CurvePoint(verdicts=count, plain=None, widths=(None,) * len(correlations))
    beyond = max(0.0, squared - floor)
    widths = tuple(math.sqrt(min(squared, floor) + beyond * (1 - r * r)) for r in correlations)
    return CurvePoint(verdicts=count, plain=math.sqrt(squared), widths=widths)


def _sampled(ask: Ask, verdicts: BattleTable, count: int, random: np.random.Generator) -> float | None:
    """Mean squared width of samples of so many verdicts; scaled where there are not as many."""
    if count >= len(verdicts):
        squared = _squared(ask, verdicts)
        return None if squared is None else squared * len(verdicts) / count
    samples = [
        _squared(ask, verdicts.select(np.sort(random.permutation(len(verdicts))[:count])))
        for _ in range(REPEATS)
    ]
    known = [squared for squared in samples if squared is not None]
    return sum(known) / len(known) if known else None


def _squared(ask: Ask, verdicts: BattleTable) -> float | None:
    try:
        widest = widths_of(verdicts, ask).widest
    except StatisticsError:
        return None
    return widest**2 if math.isfinite(widest) else None


def correlation(cheap: NDArray[np.float64], verdicts: NDArray[np.float64]) -> float | None:
    """How cheap shares go with verdicts on the same battles, 0–1; None for fewer than ten, or all alike."""
    known = np.isfinite(cheap) & np.isfinite(verdicts)
    if known.sum() < LEAST_CORRELATED or not cheap[known].std() or not verdicts[known].std():
        return None
    return max(0.0, float(np.corrcoef(cheap[known], verdicts[known])[0, 1]))
