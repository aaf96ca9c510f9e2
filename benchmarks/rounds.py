"""Measure whole rounds: planned, rendered, asked, read, committed; from cache; resumed.

    python benchmarks/rounds.py [--battles 3000] [--cached 20000] [--resumed 200000] [--latency] [--json]

Against scripted endpoints on this machine, each in a process of its own, in one run; only ratios carry over
to other machines.

- `round / bare`: battles a second of a whole round on SQLite over replies a second of an `AsyncOpenAI` +
  aiohttp loop with the very messages that the round sends.
- `from cache`: verdicts a second of a second round on the same battles, with calls counted.
- `resume`: seconds to go on with a round in which everything is done.
- `peak memory` of the process that judges.
"""

# ruff: noqa: E402 - the checkout goes before what is installed

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from judging import LATENCY, bare, endpoint
from sqlalchemy import text

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import RoundState
from data.progress import Progress
from judges.llm.requests import Message

CONNECTIONS = 64
SYSTEMS = 8
WORDS = [
    "yeast",
    "sugar",
    "gas",
    "gluten",
    "oven",
    "crumb",
    "crust",
    "steam",
    "flour",
    "water",
    "salt",
    "dough",
    "heat",
    "starch",
    "acid",
    "time",
]


def prose(seed: int, words: int) -> str:
    """Return an answer of so many words that no other answer equals."""
    parts = [WORDS[(seed * 7 + n * n + n // 3) % len(WORDS)] for n in range(words)]
    lines = [" ".join(parts[start : start + 12]) for start in range(0, words, 12)]
    return f"In case {seed}, " + ". The ".join(lines) + "."


def fill(
    home: Path, battles: int, url: str, transport: str = "openai", *, database_url: str | None = None
) -> Arena:
    """Return an arena with a set and eight systems that make so many battles against the reference.

    Its database is an empty one that is named, or a file in its home.
    """
    questions = -(-battles // SYSTEMS)
    folder = home / "bench"
    folder.mkdir(parents=True)
    (folder / "set.toml").write_text(
        'name = "bench"\nreference_name = "human"\n[domains]\nd0 = "Zero"\nd1 = "One"\n'
    )
    with (folder / "questions.jsonl").open("w") as file:
        for n in range(questions):
            row = {
                "id": f"q{n}",
                "domain": f"d{n % 2}",
                "question": f"Why does bread number {n} rise?",
                "reference": prose(n, 75),
            }
            file.write(json.dumps(row) + "\n")
    settings = Settings(
        home=home,
        database_url=database_url or f"sqlite:///{home / 'arena.sqlite'}",
        endpoint=url,
        api_key="none",
        transport=transport,
    )
    arena = Arena(settings)
    arena.sets.import_from(folder)
    for system in range(SYSTEMS):
        path = folder / f"s{system}.jsonl"
        with path.open("w") as file:
            for n in range(questions):
                row = {"question_id": f"q{n}", "answer": prose(1_000_003 * (system + 1) + n, 60 + 5 * system)}
                file.write(json.dumps(row) + "\n")
        arena.submissions.add(path, "bench", system=f"s{system}")
    return arena


def judge(arena: Arena, name: str, connections: int) -> tuple[float, float]:
    """Judge a round and return seconds by the clock and of the processor, planning left out."""
    request = RoundRequest(set_name="bench", judge="reference-free", name=name)
    arena.rounds.create(request)
    started, used = time.perf_counter(), time.process_time()
    counts = arena.rounds.run(name, concurrency=connections, report=lambda _progress: None)
    seconds, busy = time.perf_counter() - started, time.process_time() - used
    assert counts.judged == counts.planned, counts
    return seconds, busy


def messages(arena: Arena, name: str, limit: int) -> list[tuple[Message, ...]]:
    """Return the messages that a stored round sends."""
    from arena.services.rounds.judging_loop import contest
    from judges.pairwise.rendering import Renderer, presentations

    spec = arena.judges.spec("reference-free")
    assert spec.prompt is not None
    renderer = Renderer(spec, spec.prompt)
    found = []
    for battle in arena.store.battles.pending(arena.store.rounds.get(name).id):
        judge_input = contest(battle)
        shown = presentations(judge_input, spec.order)[0]
        found.append(renderer.request(judge_input, renderer.sides(judge_input), shown).messages)
        if len(found) == limit:
            break
    return found


def whole(battles: int, connections: int, latency: float) -> dict[str, float]:
    """Return a whole round against the bare client."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder, endpoint(latency=latency) as url:
        arena = fill(Path(folder), battles, url)
        arena.rounds.create(RoundRequest(set_name="bench", judge="reference-free", name="texts"))
        work = messages(arena, "texts", battles)
        asyncio.run(bare(url, work[:CONNECTIONS], connections))
        started, used = time.perf_counter(), time.process_time()
        asyncio.run(bare(url, work, connections))
        figures["bare, replies/s"] = len(work) / (time.perf_counter() - started)
        busy = len(work) / (time.process_time() - used)
        seconds, used = judge(arena, "round", connections)
        figures["round, battles/s"] = battles / seconds
        figures["round / bare"] = figures["round, battles/s"] / figures["bare, replies/s"]
        figures["round, battles/s of processor time"] = battles / used
        figures["round / bare, by processor time"] = figures["round, battles/s of processor time"] / busy
        if latency:
            figures["round / ideal rate"] = battles / seconds * latency / connections
        arena.close()
    return figures


def cached(battles: int) -> dict[str, float]:
    """Return a second round on one cache."""
    with tempfile.TemporaryDirectory() as folder, endpoint() as url:
        arena = fill(Path(folder), battles, url)
        first, _ = judge(arena, "one", CONNECTIONS)
        seconds, used = judge(arena, "two", CONNECTIONS)
        calls = arena.store.rounds.counts("two").input_tokens
        arena.close()
    return {
        "first round, battles/s": battles / first,
        "from cache, verdicts/s": battles / seconds,
        "from cache, verdicts/s of processor time": battles / used,
        "from cache, tokens asked": calls,
    }


def resumed(battles: int) -> dict[str, float]:
    """Resume a round in which everything is done."""
    with tempfile.TemporaryDirectory() as folder:
        arena = fill(Path(folder), battles, "http://127.0.0.1:9/v1")
        seconds = settle(arena)
        arena.store.rounds.move("done", to=RoundState.PAUSED, allowed=(RoundState.PLANNED,))
        counted = arena.store.rounds.counts("done")
        assert counted.judged == counted.planned >= battles, counted
        started = time.perf_counter()
        arena.rounds.run("done", concurrency=CONNECTIONS, report=lambda _progress: None)
        again = time.perf_counter() - started
        started = time.perf_counter()
        arena.rounds.status("done")
        status = time.perf_counter() - started
        arena.close()
    return {"filling, s": seconds, "resume, s": again, "status, s": status}


def memory(battles: int) -> dict[str, float]:
    """Resident memory while a whole round is judged over LLM calls, from its first tenth to its end."""
    sizes: list[tuple[int, float]] = []

    def look(progress: Progress) -> None:
        sizes.append((progress.done, _resident()))

    with tempfile.TemporaryDirectory() as folder, endpoint() as url:
        arena = fill(Path(folder), battles, url, "direct")
        arena.rounds.create(RoundRequest(set_name="bench", judge="reference-free", name="long"))
        before, started = _resident(), time.perf_counter()
        counts = arena.rounds.run("long", concurrency=CONNECTIONS, report=look)
        seconds = time.perf_counter() - started
        arena.close()
    assert counts.judged == counts.planned, counts
    tenth = next(size for done, size in sizes if done >= battles / 10)
    return {
        "LLM judgments": counts.judged,
        "battles/s": battles / seconds,
        "resident before, MB": before,
        "resident at a tenth, MB": tenth,
        "resident at the end, MB": sizes[-1][1],
        "most resident while judging, MB": max(size for _, size in sizes),
        "growth after the first tenth, MB": sizes[-1][1] - tenth,
    }


def _resident() -> float:
    """Return this process's resident memory now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


JUDGED = "UPDATE battle SET outcome = 'judged', preference = 'a' WHERE round_id = :round"
ASKED = """
    INSERT INTO judgment (battle_id, judge, model, endpoint, presentation, outcome, preference, rationale,
        detail, grade, settings, prompt_hash, parser, calls, reply_key, input_tokens, output_tokens, cost_usd,
        latency, cached, created_at)
    SELECT id, 'reference-free', 'm', 'e', 'ab', 'judged', 'a', :reason, '', '', '', :hash, 'rating/1', 1,
        printf('%064d', id), 900, 60, 0.001, 0.3, false, CURRENT_TIMESTAMP
    FROM battle WHERE round_id = :round"""
REPLIED = """
    INSERT INTO reply (key, endpoint, model, text, finish_reason, input_tokens, output_tokens, cost_usd,
        latency, response_id, response_model, fingerprint, left_out, created_at)
    SELECT printf('%064d', id), 'e', 'm', :reply, 'stop',
        900, 60, 0.001, 0.3, '', '', '', '', CURRENT_TIMESTAMP
    FROM battle WHERE round_id = :round"""


def settle(arena: Arena) -> float:
    """Judge every battle of a round by SQL alone; seconds."""
    request = RoundRequest(set_name="bench", judge="reference-free", name="done")
    number = arena.rounds.create(request).id
    reason = "Both rise. " * 20
    reply = f"<thinking>{reason}</thinking><rating>1</rating>"
    given = {"round": number, "reason": reason, "reply": reply, "hash": "0" * 64}
    started = time.perf_counter()
    with arena.store.database.begin() as connection:
        for statement in (JUDGED, ASKED, REPLIED):
            connection.execute(text(statement), given)
    return time.perf_counter() - started


def apart(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Run in a process of its own, and add its peak memory."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_send, args=(theirs, work, arguments))
    process.start()
    # Closed here, so that a process that ends without a word ends the wait.
    theirs.close()
    figures: dict[str, float] = ours.recv()
    process.join()
    return figures


def _send(pipe: Connection, work: Callable[..., dict[str, float]], arguments: tuple[object, ...]) -> None:
    figures = work(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    pipe.send({**figures, f"{work.__name__}, peak memory, MB": peak})


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--battles", type=int, default=3_000)
    parser.add_argument("--cached", type=int, default=20_000)
    parser.add_argument("--resumed", type=int, default=200_000)
    parser.add_argument("--latency", action="store_true", help="also with 300 ms and 256 connections")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    if options.battles:
        figures |= apart(whole, options.battles, CONNECTIONS, 0.0)
    if options.latency:
        found = apart(whole, options.battles, 256, LATENCY)
        figures |= {f"300 ms: {name}": figure for name, figure in found.items()}
    if options.cached:
        figures |= apart(cached, options.cached)
    if options.resumed:
        figures |= apart(resumed, options.resumed)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, figure in figures.items():
        print(f"{name:50} {figure:12.2f}")


if __name__ == "__main__":
    main()
