"""What organisers have to look at, in the store; disputes of judgments are among it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import NotFoundError
from data.records import SubmissionState
from data.records.concerns import WAITING, Concern, ConcernKind, Decision, NewConcern
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import new_id
from data.tables.columns import now
from data.tables.concerns import concerns
from data.tables.questions import question_sets, questions, submissions
from data.tables.rounds import battles, rounds


class ConcernStore(StorePart):
    """Keeps concerns, each once, with what was decided."""

    def add(self, new: NewConcern) -> int | None:
        """Keep a concern; gives its number, None where its key has one already."""
        row = to_row(concerns, new, evidence=list(new.evidence), decision=Decision.OPEN, decided_by="")
        with self._database.begin() as connection:
            known = select(concerns.c.id).where(concerns.c.key == new.key)
            if connection.execute(known).first() is not None:
                return None
            try:
                with connection.begin_nested():
                    return new_id(connection.execute(insert(concerns).values(row)))
            except IntegrityError:
                return None

    def get(self, number: int) -> Concern:
        """A concern.

        Raises:
            NotFoundError: None has this number.
        """
        row = self._first(_select().where(concerns.c.id == number))
        if row is None:
            raise NotFoundError(
                f"There is no concern {number}.", advice="`arena submissions inbox` names what waits."
            )
        return _record(row)

    def waiting(self) -> tuple[Concern, ...]:
        """Those of which something is to be decided, the oldest first."""
        query = _select().where(concerns.c.decision.in_(WAITING)).order_by(concerns.c.id)
        return tuple(map(_record, self._all(query)))

    def of(
        self,
        *,
        kind: ConcernKind | None = None,
        round_name: str | None = None,
        raised_by: str | None = None,
        submissions_of: Sequence[int] | None = None,
    ) -> tuple[Concern, ...]:
        """Those of a kind, of a round, that an account raised, or about some submissions; newest first."""
        query = _select().order_by(concerns.c.id.desc())
        if kind is not None:
            query = query.where(concerns.c.kind == kind)
        if round_name is not None:
            query = query.where(rounds.c.name == round_name)
        if raised_by is not None:
            query = query.where(concerns.c.raised_by == raised_by)
        if submissions_of is not None:
            query = query.where(concerns.c.submission_id.in_(submissions_of))
        return tuple(map(_record, self._all(query)))

    def count_since(self, since: datetime, *, reporter: str | None = None) -> int:
        """How many disputes came since a moment, of everyone or of one reader."""
        query = select(func.count()).where(
            concerns.c.created_at >= since, concerns.c.kind == ConcernKind.DISPUTE
        )
        if reporter is not None:
            query = query.where(concerns.c.reporter == reporter)
        (count,) = self._values(query)
        return int(count)

    def decide(self, number: int, decision: Decision, *, reason: str, by: str) -> bool:
        """Store what was decided of a concern that waits; False where somebody decided it before."""
        statement = update(concerns).where(concerns.c.id == number, concerns.c.decision.in_(WAITING))
        values = {"decision": decision, "reason": reason, "decided_by": by, "decided_at": now()}
        return bool(self._change(statement.values(values)))

    def excluded(self) -> frozenset[int]:
        """The submissions that organisers excluded from rounds."""
        query = select(concerns.c.submission_id).where(
            concerns.c.decision == Decision.EXCLUDED, concerns.c.submission_id.is_not(None)
        )
        return frozenset(self._values(query))

    def withdrawn(self, round_name: str) -> Mapping[str, tuple[int, str]]:
        """The systems of a round that were withdrawn, with the number of the submission and the reason."""
        query = (
            select(
                submissions.c.id,
                submissions.c.system,
                submissions.c.version,
                submissions.c.withdrawn_reason,
                rounds.c.plan,
            )
            .join(rounds, rounds.c.set_id == submissions.c.set_id)
            .where(rounds.c.name == round_name, submissions.c.state == SubmissionState.WITHDRAWN)
            .order_by(submissions.c.system)
        )
        return {
            row.system: (row.id, row.withdrawn_reason)
            for row in self._all(query)
            if row.plan["systems"].get(row.system) == row.version
        }

    def disqualified(self, numbers: Sequence[int]) -> frozenset[int]:
        """Which of some submissions organisers disqualified."""
        query = select(concerns.c.submission_id).where(
            concerns.c.decision == Decision.DISQUALIFIED, concerns.c.submission_id.in_(numbers)
        )
        return frozenset(self._values(query))

    def disputed_questions(self, round_name: str) -> frozenset[str]:
        """Ids of the questions of a round of which somebody disputed a judgment."""
        query = (
            select(questions.c.key)
            .join(battles, battles.c.question_id == questions.c.id)
            .join(concerns, concerns.c.battle_id == battles.c.id)
            .join(rounds, rounds.c.id == concerns.c.round_id)
            .where(rounds.c.name == round_name, concerns.c.kind == ConcernKind.DISPUTE)
        )
        return frozenset(self._values(query))

    def corrected_since(self, round_name: str, moment: datetime) -> bool:
        """Whether a verdict of a round was corrected since."""
        query = (
            select(concerns.c.id)
            .join(rounds, rounds.c.id == concerns.c.round_id)
            .where(
                rounds.c.name == round_name,
                concerns.c.decision == Decision.CORRECTED,
                concerns.c.decided_at > moment,
            )
        )
        return self._first(query) is not None


def _select() -> Select[Any]:
    return (
        select(
            concerns,
            func.coalesce(submissions.c.system, "").label("system"),
            func.coalesce(submissions.c.team, "").label("team"),
            func.coalesce(question_sets.c.name, "").label("set_name"),
            func.coalesce(rounds.c.name, "").label("round_name"),
        )
        .outerjoin(submissions, submissions.c.id == concerns.c.submission_id)
        .outerjoin(rounds, rounds.c.id == concerns.c.round_id)
        .outerjoin(
            question_sets,
            question_sets.c.id == func.coalesce(submissions.c.set_id, rounds.c.set_id),
        )
    )


def _record(row: AnyRow) -> Concern:
    return to_record(Concern, row, evidence=tuple(row.evidence))
