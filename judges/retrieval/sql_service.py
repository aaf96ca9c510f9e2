"""Searches in PostgreSQL databases, by words or by vectors (pgvector), each described by a TOML file.

The statement's text is the file's own: neither the environment nor a query becomes a part of it.
docs/retrievers.md describes every key and the files that are bundled.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.corpora.databases import PassageDatabase, PassageQuery
from data.errors import SpecError, StoreError
from data.files.jsonl import in_words
from data.records import Outcome
from judges.embedding.base import Embedder
from judges.llm.requests import CallFailure
from judges.retrieval.descriptions import ADVICE, Shelf, names_variable, stem_of
from judges.retrieval.ranking import Hit

SEARCHES = Shelf("database search", "databases")


class QueryEmbedding(BaseModel):
    """What embeds queries; the same as embedded the passages.

    Attributes:
        model: The endpoint's name of the model, or the folder of a local one.
        endpoint: Base URL; empty for the one that is set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    endpoint: str = ""


class SqlServiceSpec(BaseModel):
    """How to ask a database.

    Attributes:
        name: Of the search; the file's name where the file gives none.
        url: The connection, from a variable of the environment.
        statement: SQL with `:query`, `:embedding` (text such as `[0.1,0.2]`) and `:k`; it gives `id` and
            `text`, perhaps `title` and `score` (higher is better).
        embedding: What embeds queries, where the statement takes `:embedding`.
        most: Most passages that may be asked for at once.
        seconds: Longest time of a statement.
        at_once: Most connections.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    url: str
    statement: str
    embedding: QueryEmbedding | None = None
    most: Annotated[int, Field(ge=1)] = 1000
    seconds: Annotated[float, Field(gt=0, le=3600)] = 20.0
    at_once: Annotated[int, Field(ge=1, le=64)] = 4


def load_search(name: str, variables: Mapping[str, str], *, folders: Sequence[Path] = ()) -> SqlServiceSpec:
    """Read a search by the path of a TOML file, or by its name in `folders` or among the bundled ones.

    Args:
        name: A path (it ends in `.toml`), or the name of a file in `folders` or of a bundled one.
        variables: The environment, which `${NAME}` is taken from; never in the statement.
        folders: Where to look before the bundled ones.

    Raises:
        NotFoundError: No search bears the name.
        SpecError: The file cannot be used, has its connection in the clear, or names a variable that is not
            set.
    """
    stem = stem_of(name)
    try:
        values = {"name": stem, **tomllib.loads(SEARCHES.text(name, folders))}
        if "url" in values and not names_variable(values["url"]):
            message = f"The database search {stem} has its connection in the file."
            raise SpecError(message, advice='Write url = "${NAME}" and set NAME in the environment.')
        statement = values.pop("statement", None)
        filled = SEARCHES.filled(values, variables, stem)
        spec = SqlServiceSpec.model_validate({**dict(filled), "statement": statement})  # type: ignore[call-overload]  # a mapping stays one
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        problems = "; ".join(in_words(error)) if isinstance(error, ValidationError) else str(error)
        raise SpecError(f"The database search {stem} cannot be used: {problems}.", advice=ADVICE) from error
    return spec


def open_database(spec: SqlServiceSpec) -> PassageDatabase:
    """The database of a search; nothing is connected before the first query.

    Raises:
        SpecError: The URL or the statement cannot be used, or the statement takes a vector and nothing is
            named that makes one.
    """
    query = PassageQuery(
        name=spec.name, url=spec.url, statement=spec.statement, seconds=spec.seconds, at_once=spec.at_once
    )
    database = PassageDatabase(query)
    if database.takes_embedding != (spec.embedding is not None):
        takes = "takes :embedding" if database.takes_embedding else "takes no :embedding"
        has = "has no [embedding]" if database.takes_embedding else "has an [embedding]"
        raise SpecError(f"The database search {spec.name} {takes}, and {has}.", advice=ADVICE)
    return database


class SqlRanker:
    """Ranks what a database finds: by the statement's scores, or by its order where it gives none.

    Args:
        spec: The search.
        database: Of the search.
        embedder: Embeds queries, where the statement takes vectors.
    """

    def __init__(self, spec: SqlServiceSpec, database: PassageDatabase, embedder: Embedder | None) -> None:
        self._spec = spec
        self._database = database
        self._embedder = embedder
        self._places = asyncio.Semaphore(spec.at_once)

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank, or say why the query could not be embedded or the database not be asked."""
        vector = None
        if self._embedder is not None:
            vectors = await self._embedder.embed([query])
            if isinstance(vectors, CallFailure):
                return vectors
            vector = vectors[0]
        try:
            async with self._places:
                found = await asyncio.to_thread(
                    self._database.find, query, min(k, self._spec.most), embedding=vector
                )
        except StoreError as error:
            return CallFailure(outcome=Outcome.FAILED, detail=error.message)
        hits = [
            Hit(one.passage, 1 / place if one.score is None else one.score)
            for place, one in enumerate(found, start=1)
        ]
        return sorted(hits, key=lambda hit: -hit.score)
