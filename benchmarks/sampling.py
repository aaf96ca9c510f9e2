"""How many verdicts of an expensive judge each cheaper round saves, at equal interval width.

Run: python -m benchmarks.sampling [repeats | early [repeats]]

Saved is 1 − 1/g, where g is how many times the variance of the plain sample's estimate exceeds the
method's at the same number of verdicts: variances shrink as one over the number of verdicts. Coverage is
that of 95 % question-clustered intervals for the true ratings (simulated) or for the full round's
(real data).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.ratings import RatingTable
from leaderboard.sampling import waves
from leaderboard.sampling.adaptive import Contrast, neighbours, next_battles
from leaderboard.sampling.asks import Ask, Question
from leaderboard.sampling.powered import power
from tests.sampled_rounds import (
    Round,
    plain,
    rated,
    run_waves,
    simulated,
    stopped,
    true_points,
)

Floats = NDArray[np.float64]
Numbers = NDArray[np.floating[Any] | np.integer[Any]]
SHARED = Path(__file__).parents[1] / "../shared/data"
SHARE = 0.1


def differences(table: RatingTable) -> tuple[Floats, Floats]:
    """Differences of systems next to each other by name, and their standard errors."""
    order = [table.systems.index(f"s{n}") for n in range(len(table.systems))]
    assert table.covariance is not None
    points, covariance = table.points[order], table.covariance[np.ix_(order, order)]
    step = np.diff(np.eye(len(order)), axis=0)
    return step @ points, np.sqrt(np.diag(step @ covariance @ step.T))


def drawn(known: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Positions as flags."""
    flags = np.zeros(size, dtype=bool)
    flags[known] = True
    return flags


def powered(battles: Round, random: np.random.Generator, count: int) -> BattleTable:
    """The same sample, with the proxy judge on everything."""
    size = len(battles.verdicts)
    judged = drawn(random.permutation(size)[:count], size)
    verdicts = np.where(judged, battles.verdicts, np.nan)
    return power(battles.planned, verdicts, np.full(size, count / size)).table


def adaptive(
    battles: Round, random: np.random.Generator, count: int, *, leaders: bool = False
) -> BattleTable:
    """A third of the verdicts as a pilot, the rest where the differences asked about gain most."""
    names = [f"s{n}" for n in range(len(battles.planned.systems))]
    size = len(battles.verdicts)
    pilot = drawn(random.permutation(size)[: count // 3], size)
    before = np.full(size, pilot.sum() / size)
    start = power(battles.planned, np.where(pilot, battles.verdicts, np.nan), before)
    following = next_battles(
        battles.planned,
        start.guess,
        pilot,
        count - int(pilot.sum()),
        contrasts=[Contrast(*pair) for pair in neighbours(names[-2:] if leaders else names)],
        variance=start.variance,
        before=before,
        seed=int(random.integers(2**31)),
    )
    judged = pilot | drawn(following.chosen, size)
    verdicts = np.where(judged, battles.verdicts, np.nan)
    return power(battles.planned, verdicts, following.sampling_prob).table


METHODS: dict[str, Callable[[Round, np.random.Generator, int], BattleTable]] = {
    "plain sample": plain,
    "powered": powered,
    "adaptive, ranking": adaptive,
    "adaptive, leaders": partial(adaptive, leaders=True),
}


def compare(
    title: str, make: Callable[[np.random.Generator], Round], truth: Floats | None, repeats: int
) -> None:
    """Print error, coverage and savings of each method on the same rounds."""
    random = np.random.default_rng(7)
    gaps: dict[str, list[Floats]] = {name: [] for name in METHODS}
    errors: dict[str, list[Floats]] = {name: [] for name in METHODS}
    for _ in range(repeats):
        battles = make(random)
        count = round(SHARE * len(battles.verdicts))
        whole, _ = differences(rated(replace(battles.planned, score=battles.verdicts)))
        for name, method in METHODS.items():
            found, error = differences(rated(method(battles, random, count)))
            gaps[name].append(found - (whole if truth is None else truth))
            errors[name].append(error)
    print(f"\n{title}: {count} of {len(battles.verdicts)} battles judged, {repeats} repeats")
    for what, part in (("neighbours in the ranking", slice(None)), ("the two leaders", slice(-1, None))):
        base = np.mean(np.square(errors["plain sample"])[:, part])
        print(f"  differences of {what}")
        for name in METHODS:
            gap, error = np.array(gaps[name])[:, part], np.array(errors[name])[:, part]
            cover = np.mean(np.abs(gap) <= 1.96 * error)
            saved = 1 - np.mean(error**2) / base
            print(
                f"    {name:18} se {np.sqrt(np.mean(error**2)):5.1f}  rmse {np.sqrt(np.mean(gap**2)):5.1f}"
                f"  bias {gap.mean():+5.1f}  coverage {cover:.3f}  verdicts saved {saved:4.0%}"
            )


def stopping(repeats: int) -> None:
    """Print verdicts needed for a width, as a part of a plain sample's, and coverage after stopping."""
    print("\nRounds in waves that end at the width of a plain sample")
    settings = [(8, 500, 0.1, repeats), (20, 2000, 0.02, max(4, repeats // 10))]
    for question in (Question.LEADERS, Question.RANKING):
        for systems, questions, share, times in settings:
            for likeness in (0.5, 0.7, 0.9):
                ended = stopped(Ask(question=question), likeness, systems, questions, share, times)
                print(
                    f"  {question:8} {systems:2} systems, {questions:4} questions, correlation {likeness}:"
                    f" {ended.verdicts.mean():5.0f} of {ended.plain} verdicts ({ended.share:.2f}),"
                    f" width {ended.width:.0f}, waves {ended.waves.mean():.1f},"
                    f" coverage {ended.coverage:.3f}, repeats {times}"
                )


def early(repeats: int) -> None:
    """Print coverage where a width is believed from the pilot on."""
    waves.FEWEST_TO_END = 1
    ask, truth = Ask(question=Question.LEADERS), true_points(8, 500)
    for likeness, width in ((0.7, 450), (0.7, 350), *((0.9, w) for w in (450, 350, 250, 200, 160, 120))):
        random = np.random.default_rng(2)
        verdicts, held = [], []
        for repeat in range(repeats):
            world = simulated(random, likeness)
            plan = waves.WavePlan(ask=ask, target_width=width, cap=len(world.verdicts), seed=1000 * repeat)
            state, ended = run_waves(plan, world)
            verdicts.append(int(state.judged.sum()))
            for asked in ended.widths.asked if ended.widths is not None else ():
                if asked.points is not None:
                    true = truth[asked.contrast.first] - truth[asked.contrast.second]
                    held.append(abs(asked.points - true) <= asked.width / 2)
        print(
            f"  correlation {likeness}, width {width}: {np.mean(verdicts):.0f} verdicts, "
            f"coverage {np.mean(held):.3f} of {len(held)}"
        )


def true_differences() -> Floats:
    """What a simulated round of endless questions would give, from one of very many."""
    random = np.random.default_rng(1)
    rounds = [simulated(random, 0.5) for _ in range(30)]
    gaps = [differences(rated(replace(r.planned, score=r.verdicts)))[0] for r in rounds]
    means: Floats = np.mean(gaps, axis=0)
    return means


def main() -> None:
    """Print every comparison."""
    if sys.argv[1:2] == ["early"]:
        early(int(sys.argv[2]) if len(sys.argv) > 2 else 120)
        return
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    stopping(repeats)
    truth = true_differences()
    for likeness in (0.5, 0.7, 0.9):
        compare(
            f"Simulated, cheap margin correlated {likeness} with the expensive one",
            partial(simulated, likeness=likeness),
            truth,
            repeats,
        )


if __name__ == "__main__":
    main()
