"""Many annotators at once over the API: how long the next item takes, and how long a label takes to be kept.

    python benchmarks/labels.py [--people 50] [--labels 10] [--items 2000] [--think 4] [--database URL]

A server runs in its own process. Everybody asks for an item, thinks (evenly between half and one and a half
times `--think` seconds), labels it, and so on; then everybody looks at the page, which is held
against one session. Prints quantiles in milliseconds and the server's processor time a request (which other
processes do not change), and checks that no item was labelled more often than the task wants; exits with 1
where it was, or a request failed.
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
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from site_sessions import PATIENCE, Session  # noqa: E402 - as above

from arena.container import Arena  # noqa: E402 - the checkout is found first
from arena.services.accounts.auth import OPERATOR  # noqa: E402 - as above
from arena.services.accounts.sessions import COOKIE  # noqa: E402 - as above
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


class SignedIn(Session):
    """A person with the page open, known by the cookie of the sign-in."""

    def __init__(self, site: str, cookie: str) -> None:
        super().__init__(site)
        self._cookie = cookie

    async def open(self) -> None:
        """Connect; nothing is shown yet."""
        self._socket = await websockets.connect(
            self._address,
            subprotocols=[websockets.Subprotocol("streamlit")],
            max_size=None,
            additional_headers={"Cookie": f"{COOKIE}={self._cookie}"},
        )

    async def visit(self, query: str, page: str = "") -> float:
        """Run the page to its end; raises where it shows no pair of answers."""
        assert self._socket is not None
        start = time.perf_counter()
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        await self._socket.send(message.SerializeToString())
        said = b""
        async with asyncio.timeout(PATIENCE):
            while True:
                content = await self._socket.recv()
                said += content if isinstance(content, bytes) else b""
                found = ForwardMsg()
                found.ParseFromString(content)
                if found.WhichOneof("type") == "script_finished":
                    break
        taken = time.perf_counter() - start
        if b"Answer 2" not in said:
            raise RuntimeError(f"{query} shows no pair: {said[:2000]!r}")
        return taken


async def look(site: str, cookies: list[str], acts: int, think: float) -> list[float]:
    """Seconds that every look at the page of the next item takes, of so many people at once."""

    async def read(number: int, cookie: str) -> list[float]:
        draw = random.Random(number)
        session, taken = SignedIn(site, cookie), []
        await session.open()
        await session.visit("task=many", "annotate")
        for _ in range(acts):
            await asyncio.sleep(draw.uniform(0.5 * think, 1.5 * think))
            taken.append(await session.visit("task=many", "annotate"))
        await session.close()
        return taken

    found = await asyncio.gather(*(read(number, cookie) for number, cookie in enumerate(cookies)))
    return [one for part in found for one in part]


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
            cookies = [arena.sessions.sign_in(token, client="benchmark").cookie for token in tokens]
            site = address.removesuffix("/api/v1")
            alone = asyncio.run(look(site, cookies[:1], 10, 0.5))
            together = asyncio.run(look(site, cookies, 4, 2 * asked.think))
        finally:
            server.terminate()
            server.wait()
        for what, seconds in times.items():
            quantiles = np.quantile(np.array(seconds) * 1000, [0.5, 0.95, 0.99, 1.0])
            median, high, higher, most = (f"{one:,.0f}" for one in quantiles)
            print(f"{what}: {len(seconds):,}, median {median} ms, p95 {high}, p99 {higher}, most {most}")
        requests = sum(map(len, times.values()))
        print(f"{1000 * spent / requests:.1f} ms of the server's processor a request")
        for who, seconds in (("one session", alone), (f"{len(cookies)} sessions", together)):
            median, high = (f"{one:,.0f}" for one in np.quantile(np.array(seconds) * 1000, [0.5, 0.95]))
            print(f"page, {who}: {len(seconds):,} looks, median {median} ms, p95 {high}")
        given = Counter(label.item for label in arena.store.labels.given(1))
        print(f"{given.total():,} labels of {len(given):,} items, at most {max(given.values())} an item")
        arena.close()
        return int(max(given.values()) > 3 or given.total() != asked.people * asked.labels)


if __name__ == "__main__":
    sys.exit(main())
