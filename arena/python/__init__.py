"""Python API (`import answer_arena`): rank answers in one call, without setting up a database."""

from arena.python.calls import estimate, judge, rank, rate
from arena.python.ranking import Cost, Ranking

__all__ = ["Cost", "Ranking", "estimate", "judge", "rank", "rate"]
