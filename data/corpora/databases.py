"""Passages in a PostgreSQL database of somebody else's: one statement with bound values, read only.

Values never become part of a statement's text: the query, its vector and the number of passages are bound.
Every statement runs in a transaction that is read only, has a time limit and is rolled back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Self

from sqlalchemy import Connection, Engine, RowMapping, create_engine, func, select, text
from sqlalchemy import true as sql_true
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from data.corpora.dense import Vectors
from data.errors import SpecError, StoreError
from data.records import Passage

DRIVER = "postgresql+psycopg"
SCHEMES = frozenset({"postgres", "postgresql", DRIVER})
LONGEST_REASON = 200
ADVICE = "docs/retrievers.md has an example of each key."
_CAST = re.compile(r"(?<!:):(\w+)::")


class Bound(StrEnum):
    """What a statement is given."""

    QUERY = "query"
    EMBEDDING = "embedding"
    K = "k"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of a database; `score` is None where the statement gives none."""

    passage: Passage
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageQuery:
    """Where passages are, and how they are asked for.

    Attributes:
        name: Of the description.
        url: `postgresql://USER:PASSWORD@HOST/DATABASE`.
        statement: Gives the columns `id` and `text`, perhaps `title` and `score` (higher is better); names
            `:k`, and `:query` or `:embedding`.
        seconds: Longest time of a statement, and of connecting.
        at_once: Most connections.
    """

    name: str
    url: str
    statement: str
    seconds: float
    at_once: int


class PassageDatabase:
    """Asks a database for passages. Use it as a context manager.

    Args:
        query: What is asked.

    Raises:
        SpecError: The URL is none of PostgreSQL, its driver is missing, or the statement names other values.
    """

    def __init__(self, query: PassageQuery) -> None:
        self._query = query
        self._statement = text(query.statement)
        named = set(self._statement.compile().params)
        if cut := _CAST.search(query.statement):
            message = f"The statement of {query.name} casts :{cut[1]} with two colons, which hides the name."
            raise SpecError(message, advice="Write CAST(:embedding AS vector) instead of :embedding::vector.")
        if unknown := sorted(named - set(Bound)):
            message = f"The statement of {query.name} names :{unknown[0]}, which nothing is bound to."
            raise SpecError(message, advice="Use :query, :embedding and :k alone.")
        if Bound.K not in named:
            message = f"The statement of {query.name} names no :k, and would read more than is asked for."
            raise SpecError(message, advice="End it with LIMIT :k.")
        self.takes_embedding = Bound.EMBEDDING in named
        self._names = named
        self._engine = self._connected()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.dispose()

    def _connected(self) -> Engine:
        query = self._query
        try:
            url = make_url(query.url)
        except (ArgumentError, ValueError) as error:
            raise SpecError(f"The URL of {query.name} is no database URL.", advice=ADVICE) from error
        if url.drivername not in SCHEMES:
            message = f"The database of {query.name} is of the kind {url.drivername}."
            raise SpecError(
                message, advice="Only PostgreSQL can be searched: postgresql://USER@HOST/DATABASE."
            )
        wait = max(2, math.ceil(query.seconds))
        try:
            return create_engine(
                url.set(drivername=DRIVER),
                pool_size=query.at_once,
                max_overflow=0,
                pool_timeout=query.seconds,
                pool_pre_ping=True,
                connect_args={"connect_timeout": wait, "tcp_user_timeout": 2000 * wait},
            )
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            message = "The driver of PostgreSQL databases is not installed."
            raise SpecError(message, advice="Install answer-arena[postgres].") from error

    def find(self, query: str, k: int, embedding: Vectors | None = None) -> list[Found]:
        """At most `k` passages, in the statement's order.

        Args:
            query: What is looked for.
            k: How many.
            embedding: The vector of the query, where the statement takes one.

        Raises:
            StoreError: The database cannot be asked, or its answer has no usable `id` and `text`.
        """
        values: dict[Bound, object] = {Bound.QUERY: query.replace("\x00", ""), Bound.K: k}
        if embedding is not None:
            values[Bound.EMBEDDING] = "[" + ",".join(f"{value:.9g}" for value in embedding) + "]"
        bound = {name.value: value for name, value in values.items() if name in self._names}
        try:
            with self._reading() as connection:
                result = connection.execute(self._statement, bound)
                if missing := sorted({"id", "text"} - set(result.keys())):
                    raise self._failed(f"its statement gives no column {' and '.join(missing)}")
                return [
                    self._found(place, row)
                    for place, row in enumerate(result.mappings().fetchmany(k), start=1)
                ]
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            raise self._failed(reason[:LONGEST_REASON]) from error

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._engine.connect() as plain:
            connection = plain.execution_options(postgresql_readonly=True)
            limit = f"{math.ceil(self._query.seconds * 1000)}ms"
            connection.execute(select(func.set_config("statement_timeout", limit, sql_true())))
            yield connection
            connection.rollback()

    def _found(self, place: int, row: RowMapping) -> Found:
        name, content, title, score = (row.get(key) for key in ("id", "text", "title", "score"))
        if name is None or not str(name).strip():
            raise self._failed(f"row {place} has no id")
        if not isinstance(content, str) or not content.strip():
            raise self._failed(f"row {place} ({name}) has no text")
        if score is not None:
            known = isinstance(score, int | float | Decimal) and math.isfinite(score)
            if not known:
                raise self._failed(f"the score of row {place} ({name}) is {score!r}, no number")
            score = float(score)
        return Found(Passage(str(name), content, "" if title is None else str(title)), score)

    def _failed(self, why: str) -> StoreError:
        message = f"The database search {self._query.name} failed: {why}."
        return StoreError(
            message, advice="Check the statement, the URL and that the database can be reached."
        )
