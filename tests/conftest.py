"""Fixtures for every room: the scripted LLM endpoint and the data folder beside the checkout."""

from __future__ import annotations

import contextlib
import gc
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import settings

from data.store import Store
from tests.postgres_pool import PostgresPool, Schema
from tests.scripted_llm import Script, ScriptedLLM

POSTGRES = "postgresql+psycopg://postgres@127.0.0.1:5432"

# Time is measured in benchmarks; a busy machine is no failure. The same examples in every run: what
# passes here passes everywhere.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("full", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("quick")


@pytest.fixture(scope="session", autouse=True)
def _slow_answers_are_answers() -> None:
    """Wait a minute for every answer to a test's own request, where httpx waits 5 seconds."""
    DEFAULT_TIMEOUT_CONFIG.read = 60


@pytest.fixture(scope="module", autouse=True)
def _old_objects_stay() -> None:
    """Spare the collector what modules before have made: commands and pages collect after each call."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _process_as_before() -> Iterator[None]:
    """Undo what commands that log have set, and the `__main__` of tested pages, which pools would load."""
    before, main = structlog.get_config(), sys.modules["__main__"]
    yield
    structlog.configure(**before)
    sys.modules["__main__"] = main


@pytest.fixture
def scripted_llm() -> Iterator[Callable[..., ScriptedLLM]]:
    """Start scripted endpoints: `scripted_llm(latency=0.1, faults={"rate_limit": 0.2})`.

    Takes the fields of `Script`, gives a running `ScriptedLLM` (`.url`, `.script`, `.log`,
    `.handlers`), and stops it when the test ends.
    """
    with contextlib.ExitStack() as stack:

        def serve(**fields: Any) -> ScriptedLLM:  # noqa: ANN401 - the fields of `Script`
            return stack.enter_context(ScriptedLLM(Script(**fields)).running())

        yield serve


def _postgres_runs() -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 5432), timeout=1):
        return True
    return False


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresPool]:
    """The databases of this run on the PostgreSQL server of this machine."""
    if not _postgres_runs():
        pytest.skip("NO POSTGRESQL on 127.0.0.1:5432: the store is not tested on it")
    with PostgresPool.on(POSTGRES) as pool:
        yield pool


@pytest.fixture
def postgres_url(postgres: PostgresPool) -> Iterator[Callable[[], str]]:
    """Lend empty databases on PostgreSQL, without a schema."""
    with postgres.lending() as lend:
        yield lambda: lend(Schema.NONE)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def blank_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database without a schema, on each engine in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'arena.sqlite'}"
    make: Callable[[], str] = request.getfixturevalue("postgres_url")
    return make()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema and no rows, to be copied: migrations take longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "arena.sqlite"
    Store.open(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """The URL of a database on SQLite with the newest schema and no rows."""
    path = tmp_path / "arena.sqlite"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database with the newest schema and no rows, on each engine in turn."""
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite_url")
        return
    pool: PostgresPool = request.getfixturevalue("postgres")
    with pool.lending() as lend:
        yield lend(Schema.NEWEST)


@pytest.fixture
def public_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Price the endpoints on this machine as if they were elsewhere, where what has no price is unknown."""
    monkeypatch.setattr("judges.llm.prices.is_private", lambda _: False)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """An empty store, on each engine in turn."""
    opened = Store.open(database_url)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    """An empty store on SQLite alone."""
    opened = Store.open(sqlite_url)
    yield opened
    opened.close()
