"""Canaries of rounds in the store: attacks of ours, judged beside the battles and never among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from data.records import CanaryRecord, Judgment, Outcome, PendingBattle, PlannedCanary, Preference, Verdict
from data.store.database import Database, pairs
from data.store.fencing import release_holds
from data.store.pending import pending_battles
from data.store.replies import put_replies
from data.tables import battles, canaries, canary_holds, questions, rounds


class CanaryStore:
    """Hands out a round's canaries, keeps their verdicts, and reads them back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_round(self, round_name: str) -> tuple[CanaryRecord, ...]:
        """The canaries of a round in a fixed order."""
        query = (
            select(canaries, questions.c.key.label("question_key"))
            .join(battles, battles.c.id == canaries.c.battle_id)
            .join(questions, questions.c.id == battles.c.question_id)
            .join(rounds, rounds.c.id == canaries.c.round_id)
            .where(rounds.c.name == round_name)
            .order_by(canaries.c.id)
        )
        with self._database.begin() as connection:
            return tuple(_record(row) for row in connection.execute(query))

    def pending(self, round_name: str) -> tuple[PendingBattle, ...]:
        """The canaries without an outcome, as the battles that a judge gets to see."""
        number = select(rounds.c.id).where(rounds.c.name == round_name).scalar_subquery()
        with self._database.begin() as connection:
            return tuple(
                attacked_battles(connection, canaries.c.round_id == number, canaries.c.outcome.is_(None))
            )

    def record(self, verdicts: Sequence[tuple[int, Verdict]], *, seat_id: int | None = None) -> None:
        """Commit the verdicts of canaries by number; one that has an outcome keeps it.

        Raises:
            LeaseLostError: They are those of a seat that was given up; nothing is committed.
        """
        with self._database.begin() as connection:
            if seat_id is not None:
                release_holds(connection, canary_holds, seat_id, verdicts)
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
                        judgments=[_as_json(judgment) for judgment in verdict.judgments],
                    )
                )
                kept = [judgment.reply for judgment in verdict.judgments if judgment.reply is not None]
                put_replies(connection, kept)

    def reopen(self, round_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make the canaries that ended in one of `outcomes` pending again, and return how many."""
        return self._change(
            canaries.c.round_id == round_id,
            canaries.c.outcome.in_(list(outcomes)),
            values={"outcome": None, "preference": None, "detail": ""},
        )

    def close_pending(self, round_id: int, outcome: Outcome, detail: str) -> int:
        """End every pending canary with one outcome, and return how many there were."""
        return self._change(
            canaries.c.round_id == round_id,
            canaries.c.outcome.is_(None),
            values={"outcome": outcome, "detail": detail},
        )

    def _change(self, *where: ColumnElement[bool], values: Mapping[str, Any]) -> int:
        with self._database.begin() as connection:
            return connection.execute(update(canaries).where(*where).values(values)).rowcount


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
    made = list(planned)
    if not made:
        return
    query = select(battles.c.key, battles.c.id).where(
        battles.c.round_id == round_id, battles.c.key.in_([canary.battle for canary in made])
    )
    numbers: dict[str, int] = pairs(connection.execute(query))
    connection.execute(
        insert(canaries),
        [
            {
                "round_id": round_id,
                "battle_id": numbers[canary.battle],
                "key": canary.key,
                "family": canary.family,
                "attacker": canary.attacker,
                "text": canary.text,
                "detail": "",
                "input_tokens": 0,
                "output_tokens": 0,
                "cost_usd": 0.0,
                "judgments": [],
            }
            for canary in made
        ],
    )


def _attacked(row: Row[*tuple[Any, ...]], battle: PendingBattle) -> PendingBattle:
    side = "answer_a" if row.attacker == Preference.A else "answer_b"
    changes: dict[str, Any] = {"id": row.id, "key": row.key, side: row.text}
    return replace(battle, **changes)


def _as_json(judgment: Judgment) -> dict[str, Any]:
    reply = judgment.reply
    return {
        "judge": judgment.judge,
        "model": judgment.model,
        "presentation": judgment.presentation,
        "outcome": judgment.outcome,
        "preference": judgment.preference,
        "rationale": judgment.rationale,
        "detail": judgment.detail,
        "settings": judgment.settings,
        "prompt_hash": judgment.prompt_hash,
        "parser": judgment.parser,
        "calls": judgment.calls,
        "reply_key": None if reply is None else reply.key,
        "cached": reply is not None and reply.cached,
        "input_tokens": judgment.input_tokens,
        "output_tokens": judgment.output_tokens,
        "cost_usd": judgment.cost_usd,
    }


def _record(row: Row[*tuple[Any, ...]]) -> CanaryRecord:
    return CanaryRecord(
        key=row.key,
        family=row.family,
        attacker=Preference(row.attacker),
        question_id=row.question_key,
        outcome=None if row.outcome is None else Outcome(row.outcome),
        preference=None if row.preference is None else Preference(row.preference),
        detail=row.detail,
        text=row.text,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        judgments=tuple(row.judgments),
    )
