from __future__ import annotations

import contextlib
import gc
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import structlog
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from arena.cli import main
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from data.models import TokenScope
from tests.arena.api.conftest import api_of
from tests.arena.conftest import Fill, Serve
from tests.narrow import known

Tell = Callable[..., str]
KEY, PASSWORD = "sk-live-0123456789abcdef", "p%40ss-of-the-database"
COMMANDS = (("sets", "list"), ("db", "status"), ("db", "upgrade"), ("worker", "--once"), ("jobs",))
SECRETS = (KEY, PASSWORD, "p@ss-of-the-database", "a-session-token")


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """Run commands in this process and return their output: `tell("db", "upgrade", ARENA_HOME="…")`."""
    before = structlog.get_config()

    def run(*words: object, **variables: str) -> str:
        for name in [name for name in os.environ if name.startswith(("ARENA_", "OPENAI_"))]:  # noqa: TID251
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words)])
        with contextlib.suppress(SystemExit):
            main()
        gc.collect()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return said.out + said.err

    yield run
    structlog.configure(**before)


def secrets_in(text: str) -> list[str]:
    """Return the secrets in a text."""
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.slow
def test_key_repeated_by_endpoint_is_not_stored(
    tell: Tell, filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    server = scripted_llm(faults={"unauthorised": 1.0})
    arena = filled(endpoint=server.url)
    request = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all")
    arena.rounds.create(request)
    arena.jobs.judge("r")
    variables = {
        "ARENA_HOME": str(arena.settings.home),
        "ARENA_LOG_LEVEL": "DEBUG",
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": KEY,
    }
    stderr = tell("worker", "--once", **variables)
    assert "401" in stderr, "the message has the status of the endpoint"
    assert any(KEY in str(headers) for headers in server.log.headers), "the key was sent"
    first, second = tmp_path / "one.txt", tmp_path / "other.txt"
    first.write_text("Item 1 is beta.")
    second.write_text("Item 1 is gamma.")
    texts = ("--question", "tiny/q1", "--a", first, "--b", second)
    for words in (
        ("jobs", 1),
        ("rounds", "status", "r"),
        ("rounds", "run", "--set", "tiny", "--judge", "reference-free", "--name", "again", "--no-cap"),
        ("judges", "try", "--judge", "reference-free", *texts),
    ):
        stderr += tell(*words, **variables)
    with contextlib.closing(sqlite3.connect(arena.settings.home / "arena.sqlite")) as database:
        dumped = "\n".join(database.iterdump())
    assert "401" in dumped
    assert secrets_in(stderr + dumped) == []


@pytest.mark.parametrize(
    ("words", "url"),
    [
        *((words, "postgresql+psycopg://arena:{}@127.0.0.1:9/arena") for words in COMMANDS),
        *(
            (("sets", "list"), url)
            for url in ("postgresql+psycopg://a:{}@:port:/x", "{}", "mysql+no://a:{}@host/x")
        ),
    ],
)
def test_commands_hide_password_of_unreachable_database(
    tell: Tell, words: tuple[str, ...], url: str, tmp_path: Path
) -> None:
    stderr = tell(*words, ARENA_HOME=str(tmp_path), ARENA_DATABASE_URL=url.format(PASSWORD))
    assert stderr
    assert secrets_in(stderr) == []


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_unreachable_database_secrets_are_hidden_by_site(
    database_url: str, make_arena: Fill, tmp_path: Path
) -> None:
    url = database_url.replace("postgres@", f"postgres:{PASSWORD}@")
    arena = make_arena(database_url=url)
    arena.teams.add("ours", caller=OPERATOR)
    token = arena.tokens.create(name="t", scopes={TokenScope.READ}, team="ours", caller=OPERATOR).secret
    arena.close()
    variables = {"ARENA_LOG_LEVEL": "DEBUG", "ARENA_METRICS": "open"}
    with api_of(arena.settings, tmp_path / "log", **variables) as address:
        site = address.removesuffix("/api/v1")
        headers = {"Authorization": f"Bearer {token}", "Cookie": "arena_session=a-session-token"}
        assert httpx.get(f"{address}/me", headers=headers).status_code == 200
        name = known(make_url(database_url).database)
        engine = create_engine(make_url(database_url).set(database="postgres"), isolation_level="AUTOCOMMIT")
        bodies = ""
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
            try:
                for place in (
                    f"{address}/me",
                    f"{address}/sets",
                    *(f"{site}/{page}" for page in ("healthz", "metrics", "auth/sign-out")),
                ):
                    response = httpx.get(place, headers=headers)
                    assert response.status_code == 503, place
                    bodies += response.text
            finally:
                connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    log = (tmp_path / "log").read_text()
    assert name in log
    assert secrets_in(bodies + log) == []
    assert token.split("_", 2)[2] not in bodies + log
    assert name not in bodies, "errors do not show paths"
    assert "Traceback" not in log
