"""Searches in databases as TOML files describe them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from data.corpora.dense import Vectors
from data.errors import NotFoundError, SpecError
from data.records import Outcome
from judges.llm.requests import CallFailure
from judges.retrieval.sql_service import SEARCHES, SqlRanker, load_search, open_database

GIVEN = {"URL": "postgresql://me:secret@host/database", "MODEL": "m"}
PLAIN = 'url = "${URL}"\nstatement = "SELECT id, text FROM passages LIMIT :k"\n'
DENSE = 'url = "${URL}"\nstatement = "SELECT id, text FROM passages WHERE e = :embedding LIMIT :k"\n'


@dataclass(frozen=True)
class Axis:
    """Embeds every text as one of two axes, or fails."""

    fails: bool = False
    model: str = "axis"
    endpoint: str = ""
    fingerprint: str = ""

    async def embed(self, texts: Sequence[str]) -> Vectors | CallFailure:
        """Embed."""
        if self.fails:
            return CallFailure(outcome=Outcome.FAILED, detail="no vectors today")
        return np.array([[1.0, 0.0] if "bread" in one else [0.0, 1.0] for one in texts], np.float32)


def test_the_bundled_searches_can_be_opened() -> None:
    """Each of them is complete, and takes a vector exactly where it names a model."""
    names = SEARCHES.names()
    assert names == ("pgvector", "postgres-text")
    variables = {f"{name.upper().replace('-', '_')}_URL": GIVEN["URL"] for name in names}
    for name in names:
        spec = load_search(name, {**variables, "PGVECTOR_MODEL": "m"})
        with open_database(spec) as database:
            assert database.takes_embedding == (name == "pgvector")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('url = "postgresql://me:secret@host/d"\nstatement = "SELECT 1"', "connection in the file"),
        (PLAIN.replace("URL", "NOWHERE"), "needs the variable NOWHERE"),
        (PLAIN + "seconds = 0", "seconds"),
        (PLAIN + 'password = "x"', "password"),
        ("url = ", "cannot be used"),
        ('url = "${URL}"', "statement"),
    ],
)
def test_a_search_that_cannot_be_used_says_why(tmp_path: Path, content: str, why: str) -> None:
    """Connections in the clear, variables that are not set and unknown keys are refused, with no secret."""
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_search(str(path), GIVEN)
    assert why in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(NotFoundError, match="no database search 'other'"):
        load_search("other", GIVEN, folders=(tmp_path,))


def test_the_environment_is_no_part_of_a_statement(tmp_path: Path) -> None:
    """`${NAME}` in a statement stays as it is."""
    path = tmp_path / "mine.toml"
    path.write_text(PLAIN.replace("FROM passages", "FROM ${MODEL}"), encoding="utf-8")
    assert "${MODEL}" in load_search("mine", GIVEN, folders=(tmp_path,)).statement


@pytest.mark.parametrize("content", [DENSE, PLAIN + '[embedding]\nmodel = "m"'])
def test_a_vector_and_what_makes_it_go_together(tmp_path: Path, content: str) -> None:
    """A statement with `:embedding` needs a model, and one without needs none."""
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SpecError, match="embedding"):
        open_database(load_search(str(path), GIVEN))


@pytest.mark.postgres
def test_passages_of_a_database_are_ranked(postgres_url: Callable[[], str], tmp_path: Path) -> None:
    """Full-text search ranks by the words of a question; a vector is bound as text; failures are named."""
    url = postgres_url()
    engine = create_engine(url)
    rows = [
        ("d1", "Baking", "Bread rises, warm bread."),
        ("d2", "", "Butter melts."),
        ("d3", "", "Blue sky."),
    ]
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE passages (id text, title text, text text)"))
        for name, title, content in rows:
            connection.execute(
                text("INSERT INTO passages VALUES (:a, :b, :c)"), {"a": name, "b": title, "c": content}
            )
    engine.dispose()
    spec = load_search("postgres-text", {"POSTGRES_TEXT_URL": url})
    with open_database(spec) as database:
        hits = asyncio.run(SqlRanker(spec, database, None).rank("Does butter go with bread?", 5))
        assert not isinstance(hits, CallFailure)
        assert [hit.passage.id for hit in hits] == ["d1", "d2"]
        assert hits[0].score > hits[1].score > 0
        assert asyncio.run(SqlRanker(spec, database, None).rank("the of", 5)) == []
    path = tmp_path / "mine.toml"
    path.write_text(
        'url = "${URL}"\n'
        'statement = "SELECT id, text, CAST(:embedding AS text) AS title FROM passages LIMIT :k"\n'
        '[embedding]\nmodel = "axis"',
        encoding="utf-8",
    )
    spec = load_search("mine", {"URL": url}, folders=(tmp_path,))
    with open_database(spec) as database:
        hits = asyncio.run(SqlRanker(spec, database, Axis()).rank("bread", 2))
        assert not isinstance(hits, CallFailure)
        assert [(hit.passage.title, hit.score) for hit in hits] == [("[1,0]", 1.0), ("[1,0]", 0.5)]
        failure = asyncio.run(SqlRanker(spec, database, Axis(fails=True)).rank("bread", 2))
        assert isinstance(failure, CallFailure)
        assert failure.detail == "no vectors today"
