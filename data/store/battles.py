"""The battles of rounds in the store: written, handed out while pending, ended and opened again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sqlalchemy import Connection, insert, select, update

from data.records import Outcome, PendingBattle, PlannedBattle, RoundState
from data.store.database import Database
from data.store.pending import pending_battles
from data.tables import battles, rounds

CHUNK = 5_000
QUESTIONS_AT_ONCE = 200
CLOSED = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED, RoundState.RETRACTED)
WITHDRAWN = "One of the two submissions was withdrawn."


class BattleStore:
    """Hands out the battles that are pending, and ends those that will not be judged."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, round_id: int) -> Iterator[PendingBattle]:
        """Yield the battles that have no outcome, question by question, texts included.

        A few hundred questions are held at a time, so memory does not grow with the round. The
        battles handed out are those pending when their question is reached.
        """
        after = 0
        while True:
            with self._database.begin() as connection:
                batch = _pending_questions(connection, round_id, after)
                found = list(
                    pending_battles(
                        connection,
                        battles.c.round_id == round_id,
                        battles.c.outcome.is_(None),
                        battles.c.question_id.in_(batch),
                    )
                )
            if not batch:
                return
            after = batch[-1]
            yield from found

    def reopen(self, round_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make the battles that ended in one of `outcomes` pending again, and return how many.

        Their judgments stay, as the record of what was tried.
        """
        with self._database.begin() as connection:
            return connection.execute(
                update(battles)
                .where(battles.c.round_id == round_id, battles.c.outcome.in_(list(outcomes)))
                .values(outcome=None, preference=None, score=None, flipped=None, detail="")
            ).rowcount

    def drop_side(self, submission: int) -> int:
        """End the pending battles of a submission that was withdrawn, and return how many there were.

        They lack an answer from now on, so that a retry does not ask for them again.
        """
        own = (battles.c.a_id == submission) | (battles.c.b_id == submission)
        open_ = select(rounds.c.id).where(rounds.c.state.not_in(CLOSED))
        with self._database.begin() as connection:
            return connection.execute(
                update(battles)
                .where(battles.c.round_id.in_(open_), battles.c.outcome.is_(None), own)
                .values(outcome=Outcome.MISSING, detail=WITHDRAWN)
            ).rowcount

    def close_pending(self, round_id: int, outcome: Outcome, detail: str) -> int:
        """End every pending battle with one outcome, and return how many there were."""
        with self._database.begin() as connection:
            return connection.execute(
                update(battles)
                .where(battles.c.round_id == round_id, battles.c.outcome.is_(None))
                .values(outcome=outcome, detail=detail)
            ).rowcount


def insert_battles(connection: Connection, round_id: int, planned: Iterable[PlannedBattle]) -> None:
    """Write the battles of a round, some thousands at a time."""
    iterator = iter(planned)
    while chunk := list(islice(iterator, CHUNK)):
        connection.execute(
            insert(battles),
            [
                {
                    "round_id": round_id,
                    "key": battle.key,
                    "question_id": battle.question,
                    "a_id": battle.a,
                    "b_id": battle.b,
                    "outcome": battle.outcome,
                    "detail": battle.detail,
                }
                for battle in chunk
            ],
        )


def _pending_questions(connection: Connection, round_id: int, after: int) -> list[int]:
    return list(
        connection.execute(
            select(battles.c.question_id)
            .where(battles.c.round_id == round_id, battles.c.outcome.is_(None), battles.c.question_id > after)
            .distinct()
            .order_by(battles.c.question_id)
            .limit(QUESTIONS_AT_ONCE)
        ).scalars()
    )
