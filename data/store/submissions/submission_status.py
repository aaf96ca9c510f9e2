"""What became of submissions: the rounds and boards that have them, and how fast judging goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select

from data.models import OUT_OF_BUDGET, Outcome, RoundState
from data.models.rounds import battles, boards, rounds
from data.models.submissions import question_sets
from data.models.tables import judgments
from data.store.base import StorePart, to_record

LOOKED_AT = 500
"""The rate of judging is taken from so many judgments, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOfSet:
    """A round as the status of a submission needs it.

    Attributes:
        systems: The version of each system that takes part.
        began: Whether judging ever began.
        published: Whether a board of it stands, or stood.
        notice: What the organisers say of that board, such as why it was retracted.
    """

    id: int
    name: str
    state: RoundState
    systems: Mapping[str, int]
    began: bool
    published: bool
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The newest judgments of a round: how many battles they settled since when."""

    battles: int
    since: datetime | None


class StatusStore(StorePart):
    """Reads what became of submissions."""

    def rounds_of(self, set_name: str) -> tuple[RoundOfSet, ...]:
        """The rounds on a set, the oldest first."""
        return self._rounds(question_sets.c.name == set_name)

    def round_of(self, number: int) -> RoundOfSet | None:
        """One round; None where it is gone."""
        return next(iter(self._rounds(rounds.c.id == number)), None)

    def _rounds(self, which: ColumnElement[bool]) -> tuple[RoundOfSet, ...]:
        query = (
            select(
                rounds.c.id,
                rounds.c.name,
                rounds.c.state,
                rounds.c.plan,
                rounds.c.started_at,
                boards.c.id.label("board"),
                boards.c.notice,
            )
            .join(question_sets, question_sets.c.id == rounds.c.set_id)
            .outerjoin(boards, and_(boards.c.round_id == rounds.c.id, boards.c.replaced_at.is_(None)))
            .where(which)
            .order_by(rounds.c.id)
        )
        return tuple(
            to_record(
                RoundOfSet,
                row,
                systems=row.plan.get("systems", {}),
                began=row.started_at is not None,
                published=row.board is not None,
                notice=row.notice or "",
            )
            for row in self._all(query)
        )

    def waiting(self, states: Sequence[RoundState]) -> Mapping[int, int]:
        """Rounds in some states, the oldest first, with how many of their battles are pending."""
        query = (
            select(rounds.c.id, func.count(battles.c.id))
            .outerjoin(battles, (battles.c.round_id == rounds.c.id) & battles.c.outcome.is_(None))
            .where(rounds.c.state.in_(list(states)))
            .group_by(rounds.c.id)
            .order_by(rounds.c.id)
        )
        return {number: int(count) for number, count in self._all(query)}

    def skipped_by_budget(self, round_id: int) -> int:
        """How many battles of a round were not asked, since its cap was reached."""
        query = select(func.count()).where(
            battles.c.round_id == round_id,
            battles.c.outcome == Outcome.SKIPPED,
            battles.c.detail.contains(OUT_OF_BUDGET, autoescape=True),
        )
        ((count,),) = self._all(query)
        return int(count)

    def pace(self, round_id: int) -> Pace:
        """How fast a round was judged lately."""
        newest = (
            select(judgments.c.battle_id, judgments.c.created_at)
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == round_id)
            .order_by(judgments.c.id.desc())
            .limit(LOOKED_AT)
            .subquery()
        )
        query = select(func.count(newest.c.battle_id.distinct()), func.min(newest.c.created_at))
        ((count, since),) = self._all(query)
        return Pace(battles=int(count), since=since)
