"""Battles that a lease judges at present, and the fencing of expired leases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, func, literal, select, update

from data.errors import LeaseLostError
from data.models import PendingBattle, Verdict
from data.models.jobs import battle_holds, lease_rows
from data.models.rounds import battles
from data.models.submissions import questions
from data.store.base import StorePart, own_insert
from data.store.rounds.battles import pending_battles


class ClaimStore(StorePart):
    """Claims of battles, each by one lease."""

    def questions(self, round_id: int) -> list[tuple[int, str]]:
        """Numbers and ids of the questions with pending battles that no lease has claimed."""
        free = select(battles.c.question_id).where(_is_free(round_id)).distinct()
        query = select(questions.c.id, questions.c.key).where(questions.c.id.in_(free))
        return [(row.id, row.key) for row in self._all(query.order_by(questions.c.id))]

    def pending(self, round_id: int) -> int:
        """Count the battles of a round without an outcome, claimed or not."""
        (count,) = self._values(select(func.count()).select_from(battles).where(_is_pending(round_id)))
        return int(count)

    def battles(
        self, lease_id: int, round_id: int, *, limit: int, among: Sequence[int] | None = None
    ) -> list[PendingBattle]:
        """Claim the next free battles for a lease, question by question.

        Args:
            lease_id: The lease.
            round_id: The round.
            limit: How many at most.
            among: Numbers of the questions to choose from; None for all.

        Raises:
            LeaseLostError: The lease expired.
        """
        free = select(battles.c.id, literal(lease_id)).where(_is_free(round_id))
        if among is not None:
            free = free.where(battles.c.question_id.in_(among))
        free = (
            free.order_by(battles.c.question_id, battles.c.id).limit(limit).with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            _lock(connection, lease_id)
            statement = own_insert(connection, battle_holds).from_select(["battle_id", "seat_id"], free)
            claim = statement.on_conflict_do_nothing().returning(battle_holds.c.battle_id)
            numbers = list(connection.execute(claim).scalars())
            return list(pending_battles(connection, battles.c.id.in_(numbers))) if numbers else []


def has_pending(connection: Connection, round_id: int) -> bool:
    """Whether a battle of a round has no outcome."""
    return bool(connection.execute(select(exists().where(_is_pending(round_id)))).scalar())


def has_work(round_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Match rounds with a pending battle that no lease has claimed."""
    return exists().where(_is_free(round_id))


def lease_lost(lease_id: int) -> LeaseLostError:
    """Make the error of a worker whose lease expired."""
    return LeaseLostError(
        f"Lease {lease_id} was given up, since its worker was not heard of in time.",
        advice="Its battles are judged by others; what it had not committed was discarded.",
    )


def release_claims(connection: Connection, lease_id: int, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    """Count settled battles for a lease and release its claims, in the transaction of the verdicts.

    Raises:
        LeaseLostError: The lease expired, or does not hold all of them; nothing may be committed.
    """
    judgments = [judgment for _, verdict in verdicts for judgment in verdict.judgments]
    recorded = {
        "done": len(verdicts),
        "recorded_usd": sum(judgment.cost_usd or 0.0 for judgment in judgments),
        "recorded_input": sum(judgment.input_tokens for judgment in judgments),
        "recorded_output": sum(judgment.output_tokens for judgment in judgments),
    }
    updated = connection.execute(
        update(lease_rows)
        .where(lease_rows.c.id == lease_id)
        .values({name: lease_rows.c[name] + amount for name, amount in recorded.items()})
    ).rowcount
    numbers = {number for number, _ in verdicts}
    released = connection.execute(
        delete(battle_holds).where(battle_holds.c.battle_id.in_(numbers), battle_holds.c.seat_id == lease_id)
    ).rowcount
    if not updated or released != len(numbers):
        raise lease_lost(lease_id)


def _is_pending(round_id: ColumnElement[Any] | int) -> ColumnElement[bool]:
    return (battles.c.round_id == round_id) & battles.c.outcome.is_(None)


def _is_free(round_id: ColumnElement[Any] | int) -> ColumnElement[bool]:
    return _is_pending(round_id) & ~exists().where(battle_holds.c.battle_id == battles.c.id)


def _lock(connection: Connection, lease_id: int) -> None:
    """Hold a lease for the transaction.

    Raises:
        LeaseLostError: It expired.
    """
    query = select(lease_rows.c.id).where(lease_rows.c.id == lease_id)
    if connection.execute(query.with_for_update(read=True, key_share=True)).first() is None:
        raise lease_lost(lease_id)
