"""What `import answer_arena` gives: rankings of answers in one call, without a database to think of."""

from __future__ import annotations

from arena.python.calls import estimate, judge, rank, rate
from arena.python.ranking import Cost, Ranking

__all__ = ["Cost", "Ranking", "estimate", "judge", "rank", "rate"]
