"""A round's battles as columns of codes, a million in about a second.

The database packs each battle into two whole numbers, so that no words are read a million times.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from data.models import BattleColumns, Outcome, Preference, Presentation, VoteColumns
from data.models.rounds import battles, rounds
from data.models.submissions import questions, submissions
from data.models.tables import judgments
from data.store.battles import first_and_last, has_side
from data.store.engine import Database

ROWS_AT_ONCE = 50_000
Codes = NDArray[np.signedinteger[Any]]
SENT_AT_ONCE = 100_000
"""Battles in one string of bytes from PostgreSQL: 1.6 MB, or 2.4 with scores."""
SIDES = 2**31
"""Numbers of rows are below this on both engines, so two of them fit into one whole number."""
ENDS = 2**8


def read_columns(
    database: Database, round_name: str, systems: Collection[str] | None = None
) -> BattleColumns:
    """Read every battle of a round, in the order of the plan; questions and systems are in theirs.

    With `systems`, only battles in which one of these takes part.
    """
    with database.begin() as connection:
        round_ = connection.execute(
            sa.select(rounds.c.id, rounds.c.set_id).where(rounds.c.name == round_name)
        ).first()
        round_id, set_id = (0, 0) if round_ is None else round_
        asked = sa.select(questions.c.id, questions.c.key, questions.c.domain)
        of_set = asked.where(questions.c.set_id == set_id).order_by(questions.c.id)
        rows = connection.execute(of_set).all()
        question_ids, keys, domains = zip(*rows, strict=True) if rows else ((), (), ())
        sides = connection.execute(
            sa.select(submissions.c.id, submissions.c.system)
            .where(submissions.c.set_id == set_id)
            .order_by(submissions.c.id)
        ).all()
        place = _places(question_ids)
        entrant = _places(row.id for row in sides)
        mine = battles.c.round_id == round_id
        if systems is not None:
            among = [side.id for side in sides if side.system in systems]
            mine = has_side(mine, among, sqlite=database.is_sqlite)
        found = _rows(connection, mine, few=systems is not None)
        with ThreadPoolExecutor(1) as unpacking:
            # While some battles are unpacked the database packs others: all are handed over as they come.
            parts = list(unpacking.map(lambda some: _columns(some, place, entrant), found))
    score = _joined_scores([part.pop("score") for part in parts], [len(part["a"]) for part in parts])
    columns = {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}
    return BattleColumns(
        questions=keys, domains=domains, systems=tuple(row.system for row in sides), score=score, **columns
    )


def _columns(rows: "Rows", place: Codes, entrant: Codes) -> dict[str, NDArray[Any]]:
    """Build battles' columns from the two whole numbers of each, with the scores as they are."""
    packed, score = rows
    ends = packed[:, 0] & (ENDS - 1)
    return {
        "question": place[packed[:, 0] >> ENDS.bit_length() - 1],
        "a": entrant[packed[:, 1] >> SIDES.bit_length() - 1],
        "b": entrant[packed[:, 1] & (SIDES - 1)],
        **{name: meant[ends] for name, meant in _meant_by_ends().items()},
        "score": score,
    }


@cache
def _meant_by_ends() -> Mapping[str, NDArray[Any]]:
    """Return the ending that each number of `_packed` stands for, (`ENDS`,)."""
    ends, flipped = np.divmod(np.arange(ENDS), len(_FLIPPED))
    outcome, preference = np.divmod(ends, len(Preference) + 1)
    codes = {"outcome": outcome, "preference": preference, "flipped": flipped}
    return {name: (code - 1).astype(np.int8) for name, code in codes.items()}


def _joined_scores(parts: Sequence[NDArray[np.float64]], rows: Sequence[int]) -> NDArray[np.float64] | None:
    """Join scores of parts of so many rows, some of them unread; None where no battle has one."""
    if all(np.isnan(part).all() for part in parts):
        return None
    given = zip(parts, rows, strict=True)
    joined: NDArray[np.float64] = np.concatenate(
        [part if len(part) else np.full(count, np.nan) for part, count in given]
    )
    return joined


def read_votes(database: Database, round_name: str) -> VoteColumns:
    """Read what each judge of a round said of its battles, in the order of the judgments."""
    of_round = rounds.c.name == round_name
    numbers = sa.select(battles.c.id).join(rounds, rounds.c.id == battles.c.round_id).where(of_round)
    query = (
        sa.select(judgments.c.battle_id, judgments.c.judge, _place(judgments.c.preference, Preference))
        .join(battles, battles.c.id == judgments.c.battle_id)
        .join(rounds, rounds.c.id == battles.c.round_id)
        .where(of_round, judgments.c.preference.is_not(None))
        .order_by(judgments.c.id)
    )
    with database.begin() as connection:
        ids = np.fromiter(connection.execute(numbers.order_by(battles.c.id)).scalars(), np.int64)
        rows = connection.execute(query).all()
    judges = tuple(sorted({row[1] for row in rows}))
    codes = {judge: code for code, judge in enumerate(judges)}
    battle = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    preference = np.fromiter((row[2] for row in rows), np.int8, len(rows))
    return VoteColumns(
        judges=judges,
        judge=np.fromiter((codes[row[1]] for row in rows), np.int32, len(rows)),
        battle=np.searchsorted(ids, battle),
        preference=preference - np.int8(1),
    )


def read_positions(database: Database, round_name: str) -> NDArray[np.float64]:
    """Read the answer shown first to LLMs in each battle of a round, in the order of `read_columns`.

    Returns:
        (N,) means over the judgments to which an LLM replied: 1 where side a was first, −1 where b was, 0
        where each was as often; NaN where no LLM did.
    """
    replied = sa.and_(
        judgments.c.battle_id == battles.c.id,
        judgments.c.outcome == Outcome.JUDGED.value,
        judgments.c.reply_key.is_not(None),
    )
    first = sa.case((judgments.c.presentation == Presentation.A_FIRST.value, _number(1)), else_=_number(-1))
    query = (
        sa.select(sa.func.sum(first), sa.func.count(judgments.c.id))
        .select_from(battles)
        .join(rounds, rounds.c.id == battles.c.round_id)
        .outerjoin(judgments, replied)
        .where(rounds.c.name == round_name)
        .group_by(battles.c.id)
        .order_by(battles.c.id)
        .execution_options(stream_results=True, yield_per=ROWS_AT_ONCE)
    )
    with database.begin() as connection:
        counts = np.fromiter(chain.from_iterable(connection.execute(query)), np.float64).reshape(-1, 2)
    return np.asarray(np.where(counts[:, 1] > 0, counts[:, 0] / np.maximum(counts[:, 1], 1), np.nan))


_FLIPPED = (None, False, True)


def _packed() -> tuple[sa.ColumnElement[int], sa.ColumnElement[int]]:
    """Two whole numbers a battle: question and how it ended; and its sides."""
    ends = _place(battles.c.outcome, Outcome) * (len(Preference) + 1) + _place(
        battles.c.preference, Preference
    )
    changed = battles.c.flipped
    flipped = sa.case((changed.is_(None), _number(0)), (changed, _number(2)), else_=_number(1))
    ended = ends * _number(len(_FLIPPED)) + flipped
    return (
        battles.c.question_id.cast(sa.BigInteger) * _number(ENDS) + ended,
        battles.c.a_id.cast(sa.BigInteger) * _number(SIDES) + battles.c.b_id,
    )


def _place(column: sa.ColumnElement[Any], words: type[StrEnum]) -> sa.ColumnElement[int]:
    """Return a word's place among the members, counted from 1; 0 for none."""
    places = {word.value: _number(place) for place, word in enumerate(words, start=1)}
    return sa.case(places, value=column, else_=_number(0))


def _number(value: int) -> sa.ColumnElement[int]:
    """Return a number of this module's own, written out: servers need not guess the type of a parameter."""
    return sa.literal_column(str(value), sa.BigInteger)


Rows = tuple[NDArray[np.int64], NDArray[np.float64]]
"""(N, 2) whole numbers of some battles; and their scores, NaN for none, empty where they are not read."""


def _rows(connection: sa.Connection, mine: sa.ColumnElement[bool], *, few: bool) -> Iterator[Rows]:
    """Yield some battles after others, in the order of all, and none at the end.

    Of few systems they are found once: to look whether one has a score would take as long as to read all.
    """
    if connection.dialect.name == "postgresql":
        parts = (mine,) if few else _parts(connection, mine)
        yield from (_sent(connection, part, soft=few) for part in parts)
    else:
        scored = sa.select(battles.c.id).where(mine, battles.c.score.is_not(None)).limit(1)
        soft = few or connection.execute(scored).first() is not None
        yield from _streamed(connection, mine, soft=soft)
    yield np.zeros((0, 2), dtype=np.int64), np.zeros(0)


def _streamed(connection: sa.Connection, mine: sa.ColumnElement[bool], *, soft: bool) -> Iterator[Rows]:
    query = sa.select(*_packed(), *((battles.c.score,) if soft else ())).where(mine).order_by(battles.c.id)
    result = connection.execute(query)
    # The driver's own rows: to wrap them takes as long as to read them.
    cursor: Any = result.cursor
    while part := cursor.fetchmany(ROWS_AT_ONCE):
        shares = np.array([row[2] for row in part] if soft else [], dtype=np.float64)
        packed = (row[:2] for row in part) if soft else part
        yield np.fromiter(chain.from_iterable(packed), np.int64, 2 * len(part)).reshape(-1, 2), shares


def _parts(connection: sa.Connection, mine: sa.ColumnElement[bool]) -> Iterator[sa.ColumnElement[bool]]:
    first, last = first_and_last(connection, mine)
    for start in range(first, last + 1, SENT_AT_ONCE):
        yield mine & (battles.c.id >= start) & (battles.c.id < start + SENT_AT_ONCE)


def _sent(connection: sa.Connection, mine: sa.ColumnElement[bool], *, soft: bool) -> Rows:
    """From PostgreSQL as one string of bytes for many battles: rows take far longer to receive.

    Scores are counted on the way and read where there are some: to look for one first takes a second of ten
    million battles without.
    """
    ends, sides = (sa.func.int8send(number) for number in _packed())
    score = sa.func.float8send(sa.func.coalesce(battles.c.score, sa.cast("NaN", sa.Double)))
    row = ends.concat(sides).concat(score) if soft else ends.concat(sides)
    # Ordered before they are joined: an aggregate that orders its rows sorts them by way of the disk.
    ordered = sa.select(row.label("row"), battles.c.score).where(mine).order_by(battles.c.id).subquery()
    sent = sa.select(sa.func.string_agg(ordered.c.row, sa.literal(b"")), sa.func.count(ordered.c.score))
    content, scores = connection.execute(sent).one()
    if scores and not soft:
        return _sent(connection, mine, soft=True)
    kind = np.dtype([("packed", ">i8", 2), *([("score", ">f8")] if soft else [])])
    rows = np.frombuffer(content or b"", kind)
    shares = rows["score"].astype(np.float64) if soft else np.zeros(0)
    return rows["packed"].astype(np.int64).reshape(-1, 2), shares


def _places(numbers: Iterable[int]) -> Codes:
    ids = np.fromiter(numbers, np.int64)
    place = np.full(int(ids.max(initial=0)) + 1, -1, dtype=np.min_scalar_type(-max(len(ids), 1)))
    place[ids] = np.arange(len(ids))
    return place
