"""Connections to the database: reused, but never for a replaced file."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from data.errors import StoreError
from data.store import Store
from data.store.engine import Database

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "url",
    [
        "rubbish",
        "mysql://user@host/name",
        "postgresql+psycopg://user@host:port/name",
        "oracle+nothing://host/x",
        "",
    ],
)
def test_invalid_url_raises_clear_error(url: str) -> None:
    with pytest.raises(StoreError, match=r"Write sqlite:///PATH or postgresql\+psycopg://"):
        Database(url)


@pytest.mark.parametrize("name", ["postgres", "postgresql", "postgresql+psycopg"])
def test_provider_urls_are_accepted(name: str) -> None:
    database = Database(f"{name}://user:secret@host/name")
    assert database.place == "postgresql+psycopg://user:***@host/name"
    database.close()


def test_connections_are_reused_and_closed_at_end(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
    connections = set()
    for _ in range(5):
        with store.database.begin() as connection:
            connections.add(id(connection.connection.dbapi_connection))
    assert len(connections) == 1
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_unclosed_database_is_complete(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
    del store
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_replaced_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = Store.open(f"sqlite:///{path}")
    assert store.database.version() is not None
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR)")
        connection.execute("INSERT INTO alembic_version VALUES ('other')")
    connection.close()
    for name in ("a.sqlite-wal", "a.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.move(other, path)
    assert store.database.version() == "other"
    store.close()


FORKING = """
import multiprocessing
import sys

from data.store import Store

store = Store.open(sys.argv[1])
version = store.database.version()
context = multiprocessing.get_context("fork")
ours, theirs = context.Pipe()


def child():
    with store.database.begin() as connection:
        place = connection.connection.dbapi_connection
        theirs.send((id(place) == parents, store.database.version()))


with store.database.begin() as connection:
    parents = id(connection.connection.dbapi_connection)
process = context.Process(target=child)
process.start()
process.join(60)
assert ours.poll(), f"the child sent nothing and ended with {process.exitcode}"
assert ours.recv() == (False, version)
assert store.database.version() == version
store.close()
"""


@pytest.mark.slow
def test_forked_process_opens_its_own_connection(tmp_path: Path) -> None:
    # Libraries may have started threads here that warn about forks, so a subprocess forks.
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    command = [sys.executable, "-W", "error", "-c", FORKING, url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_migrations_keep_foreign_keys_enforced(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.sqlite'}")
    database.upgrade()
    with database.begin() as connection:
        assert connection.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
    database.close()


def test_short_wait_is_reset(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.sqlite'}")
    with database.together(wait_ms=1) as connection:
        assert connection.execute(text("PRAGMA busy_timeout")).scalar_one() == 10_000
    database.close()
