"""The next wave of a round, or its end, from what is stored."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.waves.settings import WaveSettings
from arena.services.rounds.waves.stored import StoredWaves
from data.errors import StatisticsError
from data.progress import working
from data.records import EndOfWaves, Round, Wave, WavesEnd
from data.store import Store
from leaderboard.sampling.adaptive import NextBattles
from leaderboard.sampling.asks import Ask, widths_of
from leaderboard.sampling.waves import Ended, WavePlan, next_wave, scores_of

Floats = NDArray[np.float64]
UNLIMITED = 10**9


class WavePlanner:
    """Draws the next wave of a round, or ends it; all from what is stored, so that any worker may."""

    def __init__(self, store: Store, round_: Round, settings: WaveSettings) -> None:
        self._store = store
        self._round = round_
        self._settings = settings

    def advance(self) -> bool:
        """Draw the next wave where the one before is complete; False where there is nothing more to claim.

        Raises:
            NotFoundError: The pair asked about is in no battle.
        """
        waves, number = self._store.waves, self._round.id
        if waves.end_of(number) is not None or waves.open_count(number):
            return False
        with working("planning a wave"):
            stored = StoredWaves.read(self._store, self._round, self._settings)
            following = self._following(stored)
            if isinstance(following, NextBattles):
                self._open(stored, following)
                return True
            waves.end(number, following)
        return False

    def _following(self, stored: StoredWaves) -> NextBattles | EndOfWaves:
        """The next wave over the battles that are kept, or why there is none."""
        in_cap, in_spend = self._rooms(stored)
        state, shares = stored.state, stored.shares
        judged = int(state.judged.sum())
        plan = WavePlan(
            ask=Ask.parse(self._settings.ask),
            target_width=self._settings.target_width,
            cap=max(1, judged + min(in_cap, in_spend)),
            capped_by=WavesEnd.BUDGET if in_cap <= in_spend else WavesEnd.SPEND,
            seed=wave_seed(self._round.seed),
        )
        if not judged and min(in_cap, in_spend) < 1:
            return self._end(shares, plan.capped_by, None)
        try:
            following = next_wave(plan, state)
        except StatisticsError:
            # Everything there is was judged, and is too little to estimate from.
            return self._end(shares, WavesEnd.NOTHING_LEFT, None)
        if not isinstance(following, Ended):
            return following
        width = None if following.widths is None else following.widths.widest
        return self._end(shares, following.reason, width)

    def _rooms(self, stored: StoredWaves) -> tuple[int, int]:
        """How many more battles the cap and the spend leave room for, at what a battle cost so far."""
        drawn, most = int((stored.arrays.wave > 0).sum()), self._settings.verdicts
        in_verdicts = UNLIMITED if most is None else max(0, most - drawn)
        if stored.cut_off:
            return 0, in_verdicts
        paid, battles = self._store.waves.paid(self._round.id)
        if not battles or not paid:
            return UNLIMITED, in_verdicts
        account = self._store.ledgers.account(self._round.id)
        used, each = account.spent + account.lost, paid / battles
        cap, usd = (
            UNLIMITED if limit is None else max(0, int((limit - used) / each + 1e-9))
            for limit in (account.cap, self._settings.usd)
        )
        return cap, min(in_verdicts, usd)

    def _open(self, stored: StoredWaves, following: NextBattles) -> None:
        kept = np.flatnonzero(stored.kept)
        # What is not kept now may be judged later, when it is tried again: its probability is its wave's.
        last = stored.waves[-1].sampling_probs if stored.waves else np.zeros(len(stored.kept))
        sampling_probs = last.copy()
        sampling_probs[kept] = following.sampling_prob
        number = len(stored.waves) + 1
        wave = Wave(
            number=number,
            seed=wave_seed(self._round.seed) + len(stored.complete),
            battles=len(following.chosen),
            width=self._width(stored),
            sampling_probs=sampling_probs,
        )
        self._store.waves.open(self._round.id, wave, stored.arrays.numbers[kept[following.chosen]])

    def _width(self, stored: StoredWaves) -> float | None:
        """What is reached before a wave; None where there is no interval yet."""
        try:
            scored = scores_of(stored.state)
            return _finite(widths_of(scored.table, Ask.parse(self._settings.ask)).widest)
        except StatisticsError:
            return None

    def _end(self, shares: Floats, reason: WavesEnd, width: float | None) -> EndOfWaves:
        return EndOfWaves(reason=reason, width=_finite(width), shares=shares)


def wave_seed(seed: int) -> int:
    """The seed of the draws of a round in waves, apart from its others."""
    return int.from_bytes(hashlib.sha256(f"{seed}:waves".encode()).digest()[:4])


def _finite(width: float | None) -> float | None:
    return width if width is not None and math.isfinite(width) else None
