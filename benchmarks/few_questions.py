"""Simulate letters, differences and intervals with few questions to check their error rates.

Systems are equally good: each answer has a normal effect with standard deviation 1 in log-odds, and every
pair of systems has several battles per question. Prints a table of docs/method/ratings.md.

    python benchmarks/few_questions.py --rounds 1000 --interval sandwich
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from data.errors import StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, RatingTable, difference, rate

EVEN = 1000.0


def battles_of(
    rng: np.random.Generator, systems: int, questions: int, battles: int, strengths: tuple[float, ...] = ()
) -> BattleTable:
    """Draw battles of every pair of systems on every question; `strengths` are log-odds, 0 by default."""
    effects = rng.standard_normal((questions, systems))
    effects += np.array(strengths) if strengths else 0.0
    pairs = np.array(list(combinations(range(systems), 2)))
    question, pair, _ = (part.ravel() for part in np.indices((questions, len(pairs), battles)))
    a, b = pairs[pair].T
    chance = 1 / (1 + np.exp(effects[question, b] - effects[question, a]))
    won = rng.random(len(chance)) < chance
    return BattleTable.from_columns(
        question_id=[f"q{number:03}" for number in question],
        domain=["d"] * len(question),
        model_a=[f"s{number}" for number in a],
        model_b=[f"s{number}" for number in b],
        winner=np.where(won, "model_a", "model_b").tolist(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Shares (0–1) of simulated tables and of intervals.

    Attributes:
        separated: Tables in which letters separate two systems.
        apart: Intervals for the difference of the first two systems that exclude 0.
        held: Intervals of ratings that contain 1000.
        without: Tables without ratings, or ratings without an interval.
    """

    separated: float
    apart: float
    held: float
    without: float


def simulate(
    *, systems: int, questions: int, battles: int, rounds: int, interval: IntervalKind, resamples: int = 1000
) -> Found:
    """Simulate tables of equal systems."""
    separated, apart, held, none = 0, [], [], 0
    for number in range(rounds):
        rng = np.random.default_rng([number, systems, questions, battles])
        table = rate(
            battles_of(rng, systems, questions, battles), interval=interval, bootstrap=resamples, seed=number
        )
        separated += is_separated(table)
        rated = [row for row in table.ratings if row.lower is not None and row.upper is not None]
        held += [
            row.lower <= EVEN <= row.upper for row in rated if row.lower is not None and row.upper is not None
        ]
        none += systems - len(rated)
        try:
            gap = difference(table, "s0", "s1")
        except StatisticsError:
            continue
        apart.append(not gap.lower <= 0 <= gap.upper)
    return Found(
        separated=separated / rounds,
        apart=float(np.mean(apart)) if apart else 0.0,
        held=float(np.mean(held)) if held else 1.0,
        without=none / rounds / systems,
    )


def is_separated(table: RatingTable) -> bool:
    """Return whether any two systems share no letter."""
    return len({row.letters for row in table.ratings}) > 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--interval", type=IntervalKind, default=IntervalKind.SANDWICH)
    parser.add_argument("--systems", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--questions", type=int, nargs="+", default=[2, 3, 4, 5, 6, 8, 10, 30])
    parser.add_argument("--battles", type=int, nargs="+", default=[10, 30])
    chosen = parser.parse_args()
    print("| systems | questions | battles | separated | difference without 0 | intervals hold | without |")
    print("|---|---|---|---|---|---|---|")
    for systems in chosen.systems:
        for battles in chosen.battles:
            for questions in chosen.questions:
                shares = simulate(
                    systems=systems,
                    questions=questions,
                    battles=battles,
                    rounds=chosen.rounds,
                    interval=chosen.interval,
                    resamples=chosen.resamples,
                )
                print(
                    f"| {systems} | {questions} | {battles} | {100 * shares.separated:.1f} | "
                    f"{100 * shares.apart:.1f} | {100 * shares.held:.1f} | {100 * shares.without:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
