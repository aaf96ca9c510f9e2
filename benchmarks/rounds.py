"""Measure whole rounds: planned, rendered, requested, read, committed; from cache; memory.

python benchmarks/rounds.py [--battles 3000] [--cached 20000] [--memory 200000] [--latency] [--json]
It uses scripted endpoints on this machine, each in its own process, in one run; only ratios apply to other
machines.
- `round
bare`: battles per second of a whole round on SQLite over replies per second of an `AsyncOpenAI` +
aiohttp loop with the same messages.
- `from cache`: verdicts per second of a second round on the same battles, with calls counted.
- `memory`: resident memory of the judging process, from a tenth of a long round to its end.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from judging import LATENCY, bare, endpoint
from made import add_set, answers_file, arena_in, show

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.progress import Progress
from judges.llm.requests import Message

CONNECTIONS = 64
SYSTEMS = 8
VOCABULARY = "yeast sugar gas gluten oven crumb crust steam flour water salt dough heat starch acid time"
WORDS = VOCABULARY.split()


def prose(seed: int, words: int) -> str:
    """Return a unique answer with this many words."""
    parts = [WORDS[(seed * 7 + n * n + n // 3) % len(WORDS)] for n in range(words)]
    lines = [" ".join(parts[start : start + 12]) for start in range(0, words, 12)]
    return f"In case {seed}, " + ". The ".join(lines) + "."


def fill(home: Path, battles: int, url: str, transport: str = "openai") -> Arena:
    """Return an arena with a set and eight systems for this many battles against the reference."""
    count = -(-battles // SYSTEMS)
    arena = arena_in(home, endpoint=url, api_key="none", transport=transport)
    questions = (
        {
            "id": f"q{n}",
            "domain": f"d{n % 2}",
            "question": f"Why does bread number {n} rise?",
            "reference": prose(n, 75),
        }
        for n in range(count)
    )
    add_set(arena, home / "bench", "bench", questions, ("d0", "d1"))
    for system in range(SYSTEMS):
        answers = (prose(1_000_003 * (system + 1) + n, 60 + 5 * system) for n in range(count))
        arena.submissions.add(answers_file(home, f"s{system}", answers), "bench", system=f"s{system}")
    return arena


def judge(arena: Arena, name: str, connections: int) -> tuple[float, float]:
    """Judge a round and return wall-clock and processor seconds, without planning."""
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
    rendered = []
    for battle in arena.store.battles.pending(arena.store.rounds.get(name).id):
        judge_input = contest(battle)
        presentation = presentations(judge_input, spec.order)[0]
        rendered.append(renderer.request(judge_input, renderer.sides(judge_input), presentation).messages)
        if len(rendered) == limit:
            break
    return rendered


def whole(battles: int, connections: int, latency: float) -> dict[str, float]:
    """Compare a whole round with the bare client."""
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
    """Measure a second round on the same cache."""
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


def memory(battles: int) -> dict[str, float]:
    """Measure resident memory from the first tenth of a round of LLM calls to its end."""
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
    """Return this process's resident memory, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def apart(work: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Run in a separate process and add its peak memory."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_send, args=(theirs, work, arguments))
    process.start()
    # Closed here, so that a crash of the process ends the wait.
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
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--latency", action="store_true", help="also with 300 ms and 256 connections")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    if options.battles:
        figures |= apart(whole, options.battles, CONNECTIONS, 0.0)
    if options.latency:
        slow = apart(whole, options.battles, 256, LATENCY)
        figures |= {f"300 ms: {name}": figure for name, figure in slow.items()}
    if options.cached:
        figures |= apart(cached, options.cached)
    if options.memory:
        figures |= apart(memory, options.memory)
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
