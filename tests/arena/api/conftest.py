"""A real `arena serve` process, and an HTTP client for it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.models import TokenScope
from tests.arena.conftest import write_rows
from tests.served import program, published

ROOT = Path(__file__).parents[3]
PATIENCE = 180.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(program: Path, settings: Settings, log: Path, **variables: str) -> Iterator[str]:
    """Run `arena serve` without a worker; gives the address of its API, and stops it at the end."""
    port = free_port()
    environment = {
        **without("ARENA_"),
        "ARENA_HOME": str(settings.home),
        "ARENA_DATABASE_URL": settings.database_url,
        "ARENA_API_RATE": "100000",
        "ARENA_API_INTAKE_RATE": "100000",
        **variables,
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "serve", "--no-worker", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}/api/v1"
    try:
        _wait_for(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def without(*beginnings: str) -> dict[str, str]:
    """The variables of this process for another one, without those that begin so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(beginnings)}  # noqa: TID251 - of another process


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    message = f"the server did not start: {log.read_text()}"
    raise RuntimeError(message)


@pytest.fixture(scope="session")
def public_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the API of a server over the published round `tiny`."""
    log = tmp_path_factory.mktemp("server") / "log"
    with running_server(program(), published(), log) as address:
        yield address


@pytest.fixture
def public(public_server: str) -> Iterator[httpx.Client]:
    """A client without a token."""
    with httpx.Client(base_url=public_server, timeout=30) as client:
        yield client


@dataclass(frozen=True, kw_only=True)
class Club:
    """A running server with teams, and the tokens of its people."""

    address: str
    settings: Settings
    log: Path
    tokens: Mapping[str, str]

    def client(self, who: str | None) -> httpx.Client:
        """A client with somebody's token, or none."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)


@pytest.fixture(scope="session")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    """A server over the set `tiny` without a round: teams `alpha` and `beta`, a reader, an organiser."""
    folder = tmp_path_factory.mktemp("club")
    settings = Settings(home=folder / "home", database_url=f"sqlite:///{folder / 'home' / 'arena.sqlite'}")
    tokens = found_club(settings, folder)
    # Small limits, so that tests can reach them.
    limits = {"ARENA_MAX_UPLOAD_MB": "2", "ARENA_BODY_TIMEOUT": "3"}
    with running_server(program(), settings, folder / "log", **limits) as address:
        yield Club(address=address, settings=settings, log=folder / "log", tokens=tokens)


def found_club(settings: Settings, folder: Path) -> dict[str, str]:
    """Make the set, the teams and their tokens; gives the tokens by who they are for."""
    arena = Arena(settings)
    arena.sets.import_from(write_tiny(folder))
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    arena.teams.add_account("ann", caller=OPERATOR)
    for team in ("alpha", "beta"):
        arena.teams.add(team, title=team.title(), contact=f"mail@{team}.example", caller=OPERATOR)
    everything = {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
    wanted: tuple[tuple[str, str | None, str | None, set[TokenScope]], ...] = (
        ("alpha", "alpha", None, everything),
        ("beta", "beta", None, everything),
        ("reader", "alpha", None, {TokenScope.READ}),
        ("olga", None, "olga", {TokenScope.ORGANISE}),
    )
    made = {
        who: arena.tokens.create(name=who, team=team, account=account, scopes=scopes, caller=OPERATOR).secret
        for who, team, account, scopes in wanted
    }
    arena.close()
    return made


def write_tiny(folder: Path) -> Path:
    """Write the set `tiny`: twelve questions of three domains, each with its passage and reference."""
    rows = [
        {
            "id": f"q{number}",
            "domain": f"d{number % 3}",
            "question": f"What do we know of item {number}?",
            "reference": f"SECRET reference: item {number} weighs {number + 10} grams.",
            "passages": [{"id": f"q{number}-p1", "text": f"Item {number} weighs {number + 10} grams."}],
        }
        for number in range(12)
    ]
    return write_rows(folder / "tiny", "A tiny set", rows)


@pytest.fixture
def alpha(club: Club) -> Iterator[httpx.Client]:
    """A client of team alpha."""
    with club.client("alpha") as client:
        yield client


@pytest.fixture
def beta(club: Club) -> Iterator[httpx.Client]:
    """A client of team beta."""
    with club.client("beta") as client:
        yield client


@pytest.fixture
def nobody(club: Club) -> Iterator[httpx.Client]:
    """A client without a token."""
    with club.client(None) as client:
        yield client


def answers(mark: str, count: int = 12) -> bytes:
    """A file of answers to the first questions of `tiny`; another mark makes another file."""
    rows = [
        {"question_id": f"q{number}", "answer": f"Item {number} weighs {number + 10} grams, says {mark}."}
        for number in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def submit(
    client: httpx.Client, content: bytes, *, card: dict[str, str] | None = None, **wish: str | bool
) -> httpx.Response:
    """Submit a file to `tiny`: `submit(client, content, system="s", …)`."""
    asked = {**wish, **({"card": json.dumps(card)} if card else {})}
    return client.post("/sets/tiny/submissions", params=asked, content=content)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Start servers with settings of one's own: `serve(settings, ARENA_API_RATE="5")`."""
    with ExitStack() as stack:

        def start(settings: Settings, **variables: str) -> str:
            log = tmp_path / "server.log"
            return stack.enter_context(running_server(program(), settings, log, **variables))

        yield start
