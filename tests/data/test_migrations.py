"""Migrations create the schema of the tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from data.errors import StoreError
from data.migrations import unpacking
from data.migrations.schema import ddl_metadata
from data.migrations.unpacking import PACKED, unpack
from data.models import JobKind, Reply, WorkerId
from data.store import Store
from data.store.engine import Database


@pytest.mark.slow
@pytest.mark.blank
def test_migrations_create_tables(database_url: str) -> None:
    store = Store.open(database_url)

    with store.database.begin() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, ddl_metadata()) == []
    store.close()


@pytest.mark.blank
def test_newer_schema_is_refused(database_url: str) -> None:
    store = Store.open(database_url)
    database, worker = store.database, WorkerId(name="w", place="", pid=1, started="")
    store.jobs.put(JobKind.JUDGE_TEST)
    leased = store.leases.take(worker, lease=60, gone=lambda _: False)
    assert leased is not None
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    refused: list[Callable[[], object]] = [
        database.upgrade,
        lambda: Store.open(database_url),
        lambda: store.leases.take(worker, lease=60, gone=lambda _: False),
        lambda: store.leases.beat(leased[1].id, lease=60),
    ]
    for change in refused:
        with pytest.raises(StoreError, match=r"unknown schema.*created it, or a newer one"):
            change()
    assert database.version() == "9999"
    store.close()


DICTIONARY = Path(unpacking.__file__).with_name("packing_1.txt")
LONG = "Both answers are true, and answer 1 explains more of it. " * 5


def packed(plain: str) -> bytes:
    """Deflate a text as schema 0027 did."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=DICTIONARY.read_bytes())
    return PACKED + packer.compress(plain.encode()) + packer.flush()


def reply(key: str, content: str, thinking: str | None = None) -> Reply:
    """Return a reply of an LLM."""
    return Reply(key=key, endpoint="e", model="m", text=content, logprobs=None, thinking=thinking)


@pytest.mark.blank
def test_upgrade_unpacks_replies(database_url: str) -> None:
    count = unpacking.ROWS_AT_ONCE + 5
    with closing(Store.open(database_url)) as store:
        store.replies.put([reply(f"k{number}", "x", "x") for number in range(count)])
        store.replies.put([reply("short", "Yes.")])
        with store.database.begin() as connection:
            if not store.database.is_sqlite:
                for column in ("text", "logprobs", "thinking"):
                    kind = f"bytea USING convert_to({column}, 'UTF8')"
                    connection.execute(text(f"ALTER TABLE reply ALTER COLUMN {column} TYPE {kind}"))
            values = {"packed": packed(LONG)}
            connection.execute(
                text("UPDATE reply SET text = :packed, thinking = :packed WHERE key != 'short'"), values
            )
            connection.execute(text("UPDATE alembic_version SET version_num = '0027'"))
    with closing(Database(database_url)) as database:
        database.upgrade()
    with closing(Store.open(database_url)) as store:
        keys = [f"k{number}" for number in range(count)]
        assert store.replies.get_many([*keys, "short"]) == {
            **{key: reply(key, LONG, LONG) for key in keys},
            "short": reply("short", "Yes."),
        }
        with store.database.begin() as connection:
            assert connection.execute(text("SELECT text FROM reply WHERE key = 'k1'")).scalar_one() == LONG


@pytest.mark.parametrize(
    "stored", [b"\xfe\x00", PACKED + b"\x00", PACKED + b"no deflated text", packed(LONG)[:-1]]
)
def test_damaged_text_is_error(stored: bytes) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        unpack(stored)
