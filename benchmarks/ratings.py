"""Compare ratings with public engines in one run, with BLAS and XLA pinned to one thread.

    python benchmarks/ratings.py [--sets S,M,L] [--rounds 3] [--draws 1000]
    python benchmarks/ratings.py --many     (very many systems: default ratings and a whole board)

Times include the conversion of a string table. Engines that are not installed are skipped with a message.
Seconds are processor time, which with one thread equals the wall-clock time on an idle machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
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


def make_frame(systems: int, star: int, complete: int) -> pd.DataFrame:
    """Return battles as strings: all systems against the reference, then all pairs."""
    rng = np.random.default_rng(systems)
    theta = rng.normal(0, 0.6, systems)
    theta[0] = 1.0
    indices = np.arange(1, systems)
    upper, lower = np.triu_indices(systems - 1, k=1)
    a = np.concatenate([np.tile(indices, star), np.tile(upper + 1, complete)])
    b = np.concatenate([np.zeros(len(indices) * star, dtype=np.int64), np.tile(lower + 1, complete)])
    question = np.concatenate(
        [np.repeat(np.arange(star), len(indices)), np.repeat(np.arange(complete), len(upper))]
    )
    chance = 1 / (1 + np.exp(theta[b] - theta[a]))
    draws = rng.random(len(a))
    outcome = np.where(draws < 0.05, 2, np.where(draws < 0.05 + 0.95 * chance, 0, 1))
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


def ours(frame: pd.DataFrame, draws: int = 0) -> RatingTable:
    """Compute this project's ratings from strings, with resampled questions or the sandwich estimator."""
    from leaderboard.battles import BattleTable
    from leaderboard.ratings import Cluster, IntervalKind, rate

    table = BattleTable.from_columns(*(frame[name] for name in frame.columns))
    if draws:
        return rate(table, bootstrap=draws)
    return rate(table, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE)


def evalica_fit(frame: pd.DataFrame) -> object:
    """Fit Evalica's Bradley-Terry to the table's columns."""
    import evalica

    words = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    return evalica.bradley_terry(frame["model_a"], frame["model_b"], frame["winner"].map(words)).scores


def arena_rank_fit(frame: pd.DataFrame) -> object:
    """Fit arena-rank's Bradley-Terry with its sandwich."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(frame)
    fitted = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)
    return np.asarray(fitted["ratings"])


def clock(job: Callable[[], object], rounds: int) -> float:
    """Return the median processor seconds of several rounds, after one untimed call for imports."""
    times = []
    if rounds > 1:
        job()
    for _ in range(rounds):
        began = time.process_time()
        job()
        times.append(time.process_time() - began)
    return statistics.median(times)


def compare(name: str, rounds: int, draws: int) -> None:
    """Time one set and print its lines."""
    frame = make_frame(*SETS[name])
    print(f"\nSet {name}: {len(frame):,} battles of {SETS[name][0]} systems, {draws} resamples", flush=True)
    few = 1 if name == "L" else rounds
    engines: dict[str, tuple[str, Callable[[], object], int]] = {
        "ours: fit + standard errors": ("", lambda: ours(frame), rounds),
        "evalica: fit": ("evalica", lambda: evalica_fit(frame), few),
        "arena-rank: fit + standard errors": ("arena_rank", lambda: arena_rank_fit(frame), few),
        "ours: fit + question resamples": ("", lambda: ours(frame, draws), few),
    }
    first = 0.0
    for label, (module, job, times) in engines.items():
        if module and importlib.util.find_spec(module) is None:
            print(f"  {label:<48} skipped: {module} is not installed")
            continue
        seconds = clock(job, times)
        first = first or seconds
        print(f"  {label:<48} {seconds:8.3f} s  {seconds / first:8.1f}×", flush=True)


def report_many() -> None:
    """Print the times of ratings and boards of very many systems."""
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
        # In one process, so that its processor time is complete.
        job = partial(build_standings, table, About(name="b", title="b")) if board else partial(rate, table)
        what = "standings" if board else "ratings"
        seconds, goal = clock(job, 1), 120 if systems == 4000 else 60
        share = f"{seconds / goal:.2f} of the goal of {goal} s"
        print(f"{what} of {systems:,} systems, 20,000 battles: {seconds:.1f} s, {share}")


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
