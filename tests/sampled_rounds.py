"""Simulated rounds whose truth is known: what a cheap and an expensive judge would say of each battle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, RatingTable, rate
from leaderboard.sampling.adaptive import NextBattles
from leaderboard.sampling.asks import HALF, Ask, widths_of
from leaderboard.sampling.waves import Ended, WavePlan, WaveState, next_wave

Floats = NDArray[np.float64]
Numbers = NDArray[np.floating[Any] | np.integer[Any]]
SYSTEMS, QUESTIONS = 8, 500


@dataclass(frozen=True)
class Round:
    """Planned battles with the proxy judge's shares, and what the expensive judge would say of each."""

    planned: BattleTable
    verdicts: Floats


def simulated(
    random: np.random.Generator, likeness: float, systems: int = SYSTEMS, questions: int = QUESTIONS
) -> Round:
    """Every pair of systems on every question; each answer has a quality of its own (sd 1)."""
    strength = np.linspace(-0.8, 0.8, systems)
    pairs = list(combinations(range(systems), 2))
    a, b = (np.tile([pair[side] for pair in pairs], questions) for side in (0, 1))
    question = np.repeat(np.arange(questions), len(pairs))
    quality = strength + random.normal(0, 1, (questions, systems))
    margin = quality[question, a] - quality[question, b] + random.logistic(0, 1, len(a))
    noise = random.normal(0, margin.std(), len(a))
    cheap = 1 / (1 + np.exp(-1.2 * (likeness * margin + np.sqrt(1 - likeness**2) * noise)))
    verdicts = np.where(np.abs(margin) < 0.3, 0.5, (margin > 0).astype(float))
    return Round(table_of(a, b, question, cheap, systems), verdicts)


def table_of(a: Numbers, b: Numbers, question: Numbers, share: Floats, systems: int) -> BattleTable:
    """A table of one domain from codes and shares."""
    return BattleTable(
        systems=tuple(f"s{n}" for n in range(systems)),
        questions=tuple(f"q{n}" for n in range(int(question.max()) + 1)),
        domains=("",),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        winner=np.where(share > 0.5, 0, 1).astype(np.int8),
        question=question.astype(np.int32),
        domain=np.zeros(len(a), np.int32),
        score=share,
    )


def rated(table: BattleTable) -> RatingTable:
    """Ratings with clustered sandwich errors: quick, and right for powered scores too."""
    return rate(table, interval=IntervalKind.SANDWICH)


def plain(battles: Round, random: np.random.Generator, count: int) -> BattleTable:
    """A simple random sample of battles, and nothing else."""
    return replace(battles.planned, score=battles.verdicts).select(
        np.sort(random.permutation(len(battles.verdicts))[:count])
    )


@dataclass(frozen=True)
class Stops:
    """Rounds that ended at a width.

    Attributes:
        plain: Verdicts of the plain sample whose mean width was the target.
        width: That width, full, in points.
        verdicts: (R,) verdicts at which each round ended.
        waves: (R,) its waves.
        gaps: Estimates less the truth, over their standard errors, one of each difference asked about.
    """

    plain: int
    width: float
    verdicts: Numbers
    waves: Numbers
    gaps: Floats

    @property
    def share(self) -> float:
        """Verdicts needed as a part of the plain sample's."""
        return float(self.verdicts.mean()) / self.plain

    @property
    def coverage(self) -> float:
        """Part of the 95 % intervals that hold the truth."""
        return float(np.mean(np.abs(self.gaps) <= HALF))


def stopped(
    ask: Ask, likeness: float, systems: int, questions: int, share: float, repeats: int, seed: int = 5
) -> Stops:
    """Let rounds end at the width that a plain sample of a share of the battles has."""
    random = np.random.default_rng(seed)
    truth = true_points(systems, questions)
    worlds = [simulated(random, likeness, systems, questions) for _ in range(6)]
    count = round(share * len(worlds[0].verdicts))
    width = float(np.mean([widths_of(plain(world, random, count), ask).widest for world in worlds]))
    verdicts, waves, gaps = [], [], []
    for repeat in range(repeats):
        world = simulated(random, likeness, systems, questions)
        plan = WavePlan(ask=ask, target_width=width, cap=len(world.verdicts), seed=1000 * repeat)
        state, ended = run_waves(plan, world)
        verdicts.append(int(state.judged.sum()))
        waves.append(state.waves)
        assert ended.widths is not None
        for asked in ended.widths.asked:
            assert asked.points is not None
            true = truth[asked.contrast.first] - truth[asked.contrast.second]
            gaps.append((asked.points - true) / (asked.width / (2 * HALF)))
    return Stops(count, width, np.array(verdicts), np.array(waves), np.array(gaps))


def begin(planned: BattleTable, others: tuple[Floats, ...] = ()) -> WaveState:
    """A round of which nothing is judged."""
    size = len(planned)
    return WaveState(
        planned=planned, verdicts=np.full(size, np.nan), sampling_prob=np.zeros(size), others=others
    )


def after_wave(state: WaveState, drawn: NextBattles, verdicts: Floats) -> WaveState:
    """The round with the verdicts of a wave, of `drawn.chosen` in its order."""
    known = state.verdicts.copy()
    known[drawn.chosen] = verdicts
    return replace(state, verdicts=known, sampling_prob=drawn.sampling_prob, waves=state.waves + 1)


def run_waves(plan: WavePlan, battles: Round) -> tuple[WaveState, Ended]:
    """A round from its first wave to its end."""
    state = begin(battles.planned)
    while not isinstance(wave := next_wave(plan, state), Ended):
        state = after_wave(state, wave, battles.verdicts[wave.chosen])
    return state, wave


def true_points(systems: int, questions: int) -> dict[str, float]:
    """What a simulated round of endless questions would give, from one of many."""
    random = np.random.default_rng(1)
    rounds = [simulated(random, 0.5, systems, questions) for _ in range(20_000 // questions)]
    tables = [rated(replace(battles.planned, score=battles.verdicts)) for battles in rounds]
    return {
        f"s{n}": float(np.mean([t.points[t.systems.index(f"s{n}")] for t in tables])) for n in range(systems)
    }
