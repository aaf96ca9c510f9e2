"""Passages in a PostgreSQL database: bound values, read only, in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from data.corpora.databases import PassageDatabase, PassageQuery
from data.errors import SpecError, StoreError
from tests.postgres_pool import PostgresPool, Schema

pytestmark = pytest.mark.postgres
ROWS: list[dict[str, object]] = [
    {"id": "d1", "title": "Baking", "text": "Bread rises in a warm place.", "at": "[1,0,0]"},
    {"id": "d2", "title": None, "text": "Butter melts.", "at": "[0,1,0]"},
    {"id": "d3", "title": "Sky", "text": "The sky is blue at noon.", "at": "[0,0.6,0.8]"},
]
Ask = Callable[..., PassageDatabase]


@pytest.fixture(scope="module")
def passages_url(postgres: PostgresPool) -> Iterator[str]:
    """The URL of a database with three passages in a table."""
    with postgres.lending() as lend:
        url = lend(Schema.NONE)
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE passages (id text, title text, text text, at text)"))
            connection.execute(text("INSERT INTO passages VALUES (:id, :title, :text, :at)"), ROWS)
        engine.dispose()
        yield url


@pytest.fixture
def ask(passages_url: str) -> Iterator[Ask]:
    """Open databases with a statement; closed when the test ends."""
    opened: list[PassageDatabase] = []

    def make(statement: str, *, url: str = passages_url, seconds: float = 20) -> PassageDatabase:
        query = PassageQuery(name="mine", url=url, statement=statement, seconds=seconds, at_once=2)
        opened.append(PassageDatabase(query))
        return opened[-1]

    yield make
    for database in opened:
        database.__exit__()


def test_values_are_bound_and_never_part_of_the_statement(ask: Ask) -> None:
    """A query that looks like SQL is looked for as it stands; the table is there afterwards."""
    database = ask("SELECT id, text, :query AS title, 0.5 AS score FROM passages ORDER BY id LIMIT :k")
    hostile = "'; DROP TABLE passages; -- :k %s\x00"
    found = database.find(hostile, 2)
    assert [(one.passage.id, one.score) for one in found] == [("d1", 0.5), ("d2", 0.5)]
    assert found[0].passage.title == hostile.replace("\x00", "")
    assert len(database.find("x", 3)) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "WITH gone AS (DELETE FROM passages RETURNING id, text) SELECT id, text FROM gone LIMIT :k",
        "SELECT id, text FROM passages LIMIT :k; DELETE FROM passages",
    ],
)
def test_nothing_can_be_written(ask: Ask, statement: str) -> None:
    """A statement that would change something fails, and so do two in one."""
    with pytest.raises(StoreError, match="database search mine failed"):
        ask(statement).find("x", 5)
    assert len(ask("SELECT id, text FROM passages LIMIT :k").find("x", 5)) == 3


def test_a_slow_statement_is_stopped(ask: Ask) -> None:
    """After its time the server ends the statement, and the connection can be used again."""
    database = ask("SELECT id, text, pg_sleep(:k) AS title FROM passages LIMIT :k", seconds=0.2)
    with pytest.raises(StoreError, match="statement timeout"):
        database.find("x", 30)
    assert len(database.find("x", 0)) == 0


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SELECT id FROM passages LIMIT :k", "no column text"),
        ("SELECT NULL AS id, text FROM passages LIMIT :k", "row 1 has no id"),
        ("SELECT id, CAST(NULL AS text) AS text FROM passages LIMIT :k", "row 1 .d1. has no text"),
        ("SELECT id, text, 'high' AS score FROM passages LIMIT :k", "'high', no number"),
        ("SELECT id, text, CAST('NaN' AS float) AS score FROM passages LIMIT :k", "no number"),
        ("SELECT id, text FROM nowhere LIMIT :k", "nowhere"),
    ],
)
def test_what_gives_no_passages_is_a_failure(ask: Ask, statement: str, why: str) -> None:
    """A statement without usable rows is no empty result."""
    with pytest.raises(StoreError, match=why):
        ask(statement).find("x", 5)


def test_a_database_that_is_not_there_is_a_failure(ask: Ask) -> None:
    """The reason names no password."""
    database = ask(
        "SELECT id, text FROM passages LIMIT :k", url="postgresql://me:geheim@127.0.0.1:1/none", seconds=1
    )
    with pytest.raises(StoreError) as caught:
        database.find("x", 1)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "statement", "why"),
    [
        ("sqlite:///x.sqlite", "SELECT :k", "kind sqlite"),
        ("nonsense", "SELECT :k", "no database URL"),
        ("postgresql://h/d", "SELECT id, text FROM t WHERE x = :name", ":name"),
        ("postgresql://h/d", "SELECT id, text FROM t", "no :k"),
        ("postgresql://h/d", "SELECT id, text FROM t ORDER BY e <=> :embedding::vector", "CAST"),
    ],
)
def test_a_description_that_cannot_be_used_is_refused(ask: Ask, url: str, statement: str, why: str) -> None:
    """Other databases, other values and casts that would cut a name short are refused before any query."""
    with pytest.raises(SpecError) as caught:
        ask(statement, url=url)
    assert why in f"{caught.value} {caught.value.advice}"


def test_passages_are_found_by_pgvector(ask: Ask, passages_url: str) -> None:
    """With the extension, the nearest vector comes first, with its cosine as the score."""
    engine = create_engine(passages_url)
    try:
        with engine.begin() as connection:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except DBAPIError:
        pytest.skip("NO PGVECTOR on this PostgreSQL: searching by vectors in a database is not tested")
    finally:
        engine.dispose()
    statement = (
        "SELECT id, title, text, 1 - (CAST(at AS vector) <=> CAST(:embedding AS vector)) AS score "
        "FROM passages ORDER BY CAST(at AS vector) <=> CAST(:embedding AS vector) LIMIT :k"
    )
    database = ask(statement)
    assert database.takes_embedding
    found = database.find("ignored", 2, embedding=np.array([0.0, 1.0, 0.0], dtype=np.float32))
    assert [one.passage.id for one in found] == ["d2", "d3"]
    assert [one.score for one in found] == pytest.approx([1.0, 0.6])
    with pytest.raises(StoreError, match="different vector dimensions"):
        database.find("x", 2, embedding=np.array([1.0, 0.0], dtype=np.float32))
