"""The fence: a worker that was given up commits nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, delete, update

from data.errors import LeaseLostError
from data.records import Verdict
from data.tables.jobs import lease_rows


def lease_lost(lease_id: int) -> LeaseLostError:
    """The error of a worker that was given up."""
    return LeaseLostError(
        f"Lease {lease_id} was given up, since its worker was not heard of in time.",
        advice="Its battles are judged by others; what it had not committed was discarded.",
    )


def release_claims(
    connection: Connection, table: Table, lease_id: int, verdicts: Sequence[tuple[int, Verdict]]
) -> None:
    """Write settled work to a lease and release its claims, in the transaction that commits the verdicts.

    Raises:
        LeaseLostError: The lease was given up, or does not hold all of it; nothing may be committed.
    """
    judgments = [judgment for _, verdict in verdicts for judgment in verdict.judgments]
    updated_leases = connection.execute(
        update(lease_rows)
        .where(lease_rows.c.id == lease_id)
        .values(
            done=lease_rows.c.done + len(verdicts),
            recorded_usd=lease_rows.c.recorded_usd + sum(judgment.cost_usd or 0.0 for judgment in judgments),
            recorded_input=lease_rows.c.recorded_input + sum(judgment.input_tokens for judgment in judgments),
            recorded_output=lease_rows.c.recorded_output
            + sum(judgment.output_tokens for judgment in judgments),
        )
    ).rowcount
    (key, _) = table.c
    numbers = [number for number, _ in verdicts]
    deleted = connection.execute(delete(table).where(key.in_(numbers), table.c.seat_id == lease_id)).rowcount
    if not updated_leases or deleted != len(set(numbers)):
        raise lease_lost(lease_id)
