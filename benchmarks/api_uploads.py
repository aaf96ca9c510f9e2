"""Many teams hand in at once: parallel uploads through a running server, and what it costs the server.

    python benchmarks/api_uploads.py [--uploads 50] [--answers 16000] [--database URL]

Prints how each upload ended, how long they took, and the server's largest memory; exits with 1 where a
submission is partial or an upload ended neither accepted nor clearly refused.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from arena.container import Arena  # noqa: E402 - the checkout is found first
from arena.services.accounts.auth import OPERATOR  # noqa: E402 - as above
from arena.settings import Settings  # noqa: E402 - as above
from data.models import TokenScope  # noqa: E402 - as above

TEAMS = 10
TEXT = "the weight of an item is told by its maker and by nobody else in this long answer"
WORDS = tuple(TEXT.split())
REFUSALS = {409, 422, 429, 503}


def write_set(folder: Path, questions: int) -> Path:
    """Write a set of so many questions."""
    made = folder / "big"
    made.mkdir()
    (made / "set.toml").write_text('name = "big"\ntitle = "Big"\n[domains]\nd = "D"\n')
    with (made / "questions.jsonl").open("w") as file:
        for number in range(questions):
            row = {
                "id": f"q{number}",
                "domain": "d",
                "question": f"What is item {number}?",
            }
            file.write(json.dumps(row) + "\n")
    return made


def write_answers(path: Path, mark: int, count: int) -> None:
    """Write a file of answers of about 300 characters."""
    with path.open("w") as file:
        for number in range(count):
            words = " ".join(WORDS[(number + mark + at) % len(WORDS)] for at in range(50))
            text = f"Item {number} is {mark}. {words}"
            file.write(json.dumps({"question_id": f"q{number}", "answer": text}) + "\n")


def hand_in(address: str, token: str, path: Path, system: str) -> tuple[int, float]:
    """Upload and submit one file; the last status and how many seconds it took."""
    begun = time.monotonic()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=address, headers=headers, timeout=1800) as client, path.open("rb") as file:
        length = {"Content-Length": str(path.stat().st_size)}
        found = client.post("/sets/big/submissions", params={"system": system}, content=file, headers=length)
    return found.status_code, time.monotonic() - begun


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=50)
    parser.add_argument("--answers", type=int, default=16_000)
    parser.add_argument("--database", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return run(Path(name), asked.uploads, asked.answers, asked.database)


def run(folder: Path, uploads: int, count: int, database: str) -> int:
    """Hand in so many files of so many answers at once."""
    url = database or f"sqlite:///{folder / 'home' / 'arena.sqlite'}"
    arena = Arena(Settings(home=folder / "home", database_url=url))
    arena.sets.import_from(write_set(folder, count))
    tokens = []
    for number in range(TEAMS):
        arena.teams.add(f"team-{number}", caller=OPERATOR)
        made = arena.tokens.create(
            name="b", scopes={TokenScope.SUBMIT}, team=f"team-{number}", caller=OPERATOR
        )
        tokens.append(made.secret)
    paths = [folder / f"{number}.jsonl" for number in range(uploads)]
    for number, path in enumerate(paths):
        write_answers(path, number, count)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "ARENA_HOME": str(folder / "home"), "ARENA_DATABASE_URL": url}  # noqa: TID251
    command = [sys.executable, "-m", "arena", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/api/v1"
    try:
        while not _answers(address):
            time.sleep(0.2)
        idle = _memory(server.pid)
        begun = time.monotonic()
        with ThreadPoolExecutor(uploads) as pool:
            tasks = [
                pool.submit(hand_in, address, tokens[at % TEAMS], path, f"system-{at}")
                for at, path in enumerate(paths)
            ]
            slowest_page = 0.0
            while not all(task.done() for task in tasks):
                asked_at = time.monotonic()
                httpx.get(f"{address}/sets", timeout=300)
                slowest_page = max(slowest_page, time.monotonic() - asked_at)
                time.sleep(0.5)
        ended = [task.result() for task in tasks]
        seconds, peak = time.monotonic() - begun, _memory(server.pid)
    finally:
        server.terminate()
        server.wait()
    statuses = Counter(status for status, _ in ended)
    stored = arena.submissions.find(set_name="big", caller=OPERATOR)
    partial = [line for line in stored if line.submission.answers != count]
    megabytes = sum(path.stat().st_size for path in paths) / 2**20
    left = [path for path in (folder / "home" / "uploads").rglob("*") if path.is_file()]
    arena.close()
    print(
        f"{uploads} uploads of {count:,} answers ({megabytes:,.0f} MiB) in {seconds:,.0f} s: {dict(statuses)}"
    )
    print(
        f"slowest {max(took for _, took in ended):,.0f} s; slowest GET /sets meanwhile {slowest_page:.2f} s"
    )
    print(f"server memory: {idle:,.0f} MiB idle, {peak:,.0f} MiB at most")
    print(f"stored {len(stored)}, partial {len(partial)}, upload files left {len(left)}")
    right = statuses[201] == len(stored) and not partial and set(statuses) <= {201, *REFUSALS}
    return 0 if right else 1


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", timeout=5).is_success
    except httpx.TransportError:
        return False


def _memory(pid: int) -> float:
    """The largest memory of a process so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    sys.exit(main())
