"""Time a first board: the import, a thousand battles of a function, and files judged by a model.

    python benchmarks/first_board.py [--questions 20] [--latency 0.2]

Each figure is printed with its share of the goal, which should be at most 1. CPU seconds are comparable on
busy machines. Goals: `import answer_arena` 0.35 s; `aa.rank` of 1,000 battles of a fast function 2 s; a board
of five CSV files 10 s in addition to the requests. A sixth file only judges its own pairs.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

from made import ROOT, processor_seconds

from tests.scripted_llm import Script, ScriptedLLM

IMPORT_GOAL, RANK_GOAL, BEYOND_GOAL = 0.35, 2.0, 10.0
RUNS = 3
IMPORT = (
    "import time; a = time.perf_counter(); import answer_arena as aa; aa.rank; print(time.perf_counter() - a)"
)
RANK = """
import time
import answer_arena as aa

def longer(question, a, b, reference):
    return "a" if len(a) > len(b) else "b"

def rows(count):
    return [{"question": f"How does {n} work?", "answer": "x " * (count + n % 7)} for n in range(1000)]

for _ in range(2):
    wall, cpu = time.perf_counter(), time.process_time()
    ranking = aa.rank({"alpha": rows(5), "beta": rows(3)}, judge=longer, progress=False)
    assert len(ranking.comparisons) == 1000
    print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def main() -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--latency", type=float, default=0.2)
    options = parser.parse_args()
    _show("import answer_arena, CPU", min(float(_python(IMPORT)) for _ in range(RUNS)), IMPORT_GOAL)
    first, second = (map(float, line.split()) for line in _python(RANK).splitlines())
    for name, (wall, cpu) in (("first call", first), ("second call", second)):
        _show(f"aa.rank, 1,000 battles, {name}", wall, RANK_GOAL)
        _show(f"  of it CPU, {name}", cpu, RANK_GOAL)
    with tempfile.TemporaryDirectory() as folder:
        _files(Path(folder), options.questions, options.latency)


def _files(folder: Path, questions: int, latency: float) -> None:
    names = [f"system{number}" for number in range(6)]
    for length, name in enumerate(names):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(("prompt", "response"))
            rows.writerows((f"How does {n} work?", "It turns. " * (length + 1)) for n in range(questions))
    with ScriptedLLM(Script(latency=latency)).running() as llm:
        files = [f"{name}.csv" for name in names[:5]]
        model = ("--judge", "some-model", "--endpoint", llm.url)
        wall, cpu = _arena(folder, "rank", *files, *model, "--yes", "--out", "board")
        asking = llm.log.times[-1] - llm.log.times[0] + latency
        pairs = len(list(combinations(files, 2))) * questions
        print(f"five files, {pairs} pairs: {llm.log.calls} requests in {asking:.1f} s, board in {wall:.1f} s")
        _show("  beyond the requests", wall - asking, BEYOND_GOAL)
        _show("  CPU of the command", cpu, BEYOND_GOAL)
        before = llm.log.calls
        wall, _ = _arena(folder, "rank", "board", f"{names[5]}.csv", "--yes")
        requests = llm.log.calls - before
        print(f"sixth file: {requests} requests for its {5 * questions} pairs, board in {wall:.1f} s")


def _arena(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command and return its wall and CPU seconds."""
    begun, before = time.perf_counter(), processor_seconds()
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from arena.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *words], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begun, processor_seconds() - before


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _show(name: str, seconds: float, goal: float) -> None:
    print(f"{name}: {seconds:.2f} s, {seconds / goal:.2f} of the goal of {goal:g} s")


if __name__ == "__main__":
    main()
