"""Python API (`import answer_arena`): rankings of answers in one call, without a database of one's own."""

from arena.python.calls import estimate, judge, rank, rate
from arena.python.ranking import Cost, Ranking

__all__ = ["Cost", "Ranking", "estimate", "judge", "rank", "rate"]
