"""A round in waves: ask for the battles that tell most, look at the width, go on or end.

`next_wave` says what to judge or why the round ends; whoever runs the round has it judged. All waves count as
one draw: a battle's probability is that of having been drawn in any of them, whether it was or not, and
depends on verdicts on other questions alone (but for how many there are). The end is a width, which hardly
depends on who wins; intervals are fixed ones, after at least twice `WavePlan.pilot` verdicts. The same plan,
state and seed give the same next wave.

Sources: Zrnic & Candès (2024), section 5 (sequential sampling); Horvitz & Thompson (1952) for the pooled
chances; Chow & Robbins (1965) for fixed-width intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from data.records import WavesEnd
from leaderboard.battles import BattleTable
from leaderboard.sampling.adaptive import Contrast, NextBattles, design_of, drawn_by, next_battles
from leaderboard.sampling.asks import Ask, Widths, widths_of
from leaderboard.sampling.forecast import PILOT, Outlook
from leaderboard.sampling.powered import Powered, power

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEWEST_TO_END = 2
"""How many times the pilot must be judged before a width is believed: few verdicts look sure by luck."""
GROWTH = 0.5
"""A wave is at most as large as what was judged before it, times this."""
LEAST_WAVE = 0.06
"""And at least this part of it, so that the round does not creep towards its end."""
CAUTION = 0.9
"""Part of what seems needed that one wave buys, since what seems needed is an estimate."""
LITTLE_LEFT = 0.04
"""A round is over where judging everything would take this part off the variance, 2 % off the width."""
SURE = 4
"""How many times the pilot must be judged before what is left to learn is believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The round is over.

    Attributes:
        reason: Its width was reached, its cap was, or judging the rest would tell no more.
        widths: The intervals at the end; None where the cap is below the pilot.
    """

    reason: WavesEnd
    widths: Widths | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WavePlan:
    """What a round is for.

    Attributes:
        ask: What it is to tell.
        target_width: Full width in points at which it ends; None to spend the cap.
        cap: The most verdicts.
        capped_by: What sets the cap: the reason of a round that ends by it.
        pilot: Verdicts of the first wave, drawn evenly.
        seed: Of every draw.
    """

    ask: Ask
    target_width: float | None = None
    cap: int
    capped_by: WavesEnd = WavesEnd.SPEND
    pilot: int = PILOT
    seed: int = 0

    def __post_init__(self) -> None:
        if self.cap < 1 or self.pilot < 1 or (self.target_width is not None and not self.target_width > 0):
            message = f"A round of {self.cap} verdicts, {self.pilot} at first, to {self.target_width} points."
            raise InputError(message, advice="Ask for at least one verdict, and a width above 0.")


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class WaveState:
    """A round so far.

    Attributes:
        planned: All battles with the proxy judge's shares as `score`.
        verdicts: (N,) the expensive judge's shares of side a; NaN where not judged.
        sampling_prob: (N,) probability of each battle to have been drawn in any wave so far.
        waves: How many there were.
        others: Shares of further proxy judges, (N,) each.
    """

    planned: BattleTable
    verdicts: Floats
    sampling_prob: Floats
    waves: int = 0
    others: tuple[Floats, ...] = ()

    @property
    def judged(self) -> Flags:
        """(N,) whether each battle's verdict is known."""
        return np.isfinite(self.verdicts)


def next_wave(plan: WavePlan, state: WaveState) -> NextBattles | Ended:
    """What to judge next, or why the round is over.

    Raises:
        NotFoundError: The plan asks about a system without battles.
        InputError: No battle is planned.
    """
    judged, size = int(state.judged.sum()), len(state.planned)
    if not size:
        raise InputError("No battle is planned.", advice="Plan a round of two systems or more.")
    if judged < min(plan.pilot, size):
        return _pilot(plan, state, judged)
    scored = scores_of(state)
    widths = widths_of(scored.table, plan.ask)
    settled = judged >= min(FEWEST_TO_END * plan.pilot, size)
    if settled and plan.target_width is not None and widths.widest <= plan.target_width:
        return Ended(reason=WavesEnd.WIDTH, widths=widths)
    if judged >= plan.cap:
        return Ended(reason=plan.capped_by, widths=widths)
    outlook = Outlook.of(scored, state.verdicts, state.sampling_prob, widths)
    if judged == size or (judged >= SURE * plan.pilot and outlook.share_left < LITTLE_LEFT):
        return Ended(reason=WavesEnd.NOTHING_LEFT, widths=widths)
    return next_battles(
        state.planned,
        scored.guess,
        state.judged,
        _wave_size(plan, judged, size, outlook),
        contrasts=widths.contested,
        variance=scored.variance,
        before=state.sampling_prob,
        seed=plan.seed + state.waves,
    )


def scores_of(state: WaveState, contrasts: Sequence[Contrast] = ()) -> Powered:
    """The round's battles with unbiased scores; its gain is that of these differences.

    Raises:
        StatisticsError: Fewer than ten verdicts.
    """
    scored = power(state.planned, state.verdicts, state.sampling_prob, others=state.others)
    if not contrasts:
        return scored
    design = design_of(state.planned, scored.guess, contrasts)
    worth = design.worth(design.balance(scored.variance))
    return power(state.planned, state.verdicts, state.sampling_prob, worth=worth, others=state.others)


def _pilot(plan: WavePlan, state: WaveState, judged: int) -> NextBattles | Ended:
    if judged >= plan.cap:
        return Ended(reason=plan.capped_by, widths=None)
    wanted = min(plan.pilot, plan.cap) - judged
    even = np.ones(len(state.planned))
    return drawn_by(even, state.judged, state.sampling_prob, wanted, plan.seed + state.waves)


def _wave_size(plan: WavePlan, judged: int, size: int, outlook: Outlook) -> int:
    most = max(1, min(round(GROWTH * judged), size - judged, plan.cap - judged))
    if plan.target_width is None:
        return most
    low, high = judged, judged + most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if outlook.width(middle) > plan.target_width else (low, middle)
    wanted = CAUTION * (high - judged) if high < judged + most else most
    return int(min(most, max(wanted, LEAST_WAVE * judged, 1)))
