"""A real `arena serve` process, and an HTTP client for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.models import TokenScope
from tests.arena.conftest import settings_of, write_set
from tests.served import published, served


@contextmanager
def api_of(settings: Settings, log: Path, **variables: str) -> Iterator[str]:
    """Serve an arena without rate limits, and yield the URL of its API."""
    rates = {"ARENA_API_RATE": "100000", "ARENA_API_INTAKE_RATE": "100000"}
    with served(settings, log, None, **{**rates, **variables}) as address:
        yield f"{address}/api/v1"


def client_of(address: str, token: str | None = None) -> httpx.Client:
    """Return a client, with a token if given."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=headers, timeout=60)


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Client without a token, of a server over the published round `tiny`."""
    log = tmp_path_factory.mktemp("server") / "log"
    with api_of(published(), log) as address, client_of(address) as client:
        yield client


@dataclass(frozen=True, kw_only=True)
class Club:
    """A running server with teams, their tokens, and clients of two teams and of the public."""

    address: str
    settings: Settings
    log: Path
    tokens: Mapping[str, str]
    alpha: httpx.Client
    beta: httpx.Client
    public: httpx.Client


@pytest.fixture(scope="session")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    """Server over the set `tiny` without a round: teams `alpha` and `beta`, an organiser."""
    folder = tmp_path_factory.mktemp("club")
    settings, log = settings_of(folder / "home"), folder / "log"
    tokens = found_club(settings, folder)
    # Small limits, so that tests can reach them.
    limits = {"ARENA_MAX_UPLOAD_MB": "2", "ARENA_BODY_TIMEOUT": "3"}
    with api_of(settings, log, **limits) as address, ExitStack() as opened:
        alpha, beta, public = (
            opened.enter_context(client_of(address, tokens.get(who))) for who in ("alpha", "beta", "public")
        )
        yield Club(
            address=address, settings=settings, log=log, tokens=tokens, alpha=alpha, beta=beta, public=public
        )


def found_club(settings: Settings, folder: Path) -> dict[str, str]:
    """Create the set and the teams, and return the tokens by owner."""
    arena = Arena(settings)
    arena.sets.import_from(write_set(folder))
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    arena.teams.add_account("ann", caller=OPERATOR)
    for team in ("alpha", "beta"):
        arena.teams.add(team, title=team.title(), contact=f"mail@{team}.example", caller=OPERATOR)
    everything = {TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE}
    wanted: tuple[tuple[str, str | None, str | None, set[TokenScope]], ...] = (
        ("alpha", "alpha", None, everything),
        ("beta", "beta", None, everything),
        ("olga", None, "olga", {TokenScope.ORGANISE}),
    )
    made = {
        who: arena.tokens.create(name=who, team=team, account=account, scopes=scopes, caller=OPERATOR).secret
        for who, team, account, scopes in wanted
    }
    arena.close()
    return made


def answers(mark: str, count: int = 12) -> bytes:
    """Return an answer file to the first questions of `tiny`; each mark makes a different file."""
    rows = [
        {"question_id": f"q{number}", "answer": f"Item {number} weighs {number + 10} grams, says {mark}."}
        for number in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def submit(
    client: httpx.Client, content: bytes, *, card: dict[str, str] | None = None, **wish: str | bool
) -> httpx.Response:
    """Submit a file to `tiny`: `submit(client, content, system="s", …)`."""
    query = {**wish, **({"card": json.dumps(card)} if card else {})}
    return client.post("/sets/tiny/submissions", params=query, content=content)
