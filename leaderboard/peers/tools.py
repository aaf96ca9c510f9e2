"""Other tools: their reading of battles and their ratings."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from leaderboard.battles import Winner
from leaderboard.peers.battles import WrittenBattles
from leaderboard.ratings.vocabulary import POINTS, IntervalKind

Rules = Mapping[str, Mapping[str, object]]
"""Names of rules (`rules.toml`), with the values of their texts."""
MAX_RESAMPLED = 10_000
"""Maximum number of battles for evalica's bootstrap, which refits a thousand times."""
COLLAPSED = 1.001e-6
"""Slightly more than evalica's smallest score."""


class Peer(ABC):
    """Tool that rates battles, with its rule for winner words.

    `ridge` × the number of battles is added to the Hessian's diagonal.
    """

    name: ClassVar[str]
    word_rule: ClassVar[str] = "ties"
    weighted: ClassVar[bool] = False
    interval: ClassVar[IntervalKind] = IntervalKind.SANDWICH
    ridge: ClassVar[float] = 0.0

    @property
    def version(self) -> str | None:
        """The installed version; None if it is not installed."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    def readings(self, battles: WrittenBattles) -> Iterator[tuple[Rules, WrittenBattles]]:
        """Yield the battles after each rule of the tool that differs from this project's."""
        score = battles.table.score
        battles = replace(battles, table=replace(battles.table, score=None))
        yield {"scores": {"count": 0 if score is None else int((~np.isnan(score)).sum())}}, battles
        read = self.in_its_words(battles)
        changed = len(battles.table) - len(read.table) or int((read.tied & ~battles.tied).sum())
        yield {self.word_rule: {"count": changed}}, read
        if not self.weighted:
            yield {"weights": {}}, replace(read, table=replace(read.table, weight=None))

    @abstractmethod
    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Return the battles with winners as the tool reads them."""

    @abstractmethod
    def rate(self, battles: WrittenBattles, seed: int) -> tuple[pd.DataFrame, Rules]:
        """Run the tool: `rating`, `lower`, `upper` by system, in points with its own zero, and its rules."""


class ArenaRank(Peer):
    """Arena-rank's Bradley-Terry of the plain data set, with its sandwich intervals."""

    name = "arena-rank"
    word_rule = "words"
    ridge = 1e-5

    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Count words outside its default map as half a win."""
        known = np.isin(battles.words, ("model_a", "model_b", "tie", "both_bad"))
        winner = np.where(known, battles.table.winner, np.int8(Winner.TIE))
        return replace(battles, table=replace(battles.table, winner=winner))

    def rate(self, battles: WrittenBattles, seed: int) -> tuple[pd.DataFrame, Rules]:  # noqa: ARG002 - no draws
        """Fit the original words."""
        from arena_rank.models.bradley_terry import BradleyTerry  # noqa: PLC0415 - an extra
        from arena_rank.utils.data_utils import PairDataset  # noqa: PLC0415 - an extra

        a, b = _sides(battles)
        data = PairDataset.from_pandas(pd.DataFrame({"model_a": a, "model_b": b, "winner": battles.words}))
        board = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
        cells = {name: np.asarray(board[f"rating_{name}"]) for name in ("lower", "upper")}
        return pd.DataFrame({"rating": np.asarray(board["ratings"]), **cells}, index=board["competitors"]), {}


class Evalica(Peer):
    """Evalica's Bradley-Terry with percentile intervals; sides are translated, words for ties are not."""

    name = "evalica"
    weighted = True
    interval = IntervalKind.BOOTSTRAP

    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Drop ties that its file reader does not know."""
        return battles.without(battles.tied & (np.char.lower(battles.words) != "tie"))

    def rate(self, battles: WrittenBattles, seed: int) -> tuple[pd.DataFrame, Rules]:
        """Fit and resample the battles whose winner words its file reader knows."""
        import evalica  # noqa: PLC0415 - an extra
        from evalica.__main__ import WINNERS  # noqa: PLC0415 - an extra

        plain = np.array(["left", "right", ""])[battles.table.winner]
        words = np.where(battles.tied, np.char.lower(battles.words), plain)
        known = np.isin(words, list(WINNERS))
        battles = battles.without(~known)
        a, b = _sides(battles)
        won = [WINNERS[word] for word in words[known]]
        data: dict[str, Any] = {"xs": a, "ys": b, "winners": won, "weights": battles.table.weight}
        if len(won) > MAX_RESAMPLED:
            scores = pd.DataFrame({"rating": evalica.bradley_terry(**data).scores})
            return scores.apply(np.log10) * 400, {"skipped": {}}
        data |= {"bootstrap_method": "percentile", "random_state": seed}
        board = evalica.bootstrap(evalica.bradley_terry, **data)
        scores = pd.DataFrame({"rating": board.result.scores, "lower": board.low, "upper": board.high})
        collapsed = int((board.distribution.max(axis=1) < COLLAPSED).sum())
        return scores.apply(np.log10) * 400, {"collapsed": {"count": collapsed}} if collapsed else {}


class Choix(Peer):
    """Choix' iterative Luce spectral ranking."""

    name = "choix"

    def in_its_words(self, battles: WrittenBattles) -> WrittenBattles:
        """Drop all ties."""
        return battles.without(battles.tied)

    def rate(self, battles: WrittenBattles, seed: int) -> tuple[pd.DataFrame, Rules]:  # noqa: ARG002 - no draws
        """Fit the decided battles, each counted once."""
        import choix  # noqa: PLC0415 - an extra

        table, names = battles.table, list(battles.table.systems)
        wins = np.zeros((len(names), len(names)))
        for won, winner, loser in ((Winner.A, table.a, table.b), (Winner.B, table.b, table.a)):
            np.add.at(wins, (winner[table.winner == won], loser[table.winner == won]), 1.0)
        rating = choix.ilsr_pairwise_dense(wins) * POINTS
        return pd.DataFrame({"rating": rating}, index=names), {"interval": {}}


PEERS: tuple[Peer, ...] = (ArenaRank(), Evalica(), Choix())


def _sides(battles: WrittenBattles) -> tuple[list[str], list[str]]:
    table, names = battles.table, np.array(battles.table.systems, dtype=object)
    return names[table.a].tolist(), names[table.b].tolist()
