"""A round's battles as columns of codes, a million in about a second.

The database packs each battle into two integers, so that no strings are read a million times.
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
from data.models.questions import base_id
from data.models.rounds import battles, rounds
from data.models.submissions import questions, submissions
from data.models.tables import judgments
from data.store.battles import first_and_last, has_side
from data.store.engine import Database

ROWS_AT_ONCE = 50_000
Codes = NDArray[np.signedinteger[Any]]
PACKED_AT_ONCE = 100_000
"""Battles in one string of bytes from PostgreSQL: 1.6 MB, or 2.4 with scores."""
SIDES = 2**31
"""Ids are below this on both engines, so two of them fit into one integer."""
ENDS = 2**8


def read_columns(
    database: Database, round_name: str, systems: Collection[str] | None = None
) -> BattleColumns:
    """Read the battles of a round, or only those of `systems`, in the order of the plan.

    A system's second and later answers to a question count as battles on that question.
    """
    with database.begin() as connection:
        round_ = connection.execute(
            sa.select(rounds.c.id, rounds.c.set_id).where(rounds.c.name == round_name)
        ).first()
        round_id, set_id = (0, 0) if round_ is None else round_
        columns_of = sa.select(questions.c.id, questions.c.key, questions.c.domain)
        of_set = columns_of.where(questions.c.set_id == set_id).order_by(questions.c.id)
        rows = connection.execute(of_set).all()
        question_ids, keys, domains = zip(*rows, strict=True) if rows else ((), (), ())
        sides = connection.execute(
            sa.select(submissions.c.id, submissions.c.system)
            .where(submissions.c.set_id == set_id)
            .order_by(submissions.c.id)
        ).all()
        place, first = _places(question_ids), {key: at for at, key in enumerate(keys)}
        asked_at = [first.get(base_id(key), at) for key, at in first.items()]
        place = np.array([*asked_at, -1], dtype=place.dtype)[place]
        entrant = _places(row.id for row in sides)
        mine = battles.c.round_id == round_id
        if systems is not None:
            among = [side.id for side in sides if side.system in systems]
            mine = has_side(mine, among, sqlite=database.is_sqlite)
        batches = _rows(connection, mine, few=systems is not None)
        with ThreadPoolExecutor(1) as unpacking:
            # The thread unpacks battles while the database packs the next ones.
            parts = list(unpacking.map(lambda rows: _columns(rows, place, entrant), batches))
    score = _joined_scores([part.pop("score") for part in parts], [len(part["a"]) for part in parts])
    columns = {name: np.concatenate([part.pop(name) for part in parts]) for name in tuple(parts[0])}
    return BattleColumns(
        questions=keys, domains=domains, systems=tuple(row.system for row in sides), score=score, **columns
    )


def _columns(rows: "Rows", place: Codes, entrant: Codes) -> dict[str, NDArray[Any]]:
    """Build columns from the two integers of each battle, and the scores."""
    packed, score = rows
    ends = packed[:, 0] & (ENDS - 1)
    return {
        "question": place[packed[:, 0] >> ENDS.bit_length() - 1],
        "a": entrant[packed[:, 1] >> SIDES.bit_length() - 1],
        "b": entrant[packed[:, 1] & (SIDES - 1)],
        **{name: codes[ends] for name, codes in _codes_by_end().items()},
        "score": score,
    }


@cache
def _codes_by_end() -> Mapping[str, NDArray[Any]]:
    ends, flipped = np.divmod(np.arange(ENDS), len(_FLIPPED))
    outcome, preference = np.divmod(ends, len(Preference) + 1)
    codes = {"outcome": outcome, "preference": preference, "flipped": flipped}
    return {name: (code - 1).astype(np.int8) for name, code in codes.items()}


def _joined_scores(parts: Sequence[NDArray[np.float64]], rows: Sequence[int]) -> NDArray[np.float64] | None:
    if all(np.isnan(part).all() for part in parts):
        return None
    joined: NDArray[np.float64] = np.concatenate(
        [part if len(part) else np.full(count, np.nan) for part, count in zip(parts, rows, strict=True)]
    )
    return joined


def read_votes(database: Database, round_name: str) -> VoteColumns:
    """Read the preferences of each judge of a round, in the order of the judgments."""
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
        (N,) means over the judgments with a reply of an LLM: 1 if side a was first, −1 if b was, 0 if each
        was as often; NaN without such judgments.
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
    """Return two integers of a battle: its question and how it ended, and its sides."""
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
    """Return a word's index among the members, from 1; 0 for none."""
    places = {word.value: _number(place) for place, word in enumerate(words, start=1)}
    return sa.case(places, value=column, else_=_number(0))


def _number(value: int) -> sa.ColumnElement[int]:
    """Return a literal, so that the server need not infer the type of a parameter."""
    return sa.literal_column(str(value), sa.BigInteger)


Rows = tuple[NDArray[np.int64], NDArray[np.float64]]
"""(N, 2) integers of battles, and their scores: NaN for none, empty if not read."""


def _rows(connection: sa.Connection, mine: sa.ColumnElement[bool], *, few: bool) -> Iterator[Rows]:
    """Yield the battles in chunks, the last one empty.

    For few systems scores are always read: checking whether there is one takes as long as reading all.
    """
    if connection.dialect.name == "postgresql":
        parts = (mine,) if few else _parts(connection, mine)
        yield from (_binary(connection, part, soft=few) for part in parts)
    else:
        scored = sa.select(battles.c.id).where(mine, battles.c.score.is_not(None)).limit(1)
        soft = few or connection.execute(scored).first() is not None
        yield from _streamed(connection, mine, soft=soft)
    yield np.zeros((0, 2), dtype=np.int64), np.zeros(0)


def _streamed(connection: sa.Connection, mine: sa.ColumnElement[bool], *, soft: bool) -> Iterator[Rows]:
    query = sa.select(*_packed(), *((battles.c.score,) if soft else ())).where(mine).order_by(battles.c.id)
    result = connection.execute(query)
    # Rows of the driver: wrapping them takes as long as reading them.
    cursor: Any = result.cursor
    while part := cursor.fetchmany(ROWS_AT_ONCE):
        shares = np.array([row[2] for row in part] if soft else [], dtype=np.float64)
        packed = (row[:2] for row in part) if soft else part
        yield np.fromiter(chain.from_iterable(packed), np.int64, 2 * len(part)).reshape(-1, 2), shares


def _parts(connection: sa.Connection, mine: sa.ColumnElement[bool]) -> Iterator[sa.ColumnElement[bool]]:
    first, last = first_and_last(connection, mine)
    for start in range(first, last + 1, PACKED_AT_ONCE):
        yield mine & (battles.c.id >= start) & (battles.c.id < start + PACKED_AT_ONCE)


def _binary(connection: sa.Connection, mine: sa.ColumnElement[bool], *, soft: bool) -> Rows:
    """Read many battles from PostgreSQL as one string of bytes, which is far faster than rows.

    Scores are also counted, and read if there are any: a search for one takes a second on ten million
    battles without scores.
    """
    ends, sides = (sa.func.int8send(number) for number in _packed())
    score = sa.func.float8send(sa.func.coalesce(battles.c.score, sa.cast("NaN", sa.Double)))
    row = ends.concat(sides).concat(score) if soft else ends.concat(sides)
    # Sorted before the aggregate: an ordered aggregate would sort on disk.
    ordered = sa.select(row.label("row"), battles.c.score).where(mine).order_by(battles.c.id).subquery()
    query = sa.select(sa.func.string_agg(ordered.c.row, sa.literal(b"")), sa.func.count(ordered.c.score))
    content, scores = connection.execute(query).one()
    if scores and not soft:
        return _binary(connection, mine, soft=True)
    kind = np.dtype([("packed", ">i8", 2), *([("score", ">f8")] if soft else [])])
    rows = np.frombuffer(content or b"", kind)
    shares = rows["score"].astype(np.float64) if soft else np.zeros(0)
    return rows["packed"].astype(np.int64).reshape(-1, 2), shares


def _places(numbers: Iterable[int]) -> Codes:
    ids = np.fromiter(numbers, np.int64)
    place = np.full(int(ids.max(initial=0)) + 1, -1, dtype=np.min_scalar_type(-max(len(ids), 1)))
    place[ids] = np.arange(len(ids))
    return place
