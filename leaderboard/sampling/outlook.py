"""How wide intervals will be at other numbers of verdicts, from the verdicts so far.

A difference's variance is what judging every battle would leave, since questions are a sample too, and
what judging a part adds: Σ m v (1/π − 1), with m the squared move of a battle, v the expected squared error
of its guess (for a plain sample: of what the two systems usually get) and π its chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings.vocabulary import POINTS
from leaderboard.sampling.adaptive import Design, design_of
from leaderboard.sampling.asks import HALF, Widths
from leaderboard.sampling.chances import WAVE_FLOOR, topped_up
from leaderboard.sampling.powered import Powered, usual_shares

Floats = NDArray[np.float64]

LEAST_CHANCE = 1e-9


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Outlook:
    """What further verdicts are expected to tell.

    Attributes:
        design: Of the differences asked about.
        variance: (N,) expected squared error of the guesses.
        usual: (N,) the same of what the two systems usually get.
        base: (C,) variance of each difference were everything judged, in squared log-odds; infinite where
            there is no estimate yet.
        worth: (N,) how much each battle moves the differences, the widest counting most.
        share_left: Part of the widest difference's variance that judging everything would take off.
    """

    design: Design
    variance: Floats
    usual: Floats
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
        plain = (known - usual_shares(scored.table, scored.guess)) ** 2 * inverse
        added = design.variances(scored.variance * np.maximum(1 / np.maximum(chance, LEAST_CHANCE) - 1, 0))
        return cls(
            share_left=float(added[now.argmax()] / max(now.max(), LEAST_CHANCE))
            if np.isfinite(now).all()
            else 1.0,
            design=design,
            variance=scored.variance,
            usual=np.full(len(known), plain.sum() / inverse.sum()),
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

    def exact_width(self, verdicts: int) -> float:
        """The same for a new round of any number of verdicts."""
        size = len(self.variance)
        everything = np.ones(size, dtype=bool)
        chance = topped_up(np.sqrt(self.variance * self.worth), np.zeros(size), everything, verdicts)
        return self._points(self.design.variances(self.variance * (1 / chance - 1)))

    def plain_width(self, verdicts: int) -> float:
        """The same for a plain sample of all battles, without a cheap judge."""
        return self._points(self.design.variances(self.usual * (len(self.usual) / verdicts - 1)))

    def _by_cell(self, values: Floats) -> Floats:
        cells = np.zeros(self.design.moves.shape[1])
        cells[self.design.cell] = values
        return cells

    def _points(self, added: Floats) -> float:
        return 2 * HALF * POINTS * math.sqrt(float((self.base + added).max()))
