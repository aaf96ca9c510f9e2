"""The table of docs/method/scale.md on this machine: each row by a benchmark of its own, run here.

    python benchmarks/table.py [--only WORD] [--list]

Prints a line of Markdown a row: the work, ours, the peer or floor that it is held against, the ratio and its
goal, and the command that measures it alone. Seconds are of the processor, except where a latency is waited
for; other work on the machine lengthens them too, and the load is printed. A benchmark that fails is a row
that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = "| work | ours | peer or floor | ratio | goal | command |\n|---|---|---|---|---|---|"
SECONDS = r"^ *(?P<work>.+): (?P<ours>[\d.]+) s, .* goal of (?P<floor>[\d.]+) s$"
ANSWERS = r"^(?P<work>\S+ +\d+) +(?P<ours>[\d.]+) +[\d.]+ (?P<floor>[\d.]+): (?:met|missed)$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: `floor` is what ours is divided by, with what that is."""

    work: str
    ours: float
    floor: float
    against: str
    goal: str
    unit: str = "s"

    def line(self, command: str) -> str:
        """Return the row in Markdown."""
        ours, floor = (f"{value:,.3g} {self.unit}".strip() for value in (self.ours, self.floor))
        ratio = self.ours / self.floor
        cells = (self.work, ours, f"{floor}, {self.against}", f"{ratio:.2f}", self.goal, f"`{command}`")
        return f"| {' | '.join(cells)} |"


def commands(printed: str) -> Iterator[Row]:
    """Compare the dearest two reading commands, and the cheapest, with the import that all need."""
    found = json.loads(printed)
    floor, *others = found
    ordered = sorted(others, key=lambda one: -one["processor"])
    for one in (*ordered[:2], ordered[-1]):
        yield Row(
            work=f"`arena {one['command']}`",
            ours=one["processor"],
            floor=floor["processor"],
            against="`import sqlmodel`",
            goal="≤ 1.5",
        )


def goals(printed: str, *, pattern: str, unit: str = "s") -> Iterator[Row]:
    """Compare what a benchmark prints with the goals that it prints beside it."""
    for found in re.finditer(pattern, printed, re.MULTILINE):
        ours, floor = float(found["ours"]), float(found["floor"])
        yield Row(work=found["work"], ours=ours, floor=floor, against="the goal", goal="≤ 1", unit=unit)


def judging(printed: str) -> Iterator[Row]:
    """LLM access, against what the latency allows and against a bare client."""
    found = json.loads(printed)
    for name, said in (("direct", "the default"), ("access", "OpenAI's client"), ("bare", "a bare client")):
        share = next(
            value for key, value in found.items() if key.startswith(f"{name}, 300 ms") and "ideal" in key
        )
        yield Row(
            work=f"replies at 300 ms, 256 connections: {said}",
            ours=share * 256 / 0.3,
            floor=256 / 0.3,
            against="what the latency allows",
            goal="≥ 0.9" if name == "direct" else "",
            unit="/s",
        )


ROWS: dict[str, Callable[[str], Iterator[Row]]] = {
    "benchmarks/commands.py --reading --json": commands,
    "benchmarks/first_board.py": partial(goals, pattern=SECONDS),
    "benchmarks/judging.py --json": judging,
    "benchmarks/ratings.py --many": partial(goals, pattern=SECONDS),
    "benchmarks/metric_speed.py": partial(goals, pattern=ANSWERS, unit="ms"),
}


def main() -> None:
    """Run each benchmark and print its rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", metavar="WORD", help="commands that contain it")
    parser.add_argument("--list", action="store_true", help="print the commands alone")
    options = parser.parse_args()
    chosen = {command: rows for command, rows in ROWS.items() if options.only in command}
    if options.list:
        print(*(f"python {command}" for command in chosen), sep="\n")
        return
    print(HEAD)
    for command, rows in chosen.items():
        done = subprocess.run(
            [sys.executable, *command.split()], cwd=ROOT, check=False, capture_output=True, text=True
        )
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"| failed: {said.replace('|', '/')} | | | | | `{command}` |", flush=True)
            continue
        for row in rows(done.stdout):
            print(row.line(command), flush=True)
    load = os.getloadavg()[0]
    print(f"\n{os.cpu_count()} processors, load {load:.1f} at the end.")


if __name__ == "__main__":
    main()
