"""How often intervals hold what another round says, and how long they take.

    python benchmarks/judge_error.py [coverage|sample|rates|speed …] [--repeats N] [--questions Q]

The simulated judge is that of the tests (`tests/simulated_judge.py`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from leaderboard.ratings import IntervalKind, rate
from leaderboard.trust.judge_error.ratings import rate_readings
from leaderboard.vocabulary import ErrorKind
from tests.simulated_judge import JUDGES, SANDWICH, Judge, coverage, coverage_of_rates, trials

HEADINGS = "| judge | wordings | questions | judge's own | all | width: questions | judge's own | all |"


def _coverage(options: argparse.Namespace) -> None:
    """Every battle in every wording, twice."""
    _print_table(options, (4, 6, 10), repeats=2, share=1.0)


def _sample(options: argparse.Namespace) -> None:
    """A fifth of the battles again, in further wordings; the estimate is the round's own."""
    _print_table(options, (4, 6, 10), repeats=2, share=0.2)


def _print_table(
    options: argparse.Namespace, wordings: tuple[int, ...], *, repeats: int, share: float
) -> None:
    print(HEADINGS)
    for name, judge in JUDGES.items():
        for count in wordings:
            rounds = trials(
                judge,
                questions=options.questions,
                wordings=count,
                repeats=repeats,
                count=options.repeats,
                share=share,
            )
            figures = coverage(rounds)
            held = " | ".join(f"{100 * figures[kind].held:.1f}" for kind in ErrorKind)
            width = " | ".join(f"{figures[kind].width:.0f}" for kind in ErrorKind)
            print(f"| {name} | {count} | {held} | {width} |", flush=True)


def _rates(options: argparse.Namespace) -> None:
    """Win rates, against all and against one system."""
    print("| wordings | against | judge's own | all |")
    for count in (4, 10):
        for reference in (None, "s05"):
            rounds = trials(
                Judge(), questions=options.questions, wordings=count, repeats=2, count=options.repeats
            )
            figures = coverage_of_rates(rounds, reference)
            held = " | ".join(f"{100 * part.held:.1f}" for part in figures.values())
            print(f"| {count} | {reference or 'all'} | {held} |", flush=True)


def _speed(options: argparse.Namespace) -> None:
    """Seconds for a round of 254,100 battles of 12 systems with a retested sample of 5 %, in 5 wordings."""
    judge = replace(Judge(), systems=12)
    trial = next(
        trials(judge, questions=3850, wordings=5, repeats=2, count=1, share=0.05, seed=options.questions)
    )
    table = trial.readings.table()
    plain = _seconds(lambda: rate(table, interval=IntervalKind.SANDWICH))
    full = _seconds(lambda: rate_readings(trial.readings, ErrorKind.ALL, SANDWICH))
    print(f"{len(table):,} battles, {len(trial.readings):,} readings: {full:.2f} s, without {plain:.2f} s")


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


PARTS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "coverage": _coverage,
    "sample": _sample,
    "rates": _rates,
    "speed": _speed,
}


def main() -> None:
    """Run the parts that are named, else all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    for name in options.parts or PARTS:
        print(f"\n{name}: {PARTS[name].__doc__}")
        PARTS[name](options)


if __name__ == "__main__":
    main()
