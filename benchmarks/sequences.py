"""What several judges and looking while a round runs cost: seconds of the fit, and share of a round's time.

    python benchmarks/sequences.py [--questions 400] [--battles 254000] [--judges 5]

First it fits judge-aware ratings to planted verdicts. Then it judges a round with the embedded judge in a
temporary folder under a stopping rule that never fires (two systems with the same answers), and prints how
much of the processor's time the looks took; the goal is less than 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.stopping import StopRule
from arena.settings import Settings
from leaderboard.battles import BattleTable, JudgeColumn
from leaderboard.ratings.judges import rate_with_judges

SYSTEMS = 20
SENTENCE = (
    "Part {k} of item {n} weighs {weight} grams, and {word} of it is kept in the {k}th room of house {n}. "
)
SENTENCES = 6
"""An answer has about 120 words, as long-form answers do."""
WORDS = ("much", "little", "nothing", "enough", "more")


def planted(battles: int, judges: int) -> tuple[BattleTable, JudgeColumn]:
    """Verdicts of judges of falling discrimination on the same battles."""
    rng = np.random.default_rng(0)
    theta = rng.normal(0, 0.8, SYSTEMS)
    a = rng.integers(0, SYSTEMS, battles)
    b = (a + rng.integers(1, SYSTEMS, battles)) % SYSTEMS
    sides = (np.tile(a, judges), np.tile(b, judges))
    judge = np.repeat(np.arange(judges), battles)
    gamma = np.linspace(1.8, 0.1, judges)[judge]
    chance = 1 / (1 + np.exp(-gamma * (theta[sides[0]] - theta[sides[1]])))
    table = BattleTable(
        systems=tuple(f"s{code:02}" for code in range(SYSTEMS)),
        questions=tuple(f"q{code:06}" for code in range(battles)),
        domains=("",),
        a=sides[0].astype(np.int32),
        b=sides[1].astype(np.int32),
        winner=(rng.random(len(judge)) > chance).astype(np.int8),
        question=np.tile(np.arange(battles), judges).astype(np.int32),
        domain=np.zeros(len(judge), np.int32),
    )
    names = tuple(f"j{code}" for code in range(judges))
    return table, JudgeColumn(names=names, code=judge.astype(np.int32))


@dataclass(slots=True)
class Meter:
    """Processor seconds of a stopping rule's looks."""

    seconds: float = 0.0
    looks: int = 0

    def watch(self) -> None:
        """Count what every look takes from now on."""
        plain = StopRule.look

        def look(rule: StopRule) -> bool:
            start = time.thread_time()
            try:
                return plain(rule)
            finally:
                self.seconds += time.thread_time() - start
                self.looks += 1

        StopRule.look = look  # type: ignore[method-assign, assignment]  # measured here alone


def text_of(question: int, kind: int) -> str:
    """A long-form answer; kinds differ in figures and words."""
    parts = [
        SENTENCE.format(k=part, n=question, weight=question + part * (kind + 1), word=WORDS[kind])
        for part in range(1, SENTENCES + 1)
    ]
    return "".join(parts).strip()


def filled(folder: Path, questions: int) -> Arena:
    """An arena with a set and six systems, two of which answer alike."""
    arena = Arena(Settings(home=folder, database_url=f"sqlite:///{folder / 'arena.sqlite'}"))
    source = folder / "bench"
    source.mkdir()
    (source / "set.toml").write_text(
        'name = "bench"\ntitle = "Bench"\nreference_name = "human"\n[domains]\nd = "D"\n'
    )
    rows = [
        {
            "id": f"q{n}",
            "domain": "d",
            "question": f"What of item {n}?",
            "reference": text_of(n, 0),
            "passages": [{"id": f"p{n}", "text": text_of(n, 0)}],
        }
        for n in range(questions)
    ]
    (source / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arena.sets.import_from(source)
    for system in range(6):
        path = folder / f"s{system}.jsonl"
        lines = [
            {"question_id": f"q{n}", "answer": text_of(n, system % len(WORDS))} for n in range(questions)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        arena.submissions.add(path, "bench", system=f"s{system}")
    return arena


def _processor() -> float:
    """Processor seconds of this process and of those that read texts for it, ended or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--battles", type=int, default=254_000)
    parser.add_argument("--judges", type=int, default=5)
    options = parser.parse_args()
    table, judges = planted(options.battles, options.judges)
    start, processor = time.perf_counter(), time.process_time()
    rate_with_judges(table, judges)
    took = time.perf_counter() - start
    print(
        f"judge-aware ratings and panels, {options.judges} judges x {options.battles:,} battles: "
        f"{took:.2f} s, {time.process_time() - processor:.2f} s of the processor"
    )
    meter = Meter()
    meter.watch()
    with tempfile.TemporaryDirectory() as folder:
        arena = filled(Path(folder), options.questions)
        arena.rounds.create(
            RoundRequest(
                set_name="bench", judge="lexical", pairs="all", name="r", stop_when="separated:s0,s5"
            )
        )
        processor = _processor()
        counts = arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
        arena.close()
        spent = _processor() - processor
    print(
        f"a round of {counts.planned:,} battles: {spent:.1f} s of the processor, {meter.looks} looks "
        f"{meter.seconds:.2f} s, {meter.seconds / spent:.1%} (goal: less than 5 %)"
    )


if __name__ == "__main__":
    main()
