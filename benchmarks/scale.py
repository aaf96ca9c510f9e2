"""Measure millions of battles in the database: standings, the metrics endpoint and pages.

    python benchmarks/scale.py [--battles N] [--systems N] [--url postgresql+psycopg://…/empty] [--json]

Fills an empty database (SQLite in a temporary folder, or --url) with SQL only, publishes the board on all
processors as `arena rounds publish` does, and times each read. An existing round is reused. The target for
the standings is 10 s for a million battles and 20 s for ten million. Pages read the published board and
single questions, so their times must not grow with the round.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from made import add_set, answers_file, arena_in, processor_seconds, settle, show

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system import metrics_of
from arena.services.text_process import end_idle

SYSTEMS = 10

# Strengths rise with the system's number; a hash of question and pair decides.
BATTLES = """
    INSERT INTO battle (round_id, key, question_id, a_id, b_id, outcome, preference, detail)
    SELECT :round, CAST(q.id * 10000 + a.id * 100 + b.id AS VARCHAR(20)), q.id, a.id, b.id, 'judged',
        CASE WHEN (q.id * 7919 + a.id * 104729 + b.id * 1299709) % 100
                < 50 + 40 * (a.id - b.id) / :systems THEN 'a'
            WHEN (q.id * 7919 + a.id * 104729 + b.id * 1299709) % 100
                < 60 + 40 * (a.id - b.id) / :systems THEN 'tie'
            ELSE 'b' END, ''
    FROM question q CROSS JOIN submission a JOIN submission b ON a.id < b.id"""
JUDGMENTS = """
    INSERT INTO judgment (battle_id, judge, model, endpoint, presentation, outcome, preference, rationale,
        detail, grade, settings, prompt_hash, parser, calls, input_tokens, output_tokens, cost_usd, latency,
        cached, created_at)
    SELECT id, 'lexical', '', '', 'ab', 'judged', preference, '', '', '', '', '', '', 0, 0, 0, 0.0, 0.0,
        false, CURRENT_TIMESTAMP FROM battle WHERE round_id = :round"""


def fill(arena: Arena, home: Path, battles: int, systems: int = SYSTEMS) -> None:
    """Create a finished round: every pair of systems, including the reference, on every question."""
    count = -(-battles // (systems * (systems + 1) // 2))
    domains = [f"d{n}" for n in range(7)]
    questions = (
        {"id": f"q{n}", "domain": domains[n % 7], "question": f"Why {n}?", "reference": f"So {n}."}
        for n in range(count)
    )
    add_set(arena, home / "big", "big", questions, domains)
    for system in range(systems):
        answers = (f"System {system} on {n}: because." for n in range(count))
        path = answers_file(home / "big", f"s{system}", answers)
        arena.submissions.add(path, "big", system=f"s{system}")
    arena.rounds.create(RoundRequest(set_name="big", judge="lexical", pairs="all", sample="1", name="big"))
    settle(arena, "big", ("DELETE FROM battle", BATTLES, JUDGMENTS), systems=systems)


def timed(figures: dict[str, float], name: str, what: Callable[[], object]) -> None:
    """Record the wall and processor seconds of a call and the peak memory so far.

    Child processes are ended so that their processor time is known.
    """
    started, used = time.perf_counter(), processor_seconds()
    what()
    figures[name] = time.perf_counter() - started
    figures[f"{name} (MB of its processes)"] = peak_of_processes()
    end_idle()
    figures[f"{name} (processor)"] = processor_seconds() - used
    figures[f"{name} (MB until here)"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = f"{name}: {figures[name]:.2f} s by the clock, {figures[f'{name} (processor)']:.2f} s of processors"
    print(line, file=sys.stderr, flush=True)


def peak_of_processes() -> float:
    """Return the sum of the peak MB of child processes, an upper bound; 0 without `/proc`."""
    peaks = 0
    for file in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in file.read_text().splitlines())
            if int(fields["PPid"]) == os.getpid():
                peaks += int(fields.get("VmHWM", "0 kB").split()[0])
    return peaks / 1024


def measure(url: str | None, battles: int, systems: int) -> dict[str, float]:
    """Fill the database, read it and return seconds by name."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        # Time limits on file checks must not depend on other tasks.
        arena = arena_in(home, url, work_seconds=600)
        if not any(round_.name == "big" for round_ in arena.store.rounds.all()):
            timed(figures, "fill", lambda: fill(arena, home, battles, systems))
        figures["battles"] = float(arena.store.rounds.counts("big").planned)
        boards = arena.boards  # Its imports take as long as some of what is timed.
        with arena.engine.parallel():  # As `arena rounds publish` does.
            timed(figures, "standings", lambda: boards.standings("big"))
            timed(
                figures,
                "publish, standings included",
                lambda: arena.boards.publish("big", report=lambda _text: None, score=False),
            )
        timed(figures, "rounds status", lambda: arena.rounds.status("big"))
        timed(figures, "/metrics", lambda: metrics_of(arena.store))
        timed(figures, "page: boards", arena.boards.published)
        timed(figures, "page: a question", lambda: arena.evidence.question("big", "q7"))
        timed(figures, "page: all questions", lambda: arena.question_lists.of("big"))
        timed(figures, "page: a system", lambda: arena.systems.profile("big", "s3"))
        figures["database, MB"] = arena.store.database.size() / 1e6
        arena.close()
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--battles", type=int, default=1_000_000)
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--url", help="an empty PostgreSQL database")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.url, options.battles, options.systems)
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
