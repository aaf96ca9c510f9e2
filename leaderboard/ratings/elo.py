"""Online Elo."""

from __future__ import annotations

from data.errors import StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.ratings.result import RatingTable, Settings


def rate_online(table: BattleTable, settings: Settings, anchor: int | None) -> RatingTable:
    """Not yet."""
    message = f"{len(table)} {settings.method} {anchor}"
    raise StatisticsError(message)
