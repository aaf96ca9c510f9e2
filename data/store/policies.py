"""What holds for submissions to a set, in the store."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import delete, insert, select, update

from data.errors import NotFoundError
from data.records import Phase, SetPolicy
from data.store.database import Database
from data.store.moments import as_utc
from data.tables import phases, question_sets

LIMITS = ("daily_quota", "total_quota", "file_mb", "answer_chars")


class PolicyStore:
    """Keeps the policy of each set."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, set_name: str) -> SetPolicy:
        """The policy of a set.

        Raises:
            NotFoundError: There is no such set.
        """
        with self._database.begin() as connection:
            head = connection.execute(
                select(question_sets.c.id, question_sets.c.hidden_references).where(
                    question_sets.c.name == set_name
                )
            ).first()
            if head is None:
                raise _no_set(set_name)
            rows = connection.execute(select(phases).where(phases.c.set_id == head.id).order_by(phases.c.id))
            found = tuple(
                Phase(
                    name=row.name,
                    opens_at=_moment(row.opens_at),
                    closes_at=_moment(row.closes_at),
                    daily_quota=row.daily_quota,
                    total_quota=row.total_quota,
                    file_mb=row.file_mb,
                    answer_chars=row.answer_chars,
                )
                for row in rows
            )
        return SetPolicy(set_name=set_name, phases=found, hidden_references=head.hidden_references)

    def put(self, policy: SetPolicy) -> SetPolicy:
        """Replace the policy of a set.

        Raises:
            NotFoundError: There is no such set.
        """
        with self._database.begin() as connection:
            number = connection.execute(
                select(question_sets.c.id).where(question_sets.c.name == policy.set_name)
            ).scalar()
            if number is None:
                raise _no_set(policy.set_name)
            connection.execute(
                update(question_sets)
                .where(question_sets.c.id == number)
                .values(hidden_references=policy.hidden_references)
            )
            connection.execute(delete(phases).where(phases.c.set_id == number))
            if policy.phases:
                connection.execute(
                    insert(phases), [{"set_id": number, **_values(one)} for one in policy.phases]
                )
        return self.get(policy.set_name)


def _values(phase: Phase) -> dict[str, object]:
    limits: dict[str, object] = {name: getattr(phase, name) for name in LIMITS}
    return {
        "name": phase.name,
        "opens_at": _utc(phase.opens_at),
        "closes_at": _utc(phase.closes_at),
        **limits,
    }


def _utc(moment: datetime | None) -> datetime | None:
    # SQLite keeps no zone, so there is only one.
    return None if moment is None else moment.astimezone(UTC)


def _moment(value: datetime | None) -> datetime | None:
    return None if value is None else as_utc(value)


def _no_set(name: str) -> NotFoundError:
    return NotFoundError(f"There is no question set {name!r}.", advice="`arena sets list` names them.")
