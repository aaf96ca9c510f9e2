"""Canaries of rounds in the store: attacks of ours, judged beside the battles and never among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from data.records import (
    CanaryRecord,
    Judgment,
    Outcome,
    PendingBattle,
    PlannedCanary,
    Preference,
    Verdict,
)
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import pairs
from data.store.rounds.battles import pending_battles
from data.store.rounds.fencing import release_claims
from data.store.rounds.replies import put_replies
from data.tables.jobs import canary_holds
from data.tables.questions import questions
from data.tables.rounds import battles, canaries, rounds

STORED = (
    *("judge", "model", "presentation", "outcome", "preference", "rationale", "detail", "settings"),
    *("prompt_hash", "parser", "calls", "reply_key", "cached", "input_tokens", "output_tokens", "cost_usd"),
)
"""What is stored of a canary's judgment, in this order."""


class CanaryStore(StorePart):
    """Hands out a round's canaries, keeps their verdicts, and reads them back."""

    def of_round(self, round_name: str) -> tuple[CanaryRecord, ...]:
        """The canaries of a round in a fixed order."""
        query = (
            select(canaries, questions.c.key.label("question_id"))
            .join(battles, battles.c.id == canaries.c.battle_id)
            .join(questions, questions.c.id == battles.c.question_id)
            .join(rounds, rounds.c.id == canaries.c.round_id)
            .where(rounds.c.name == round_name)
            .order_by(canaries.c.id)
        )
        return tuple(_record(row) for row in self._all(query))

    def pending(self, round_name: str) -> tuple[PendingBattle, ...]:
        """The canaries without an outcome, as the battles that a judge gets to see."""
        number = select(rounds.c.id).where(rounds.c.name == round_name).scalar_subquery()
        with self._database.begin() as connection:
            return tuple(
                attacked_battles(connection, canaries.c.round_id == number, canaries.c.outcome.is_(None))
            )

    def record(self, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int | None = None) -> None:
        """Commit the verdicts of canaries by number; one that has an outcome keeps it.

        Raises:
            LeaseLostError: They are those of a lease that was given up; nothing is committed.
        """
        with self._database.begin() as connection:
            if lease_id is not None:
                release_claims(connection, canary_holds, lease_id, verdicts)
            for number, verdict in verdicts:
                connection.execute(
                    update(canaries)
                    .where(canaries.c.id == number, canaries.c.outcome.is_(None))
                    .values(
                        outcome=verdict.outcome,
                        preference=verdict.preference,
                        detail=verdict.detail,
                        input_tokens=canaries.c.input_tokens + sum(j.input_tokens for j in verdict.judgments),
                        output_tokens=canaries.c.output_tokens
                        + sum(j.output_tokens for j in verdict.judgments),
                        cost_usd=canaries.c.cost_usd + sum(j.cost_usd or 0.0 for j in verdict.judgments),
                        judgments=[judgment_json(judgment) for judgment in verdict.judgments],
                    )
                )
                put_replies(connection, [judgment.reply for judgment in verdict.judgments if judgment.reply])

    def reopen(self, round_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make the canaries that ended in one of `outcomes` pending again, and return how many."""
        return self._change(
            update(canaries)
            .where(canaries.c.round_id == round_id, canaries.c.outcome.in_(list(outcomes)))
            .values(outcome=None, preference=None, detail="")
        )

    def close_pending(self, round_id: int, outcome: Outcome, detail: str) -> int:
        """End every pending canary with one outcome, and return how many there were."""
        return self._change(
            update(canaries)
            .where(canaries.c.round_id == round_id, canaries.c.outcome.is_(None))
            .values(outcome=outcome, detail=detail)
        )


def attacked_battles(connection: Connection, *which: ColumnElement[bool]) -> Iterator[PendingBattle]:
    """Yield the canaries that some clauses choose, as the battles that a judge gets to see."""
    waiting = connection.execute(select(canaries).where(*which).order_by(canaries.c.id)).all()
    copied = {
        battle.id: battle
        for battle in pending_battles(connection, battles.c.id.in_([row.battle_id for row in waiting]))
    }
    return (_attacked(row, copied[row.battle_id]) for row in waiting)


def insert_canaries(connection: Connection, round_id: int, planned: Iterable[PlannedCanary]) -> None:
    """Store the canaries of a new round, whose battles are there already."""
    new = list(planned)
    if not new:
        return
    query = select(battles.c.key, battles.c.id).where(
        battles.c.round_id == round_id, battles.c.key.in_([canary.battle for canary in new])
    )
    numbers: dict[str, int] = pairs(connection.execute(query))
    connection.execute(
        insert(canaries),
        [
            to_row(canaries, canary, round_id=round_id, battle_id=numbers[canary.battle], judgments=[])
            for canary in new
        ],
    )


def _attacked(row: AnyRow, battle: PendingBattle) -> PendingBattle:
    side = "answer_a" if row.attacker == Preference.A else "answer_b"
    changes: dict[str, Any] = {"id": row.id, "key": row.key, side: row.text}
    return replace(battle, **changes)


def judgment_json(judgment: Judgment) -> dict[str, Any]:
    """A judgment as canaries and proxy judges keep it; its reply is kept apart, by the key."""
    reply = judgment.reply
    of_reply = {
        "reply_key": None if reply is None else reply.key,
        "cached": reply is not None and reply.cached,
    }
    return {name: of_reply[name] if name in of_reply else getattr(judgment, name) for name in STORED}


def is_unpriced(judgment: Mapping[str, Any]) -> bool:
    """Whether a kept judgment took calls of a model without a known price."""
    return judgment["cost_usd"] is None and judgment["calls"] > 0


def _record(row: AnyRow) -> CanaryRecord:
    cost = None if any(map(is_unpriced, row.judgments)) else row.cost_usd
    return to_record(CanaryRecord, row, cost_usd=cost, judgments=tuple(row.judgments))
