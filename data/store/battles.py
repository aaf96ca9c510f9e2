"""Stores for battles of rounds and for claims of battles by leases."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import sqlalchemy as sa

from data.errors import LeaseLostError
from data.models import Outcome, PendingBattle, PlannedBattle, RoundState, Verdict
from data.models.jobs import battle_holds, lease_rows
from data.models.rounds import battles, rounds
from data.models.submissions import answers, questions, submissions
from data.store.base import StorePart, own_insert
from data.store.engine import pairs

REFERENCE = "reference"


def pending_battles(connection: sa.Connection, *clauses: sa.ColumnElement[bool]) -> Iterator[PendingBattle]:
    """Yield the battles that match all clauses, by question, with their texts."""
    from data.store.question_sets import restore  # noqa: PLC0415 - listings of rounds read no questions

    rows = connection.execute(
        sa.select(battles.c.id, battles.c.key, battles.c.question_id, battles.c.a_id, battles.c.b_id)
        .where(*clauses)
        .order_by(battles.c.question_id, battles.c.id)
    ).all()
    question_ids = {row.question_id for row in rows}
    entrants = {row.a_id for row in rows} | {row.b_id for row in rows}
    contents: dict[int, object] = pairs(
        connection.execute(
            sa.select(questions.c.id, questions.c.content).where(questions.c.id.in_(question_ids))
        )
    )
    by_id = {number: restore(content) for number, content in contents.items()}
    entries = sa.select(submissions.c.id, submissions.c.system, submissions.c.kind)
    sides = {row.id: row for row in connection.execute(entries.where(submissions.c.id.in_(entrants)))}
    texts: dict[tuple[int, int], str] = {
        (entrant, question): text
        for entrant, question, text in connection.execute(
            sa.select(answers.c.submission_id, answers.c.question_id, answers.c.text).where(
                answers.c.question_id.in_(question_ids), answers.c.submission_id.in_(entrants)
            )
        ).all()
    }
    for row in rows:
        yield PendingBattle(
            id=row.id,
            key=row.key,
            question=by_id[row.question_id],
            system_a=sides[row.a_id].system,
            system_b=sides[row.b_id].system,
            answer_a=texts[row.a_id, row.question_id],
            answer_b=texts[row.b_id, row.question_id],
            reference_side=_reference_side(sides[row.a_id].kind, sides[row.b_id].kind),
        )


def _reference_side(kind_a: str, kind_b: str) -> str | None:
    if kind_a == REFERENCE:
        return "a"
    return "b" if kind_b == REFERENCE else None


CHUNK = 5_000
QUESTIONS_AT_ONCE = 200
CLOSED = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED, RoundState.RETRACTED)
WITHDRAWN = "One of the two submissions was withdrawn."


class BattleStore(StorePart):
    """Store for battles of rounds."""

    def pending(self, round_id: int) -> Iterator[PendingBattle]:
        """Yield the battles without an outcome, by question, with their texts.

        A few hundred questions are read at a time, so memory does not grow with the round.
        """
        after = 0
        while True:
            with self._database.begin() as connection:
                batch = _pending_questions(connection, round_id, after)
                open_ = (battles.c.round_id == round_id, battles.c.outcome.is_(None))
                pending = list(pending_battles(connection, *open_, battles.c.question_id.in_(batch)))
            if not batch:
                return
            after = batch[-1]
            yield from pending

    def questions(self, round_id: int) -> list[tuple[int, str]]:
        """Return the numbers and ids of a round's questions."""
        numbers = sa.select(battles.c.question_id).where(battles.c.round_id == round_id).distinct()
        query = sa.select(questions.c.id, questions.c.key).where(questions.c.id.in_(numbers))
        return [(row.id, row.key) for row in self._all(query.order_by(questions.c.id))]

    def reopen(self, round_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make the battles with one of the outcomes pending again, and return their number.

        Their judgments are kept.
        """
        return self._change(
            sa.update(battles)
            .where(battles.c.round_id == round_id, battles.c.outcome.in_(list(outcomes)))
            .values(outcome=None, preference=None, score=None, flipped=None, detail="")
        )

    def drop_side(self, submission: int) -> int:
        """Mark the pending battles of a withdrawn submission as missing, and return their number."""
        of_submission = (battles.c.a_id == submission) | (battles.c.b_id == submission)
        open_ = sa.select(rounds.c.id).where(rounds.c.state.not_in(CLOSED))
        return self._change(
            sa.update(battles)
            .where(battles.c.round_id.in_(open_), battles.c.outcome.is_(None), of_submission)
            .values(outcome=Outcome.MISSING, detail=WITHDRAWN)
        )

    def close_pending(self, round_id: int, outcome: Outcome, detail: str) -> int:
        """Set the outcome of all pending battles, and return their number."""
        return self._change(
            sa.update(battles)
            .where(battles.c.round_id == round_id, battles.c.outcome.is_(None))
            .values(outcome=outcome, detail=detail)
        )


def insert_battles(connection: sa.Connection, round_id: int, planned: Iterable[PlannedBattle]) -> None:
    """Write the battles of a round in chunks."""
    iterator = iter(planned)
    while chunk := list(islice(iterator, CHUNK)):
        connection.execute(
            sa.insert(battles),
            [
                {
                    "round_id": round_id,
                    "key": battle.key,
                    "question_id": battle.question,
                    "a_id": battle.a,
                    "b_id": battle.b,
                    "outcome": battle.outcome,
                    "preference": battle.preference,
                    "detail": battle.detail,
                }
                for battle in chunk
            ],
        )


def _pending_questions(connection: sa.Connection, round_id: int, after: int) -> list[int]:
    return list(
        connection.execute(
            sa.select(battles.c.question_id)
            .where(battles.c.round_id == round_id, battles.c.outcome.is_(None), battles.c.question_id > after)
            .distinct()
            .order_by(battles.c.question_id)
            .limit(QUESTIONS_AT_ONCE)
        ).scalars()
    )


def first_and_last(connection: sa.Connection, mine: sa.ColumnElement[bool]) -> tuple[int, int]:
    """Return the first and the last number of the battles; 0 and −1 if there are none."""
    first, last = connection.execute(
        sa.select(sa.func.min(battles.c.id), sa.func.max(battles.c.id)).where(mine)
    ).one()
    return (0, -1) if first is None else (first, last)


def has_side(
    of_round: sa.ColumnElement[bool], sides: sa.Select[int] | Sequence[int], *, sqlite: bool
) -> sa.ColumnElement[bool]:
    """Match a round's battles of the submissions, by the indexes of both sides.

    SQLite uses both indexes only in a union, and would otherwise read every battle of the round.
    """
    if not sqlite:
        return of_round & (battles.c.a_id.in_(sides) | battles.c.b_id.in_(sides))
    return battles.c.id.in_(
        sa.union_all(
            *(
                sa.select(battles.c.id).where(of_round, side.in_(sides))
                for side in (battles.c.a_id, battles.c.b_id)
            )
        )
    )


class ClaimStore(StorePart):
    """Store for claims of battles by leases."""

    def questions(self, round_id: int) -> list[tuple[int, str]]:
        """Return the numbers and ids of questions with pending, unclaimed battles."""
        free = sa.select(battles.c.question_id).where(_is_free(round_id)).distinct()
        query = sa.select(questions.c.id, questions.c.key).where(questions.c.id.in_(free))
        return [(row.id, row.key) for row in self._all(query.order_by(questions.c.id))]

    def pending(self, round_id: int) -> int:
        """Count the battles of a round without an outcome, claimed or not."""
        (count,) = self._values(sa.select(sa.func.count()).select_from(battles).where(_is_pending(round_id)))
        return int(count)

    def battles(
        self, lease_id: int, round_id: int, *, limit: int, among: Sequence[int] | None = None
    ) -> list[PendingBattle]:
        """Claim the next free battles for a lease, ordered by question."""
        free = sa.select(battles.c.id, sa.literal(lease_id)).where(_is_free(round_id))
        if among is not None:
            free = free.where(battles.c.question_id.in_(among))
        free = (
            free.order_by(battles.c.question_id, battles.c.id).limit(limit).with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            _lock(connection, lease_id)
            statement = own_insert(connection, battle_holds).from_select(["battle_id", "seat_id"], free)
            claim = statement.on_conflict_do_nothing(index_elements=["battle_id"])
            claim = claim.returning(battle_holds.c.battle_id)
            numbers = list(connection.execute(claim).scalars())
            return list(pending_battles(connection, battles.c.id.in_(numbers))) if numbers else []


def has_pending(connection: sa.Connection, round_id: int) -> bool:
    """Return whether a round has battles without an outcome."""
    return bool(connection.execute(sa.select(sa.exists().where(_is_pending(round_id)))).scalar())


def has_work(round_id: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """Match rounds with pending, unclaimed battles."""
    return sa.exists().where(_is_free(round_id))


def lease_lost(lease_id: int) -> LeaseLostError:
    """Return the error for an expired lease."""
    return LeaseLostError(
        f"Lease {lease_id} expired, since its worker sent no heartbeat in time.",
        advice="Other workers judge its battles; its uncommitted verdicts were discarded.",
    )


def release_claims(connection: sa.Connection, lease_id: int, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    """Count settled battles for a lease and release its claims, in the transaction of the verdicts."""
    judgments = [judgment for _, verdict in verdicts for judgment in verdict.judgments]
    recorded = {
        "done": len(verdicts),
        "recorded_usd": sum(judgment.cost_usd or 0.0 for judgment in judgments),
        "recorded_input": sum(judgment.input_tokens for judgment in judgments),
        "recorded_output": sum(judgment.output_tokens for judgment in judgments),
    }
    updated = connection.execute(
        sa.update(lease_rows)
        .where(lease_rows.c.id == lease_id)
        .values({name: lease_rows.c[name] + amount for name, amount in recorded.items()})
    ).rowcount
    numbers = {number for number, _ in verdicts}
    released = connection.execute(
        sa.delete(battle_holds).where(
            battle_holds.c.battle_id.in_(numbers), battle_holds.c.seat_id == lease_id
        )
    ).rowcount
    if not updated or released != len(numbers):
        raise lease_lost(lease_id)


def _is_pending(round_id: sa.ColumnElement[Any] | int) -> sa.ColumnElement[bool]:
    return (battles.c.round_id == round_id) & battles.c.outcome.is_(None)


def _is_free(round_id: sa.ColumnElement[Any] | int) -> sa.ColumnElement[bool]:
    return _is_pending(round_id) & ~sa.exists().where(battle_holds.c.battle_id == battles.c.id)


def _lock(connection: sa.Connection, lease_id: int) -> None:
    query = sa.select(lease_rows.c.id).where(lease_rows.c.id == lease_id)
    if connection.execute(query.with_for_update(read=True, key_share=True)).first() is None:
        raise lease_lost(lease_id)
