"""Ratings side by side with public engines, in one run, BLAS and XLA pinned to one thread for everyone.

    python benchmarks/ratings.py [--sets S,M,L] [--rounds 3] [--draws 1000]
    python benchmarks/ratings.py --many     (very many systems: the default ratings, and a whole board)

Every time runs from a table of strings to the result. Engines that are not installed are skipped with a
line that says so. Seconds are processor time: with one thread each that is the time on an idle machine.
The way of Chatbot Arena (one L-BFGS solve for each multinomial resample of the
aggregated outcomes) is written here, in `chatbot_arena_draws`.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.optimize import minimize

if TYPE_CHECKING:
    from leaderboard.battles import BattleTable
    from leaderboard.ratings import RatingTable

PIN = (
    "OPENBLAS_NUM_THREADS=1",
    "OMP_NUM_THREADS=1",
    "MKL_NUM_THREADS=1",
    "XLA_FLAGS=--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS=cpu",
)
# Set: systems, questions judged against the reference, questions on which every pair met.
SETS = {"S": (12, 16_100, 1_400), "M": (100, 16_100, 22), "L": (200, 16_100, 345)}
POINTS = 400 / np.log(10)
BATTLES = "ours: fit + battle resamples"
QUESTIONS = "ours: fit + question resamples"
ARENA = "Chatbot Arena way: battle resamples"


def make_frame(systems: int, star: int, complete: int) -> pd.DataFrame:
    """Return a round's battles as strings: the star against the reference, then complete pairs."""
    rng = np.random.default_rng(systems)
    theta = rng.normal(0, 0.6, systems)
    theta[0] = 1.0
    others = np.arange(1, systems)
    upper, lower = np.triu_indices(systems - 1, k=1)
    a = np.concatenate([np.tile(others, star), np.tile(upper + 1, complete)])
    b = np.concatenate([np.zeros(len(others) * star, dtype=np.int64), np.tile(lower + 1, complete)])
    question = np.concatenate(
        [np.repeat(np.arange(star), len(others)), np.repeat(np.arange(complete), len(upper))]
    )
    chance = 1 / (1 + np.exp(theta[b] - theta[a]))
    drawn = rng.random(len(a))
    outcome = np.where(drawn < 0.05, 2, np.where(drawn < 0.05 + 0.95 * chance, 0, 1))
    names = pd.array([f"system-{number:03d}" for number in range(systems)], dtype="str")
    words = pd.array(["model_a", "model_b", "tie"], dtype="str")
    ids = pd.array([f"question-{number:05d}" for number in range(star)], dtype="str")
    fields = pd.array([f"domain-{number}" for number in range(7)], dtype="str")
    return pd.DataFrame(
        {
            "question_id": ids[question],
            "domain": fields[question % 7],
            "model_a": names[a],
            "model_b": names[b],
            "winner": words[outcome],
        }
    )


def ours(frame: pd.DataFrame, kind: str, draws: int) -> RatingTable:
    """Compute this project's ratings from strings."""
    from leaderboard.battles import BattleTable

    table = BattleTable.from_columns(*(frame[name] for name in frame.columns))
    return rating_of(kind, draws)(table)


def evalica_fit(
    frame: pd.DataFrame, *, lists: bool = False, tolerance: float = 1e-6, limit: int = 100
) -> pd.Series:
    """Evalica's Bradley-Terry, given the table's columns as they are, or as lists (which it likes better)."""
    import evalica

    words = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    left, right, winners = frame["model_a"], frame["model_b"], frame["winner"].map(words)
    if lists:
        columns = (left.tolist(), right.tolist(), winners.tolist())
        return evalica.bradley_terry(*columns, tolerance=tolerance, limit=limit).scores
    return evalica.bradley_terry(left, right, winners, tolerance=tolerance, limit=limit).scores


def arena_rank_fit(frame: pd.DataFrame) -> object:
    """Arena-rank's Bradley-Terry with its sandwich."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(frame)
    found = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    return np.asarray(found["ratings"])


def choix_fit(frame: pd.DataFrame) -> object:
    """Choix's I-LSR on a matrix of wins, ties half."""
    import choix

    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]))
    a, b = codes[: len(frame)], codes[len(frame) :]
    won = frame["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}).to_numpy(dtype=float)
    size = len(names)
    wins = np.bincount(a * size + b, won, size * size) + np.bincount(b * size + a, 1 - won, size * size)
    return choix.ilsr_pairwise_dense(wins.reshape(size, size))


def chatbot_arena_draws(frame: pd.DataFrame, draws: int) -> np.ndarray:
    """Multinomial resamples of the aggregated outcomes, one L-BFGS solve each."""
    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]), sort=True)
    kinds = np.full((len(frame), 3), 1, dtype=np.int32)
    kinds[:, 0], kinds[:, 1] = codes[: len(frame)], codes[len(frame) :]
    kinds[frame["winner"] == "model_a", 2] = 2
    kinds[frame["winner"] == "model_b", 2] = 0
    kinds, counts = np.unique(kinds, return_counts=True, axis=0)
    first, second, share = kinds[:, 0], kinds[:, 1], kinds[:, 2] / 2
    rng = np.random.default_rng(0)
    resampled = rng.multinomial(len(frame), counts / len(frame), size=draws)

    def loss(theta: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
        gap = theta[first] - theta[second]
        chance = 1 / (1 + np.exp(-gap))
        value = -(weight * (share * np.log(chance) + (1 - share) * np.log(1 - chance))).sum()
        slope = weight * (chance - share)
        return value, np.bincount(first, slope, len(names)) - np.bincount(second, slope, len(names))

    return np.stack(
        [
            minimize(loss, np.zeros(len(names)), (weight,), "L-BFGS-B", jac=True, options={"gtol": 1e-6}).x
            for weight in resampled / len(frame)
        ]
    )


def clock(job: Callable[[], object], rounds: int) -> float:
    """Median processor seconds over rounds, after one untimed call (imports) where several are asked for."""
    times = []
    if rounds > 1:
        job()
    for _ in range(rounds):
        began = time.process_time()
        job()
        times.append(time.process_time() - began)
    return statistics.median(times)


def rating_of(kind: str, draws: int) -> Callable[[BattleTable], RatingTable]:
    """Return a way to rate by a short name."""
    from leaderboard.ratings import Cluster, IntervalKind, rate

    return {
        "fit": partial(rate, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE),
        "clustered": partial(rate, interval=IntervalKind.SANDWICH, cluster=Cluster.QUESTION),
        "battles": partial(rate, bootstrap=draws, cluster=Cluster.NONE),
        "questions": partial(rate, bootstrap=draws, cluster=Cluster.QUESTION),
    }[kind]


def compare(name: str, rounds: int, draws: int) -> None:
    """Time one set and print its lines."""
    frame = make_frame(*SETS[name])
    print(f"\nSet {name}: {len(frame):,} battles of {SETS[name][0]} systems, {draws} resamples", flush=True)
    few = 1 if name == "L" else rounds
    found: dict[str, float] = {}
    engines: dict[str, tuple[str, Callable[[], object], int]] = {
        "ours: fit + standard errors": ("", lambda: ours(frame, "fit", draws), rounds),
        "ours: fit + clustered sandwich": ("", lambda: ours(frame, "clustered", draws), rounds),
        "evalica: fit": ("evalica", lambda: evalica_fit(frame), few),
        "evalica on lists: fit": ("evalica", lambda: evalica_fit(frame, lists=True), few),
        "arena-rank: fit + standard errors": ("arena_rank", lambda: arena_rank_fit(frame), few),
        "choix: fit": ("choix", lambda: choix_fit(frame), few),
        BATTLES: ("", lambda: ours(frame, "battles", draws), few),
        QUESTIONS: ("", lambda: ours(frame, "questions", draws), few),
        ARENA: ("", lambda: chatbot_arena_draws(frame, draws), few),
    }
    for label, (module, job, times) in engines.items():
        if module and importlib.util.find_spec(module) is None:
            print(f"  {label:<48} skipped: {module} is not installed")
            continue
        found[label] = clock(job, times)
        print(f"  {label:<48} {found[label]:8.3f} s", flush=True)
    report_ratios(found)
    if name == "S":
        report_memory(frame, draws)
        report_accuracy(frame)


def report_many() -> None:
    """Print what ratings and boards of very many systems take."""
    from leaderboard.battles import BattleTable
    from leaderboard.ratings import rate
    from leaderboard.standings.build import build_standings
    from leaderboard.standings.model import About

    for systems, board in ((1000, False), (4000, False), (260, True)):
        rng = np.random.default_rng(systems)
        first = rng.integers(0, systems, 20_000)
        question = rng.integers(0, 200, 20_000)
        table = BattleTable(
            systems=tuple(f"s{k}" for k in range(systems)),
            questions=tuple(f"q{k}" for k in range(200)),
            domains=("d0", "d1", "d2"),
            a=first.astype(np.int32),
            b=((first + rng.integers(1, systems, 20_000)) % systems).astype(np.int32),
            winner=rng.integers(0, 3, 20_000).astype(np.int8),
            question=question.astype(np.int32),
            domain=(question % 3).astype(np.int32),
        )
        # With one process, so that its processor time is all of it.
        job = partial(build_standings, table, About(name="b", title="b")) if board else partial(rate, table)
        what = "standings" if board else "ratings"
        print(f"{what} of {systems:,} systems, 20,000 battles: {clock(job, 1):.1f} s of the processor")


def report_ratios(found: dict[str, float]) -> None:
    """Print what the project promises, as ratios."""
    fit = found["ours: fit + standard errors"]
    for label in ("evalica: fit", "evalica on lists: fit", "arena-rank: fit + standard errors", "choix: fit"):
        if label in found:
            print(f"  {label.split(':')[0]} / ours, one fit: {found[label] / fit:.1f}×")
    print(f"  Chatbot Arena way / ours, battle resamples: {found[ARENA] / found[BATTLES]:.1f}×")
    print(f"  ours with question resamples / Chatbot Arena way: {found[QUESTIONS] / found[ARENA]:.2f}")
    print(f"  clustered sandwich / fit: {found['ours: fit + clustered sandwich'] / fit:.2f}")


def report_memory(frame: pd.DataFrame, draws: int) -> None:
    """Peak of what question resamples allocate above the loaded table."""
    from leaderboard.battles import BattleTable

    table = BattleTable.from_columns(*(frame[name] for name in frame.columns))
    tracemalloc.start()
    rating_of("questions", draws)(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"  question resamples, peak above the loaded battles: {peak / 1e6:.0f} MB")


def report_accuracy(frame: pd.DataFrame) -> None:
    """Largest difference from evalica at its tightest, in points."""
    if importlib.util.find_spec("evalica") is None:
        return
    scores = evalica_fit(frame, tolerance=1e-12, limit=100_000)
    theirs = POINTS * (np.log(scores) - np.log(scores).mean()) + 1000
    table = ours(frame, "fit", 2)
    gap = max(
        abs(theirs[rating.system] - rating.rating) for rating in table.ratings if rating.rating is not None
    )
    print(f"  largest difference from evalica at tolerance 1e-12: {gap:.1e} points")


def main() -> None:
    """Pin threads in a child process, then compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="S,M")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--many", action="store_true", help="measure very many systems, only")
    parser.add_argument("--pinned", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if not chosen.pinned:
        command = ["env", *PIN, sys.executable, __file__, "--pinned", *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False).returncode)
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if chosen.many:
        report_many()
        return
    for name in chosen.sets.split(","):
        compare(name, chosen.rounds, chosen.draws)


if __name__ == "__main__":
    main()
