"""Many annotators at once over the API: how long the next item takes, and how long a label takes to be kept.

    python benchmarks/labels.py [--people 50] [--labels 10] [--items 2000] [--think 4] [--database URL]

A server runs in its own process. Everybody asks for an item, thinks (evenly between half and one and a half
times `--think` seconds), labels it, and so on. Prints quantiles of both requests in milliseconds, the
server's processor time a request (which other processes do not change), and checks that no item was labelled
more often than the task wants; exits with 1 where it was, or a request failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from arena.container import Arena  # noqa: E402 - the checkout is found first
from arena.services.accounts.auth import OPERATOR  # noqa: E402 - as above
from arena.services.annotation.requests import TaskRequest  # noqa: E402 - as above
from arena.settings import Settings  # noqa: E402 - as above
from data.records import TokenScope  # noqa: E402 - as above

SYSTEMS = ("one", "two", "three")
WORDS = ("the", "answer", "tells", "what", "is", "known", "of", "an", "item", "and", "what", "is", "not")


def prepare(arena: Arena, folder: Path, people: int, items: int) -> list[str]:
    """Make a set, three systems, accounts and the task; gives the tokens of the people."""
    questions = -(-items // len(SYSTEMS))
    made = folder / "many"
    made.mkdir()
    (made / "set.toml").write_text('name = "many"\ntitle = "Many"\n[domains]\nd = "D"\n')
    passages = [{"id": f"p{n}", "text": " ".join(WORDS * 6)} for n in range(5)]
    rows = [
        {"id": f"q{n}", "domain": "d", "question": f"What is item {n}?", "passages": passages}
        for n in range(questions)
    ]
    (made / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    arena.sets.import_from(made)
    for system in SYSTEMS:
        file = folder / f"{system}.jsonl"
        lines = (
            json.dumps({"question_id": f"q{n}", "answer": f"{system} {n}: {' '.join(WORDS * 8)}"})
            for n in range(questions)
        )
        file.write_text("".join(f"{line}\n" for line in lines))
        arena.submissions.add(file, "many", system=system)
    names = [f"person-{n}" for n in range(people)]
    tokens = []
    for name in names:
        arena.teams.add_account(name, caller=OPERATOR)
        made_token = arena.tokens.create(name=name, scopes={TokenScope.READ}, account=name, caller=OPERATOR)
        tokens.append(made_token.secret)
    request = TaskRequest(
        name="many", set_name="many", systems=SYSTEMS, count=items, overlap=3, annotators=tuple(names)
    )
    arena.annotation.open(request, caller=OPERATOR)
    return tokens


def processor_seconds(process: int) -> float:
    """Seconds that a process has used so far; on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def annotate(address: str, token: str, seed: int, labels: int, think: float) -> dict[str, list[float]]:
    """One person at work; seconds of each request by what it was."""
    draw = random.Random(seed)
    times: dict[str, list[float]] = {"next": [], "label": []}
    headers = {"Authorization": f"Bearer {token}"}
    # Shorter than the server keeps connections, which it would close under a request otherwise.
    limits = httpx.Limits(keepalive_expiry=2.0)
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=120, limits=limits) as client:
        (await client.post("/labels/tasks/many/consent")).raise_for_status()
        await asyncio.sleep(draw.uniform(0, think))
        for _ in range(labels):
            begun = time.perf_counter()
            answer = await client.post("/labels/tasks/many/next")
            times["next"].append(time.perf_counter() - begun)
            answer.raise_for_status()
            item = answer.json()["item"]
            await asyncio.sleep(draw.uniform(0.5 * think, 1.5 * think))
            begun = time.perf_counter()
            path = f"/labels/tasks/many/items/{item['number']}/label"
            answer = await client.put(path, json={"value": draw.choice((-2, -1, 0, 1, 2))})
            times["label"].append(time.perf_counter() - begun)
            answer.raise_for_status()
    return times


async def everybody(address: str, tokens: list[str], labels: int, think: float) -> dict[str, list[float]]:
    """All of them at once."""
    parts = await asyncio.gather(
        *(annotate(address, token, seed, labels, think) for seed, token in enumerate(tokens))
    )
    return {name: [one for part in parts for one in part[name]] for name in ("next", "label")}


def main() -> int:
    """Run the server and its annotators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--labels", type=int, default=10, help="of each person")
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--think", type=float, default=4.0, help="seconds")
    parser.add_argument("--database", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = asked.database or f"sqlite:///{folder / 'arena.sqlite'}"
        settings = Settings(home=folder / "home", database_url=database)
        arena = Arena(settings)
        tokens = prepare(arena, folder, asked.people, asked.items)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = {
            **os.environ,  # noqa: TID251 - what a process of the machine needs
            "ARENA_HOME": str(settings.home),
            "ARENA_DATABASE_URL": database,
            "ARENA_API_RATE": "100000",
        }
        with (folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "arena", "serve", "--no-worker", "--port", str(port)]
            server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        address = f"http://127.0.0.1:{port}/api/v1"
        try:
            for _ in range(600):
                try:
                    httpx.get(f"{address}/health", timeout=5).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.2)
            before = processor_seconds(server.pid)
            times = asyncio.run(everybody(address, tokens, asked.labels, asked.think))
            spent = processor_seconds(server.pid) - before
        finally:
            server.terminate()
            server.wait()
        for what, seconds in times.items():
            quantiles = np.quantile(np.array(seconds) * 1000, [0.5, 0.95, 0.99, 1.0])
            median, high, higher, most = (f"{one:,.0f}" for one in quantiles)
            print(f"{what}: {len(seconds):,}, median {median} ms, p95 {high}, p99 {higher}, most {most}")
        requests = sum(map(len, times.values()))
        print(f"{1000 * spent / requests:.1f} ms of the server's processor a request")
        given = Counter(label.item for label in arena.store.labels.given(1))
        print(f"{given.total():,} labels of {len(given):,} items, at most {max(given.values())} an item")
        arena.close()
        return int(max(given.values()) > 3 or given.total() != asked.people * asked.labels)


if __name__ == "__main__":
    sys.exit(main())
