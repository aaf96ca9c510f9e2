"""Other tools: how each reads battles."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from leaderboard.battles import Winner
from leaderboard.peers.battles import WrittenBattles

Rules = Mapping[str, Mapping[str, object]]
"""Names of rules (`rules.toml`), with the values of their texts."""


class Peer(ABC):
    """A tool that rates battles; `ridge` × their number is added to the Hessian's diagonal."""

    ridge: ClassVar[float] = 0.0

    @abstractmethod
    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Return the battles as the tool understands the words of their winners."""


class ArenaRank(Peer):
    """arena-rank's Bradley-Terry of the plain data set."""

    ridge = 1e-5

    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Make half a win of each word that its default map does not know."""
        known = np.isin(battles.words, ("model_a", "model_b", "tie", "both_bad"))
        winner = np.where(known, battles.table.winner, np.int8(Winner.TIE))
        return replace(battles, table=replace(battles.table, winner=winner))


class Evalica(Peer):
    """evalica's Bradley-Terry, given `Winner` values for sides; words of ties are not translated."""

    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Drop ties that its file reader does not know."""
        return battles.without(battles.tied & (np.char.lower(battles.words) != "tie"))
