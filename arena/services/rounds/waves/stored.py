"""A round in waves as it is stored, turned into what waves are planned from and boards are estimated from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.battle_table import shares_in, table_of_columns
from arena.services.rounds.waves.settings import WaveSettings
from data.records import BattleColumns, EndOfWaves, Outcome, Round, Wave, WaveArrays
from data.store import Store
from leaderboard.sampling.waves import WaveState

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
NEVER = 10**9
EVEN = 0.5


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class StoredWaves:
    """A round in waves as it is stored.

    Attributes:
        columns: Every planned battle.
        arrays: Waves and proxy shares of the same battles, in the same order.
        waves: The waves so far.
        end: Why there is no further one; None while there may be.
    """

    columns: BattleColumns
    arrays: WaveArrays
    waves: tuple[Wave, ...]
    end: EndOfWaves | None

    @classmethod
    def read(cls, store: Store, round_: Round, settings: WaveSettings) -> StoredWaves:
        """Read a round's state."""
        return cls(
            columns=store.verdicts.columns(round_.name),
            arrays=store.waves.arrays(round_.id, len(settings.cheap)),
            waves=store.waves.of_round(round_.id),
            end=store.waves.end_of(round_.id),
        )

    @property
    def cut_off(self) -> bool:
        """Whether the budget cut the last wave off, so that nothing is estimated from it."""
        return bool(self._ended(Outcome.SKIPPED).any())

    @property
    def complete(self) -> tuple[Wave, ...]:
        """The waves that estimates depend on: one that was cut off judged what came first, no sample."""
        skipped = self.arrays.wave[self._ended(Outcome.SKIPPED)]
        first_cut = int(skipped.min()) if len(skipped) else NEVER
        return tuple(wave for wave in self.waves if wave.number < first_cut)

    @property
    def kept(self) -> Flags:
        """(N,) whether a battle is part of what is estimated: judged in a complete wave, or never drawn.

        What was drawn and gave no verdict is left out, as in rounds that judge everything; what lacks an
        answer too.
        """
        last = self.complete[-1].number if self.complete else 0
        drawn = (self.arrays.wave > 0) & (self.arrays.wave <= last)
        missing = self._ended(Outcome.MISSING)
        kept: Flags = np.where(drawn, self.columns.preference >= 0, ~missing)
        return kept

    @property
    def verdicts(self) -> Floats:
        """(N,) the judge's share of side a, NaN where it gave none in a complete wave."""
        last = self.complete[-1].number if self.complete else 0
        known = (self.columns.preference >= 0) & (self.arrays.wave > 0) & (self.arrays.wave <= last)
        verdicts: Floats = np.where(known, shares_in(self.columns), np.nan)
        return verdicts

    def _ended(self, outcome: Outcome) -> Flags:
        ended: Flags = self.columns.outcome == list(Outcome).index(outcome)
        return ended

    @property
    def shares(self) -> Floats:
        """(N, K) share of side a of each planned battle by each proxy judge; even where one gave none."""
        if self.end is not None:
            return self.end.shares
        cheap = np.where(np.isnan(self.arrays.cheap), EVEN, self.arrays.cheap)
        return cheap if cheap.shape[1] else np.full((len(cheap), 1), EVEN)

    @property
    def state(self) -> WaveState:
        """What waves are planned from, and boards estimated from, over the battles that are kept."""
        kept = self.kept
        everything = replace(
            self.columns,
            question=self.columns.question[kept],
            a=self.columns.a[kept],
            b=self.columns.b[kept],
            outcome=self.columns.outcome[kept],
            preference=np.zeros(int(kept.sum()), dtype=np.int8),
            flipped=self.columns.flipped[kept],
            score=None,
        )
        first, *others = self.shares[kept].T
        return WaveState(
            planned=replace(table_of_columns(everything), score=first),
            verdicts=self.verdicts[kept],
            sampling_prob=self.sampling_probs[kept],
            waves=len(self.complete),
            others=tuple(others),
        )

    @property
    def sampling_probs(self) -> Floats:
        """(N,) probability of each planned battle to have been drawn in any complete wave."""
        known = np.isfinite(self.verdicts[self.kept])
        if len(known) and known.all():
            # Where everything is judged nothing is estimated, whatever the waves before said.
            return np.ones(len(self.kept))
        return self.complete[-1].sampling_probs if self.complete else np.zeros(len(self.kept))
