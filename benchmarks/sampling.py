"""How many verdicts of an expensive judge each cheaper round saves, at equal interval width.

Run: python -m benchmarks.sampling [repeats]

Saved is 1 − 1/g, where g is how many times the variance of the plain sample's estimate exceeds the
method's at the same number of verdicts: variances shrink as one over the number of verdicts. Coverage is
that of 95 % question-clustered intervals for the true ratings (simulated) or for the full round's
(real data).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.rates import win_rates
from leaderboard.ratings import IntervalKind, RatingTable, rate
from leaderboard.sampling.adaptive import neighbours, next_battles
from leaderboard.sampling.cheap_judge import PairTexts, pair_features, predicted_shares
from leaderboard.sampling.powered import Draw, power
from leaderboard.sampling.strata import Allocation, allocate
from leaderboard.standings.published import bundled_board

Floats = NDArray[np.float64]
Numbers = NDArray[np.floating[Any] | np.integer[Any]]
SHARED = Path(__file__).parents[1] / "../shared/data"
SYSTEMS, QUESTIONS, SHARE = 8, 500, 0.1


@dataclass(frozen=True)
class Round:
    """Planned battles with the cheap judge's shares, and what the expensive judge would say of each."""

    planned: BattleTable
    verdicts: Floats


def simulated(random: np.random.Generator, likeness: float) -> Round:
    """Every pair of systems on every question; each answer has a quality of its own (sd 1)."""
    strength = np.linspace(-0.8, 0.8, SYSTEMS)
    pairs = list(combinations(range(SYSTEMS), 2))
    a, b = (np.tile([pair[side] for pair in pairs], QUESTIONS) for side in (0, 1))
    question = np.repeat(np.arange(QUESTIONS), len(pairs))
    quality = strength + random.normal(0, 1, (QUESTIONS, SYSTEMS))
    margin = quality[question, a] - quality[question, b] + random.logistic(0, 1, len(a))
    noise = random.normal(0, margin.std(), len(a))
    cheap = 1 / (1 + np.exp(-1.2 * (likeness * margin + np.sqrt(1 - likeness**2) * noise)))
    verdicts = np.where(np.abs(margin) < 0.3, 0.5, (margin > 0).astype(float))
    return Round(table_of(a, b, question, cheap, SYSTEMS), verdicts)


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


def plain(battles: Round, random: np.random.Generator, count: int) -> BattleTable:
    """A simple random sample of battles, and nothing else."""
    return replace(battles.planned, score=battles.verdicts).select(
        np.sort(random.permutation(len(battles.verdicts))[:count])
    )


def powered(battles: Round, random: np.random.Generator, count: int) -> BattleTable:
    """The same sample, with the cheap judge on everything."""
    size = len(battles.verdicts)
    judged = drawn(random.permutation(size)[:count], size)
    draw = Draw(probability=np.full(size, count / size), judged=judged)
    return power(battles.planned, np.where(judged, battles.verdicts, np.nan), [draw]).table


def adaptive(
    battles: Round, random: np.random.Generator, count: int, *, leaders: bool = False
) -> BattleTable:
    """A third of the verdicts as a pilot, the rest where the differences asked about gain most."""
    names = [f"s{n}" for n in range(len(battles.planned.systems))]
    size = len(battles.verdicts)
    pilot = drawn(random.permutation(size)[: count // 3], size)
    first = Draw(probability=np.full(size, pilot.sum() / size), judged=pilot)
    start = power(battles.planned, np.where(pilot, battles.verdicts, np.nan), [first])
    following = next_battles(
        battles.planned,
        start.guess,
        pilot,
        count - int(pilot.sum()),
        targets=neighbours(names[-2:] if leaders else names),
        seed=int(random.integers(2**31)),
    )
    judged = pilot | drawn(following.chosen, size)
    second = Draw(probability=following.probability, judged=judged)
    verdicts = np.where(judged, battles.verdicts, np.nan)
    return power(battles.planned, verdicts, [first, second], worth=following.worth).table


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


def true_differences() -> Floats:
    """What a simulated round of endless questions would give, from one of very many."""
    random = np.random.default_rng(1)
    rounds = [simulated(random, 0.5) for _ in range(30)]
    gaps = [differences(rated(replace(r.planned, score=r.verdicts)))[0] for r in rounds]
    means: Floats = np.mean(gaps, axis=0)
    return means


def real_round() -> Round | None:
    """WikiContradict: people's grades of five answers a question, a classifier as the cheap judge."""
    path = SHARED / "wikicontradict" / "dev.jsonl"
    if not path.exists():
        return None
    grades = {"Incorrect": 0, "Partially correct": 1, "Correct": 2}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts, cells = [], []
    for question, row in enumerate(rows):
        grade = [grades[row[f"label{n}"]] if n > 2 else min(1, grades[row[f"label{n}"]]) for n in range(5)]
        context = f"{row['context1_self_contained']} {row['context2_self_contained']}"
        for a, b in combinations(range(5), 2):
            texts.append(
                PairTexts(
                    question=row["question"],
                    answer_a=row[f"answer{a}"],
                    answer_b=row[f"answer{b}"],
                    yardstick=context,
                )
            )
            cells.append((a, b, question, (np.sign(grade[a] - grade[b]) + 1) / 2))
    first, second, asked, verdicts = (np.array(column) for column in zip(*cells, strict=True))
    features = pair_features(texts)
    # Trained on a tenth of the questions, as an organiser would on verdicts already paid for.
    paid = np.where(asked % 10 == 0, verdicts, np.nan)
    shares = predicted_shares(features, paid, asked.astype(np.int32))
    kept = asked % 10 != 0
    _, codes = np.unique(asked[kept], return_inverse=True)
    return Round(table_of(first[kept], second[kept], codes, shares[kept], 5), verdicts[kept])


def stratified() -> None:
    """Domain strata on the published board: variance of overall rates against a simple sample."""
    board = bundled_board()
    rates = win_rates(board.table, reference=board.reference, clustered=False)
    systems = [name for name in board.table.systems if name != board.reference]
    sizes = {domain: int(rates.of(systems[0], domain).battles) for domain in board.table.domains}
    total = sum(sizes.values())
    print("\nStratified questions, published board (real rates), 1,400 of 16,099 questions: verdicts saved")
    for allocation in Allocation:
        saved = []
        for system in systems:
            share = {domain: rates.of(system, domain).win_rate for domain in sizes}
            spread = {domain: (p * (1 - p)) ** 0.5 for domain, p in share.items()}
            given = allocate(sizes, 1400, allocation, spread)
            overall = rates.of(system).win_rate
            simple = overall * (1 - overall) / 1400
            ours = sum((sizes[d] / total) ** 2 * spread[d] ** 2 / given[d] for d in sizes)
            saved.append(1 - ours / simple)
        print(f"  {allocation:14} saved {np.mean(saved):6.1%} ({min(saved):.1%} to {max(saved):.1%})")


def main() -> None:
    """Print every comparison."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    stratified()
    truth = true_differences()
    for likeness in (0.5, 0.7, 0.9):
        compare(
            f"Simulated, cheap margin correlated {likeness} with the expensive one",
            partial(simulated, likeness=likeness),
            truth,
            repeats,
        )
    battles = real_round()
    if battles is None:
        print("\nWikiContradict is not beside the checkout: real battles are skipped.")
        return
    compare("WikiContradict, people's grades, trained classifier", lambda _: battles, None, repeats)


if __name__ == "__main__":
    main()
