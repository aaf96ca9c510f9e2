"""Verdicts and judgments in the store, written in batches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from data.records import Judgment, Verdict
from data.store.evidence import EvidenceReader
from data.store.fencing import release_holds
from data.store.moments import now
from data.store.replies import put_replies
from data.tables import battle_holds, battles, judgments

READ = ("outcome", "preference", "margin", "rationale", "detail", "grade", "parser")
SETTLED = ("outcome", "preference", "score", "flipped", "detail")


class _AnotherWriterError(Exception):
    """Some of the battles have an outcome already; never leaves this module."""


class VerdictStore(EvidenceReader):
    """Commits verdicts with their judgments, and reads them back as evidence."""

    def record(self, verdicts: Sequence[tuple[int, Verdict]], *, seat_id: int | None = None) -> int:
        """Commit verdicts by battle number in one transaction.

        A battle that has an outcome keeps it, so that a late second writer changes nothing.

        Args:
            verdicts: Battle numbers with their verdicts.
            seat_id: The seat that holds these battles, which is let go of.

        Returns:
            How many battles were settled by this call.

        Raises:
            LeaseLostError: The seat was given up; nothing is committed.
        """
        if not verdicts:
            return 0
        try:
            with self._database.begin() as connection:
                _let_go(connection, seat_id, verdicts)
                if _settle(connection, verdicts) != len(verdicts):
                    raise _AnotherWriterError
                _insert_judgments(connection, verdicts)
        except _AnotherWriterError:
            return self._record_open(verdicts, seat_id)
        return len(verdicts)

    def _record_open(self, verdicts: Sequence[tuple[int, Verdict]], seat_id: int | None) -> int:
        """As `record`, one battle after another, where some have an outcome already."""
        with self._database.begin() as connection:
            _let_go(connection, seat_id, verdicts)
            fresh = [one for one in verdicts if _settle(connection, [one])]
            _insert_judgments(connection, fresh)
        return len(fresh)

    def revise(self, changes: Sequence[tuple[int, Sequence[Judgment], Verdict | None]]) -> None:
        """Store other readings of judgments, in one transaction.

        Args:
            changes: Battle numbers, each with all of its judgments in the order of `evidence`, and the
                verdict that replaces the stored one, None where that stays.
        """
        with self._database.begin() as connection:
            for number, made, verdict in changes:
                numbers = connection.execute(
                    select(judgments.c.id).where(judgments.c.battle_id == number).order_by(judgments.c.id)
                ).scalars()
                for judgment_id, judgment in zip(numbers, made, strict=True):
                    values = {name: getattr(judgment, name) for name in READ}
                    connection.execute(update(judgments).where(judgments.c.id == judgment_id).values(values))
                if verdict is not None:
                    values = {name: getattr(verdict, name) for name in SETTLED}
                    connection.execute(update(battles).where(battles.c.id == number).values(values))


def _let_go(connection: Connection, seat_id: int | None, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    if seat_id is not None:
        release_holds(connection, battle_holds, seat_id, verdicts)


def _settle(connection: Connection, verdicts: Sequence[tuple[int, Verdict]]) -> int:
    """Settle the battles that have no outcome, and return how many those were."""
    return connection.execute(
        update(battles)
        .where(battles.c.id == bindparam("number"), battles.c.outcome.is_(None))
        .values({name: bindparam(f"new_{name}") for name in SETTLED}),
        [
            {"number": number, **{f"new_{name}": getattr(verdict, name) for name in SETTLED}}
            for number, verdict in verdicts
        ],
    ).rowcount


def _insert_judgments(connection: Connection, settled: Sequence[tuple[int, Verdict]]) -> None:
    made = [(number, judgment) for number, verdict in settled for judgment in verdict.judgments]
    if not made:
        return
    moment = now()
    connection.execute(
        insert(judgments), [_judgment_row(number, judgment, moment) for number, judgment in made]
    )
    replied = [judgment.reply for _, judgment in made if judgment.reply is not None]
    # What came from the cache is kept already.
    put_replies(connection, [reply for reply in replied if not reply.cached])


def _judgment_row(number: int, judgment: Judgment, moment: datetime) -> dict[str, Any]:
    reply = judgment.reply
    return {
        "battle_id": number,
        "judge": judgment.judge,
        "model": judgment.model,
        "endpoint": "" if reply is None else reply.endpoint,
        "presentation": judgment.presentation,
        "outcome": judgment.outcome,
        "preference": judgment.preference,
        "margin": judgment.margin,
        "rationale": judgment.rationale,
        "detail": judgment.detail,
        "grade": judgment.grade,
        "settings": judgment.settings,
        "prompt_hash": judgment.prompt_hash,
        "parser": judgment.parser,
        "calls": judgment.calls,
        "reply_key": None if reply is None else reply.key,
        "input_tokens": judgment.input_tokens,
        "output_tokens": judgment.output_tokens,
        "cost_usd": judgment.cost_usd,
        "latency": 0.0 if reply is None else reply.latency,
        "cached": reply is not None and reply.cached,
        "created_at": moment,
    }
