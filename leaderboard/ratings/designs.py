"""The estimate of the star alone beside that of all battles.

Bradley-Terry is a model, and no model is quite right; what it estimates then depends on the mix of
battles. A round that adds complete pairs to the star against the reference changes the mix, so both
estimates are reported and their difference is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data.errors import NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.ratings.differences import rate_as
from leaderboard.ratings.result import RatingTable, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StarBeside:
    """Ratings from all battles and from those against the reference alone.

    Attributes:
        mixed: From all battles.
        star: From the battles against the reference.
        shifts: Star minus mixed, in points, of each system that both rate.
    """

    mixed: RatingTable
    star: RatingTable
    shifts: tuple[tuple[str, float], ...]


def star_battles(battles: BattleTable, reference: str) -> BattleTable:
    """The battles against the reference.

    Raises:
        NotFoundError: No battle names the reference.
    """
    if reference not in battles.systems:
        message = f"No battle is against {reference}."
        raise NotFoundError(message, advice="Name the reference as the battle file does.")
    code = battles.systems.index(reference)
    return battles.select((battles.a == code) | (battles.b == code))


def rate_beside_star(battles: BattleTable, reference: str, settings: Settings | None = None) -> StarBeside:
    """Rate all battles, and those against the reference alone, by the same settings.

    Raises:
        NotFoundError: No battle names the reference.
        UnrankableError: As `rate`.
    """
    chosen = Settings() if settings is None else settings
    mixed, star = rate_as(battles, chosen), rate_as(star_battles(battles, reference), chosen)
    points = dict(zip(mixed.systems, mixed.points.tolist(), strict=True))
    shifts = (
        (name, value - points[name]) for name, value in zip(star.systems, star.points.tolist(), strict=True)
    )
    return StarBeside(mixed=mixed, star=star, shifts=tuple(pair for pair in shifts if np.isfinite(pair[1])))
