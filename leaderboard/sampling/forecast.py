"""How wide intervals would be at other numbers of verdicts: before any is paid for, and from those so far.

From the verdicts so far a difference's variance is what judging every battle would leave, since questions
are a sample too, and what judging a part adds: Σ m v (1/π − 1), with m the squared move of a battle, v the
expected squared error of its guess (for a plain sample: of what two systems usually get) and π its chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.ratings.vocabulary import POINTS
from leaderboard.sampling.adaptive import Design, design_of
from leaderboard.sampling.asks import HALF, Ask, Widths, widths_of
from leaderboard.sampling.chances import WAVE_FLOOR
from leaderboard.sampling.powered import Powered

PILOT = 50
"""Battles of a round's first wave."""
REPEATS = 3
LEAST_CORRELATED = 10
Floats = NDArray[np.float64]
LEAST_CHANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """What so many verdicts of the expensive judge would tell.

    Attributes:
        verdicts: How many.
        plain: Width with a plain sample, in rating points; None where it would rank no system.
        widths: Width with proxy judges, for each assumed correlation.
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
    With proxy judges whose shares correlate r with its verdicts, the part of the variance that judging more
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


def correlation(cheap: Floats, verdicts: Floats) -> float | None:
    """How proxy shares go with verdicts on the same battles, 0–1; None for fewer than ten, or all alike."""
    known = np.isfinite(cheap) & np.isfinite(verdicts)
    if known.sum() < LEAST_CORRELATED or not cheap[known].std() or not verdicts[known].std():
        return None
    return max(0.0, float(np.corrcoef(cheap[known], verdicts[known])[0, 1]))


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Outlook:
    """What further verdicts are expected to tell.

    Attributes:
        design: Of the differences asked about.
        variance: (N,) expected squared error of the guesses.
        base: (C,) variance of each difference were everything judged, in squared log-odds; infinite where
            there is no estimate yet.
        worth: (N,) how much each battle moves the differences, the widest counting most.
        share_left: Part of the widest difference's variance that judging everything would take off.
    """

    design: Design
    variance: Floats
    base: Floats
    worth: Floats
    share_left: float

    @classmethod
    def of(cls, scored: Powered, verdicts: Floats, chance: Floats, widths: Widths) -> Outlook:
        """From the verdicts so far.

        Args:
            scored: The battles' scores.
            verdicts: (N,) NaN where not judged.
            chance: (N,) of having been judged.
            widths: The intervals now.
        """
        judged = np.isfinite(verdicts)
        known, inverse = (
            np.where(judged, verdicts, 0.0),
            np.where(judged, 1 / np.maximum(chance, LEAST_CHANCE), 0),
        )
        design = design_of(scored.table, scored.guess, [width.contrast for width in widths.asked])
        surprise = (known - scored.guess) ** 2 * inverse
        now = np.array([(width.width / (2 * HALF * POINTS)) ** 2 for width in widths.asked])
        added = design.variances(scored.variance * np.maximum(1 / np.maximum(chance, LEAST_CHANCE) - 1, 0))
        return cls(
            share_left=float(added[now.argmax()] / max(now.max(), LEAST_CHANCE))
            if np.isfinite(now).all()
            else 1.0,
            design=design,
            variance=scored.variance,
            base=np.maximum(now - design.variances(surprise * np.maximum(inverse - 1, 0)), 0.0),
            worth=design.worth(design.balance(scored.variance)),
        )

    def width(self, verdicts: float) -> float:
        """Widest interval in points at a number of verdicts well below all.

        Chances above 1 are not cut off, which makes this quick and, near all verdicts, too hopeful.
        """
        spread = np.bincount(self.design.cell, np.sqrt(self.variance), self.design.moves.shape[1])
        root = np.sqrt(np.maximum(self.worth.max(initial=0.0) * LEAST_CHANCE, self._by_cell(self.worth)))
        added = (spread @ root) * (self.design.moves @ (spread / root)) / (verdicts * (1 - WAVE_FLOOR))
        return self._points(np.maximum(added - self.design.variances(self.variance), 0.0))

    def _by_cell(self, values: Floats) -> Floats:
        cells = np.zeros(self.design.moves.shape[1])
        cells[self.design.cell] = values
        return cells

    def _points(self, added: Floats) -> float:
        return 2 * HALF * POINTS * math.sqrt(float((self.base + added).max()))
