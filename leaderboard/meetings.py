"""Which pairs of systems their direct battles separate: an exact sign test a pair, Holm over all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from leaderboard.intervals import Interval, wilson
from leaderboard.ratings.ranks import holm

Floats = NDArray[np.float64]
EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """How one system fared against another, directly.

    Attributes:
        battles: Judged battles of the two.
        wins: Of the one.
        ties: Of both.
        losses: Of the one.
        rate: Share of the wins that the one got, 0–1, ties half.
        interval: Wilson's interval of that share.
        chance: Two-sided exact sign test: how often an even pair's decided battles fall so unevenly, 0–1.
        apart: Whether the test stands at 5 % for all pairs of the board at once (Holm).
    """

    battles: float
    wins: float
    ties: float
    losses: float
    rate: float
    interval: Interval | None
    chance: float
    apart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Meetings:
    """Every pair of systems that met, seen from both sides; `systems` are best first."""

    systems: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Meeting]

    def of(self, system: str, opponent: str) -> Meeting | None:
        """How the one fared against the other; None where they never met."""
        return self.pairs.get((system, opponent))


def read_meetings(head_to_head: Mapping[str, Any]) -> Meetings:
    """The meetings of a board, from the JSON of `HeadToHead.as_json`.

    Source: Dixon & Mood (1946), the sign test; Holm (1979), the correction.
    """
    rows = head_to_head["pairs"]
    wins, losses = (np.array([row[name] for row in rows], dtype=float) for name in ("wins", "losses"))
    chances = sign_test(wins, losses)
    once = np.array([at for at, row in enumerate(rows) if row["system"] < row["opponent"]], dtype=np.int64)
    fallen = {frozenset((rows[at]["system"], rows[at]["opponent"])) for at in once[holm(chances[once])]}
    return Meetings(
        systems=tuple(head_to_head["systems"]),
        pairs={
            (row["system"], row["opponent"]): Meeting(
                battles=row["battles"],
                wins=row["wins"],
                ties=row["ties"],
                losses=row["losses"],
                rate=row["rate"],
                interval=wilson(row["rate"], row["battles"]),
                chance=float(chance),
                apart=frozenset((row["system"], row["opponent"])) in fallen,
            )
            for row, chance in zip(rows, chances, strict=True)
        },
    )


def sign_test(wins: Floats, losses: Floats) -> Floats:
    """The two-sided exact probability of so uneven decided battles where both are equal; 1 without any."""
    decided = np.round(wins + losses)
    fewer = np.floor(np.minimum(wins, losses))
    chances: Floats = np.minimum(1.0, 2 * bdtr(fewer, decided.astype(np.int64), EVEN))
    return np.where(decided > 0, chances, 1.0)
