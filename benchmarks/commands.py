"""Measure commands on a database of LFRQA's size: processor time and peak memory, each in its own process.

    python benchmarks/commands.py [--home FOLDER] [--url postgresql+psycopg://…/empty] [--reading] [--json]

Creates a set of 14,020 questions, three systems with answers, a finished round of 42,048 battles, and some of
4,200, all with an LLM's replies. Then it runs

- reading commands, against `python -c "import sqlmodel"`: at most 1.8 times its processor time and 100 MB;
- `rounds export` of 42,048 battles (limit 5 s, 200 MB), `rounds publish --no-metrics` of 4,200 (4 s, 200 MB),
  `submissions add` of 14,020 answers (4 s).

Processor seconds include those of processes that the command starts; memory is the largest process's peak.
With --home the database is reused; publishing and adding then use the next round and version.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from made import ROOT, add_set, answers_file, arena_in, settle

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.models import RoundState

QUESTIONS, JUDGED, SMALL = 14_020, 14_016, 1_400
SYSTEMS = ("alder", "birch", "cedar")
SMALL_ROUNDS = 8
DOMAINS = ("biomedical", "finance", "lifestyle", "recreation", "science", "technology", "writing")
VOCABULARY = (
    "rates interest funds bond yield which after people water soil plants often rarely years made money "
    "known found same other under over while since most some river winter engine harbour market bank clay"
)
WORDS = VOCABULARY.split()
SENTENCE = 15
PATIENCE = 600
SEED = 11
BASE = ("-c", "import sqlmodel")
READING = (
    "sets list",
    "sets show lfrqa",
    "submissions list",
    "rounds list",
    "rounds status full",
    "metrics list",
    "jobs",
    "corpora list",
    "leaderboard list",
    "judges list",
)
READING_LIMIT = 1.8

BATTLES = """
    INSERT INTO battle (round_id, key, question_id, a_id, b_id, outcome, preference, flipped, detail)
    SELECT :round, CAST(q.id * 100 + a.id AS VARCHAR(20)), q.id, a.id, b.id, 'judged',
        CASE WHEN (q.id * 7919 + a.id * 104729) % 100 < 40 + 4 * a.id THEN 'a'
            WHEN (q.id * 7919 + a.id * 104729) % 100 < 50 + 4 * a.id THEN 'tie' ELSE 'b' END, false, ''
    FROM question q JOIN submission a ON a.set_id = q.set_id AND a.kind = 'system'
        JOIN submission b ON b.set_id = q.set_id AND b.kind = 'reference'
    WHERE q.position < :questions + (SELECT min(position) FROM question) AND a.version = 1"""
JUDGMENTS = """
    INSERT INTO judgment (battle_id, judge, model, endpoint, presentation, outcome, preference, rationale,
        detail, grade, settings, prompt_hash, parser, calls, reply_key, input_tokens, output_tokens, cost_usd,
        latency, cached, created_at)
    SELECT id, 'lexical', '', '', 'ab', 'judged', preference,
        :rationale, '', '', '{"yardstick": "reference"}', '', '', 1,
        :prefix || CAST(id AS VARCHAR(20)), 900, 120, 0.0002, 1.5, false, CURRENT_TIMESTAMP
    FROM battle WHERE round_id = :round"""
REPLIES = """
    INSERT INTO reply (key, endpoint, model, text, finish_reason, input_tokens, output_tokens, cost_usd,
        latency, response_id, response_model, fingerprint, left_out, created_at)
    SELECT reply_key, '', 'model', :reply, 'stop', 900, 120, 0.0002, 1.5, '', '', '', '', CURRENT_TIMESTAMP
    FROM judgment WHERE reply_key LIKE :prefix || '%'"""
RATIONALE = (
    "The first covers rates, bonds and yields of the reference, the second two of these; neither says what "
    "the reference does not."
)
REPLY = f"Both answer the question. {RATIONALE} Verdict: a"
LAUNCH = """
import json, os, sys, time
started = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
clock = time.perf_counter() - started
print("\\n" + json.dumps([usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 1024]))
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Processor seconds, wall-clock seconds and peak memory in MiB of a command."""

    command: str
    processor: float
    clock: float
    memory: float


def fill(arena: Arena, home: Path) -> None:
    """Create a set, its systems and its finished rounds unless they exist."""
    if any(summary.name == "lfrqa" for summary in arena.sets.summaries()):
        return
    rng = random.Random(SEED)
    questions = (
        {
            "id": f"q{n}",
            "domain": DOMAINS[n % len(DOMAINS)],
            "question": f"Question {n}: {_sentences(rng, 12)}?",
            "reference": _sentences(rng, 75),
        }
        for n in range(QUESTIONS)
    )
    add_set(arena, home / "lfrqa", "lfrqa", questions, DOMAINS)
    for system in SYSTEMS:
        arena.submissions.add(_answers(home, system), "lfrqa", system=system)
    _judged_round(arena, "full", JUDGED)
    for number in range(SMALL_ROUNDS):
        _judged_round(arena, f"small-{number}", SMALL)


def _answers(home: Path, system: str, salt: int = 0) -> Path:
    rng = random.Random(f"{system}{salt}")
    return answers_file(home, system, (_sentences(rng, 90) for _ in range(QUESTIONS)))


def _sentences(rng: random.Random, words: int) -> str:
    sample = rng.choices(WORDS, k=words)
    sentences = (" ".join(sample[at : at + SENTENCE]).capitalize() for at in range(0, words, SENTENCE))
    return ". ".join(sentences)


def _judged_round(arena: Arena, name: str, questions: int) -> None:
    arena.rounds.create(RoundRequest(set_name="lfrqa", judge="lexical", pairs="all", sample="1", name=name))
    statements = ("DELETE FROM battle WHERE round_id = :round", BATTLES, JUDGMENTS, REPLIES)
    values = {"prefix": f"{name}-", "questions": questions, "rationale": RATIONALE, "reply": REPLY}
    settle(arena, name, statements, **values)


def cost(arguments: Sequence[str], environment: dict[str, str]) -> Cost:
    """Run Python once and measure it."""
    # A process inherits the peak memory of its parent, so a small process starts it.
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCH, sys.executable, *arguments],
        check=False,
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    processor, clock, memory = json.loads(done.stdout.splitlines()[-1])
    command = " ".join(arguments).removeprefix("-m arena ")
    return Cost(command=command, processor=processor, clock=clock, memory=memory)


def least(arguments: Sequence[str], environment: dict[str, str], runs: int) -> Cost:
    """Return the cheapest of several runs."""
    return min((cost(arguments, environment) for _ in range(runs)), key=lambda run: run.processor)


def reading(environment: dict[str, str], runs: int) -> Iterator[tuple[Cost, float]]:
    """Yield the costs of reading commands with their ratio to the base."""
    base = least(BASE, environment, 2 * runs)
    yield base, 1.0
    for command in READING:
        result = least(("-m", "arena", *command.split()), environment, runs)
        yield result, result.processor / base.processor


def heavy(arena: Arena, home: Path, environment: dict[str, str]) -> Iterator[tuple[Cost, str]]:
    """Yield the costs of heavy commands with their limits."""
    states = {round_.name: round_.state for round_ in arena.store.rounds.all()}
    small = next(name for name, state in states.items() if "small" in name and state is RoundState.FINISHED)
    export = ("rounds", "export", "full", str(home / "export"))
    yield cost(("-m", "arena", *export), environment), "5 s, 200 MB"
    publish = ("rounds", "publish", small, "--no-metrics")
    yield cost(("-m", "arena", *publish), environment), "4 s, 200 MB"
    again = _answers(home, "dogwood", time.time_ns())
    add = ("submissions", "add", str(again), "--set", "lfrqa", "--system", "dogwood")
    yield cost(("-m", "arena", *add), environment), "4 s"


@contextmanager
def prepared(home: Path | None, url: str | None) -> Iterator[tuple[Arena, Path, dict[str, str]]]:
    """Open an arena over the filled database, with its folder and the environment of its commands."""
    with tempfile.TemporaryDirectory() as place:
        folder = home or Path(place)
        arena = arena_in(folder, url, work_seconds=PATIENCE)
        fill(arena, folder)
        address = arena.settings.database_url
        own = {"ARENA_HOME": str(folder), "ARENA_DATABASE_URL": address, "ARENA_WORK_SECONDS": str(PATIENCE)}
        # Where it is set, every command compiles the checkout, and what it is compared with compiles nothing.
        own["PYTHONDONTWRITEBYTECODE"] = ""
        yield arena, folder, {**os.environ, **own}  # noqa: TID251 - of processes to start
        arena.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--url", help="an empty PostgreSQL database")
    parser.add_argument("--reading", action="store_true", help="measure reading commands alone")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    with prepared(options.home, options.url) as (arena, home, environment):
        for result, ratio in reading(environment, options.runs):
            rows.append({**asdict(result), "ratio": ratio})
            _show(result, f"{ratio:5.2f}×" + (f"  over {READING_LIMIT}" if ratio > READING_LIMIT else ""))
        if not options.reading:
            for result, limit in heavy(arena, home, environment):
                rows.append({**asdict(result), "limit": limit})
                _show(result, f"limit {limit}")
    if options.json:
        print(json.dumps(rows, indent=1))


def _show(cost: Cost, more: str) -> None:
    name = cost.command if len(cost.command) <= 58 else cost.command[:57] + "…"
    figures = f"{cost.processor:6.2f} s  {cost.clock:6.2f} s  {cost.memory:5.0f} MB"
    print(f"{name:58} {figures}  {more}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
