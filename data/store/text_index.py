"""The index of the words of questions, references and answers.

A row holds where a term stands in the texts of a submission: as many whole numbers as there are places, of
which the upper half is the question and the lower the place in the text. So a search reads a row for each
submission and term, however many texts have it, and finds the same on SQLite and on PostgreSQL. The index is
written in the transaction that writes the texts. It is no part of a dump: whoever fills an arena from one
builds it anew.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, select, text

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

    Places = NDArray[np.uint32]
    Numbers = NDArray[np.int64]

QUESTIONS = 0
"""Stands in place of a submission for the texts of questions."""
AT_ONCE = 2_000
MOST_GATHERED = 2_000_000
"""Places that are held in memory, of four bytes each, before they are written."""
BITS = 16
"""Those of a question and of a place that a row's numbers hold; the question's upper ones are its `part`."""
LAST = (1 << BITS) - 1
"""Stands for every place that is so far behind in its text; a phrase is not found there."""
HALF = 32
"""Bits of a text's number that hold the question; those above hold the submission."""
QUESTION_BITS = (1 << HALF) - 1
SQLITE_SCHEMA = """CREATE TABLE text_index (
    submission_id INTEGER NOT NULL,
    term TEXT NOT NULL,
    part INTEGER NOT NULL,
    places BLOB NOT NULL,
    CONSTRAINT pk_text_index PRIMARY KEY (submission_id, term, part)
) WITHOUT ROWID"""
POSTGRES_SCHEMA = """CREATE TABLE text_index (
    submission_id integer NOT NULL,
    term text COLLATE "C" NOT NULL,
    part integer NOT NULL,
    places bytea NOT NULL,
    CONSTRAINT pk_text_index PRIMARY KEY (submission_id, term, part)
)"""
FIND = text(
    "SELECT submission_id, part, term, places FROM text_index "
    "WHERE submission_id IN :among AND term IN :terms"
).bindparams(bindparam("among", expanding=True), bindparam("terms", expanding=True))
# SQLite makes a text of two blobs that are joined.
SQLITE_ADD = (
    "INSERT INTO text_index VALUES (?, ?, ?, ?) ON CONFLICT (submission_id, term, part) "
    "DO UPDATE SET places = CAST(text_index.places || excluded.places AS BLOB)"
)
POSTGRES_ADD = text(
    "INSERT INTO text_index SELECT :submission, given.* FROM unnest(CAST(:terms AS text[]), "
    "CAST(:parts AS integer[]), CAST(:places AS bytea[])) AS given ON CONFLICT (submission_id, term, part) "
    "DO UPDATE SET places = text_index.places || excluded.places"
)

Text = tuple[int, str]
"""A question's number and a text."""


@dataclass(frozen=True, slots=True)
class FoundTexts:
    """The texts that a search found, by numbers that hold submission and question."""

    numbers: Numbers

    @property
    def questions(self) -> frozenset[int]:
        """The numbers of the questions that have such a text."""
        import numpy as np  # noqa: PLC0415 - see above

        return frozenset(np.unique(self.numbers & QUESTION_BITS).tolist())

    def places(self, shown: Collection[int]) -> Mapping[int, tuple[int, ...]]:
        """Whose texts these are: numbers of submissions in order, by that of each shown question."""
        import numpy as np  # noqa: PLC0415 - see above

        found: dict[int, list[int]] = defaultdict(list)
        for number in np.sort(self.numbers[np.isin(self.numbers & QUESTION_BITS, list(shown))]).tolist():
            found[number & QUESTION_BITS].append(number >> HALF)
        return {question: tuple(places) for question, places in found.items()}


class TextIndex(StorePart):
    """Finds texts by their words."""

    def find(self, query: SearchQuery, among: Collection[int]) -> FoundTexts:
        """The texts that have every phrase of a query.

        Args:
            query: What is searched for; one text must have all of it.
            among: Numbers of the submissions whose answers are searched; `QUESTIONS` stands for the texts of
                questions, of every set.
        """
        import numpy as np  # noqa: PLC0415 - see above

        terms = {term for phrase in query.phrases for term in phrase}
        held: dict[int, dict[str, Places]] = defaultdict(dict)
        with self._database.begin() as connection:
            for submission, part, term, places in connection.execute(
                FIND, {"among": list(among), "terms": list(terms)}
            ):
                held[submission << HALF | part << BITS][term] = np.frombuffer(places, np.uint32)
        numbers = [
            first + np.flatnonzero(np.logical_and.reduce([_having(one, by_term) for one in query.phrases]))
            for first, by_term in held.items()
            if len(by_term) == len(terms)
        ]
        return FoundTexts(np.concatenate([np.empty(0, np.int64), *numbers]))


def _having(phrase: tuple[str, ...], places: Mapping[str, Places]) -> NDArray[np.bool_]:
    """Which questions of a part have a text with the terms of a phrase one after another."""
    import numpy as np  # noqa: PLC0415 - see above

    having = np.zeros(1 << BITS, np.bool_)
    if len(phrase) == 1:
        having[places[phrase[0]] >> BITS] = True
    else:
        starts = [_spread(places[term]) - at for at, term in enumerate(phrase)]
        having[reduce(np.intersect1d, starts) >> HALF] = True
    return having


def _spread(places: Places) -> Numbers:
    """Places so far apart that what is before the first of a question is none of another's."""
    import numpy as np  # noqa: PLC0415 - see above

    known: Numbers = places[places & LAST != LAST].astype(np.int64)
    spread: Numbers = (known >> BITS << HALF) + (known & LAST)
    return spread


class IndexWriter:
    """Indexes texts of a submission, or with `QUESTIONS` those of questions.

    They are in the index after `write`.
    """

    def __init__(self, connection: Connection, submission: int, terms: Terms | None = None) -> None:
        self._connection, self._submission = connection, submission
        self._terms = Terms() if terms is None else terms
        self._parts: dict[int, dict[str, array[int]]] = defaultdict(lambda: defaultdict(partial(array, "I")))
        self._gathered = 0

    def add(self, texts: Iterable[Text]) -> None:
        """Take the words of texts, each of another question."""
        for question, content in texts:
            held = self._parts[question >> BITS]
            first = (question & LAST) << BITS
            places = chain(range(first, first + LAST), repeat(first + LAST))
            terms = self._terms.of(content)
            for place, term in zip(places, terms, strict=False):
                held[term].append(place)
            self._gathered += len(terms)
            if self._gathered > MOST_GATHERED:
                self.write()

    def write(self) -> None:
        """Write what was taken, behind what the submission has in the index."""
        rows = [
            (term, part, places.tobytes())
            for part, held in sorted(self._parts.items())
            for term, places in sorted(held.items())
        ]
        self._parts.clear()
        self._gathered = 0
        if not rows:
            return
        if self._connection.dialect.name == "sqlite":
            self._connection.exec_driver_sql(SQLITE_ADD, [(self._submission, *row) for row in rows])
            return
        columns = zip(("terms", "parts", "places"), map(list, zip(*rows, strict=True)), strict=True)
        self._connection.execute(POSTGRES_ADD, {"submission": self._submission, **dict(columns)})


def remove_texts(connection: Connection, submission: int) -> None:
    """Take the answers of a submission out of the index."""
    connection.execute(
        text("DELETE FROM text_index WHERE submission_id = :submission"), {"submission": submission}
    )


def build_index(connection: Connection, work: Work) -> None:
    """Index every text of an arena whose index is empty, but those that were withdrawn; `work` counts."""
    terms = Terms()
    for submission, rows in _stored(connection):
        writer = IndexWriter(connection, submission, terms)
        while chunk := list(islice(rows, AT_ONCE)):
            writer.add(chunk)
            work.done += len(chunk)
        writer.write()


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
