"""Print the table of docs/method/scale.md: this checkout against commit 1971d065, alternating.

    python benchmarks/table.py [--only WORD] [--repeats 5]
    python benchmarks/table.py --growth  # this checkout alone, with 1, 4 and 16 times the data

Each row runs one command in both checkouts, the older one in a worktree in a temporary folder, and prints the
medians and their ratio. Seconds are the processor time of all processes of a command; other processes on the
machine increase them, so the load is printed too. If a command fails, its row says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORMER = "1971d065"
PUBLISH = "benchmarks/metric_speed.py --publish --questions {questions} --passages {passages}"
PROCESSOR, PEAK = r"([\d.]+) s of the processor", r"scoring process (\d+) MB"
FUNCTION = """
import time
import answer_arena as aa, pandas as pd
names = ("ash", "birch", "cedar", "reference")
frame = pd.DataFrame({{name: [f"{{name}} says {{n}}." for n in range(167)] for name in names}})
frame.insert(0, "question", [f"Why {{n}}?" for n in range(167)])
for _ in range({calls}):
    started = time.process_time()
    aa.rank(frame, judge=lambda _q, first, second, _right: "a" if len(first) > len(second) else "tie")
print(time.process_time() - started, "s of the processor")
"""
RATE = """
import time
import answer_arena as aa, leaderboard.ratings, numpy as np, pandas as pd
rng = np.random.default_rng(7)
first = rng.integers(0, 200, {battles})
second = (first + rng.integers(1, 200, len(first))) % 200
wins = rng.random(len(first)) < 1 / (1 + np.exp((second - first) / 100))
names = np.array([f"s{{n}}" for n in range(200)])
frame = pd.DataFrame({{"model_a": names[first], "model_b": names[second], "winner": np.where(wins, "model_a",
    "model_b"), "question_id": rng.integers(0, 17_000, len(first))}})
rate, tables = leaderboard.ratings.rate, []
leaderboard.ratings.rate = lambda table, **settings: tables.append(table) or rate(table, **settings)
aa.rate(frame, interval="sandwich")  # Loads modules and makes the table, which is not timed.
started = time.process_time()
rate(tables[0], {options})
print(time.process_time() - started, "s of the processor")
"""
READ = """
import tempfile, time
from pathlib import Path
from submissions.answer_tables import read_answer_table
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "answers.csv")
    lines = ("q{{0}},Is {{0}} odd?,No: {{0}}.\\n".format(n) for n in range({answers}))
    path.write_text("id,question,answer\\n" + "".join(lines))
    started = time.process_time()
    read_answer_table(path)
    print(time.process_time() - started, "s of the processor")
"""
ADD = """
import json, os, random, subprocess, sys
random.seed(7)
rows = [json.loads(line) for line in open("ash.jsonl")]
files = [f"s{{n}}.jsonl" for n in range(41)]
for name in files:
    with open(name, "w") as file:
        for row in rows:
            own = row["answer"].split(". ")
            text = ". ".join(random.sample(own, random.randint(1, len(own))))
            file.write(json.dumps({{**row, "answer": text}}) + chr(10))
def rank(*words):
    before = sum(os.times()[2:4])
    subprocess.run([sys.executable, "-m", "arena", "rank", *words], check=True, capture_output=True)
    return sum(os.times()[2:4]) - before
whole = rank(*files[:{systems}], "--references", "references.jsonl", "--out", "forty")
print(rank("forty", files[40]), "s of the processor; ranking", {systems}, "took", whole)
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A task, its maximum ratio and Python's arguments; without a pattern, the whole process counts."""

    work: str
    goal: float
    arguments: tuple[str, ...]
    pattern: str = ""


def publish(work: str, goal: float, questions: int, passages: int, pattern: str = PROCESSOR) -> Row:
    """Return a row for publishing three systems and a reference."""
    command = PUBLISH.format(questions=questions, passages=passages)
    return Row(work, goal, tuple(command.split()), pattern)


def code(work: str, goal: float, text: str, **values: object) -> Row:
    """Return a row for a snippet, which prints its own seconds."""
    return Row(work, goal, ("-c", text.format(**values)), PROCESSOR)


def command(work: str, goal: float, line: str) -> Row:
    """Return a row for an arena command."""
    return Row(work, goal, ("-m", "arena", *line.split()))


RANK = "rank ash.jsonl birch.jsonl cedar.jsonl elm.jsonl fir.jsonl --references references.jsonl"
ROWS = (
    publish("publish 900 answers, five passages each", 0.1, 300, 5),
    publish("publish 900 answers without passages", 0.2, 300, 0),
    publish("peak memory of a process that scores 900 answers", 0.67, 300, 5, PEAK),
    code(
        "question-clustered sandwich, 1.7 million battles",
        0.2,
        RATE,
        battles=1_700_000,
        options='interval="sandwich"',
    ),
    code("1,000 question resamples of them", 0.4, RATE, battles=1_700_000, options='interval="bootstrap"'),
    command("`arena rank`, five files of 40, embedded judge", 0.4, RANK),
    command("`arena losses` of that ranking", 0.6, "losses arena-board ash birch"),
    command("`arena compare` of that ranking", 0.6, "compare arena-board ash birch"),
    code("`aa.rank`, 1,000 battles of a function, first call", 0.4, FUNCTION, calls=1),
    code("the same, second call", 0.5, FUNCTION, calls=2),
    code("add one system to a ranking of 40", 0.07, ADD, systems=40),
    command("`arena rounds list`", 0.6, "rounds list"),
    command("`arena demo --no-serve`", 0.5, "demo --no-serve"),
)
SIZES = (1, 4, 16)


def growth(times: int) -> tuple[Row, ...]:
    """Return rows for this many times the data."""
    options = 'interval="sandwich"'
    return (
        publish("publish 300 answers without passages", 0, 75 * times, 0),
        code(
            "rate 100,000 battles with question clusters", 0, RATE, battles=100_000 * times, options=options
        ),
        code("read 6,000 answers", 0, READ, answers=6_000 * times),
    )


def print_growth(folder: Path, repeats: int) -> None:
    """Print the seconds for each size."""
    print("| work | 1 × | 4 × | 16 × |\n|---|---|---|---|")
    for same in zip(*map(growth, SIZES), strict=True):
        medians = (statistics.median(measure(row, ROOT, folder) for _ in range(repeats)) for row in same)
        print(f"| {same[0].work} |", " | ".join(f"{seconds:.2f}" for seconds in medians), "|", flush=True)


def fill(folder: Path) -> None:
    """Write references and five systems' answers to 40 demo questions."""
    lines = (ROOT / "data/sets/demo/questions.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    rows = [json.loads(line) for line in lines]
    texts = [[entry["text"] for entry in row["passages"]] for row in rows]
    for at, name in enumerate(("ash", "birch", "cedar", "elm", "fir")):
        answers = [" ".join(own[(at + n) % len(own) :][:2]) for n, own in enumerate(texts)]
        write(folder / f"{name}.jsonl", [row["question"] for row in rows], answer=answers)
    write(
        folder / "references.jsonl", [r["question"] for r in rows], reference=[r["reference"] for r in rows]
    )


def write(path: Path, questions: list[str], **columns: list[str]) -> None:
    """Write a JSONL file with questions and one more column."""
    ((name, values),) = columns.items()
    rows = ({"question": question, name: value} for question, value in zip(questions, values, strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def measure(row: Row, tree: Path, folder: Path) -> float:
    """Run a row in a checkout and return seconds or MB; NaN if it fails."""
    home = {"PYTHONPATH": str(tree), "ARENA_HOME": str(folder / ".arena"), "PYTHONDONTWRITEBYTECODE": ""}
    script = row.arguments[0].startswith("benchmarks/")
    arguments = [str(tree / row.arguments[0]), *row.arguments[1:]] if script else row.arguments
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=folder,
        env={**os.environ, **home},  # noqa: TID251 - of processes to start
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"{row.work}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return math.nan
    if row.pattern:
        match = re.search(row.pattern, done.stdout)
        return float(match[1]) if match else math.nan
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="rows that contain this word")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if options.growth:
            print_growth(Path(place), options.repeats)
            return
        former = Path(place) / "former"
        subprocess.run(
            ["git", "worktree", "add", "--detach", str(former), FORMER],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        # Its script judges answers without passages against the reference, which no judge can decide.
        script = former / "benchmarks/metric_speed.py"
        text = script.read_text(encoding="utf-8")
        text = text.replace('pairs="reference"', 'pairs="all"')
        # Like today's, it must not count the processes that checked files.
        text = text.replace("        started, used", "        PROCESSES.end_all()\n        started, used")
        text = text.replace("{used:.0f} s of the", "{used:.1f} s of the")
        script.write_text(text, encoding="utf-8")
        trees = {"former": former, "now": ROOT}
        rows = [row for row in ROWS if options.only in row.work]
        runs: dict[str, list[dict[str, float]]] = {row.work: [] for row in rows}
        for number in range(options.repeats):
            for row, name in product(rows, trees):
                folder = Path(place) / f"{name} {number}"
                if not folder.exists():
                    folder.mkdir()
                    fill(folder)
                runs[row.work].append({name: measure(row, trees[name], folder)})
        print(f"load {os.getloadavg()[0]:.1f}\n\n| work | {FORMER} | now | ratio (goal) |\n|---|---|---|---|")
        for row in rows:
            then, now = (
                statistics.median(run[name] for run in runs[row.work] if name in run) for name in trees
            )
            print(f"| {row.work} | {then:.2f} | {now:.2f} | {now / then:.2f} ({row.goal:g}) |")
        subprocess.run(["git", "worktree", "remove", "--force", str(former)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
