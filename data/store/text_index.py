"""The index of the words of questions, references and answers.

On SQLite it is a contentless FTS5 table whose row numbers hold submission and question, so that a search
touches no other table; on PostgreSQL a table of `tsvector` with a GIN index. Both are given terms that
`data.search` made, and so find the same. The index is written in the transaction that writes the texts. It
is no part of a dump: whoever fills an arena from one builds it anew.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, text

from data.progress import Work
from data.records import SubmissionState
from data.search.query import SearchQuery
from data.search.words import Terms
from data.store.base import StorePart
from data.tables.questions import answers, questions, submissions

if TYPE_CHECKING:
    # Arrays load where something is searched for; most commands search for nothing.
    import numpy as np
    from numpy.typing import NDArray

QUESTIONS = 0
"""Stands in place of a submission for the texts of questions."""
AT_ONCE = 2_000
HALF = 32
"""Bits of a row number of FTS5 that hold the question; those above hold the submission."""
QUESTION_BITS = (1 << HALF) - 1
# FTS5 gathers 16 MiB of entries before it writes them: its own 1 MiB takes twice as long.
SQLITE_SCHEMA = (
    "CREATE VIRTUAL TABLE text_index USING fts5(words, content='', columnsize=0, tokenize='ascii')",
    "INSERT INTO text_index (text_index, rank) VALUES ('hashsize', 16777216)",
)
POSTGRES_SCHEMA = (
    """CREATE TABLE text_index (
        submission_id integer NOT NULL,
        question_id integer NOT NULL REFERENCES question (id) ON DELETE CASCADE,
        words tsvector NOT NULL,
        CONSTRAINT pk_text_index PRIMARY KEY (question_id, submission_id)
    )""",
    "CREATE INDEX ix_text_index_words ON text_index USING gin (words)",
)

Text = tuple[int, str]
"""A question's number and a text."""


class TextIndex(StorePart):
    """Finds texts by their words."""

    def questions(self, query: SearchQuery, among: Collection[int]) -> frozenset[int]:
        """The numbers of the questions that have a text with every phrase of a query.

        Args:
            query: What is searched for; one text must have all of it.
            among: Numbers of the submissions whose answers are searched; `QUESTIONS` stands for the texts of
                questions, of every set.
        """
        import numpy as np  # noqa: PLC0415 - see above

        with self._database.begin() as connection:
            if self._database.is_sqlite:
                return frozenset(np.unique(_rows(connection, query, among) & QUESTION_BITS).tolist())
            return frozenset(
                connection.execute(
                    text(
                        "SELECT DISTINCT question_id FROM text_index "
                        "WHERE words @@ CAST(:query AS tsquery) AND submission_id = ANY(:among)"
                    ),
                    _prepared(connection, query, among),
                ).scalars()
            )

    def places(
        self, query: SearchQuery, among: Collection[int], shown: Collection[int]
    ) -> Mapping[int, tuple[int, ...]]:
        """In whose texts a query is found: numbers of submissions by that of each shown question."""
        found: dict[int, list[int]] = defaultdict(list)
        pairs: Iterable[Sequence[int]]
        with self._database.begin() as connection:
            if self._database.is_sqlite:
                rows = _rows(connection, query, among, shown)
                pairs = zip((rows >> HALF).tolist(), (rows & QUESTION_BITS).tolist(), strict=True)
            else:
                pairs = connection.execute(
                    text(
                        "SELECT submission_id, question_id FROM text_index WHERE question_id = ANY(:shown) "
                        "AND words @@ CAST(:query AS tsquery) AND submission_id = ANY(:among)"
                    ),
                    _prepared(connection, query, among) | {"shown": list(shown)},
                )
            for submission, question in sorted(map(tuple, pairs)):
                found[question].append(submission)
        return {question: tuple(places) for question, places in found.items()}


def _prepared(connection: Connection, query: SearchQuery, among: Collection[int]) -> dict[str, object]:
    """The parameters of a search on PostgreSQL, with its transaction made ready."""
    # To compile a search takes longer than the search; the second keeps every row of a bitmap.
    connection.execute(text("SET LOCAL jit = off"))
    connection.execute(text("SET LOCAL work_mem = '32MB'"))
    return {"query": query.for_postgres, "among": list(among)}


def _rows(
    connection: Connection, query: SearchQuery, among: Collection[int], shown: Collection[int] | None = None
) -> NDArray[np.int64]:
    """The row numbers of FTS5 that match, in order; with `shown` of these questions alone.

    Of the submissions between the first and the last that are searched, others are read and left out: a
    search for each would take longer.
    """
    import numpy as np  # noqa: PLC0415 - see above

    submissions_searched = [number for number in among if number != QUESTIONS]
    spans = [(QUESTIONS, QUESTIONS)] if QUESTIONS in among else []
    if submissions_searched:
        spans.append((min(submissions_searched), max(submissions_searched)))
    # SQLAlchemy's rows take as long again as the search itself.
    cursor = connection.connection.cursor()
    statement = "SELECT rowid FROM text_index WHERE text_index MATCH ? AND rowid BETWEEN ? AND ?"
    more: tuple[str, ...] = ()
    if shown is not None:
        statement += " AND (rowid & 4294967295) IN (SELECT value FROM json_each(?))"
        more = (json.dumps(list(shown)),)
    try:
        numbers = [
            number
            for first, last in spans
            for (number,) in cursor.execute(
                statement, (query.for_sqlite, first << HALF, last << HALF | QUESTION_BITS, *more)
            )
        ]
    finally:
        cursor.close()
    rows = np.array(numbers, dtype=np.int64)
    return rows[np.isin(rows >> HALF, list(among))]


def add_texts(connection: Connection, submission: int, texts: Iterable[Text], terms: Terms) -> None:
    """Index texts of a submission, or with `QUESTIONS` those of questions."""
    if connection.dialect.name == "sqlite":
        if entries := _entries(submission, texts, terms):
            connection.exec_driver_sql("INSERT INTO text_index (rowid, words) VALUES (?, ?)", entries)
        return
    numbers, vectors = [], []
    for question, content in texts:
        numbers.append(question)
        vectors.append(" ".join(f"{term}:{at}" for at, term in enumerate(terms.of(content), start=1)))
    connection.execute(
        text(
            "INSERT INTO text_index (submission_id, question_id, words) SELECT :submission, question, "
            "CAST(words AS tsvector) FROM unnest(CAST(:numbers AS integer[]), CAST(:vectors AS text[])) "
            "AS given (question, words)"
        ),
        {"submission": submission, "numbers": numbers, "vectors": vectors},
    )


def remove_texts(connection: Connection, submission: int) -> None:
    """Take the answers of a submission out of the index."""
    if connection.dialect.name != "sqlite":
        statement = text("DELETE FROM text_index WHERE submission_id = :submission")
        connection.execute(statement, {"submission": submission})
        return
    terms = Terms()
    stored = select(answers.c.question_id, answers.c.text).where(answers.c.submission_id == submission)
    rows = iter(connection.execute(stored).all())
    while chunk := list(islice(rows, AT_ONCE)):
        # A contentless table must be told what an entry is made of.
        connection.exec_driver_sql(
            "INSERT INTO text_index (text_index, rowid, words) VALUES ('delete', ?, ?)",
            _entries(submission, map(tuple, chunk), terms),
        )


def build_index(connection: Connection, work: Work) -> None:
    """Index every text of an arena whose index is empty, but those that were withdrawn; `work` counts."""
    terms = Terms()
    for submission, rows in _stored(connection):
        while chunk := list(islice(rows, AT_ONCE)):
            add_texts(connection, submission, chunk, terms)
            work.done += len(chunk)


def _stored(connection: Connection) -> Iterator[tuple[int, Iterator[Text]]]:
    """Yield the texts of each submission, read some at a time."""
    streamed = {"yield_per": AT_ONCE}
    asked = select(questions.c.id, questions.c.text).order_by(questions.c.id)
    yield QUESTIONS, map(tuple, connection.execute(asked, execution_options=streamed))
    live = select(submissions.c.id).where(submissions.c.state != SubmissionState.WITHDRAWN)
    for number in connection.execute(live.order_by(submissions.c.id)).scalars().all():
        given = select(answers.c.question_id, answers.c.text).where(answers.c.submission_id == number)
        yield (
            number,
            map(tuple, connection.execute(given.order_by(answers.c.question_id), execution_options=streamed)),
        )


def _entries(submission: int, texts: Iterable[Text], terms: Terms) -> list[tuple[int, str]]:
    return [(submission << HALF | question, " ".join(terms.of(content))) for question, content in texts]
