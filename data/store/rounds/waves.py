"""Rounds in waves: what proxy judges say, which battles each wave drew, and why there is no further one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.records import (
    CheapCounts,
    EndOfWaves,
    Outcome,
    Verdict,
    Wave,
    WaveArrays,
    soft_share,
)
from data.store.base import StorePart, to_record, to_row
from data.store.engine import pairs
from data.store.rounds.canaries import judgment_json
from data.store.rounds.fencing import release_claims
from data.store.rounds.replies import put_replies
from data.tables.jobs import battle_holds
from data.tables.judgments import judgments
from data.tables.rounds import battles, cheap_verdicts, waves, waves_ends

if TYPE_CHECKING:
    # Arrays load when they are asked for; rounds that judge everything ask for none.
    import numpy as np
    from numpy.typing import NDArray

CheapShares = Mapping[str, float]
"""Side a's shares of the win, 0–1, that are known from the start, by the keys of battles."""
CHUNK = 5_000
NOT_KNOWN = "The earlier round did not judge it."
DRAWN_NEVER = "No wave drew it; its share is estimated from the proxy judges and the battles judged."


class WaveStore(StorePart):
    """Keeps proxy verdicts and waves; plans nothing."""

    def record_cheap(
        self, place: int, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int | None = None
    ) -> None:
        """Commit what a proxy judge says of battles, by number; one that is known stays.

        Raises:
            LeaseLostError: The lease was given up; nothing is committed.
        """
        with self._database.begin() as connection:
            if lease_id is not None:
                release_claims(connection, battle_holds, lease_id, verdicts)
            for number, verdict in verdicts:
                made = verdict.judgments
                connection.execute(
                    update(cheap_verdicts)
                    .where(
                        cheap_verdicts.c.battle_id == number,
                        cheap_verdicts.c.place == place,
                        cheap_verdicts.c.outcome.is_(None),
                    )
                    .values(
                        outcome=verdict.outcome,
                        share=soft_share(verdict),
                        detail=verdict.detail,
                        input_tokens=sum(judgment.input_tokens for judgment in made),
                        output_tokens=sum(judgment.output_tokens for judgment in made),
                        cost_usd=sum(judgment.cost_usd or 0.0 for judgment in made),
                        judgments=[judgment_json(judgment) for judgment in made if judgment.reply],
                    )
                )
            replied = [judgment.reply for _, verdict in verdicts for judgment in verdict.judgments]
            put_replies(connection, [reply for reply in replied if reply is not None and not reply.cached])

    def cheap(self, round_id: int) -> tuple[CheapCounts, ...]:
        """How far each proxy judge of a round is that is asked battle by battle, by its place."""
        query = (
            select(
                cheap_verdicts.c.place,
                cheap_verdicts.c.outcome,
                func.count().label("battles"),
                func.sum(cheap_verdicts.c.cost_usd).label("cost_usd"),
            )
            .join(battles, battles.c.id == cheap_verdicts.c.battle_id)
            # A battle that ended otherwise, as where an answer was withdrawn, is not asked about any more.
            .where(
                cheap_verdicts.c.round_id == round_id,
                cheap_verdicts.c.outcome.is_not(None) | battles.c.outcome.is_(None),
            )
            .group_by(cheap_verdicts.c.place, cheap_verdicts.c.outcome)
        )
        rows = self._all(query)
        return tuple(
            CheapCounts(
                place=place,
                outcomes={
                    row.outcome: row.battles for row in rows if row.place == place and row.outcome is not None
                },
                pending=sum(row.battles for row in rows if row.place == place and row.outcome is None),
                cost_usd=float(sum(row.cost_usd for row in rows if row.place == place)),
            )
            for place in sorted({row.place for row in rows})
        )

    def arrays(self, round_id: int, cheap_judges: int) -> WaveArrays:
        """Which wave drew which battle, and the proxy shares, in the order of the battles' numbers."""
        import numpy as np  # noqa: PLC0415 - only rounds in waves need it

        order = (
            select(battles.c.id, battles.c.wave).where(battles.c.round_id == round_id).order_by(battles.c.id)
        )
        rows = self._all(order)
        numbers = np.array([row.id for row in rows], dtype=np.int64)
        shares = np.full((len(rows), cheap_judges), np.nan)
        known = select(cheap_verdicts.c.battle_id, cheap_verdicts.c.place, cheap_verdicts.c.share).where(
            cheap_verdicts.c.round_id == round_id, cheap_verdicts.c.share.is_not(None)
        )
        said = self._all(known)
        places = np.searchsorted(numbers, [row.battle_id for row in said])
        shares[places, [row.place for row in said]] = [row.share for row in said]
        return WaveArrays(
            numbers=numbers,
            wave=np.array([row.wave or 0 for row in rows], dtype=np.int64),
            cheap=shares,
        )

    def of_round(self, round_id: int) -> tuple[Wave, ...]:
        """The waves of a round in order."""
        rows = self._all(select(waves).where(waves.c.round_id == round_id).order_by(waves.c.number))
        return tuple(to_record(Wave, row, sampling_probs=_array(row.chances)) for row in rows)

    def end_of(self, round_id: int) -> EndOfWaves | None:
        """Why a round drew no further wave; None where it may draw one."""
        row = self._first(select(waves_ends).where(waves_ends.c.round_id == round_id))
        return None if row is None else to_record(EndOfWaves, row, shares=_array(row.shares))

    def open_count(self, round_id: int) -> int:
        """How many battles that a wave drew have no outcome."""
        open_ = (battles.c.round_id == round_id, battles.c.outcome.is_(None), battles.c.wave.is_not(None))
        (count,) = self._values(select(func.count()).select_from(battles).where(*open_))
        return int(count)

    def paid(self, round_id: int) -> tuple[float, int]:
        """What the round's own judge was paid for battles, and for how many."""
        query = (
            select(
                func.coalesce(func.sum(judgments.c.cost_usd), 0.0),
                func.count(judgments.c.battle_id.distinct()),
            )
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == round_id, judgments.c.outcome != Outcome.SKIPPED.value)
        )
        with self._database.begin() as connection:
            cost, count = connection.execute(query).one()
        return float(cost), int(count)

    def open(self, round_id: int, wave: Wave, chosen: NDArray[np.int64]) -> bool:
        """Draw battles, by their numbers, for the round's own judge; False where another worker did."""
        row = to_row(waves, wave, round_id=round_id, chances=wave.sampling_probs.tolist())
        try:
            with self._database.begin() as connection:
                connection.execute(insert(waves).values(row))
                for start in range(0, len(chosen), CHUNK):
                    numbers = chosen[start : start + CHUNK].tolist()
                    connection.execute(
                        update(battles)
                        .where(battles.c.id.in_(numbers), battles.c.outcome.is_(None))
                        .values(wave=wave.number)
                    )
        except IntegrityError:
            return False
        return True

    def end(self, round_id: int, end: EndOfWaves) -> bool:
        """Draw no further wave: what none drew is estimated. False where another worker ended it."""
        try:
            with self._database.begin() as connection:
                row = to_row(waves_ends, end, round_id=round_id, shares=end.shares.tolist())
                connection.execute(insert(waves_ends).values(row))
                connection.execute(
                    update(battles)
                    .where(
                        battles.c.round_id == round_id, battles.c.outcome.is_(None), battles.c.wave.is_(None)
                    )
                    .values(outcome=Outcome.ESTIMATED, detail=DRAWN_NEVER)
                )
        except IntegrityError:
            return False
        return True

    def go_on(self, round_id: int) -> int:
        """Let a round that ended draw waves again, and return how many battles may be drawn."""
        with self._database.begin() as connection:
            connection.execute(delete(waves_ends).where(waves_ends.c.round_id == round_id))
            return connection.execute(
                update(battles)
                .where(battles.c.round_id == round_id, battles.c.outcome == Outcome.ESTIMATED)
                .values(outcome=None, detail="")
            ).rowcount


def insert_cheap(connection: Connection, round_id: int, known: Sequence[CheapShares | None]) -> None:
    """Make a new round one in waves: no battle is drawn yet, and every proxy judge waits to be asked.

    Args:
        connection: Of the transaction that made the battles.
        round_id: The round.
        known: For each proxy judge, what it is known to say; None where it is to be asked.
    """
    connection.execute(update(battles).where(battles.c.round_id == round_id).values(wave=None))
    open_ = (battles.c.round_id == round_id, battles.c.outcome.is_(None))
    keys: dict[int, str] = pairs(connection.execute(_keys().where(*open_).order_by(battles.c.id)))
    for place, shares in enumerate(known):
        rows = [
            {
                "battle_id": number,
                "place": place,
                "round_id": round_id,
                "judgments": [],
                **_starting(shares, key),
            }
            for number, key in keys.items()
        ]
        for start in range(0, len(rows), CHUNK):
            connection.execute(insert(cheap_verdicts), rows[start : start + CHUNK])


def _keys() -> Select[int, str]:
    return select(battles.c.id, battles.c.key)


def _starting(shares: CheapShares | None, key: str) -> dict[str, object]:
    if shares is None:
        return {"outcome": None, "share": None, "detail": ""}
    if key not in shares:
        return {"outcome": Outcome.MISSING, "share": None, "detail": NOT_KNOWN}
    return {"outcome": Outcome.JUDGED, "share": shares[key], "detail": ""}


def _array(values: Sequence[object]) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - as above

    return np.array(values, dtype=np.float64)
