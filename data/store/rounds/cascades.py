"""What a round's battles note of how they were settled, and what each judge of a round cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import case, func, select

from data.records import Outcome
from data.store.base import StorePart
from data.tables.judgments import judgments
from data.tables.rounds import battles


class MemberStore(StorePart):
    """Counts over a round whose judge is made of several."""

    def noted(self, round_id: int, marks: Sequence[str]) -> Mapping[tuple[str, Outcome], int]:
        """Ended battles by how their detail begins and how they ended; others are left out."""
        mark = case(*((battles.c.detail.startswith(text, autoescape=True), text) for text in marks))
        query = (
            select(mark.label("mark"), battles.c.outcome, func.count())
            .where(battles.c.round_id == round_id, battles.c.outcome.is_not(None), mark.is_not(None))
            .group_by(mark, battles.c.outcome)
        )
        return {(text, Outcome(outcome)): count for text, outcome, count in self._all(query)}

    def costs(self, round_id: int) -> Mapping[str, float | None]:
        """What each judge's calls about a round's battles cost in USD; None where a price is not known."""
        unpriced = func.sum(case(((judgments.c.calls > 0) & judgments.c.cost_usd.is_(None), 1), else_=0))
        query = (
            select(judgments.c.judge, func.coalesce(func.sum(judgments.c.cost_usd), 0.0), unpriced)
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == round_id)
            .group_by(judgments.c.judge)
            .order_by(judgments.c.judge)
        )
        return {judge: None if unknown else float(cost) for judge, cost, unknown in self._all(query)}
