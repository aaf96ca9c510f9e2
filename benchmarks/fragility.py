"""How long it takes to find what places depend on, beside one rating of the same battles in the same run.

    python benchmarks/fragility.py [--sets wide,deep]

`wide`: 12 systems, 16,100 questions against the reference, every pair on 1,400; `deep`: 20 systems, every
pair on 1,330 of 1,400 questions. Both are about 254,000 battles. Seconds are processor time; a rating has its
1,000 resamples of questions, a fit has none. Target: all neighbours within 5 s.
"""

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from ratings import make_frame

from leaderboard.battles import BattleTable
from leaderboard.ratings import Cluster, IntervalKind, rate
from leaderboard.trust.robustness.fragility import Fragility, Status, fragility
from leaderboard.trust.sections import Unit

SETS = {"wide": (12, 16_100, 1_400), "deep": (20, 1_400, 1_330)}
TARGET = 5.0
Timed = TypeVar("Timed")


def timed(job: Callable[[], Timed]) -> tuple[float, Timed]:
    """Processor seconds of a job, and what it gives."""
    began = time.process_time()
    result = job()
    return time.process_time() - began, result


def describe(rests: Fragility) -> str:
    """The sizes that were found."""
    sizes = [len(exchange.questions) for exchange in rests.exchanges if exchange.status is Status.FOUND]
    if rests.unit is Unit.BATTLES:
        sizes = [len(exchange.battles) for exchange in rests.exchanges if exchange.status is Status.FOUND]
    lost = len(rests.exchanges) - len(sizes)
    middle = f", sizes {min(sizes)}-{max(sizes)}, median {np.median(sizes):.0f}" if sizes else ""
    return f"{len(rests.exchanges)} pairs{middle}, {lost} not found"


def compare(name: str) -> bool:
    """Time one set, and say whether it keeps the target."""
    frame = make_frame(*SETS[name])
    table = BattleTable.from_columns(*(frame[column] for column in frame.columns))
    single, _ = timed(lambda: rate(table, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE))
    rating, _ = timed(lambda: rate(table))
    met = f"{len(table):,} battles of {len(table.systems)} systems, {len(table.questions):,} questions"
    print(f"{name}: {met}\n  one fit {single:.3f} s, one rating with resamples {rating:.2f} s")
    kept = True
    for unit in Unit:
        seconds, rests = timed(partial(fragility, table, unit=unit))
        kept = kept and seconds < TARGET
        print(
            f"  fragility by {unit.value}: {seconds:.2f} s, {seconds / single:.0f} fits, "
            f"{seconds / rating:.1f} ratings; {describe(rests)}"
        )
    return kept


def main() -> int:
    """Time the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    kept = [compare(name) for name in parser.parse_args().sets.split(",")]
    print(f"within {TARGET:.0f} s: {'yes' if all(kept) else 'no'}")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
