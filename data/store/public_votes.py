"""Public blind votes in the store."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ScalarSelect, Select, func, insert, select, update

from data.records import Preference
from data.records.public_votes import NewPollPair, Poll, PollPair, Rejection
from data.store.base import AnyRow, StorePart, no_set, to_record, to_row
from data.tables.annotation import poll_pairs, polls
from data.tables.questions import question_sets, questions, submissions


class PublicVoteStore(StorePart):
    """Keeps polls, the pairs that were shown, and votes."""

    def open(self, set_name: str, *, salt: str, at: datetime) -> Poll:
        """Take votes on a set, from now on or again.

        Raises:
            NotFoundError: There is no such set.
        """
        with self._database.begin() as connection:
            number = connection.execute(
                select(question_sets.c.id).where(question_sets.c.name == set_name)
            ).scalar()
            if number is None:
                raise no_set(set_name)
            again = update(polls).where(polls.c.set_id == number).values(closed_at=None)
            if not connection.execute(again).rowcount:
                connection.execute(insert(polls).values(set_id=number, salt=salt, opened_at=at))
        (poll,) = (one for one in self.all() if one.set_name == set_name)
        return poll

    def close(self, poll: Poll, at: datetime) -> None:
        """Take no more votes."""
        self._change(update(polls).where(polls.c.id == poll.id).values(closed_at=at))

    def all(self) -> tuple[Poll, ...]:
        """Every poll by set, closed ones too."""
        return tuple(to_record(Poll, row) for row in self._all(_polls().order_by(question_sets.c.name)))

    def of_set(self, set_name: str) -> Poll | None:
        """The poll of a set; None where there never was one."""
        row = self._first(_polls().where(question_sets.c.name == set_name))
        return None if row is None else to_record(Poll, row)

    def served(self, poll: Poll, *, since: datetime, visitor: str = "", address: str = "") -> int:
        """How many pairs a visitor, or an address, was shown since a moment."""
        query = (
            select(func.count())
            .select_from(poll_pairs)
            .where(poll_pairs.c.poll_id == poll.id, poll_pairs.c.served_at >= since)
        )
        query = query.where(poll_pairs.c.visitor == visitor) if visitor else query
        query = query.where(poll_pairs.c.address == address) if address else query
        (count,) = self._values(query)
        return int(count)

    def waiting(self, poll: Poll, visitor: str, *, since: datetime) -> PollPair | None:
        """The pair that a visitor was shown since a moment and has not voted on; None where there is none."""
        query = _pairs().where(
            poll_pairs.c.poll_id == poll.id,
            poll_pairs.c.visitor == visitor,
            poll_pairs.c.preference.is_(None),
            poll_pairs.c.served_at >= since,
        )
        row = self._first(query.order_by(poll_pairs.c.id.desc()).limit(1))
        return None if row is None else _pair(row)

    def serve(self, poll: Poll, new: NewPollPair) -> PollPair:
        """Keep that a pair is shown."""
        row = to_row(poll_pairs, new, poll_id=poll.id, question_id=_question(poll, new.question))
        row["decoy_id"] = None if new.decoy is None else _question(poll, new.decoy)
        self._change(insert(poll_pairs).values(row))
        found = self.pair(poll, new.token)
        if found is None:  # pragma: no cover - it was written above
            raise no_set(poll.set_name)
        return found

    def pair(self, poll: Poll, token: str) -> PollPair | None:
        """The pair of a token; None where there is none."""
        row = self._first(_pairs().where(poll_pairs.c.poll_id == poll.id, poll_pairs.c.token == token))
        return None if row is None else _pair(row)

    def vote(self, pair: PollPair, preference: Preference, rejection: Rejection | None, at: datetime) -> bool:
        """Keep a vote; False where the pair has one already."""
        statement = (
            update(poll_pairs)
            .where(poll_pairs.c.id == pair.id, poll_pairs.c.preference.is_(None))
            .values(preference=preference, rejection=rejection, voted_at=at)
        )
        return bool(self._change(statement))

    def votes(self, poll: Poll) -> tuple[PollPair, ...]:
        """Every pair that was voted on, rejected ones too, the oldest first."""
        query = _pairs().where(poll_pairs.c.poll_id == poll.id, poll_pairs.c.preference.is_not(None))
        return tuple(map(_pair, self._all(query.order_by(poll_pairs.c.id))))


def _question(poll: Poll, key: str) -> ScalarSelect[int]:
    """The number of a question of a poll's set."""
    return (
        select(questions.c.id)
        .join(polls, polls.c.set_id == questions.c.set_id)
        .where(polls.c.id == poll.id, questions.c.key == key)
        .scalar_subquery()
    )


def _polls() -> Select[*tuple[Any, ...]]:
    return select(polls, question_sets.c.name.label("set_name")).join(
        question_sets, question_sets.c.id == polls.c.set_id
    )


def _pairs() -> Select[*tuple[Any, ...]]:
    side_a, side_b, decoy = submissions.alias("side_a"), submissions.alias("side_b"), questions.alias("decoy")
    return (
        select(
            *(column for column in poll_pairs.c if column.name != "question_id"),
            questions.c.key.label("question"),
            questions.c.domain,
            decoy.c.key.label("decoy"),
            side_a.c.system.label("system_a"),
            side_b.c.system.label("system_b"),
        )
        .join(questions, questions.c.id == poll_pairs.c.question_id)
        .join(side_a, side_a.c.id == poll_pairs.c.a_id)
        .join(side_b, side_b.c.id == poll_pairs.c.b_id)
        .outerjoin(decoy, decoy.c.id == poll_pairs.c.decoy_id)
    )


def _pair(row: AnyRow) -> PollPair:
    return to_record(PollPair, row)
