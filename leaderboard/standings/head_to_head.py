"""Win counts between pairs of systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable, Winner
from leaderboard.rates import whole
from leaderboard.ratings.counts import count_ordered

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class HeadToHead:
    """Results of every pair of systems.

    Attributes:
        wins: (S, S) wins of the row's system against the column's.
        shares: (S, S) sums of the row's system's win shares.
    """

    systems: tuple[str, ...]
    wins: Floats
    ties: Floats
    shares: Floats

    @property
    def battles(self) -> Floats:
        """(S, S) number of battles of each pair."""
        return self.wins + self.wins.T + self.ties

    @property
    def rates(self) -> Floats:
        """(S, S) mean shares of the row's system, ties half; NaN without battles."""
        battles = self.battles
        rates: Floats = np.divide(self.shares, battles, out=np.full(battles.shape, np.nan), where=battles > 0)
        return rates

    def as_json(self) -> dict[str, object]:
        """Return systems, and for every pair with battles: counts and the rate, from both sides."""
        rates, battles = self.rates, self.battles
        return {
            "systems": list(self.systems),
            "pairs": [
                {
                    "system": self.systems[row],
                    "opponent": self.systems[column],
                    "battles": whole(battles[row, column]),
                    "wins": whole(self.wins[row, column]),
                    "ties": whole(self.ties[row, column]),
                    "losses": whole(self.wins[column, row]),
                    "rate": float(rates[row, column]),
                }
                for row, column in zip(*np.nonzero(battles), strict=True)
            ],
        }


def head_to_head(table: BattleTable, order: Sequence[str]) -> HeadToHead:
    """Count wins and ties of every pair of the systems in `order`."""
    counts = _counted(table) if table.score is None and table.weight is None else _summed(table)
    codes = [table.systems.index(system) for system in order]
    wins, ties, shares = (matrix[np.ix_(codes, codes)] for matrix in counts)
    return HeadToHead(systems=tuple(order), wins=wins, ties=ties, shares=shares)


def _counted(table: BattleTable) -> tuple[Floats, Floats, Floats]:
    """(S, S) wins, ties and shares of whole battles without soft labels."""
    size = len(table.systems)
    won, lost, tied = count_ordered(table).reshape(len(Winner), size, size)
    wins, ties = won + lost.T, tied + tied.T
    return wins, ties, wins + ties / 2


def _summed(table: BattleTable) -> tuple[Floats, Floats, Floats]:
    size = len(table.systems)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    share = table.share
    cell = table.a.astype(np.int64) * size + table.b
    mirrored = table.b.astype(np.int64) * size + table.a

    def matrix(from_a: Floats, from_b: Floats) -> Floats:
        both = np.bincount(cell, weight * from_a, size**2) + np.bincount(mirrored, weight * from_b, size**2)
        return both.astype(np.float64).reshape(size, size)

    tied = (table.winner == Winner.TIE).astype(float)
    wins = matrix((table.winner == Winner.A).astype(float), (table.winner == Winner.B).astype(float))
    return wins, matrix(tied, tied), matrix(share, 1 - share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Direct results of one system against another; `rate` is its mean share, 0–1, ties half."""

    battles: float
    wins: float
    ties: float
    losses: float
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Meetings:
    """Results of every pair of systems with battles, from both sides; `systems` are best first."""

    systems: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Meeting]

    def of(self, system: str, opponent: str) -> Meeting | None:
        """Return the results of one system against another; None without battles."""
        return self.pairs.get((system, opponent))


def read_head_to_head(head_to_head: Mapping[str, Any]) -> Meetings:
    """Parse the JSON of `HeadToHead.as_json`."""
    return Meetings(
        systems=tuple(head_to_head["systems"]),
        pairs={
            (row["system"], row["opponent"]): Meeting(
                **{name: row[name] for name in ("battles", "wins", "ties", "losses", "rate")}
            )
            for row in head_to_head["pairs"]
        },
    )
