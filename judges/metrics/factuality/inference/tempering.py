"""Posteriors of networks too wide for exact inference: parallel tempering with an error estimate.

Many copies of the network are walked at once, at levels from uniform (0) to the network itself (1);
neighbouring levels exchange states, so that the walk at level 1 keeps being renewed from level 0 and
does not stay in one mode. Independent groups of levels give the error. Given its seed, the result
is always the same.

Source: Geyer (1991); Syed et al. (2022), "Non-reversible parallel tempering", for the alternating
exchange and the choice of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import stdtrit

from judges.metrics.factuality.inference.exact import Reduced, Removed, possible_state, reduce_network
from judges.metrics.factuality.inference.network import Floats, Network

GROUPS = 16
FEWEST_LEVELS = 8
MOST_LEVELS = 40
PILOT_SWEEPS = (40, 80, 160, 320)
BLOCKS = 20
BLOCK_SWEEPS = 300
FEWEST_SWEEPS = 5
WORK = 2.0e10
SOFT_FLOOR = 25.0
CERTAINTY = 0.95
MISSED = 3.0
"""With R independent visits, a mode that none of them met has at most 3/R of the mass, 95 % sure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Posteriors by sampling.

    Attributes:
        true: The probability of each variable to be true, shape (variables,).
        error: With 95 % certainty no probability is off by more; 1 where the walk never mixed.
        sweeps: How many sweeps were averaged, a group.
        renewals: How often a state came all the way from level 0 to level 1, over all groups.
    """

    true: Floats
    error: float
    sweeps: int
    renewals: int


def tempered_posteriors(network: Network, *, seed: int = 0, tolerance: float = 0.01) -> Sampled:
    """Sample the posteriors of a network until the error is below the tolerance or the work is done.

    Raises:
        StatisticsError: No assignment has a positive probability.
    """
    reduced = reduce_network(network)
    walk = _Walk(reduced.core, np.random.default_rng(seed))
    walk.settle()
    usage = _Tally(network.size, reduced, walk)
    for _ in range(BLOCKS):
        walk.run(usage.block_sweeps, usage.add)
        if usage.error() <= tolerance:
            break
    return Sampled(true=usage.mean(), error=usage.error(), sweeps=usage.sweeps, renewals=walk.renewals)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Energy:
    """A function of states x: constant + linear·x + ½ x·coupling·x, as log-odds of each variable."""

    linear: NDArray[np.float32]
    coupling: Any

    @classmethod
    def of(cls, unary: Floats, pairs: NDArray[np.int64], tables: Floats) -> _Energy:
        size = len(unary)
        first, second = pairs[:, 0], pairs[:, 1]
        linear = unary[:, 1] - unary[:, 0]
        np.add.at(linear, first, tables[:, 1, 0] - tables[:, 0, 0])
        np.add.at(linear, second, tables[:, 0, 1] - tables[:, 0, 0])
        joint = tables[:, 1, 1] - tables[:, 1, 0] - tables[:, 0, 1] + tables[:, 0, 0]
        half = sparse.csr_array((joint, (first, second)), shape=(size, size))
        return cls(
            linear=linear.astype(np.float32), coupling=sparse.csr_array((half + half.T).astype(np.float32))
        )

    def values(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        fields = self.linear[:, None] + 0.5 * (self.coupling @ states)
        result: NDArray[np.float32] = np.einsum("vc,vc->c", states, fields)
        return result


class _Walk:
    """The copies of the network: `states` has a column a copy, `at` says which of them is at which level."""

    def __init__(self, network: Network, rng: np.random.Generator) -> None:
        self.rng = rng
        self.size = network.size
        floor = -SOFT_FLOOR
        self.soft = _Energy.of(
            np.maximum(network.unary, floor), network.pairs, np.maximum(network.tables, floor)
        )
        hard_unary = -np.isneginf(network.unary).astype(np.float64)
        hard_tables = -np.isneginf(network.tables).astype(np.float64)
        self.hard = _Energy.of(hard_unary, network.pairs, hard_tables)
        self.penalty = _penalty(network) if hard_unary.any() or hard_tables.any() else 0.0
        self.classes = _colour_classes(self.soft.coupling)
        self.rows = [
            (members, self.soft.coupling[members], self.hard.coupling[members]) for members in self.classes
        ]
        self.start = possible_state(network)
        self.renewals = 0
        self._lay_out(np.linspace(0, 1, FEWEST_LEVELS) ** 2)

    def _lay_out(self, levels: Floats) -> None:
        """Start over with other levels."""
        count = len(levels)
        self.levels = levels
        columns = GROUPS * count
        self.at = np.arange(columns).reshape(GROUPS, count)
        self.states = (self.rng.random((self.size, columns)) < 0.5).astype(np.float32)  # noqa: PLR2004 - a fair coin
        self.states[:, self.at[:, -1]] = self.start[:, None]
        self.heat = np.tile(levels.astype(np.float32), GROUPS)
        self.fresh = np.zeros(columns, dtype=np.bool_)
        self.parity = 0
        self.rejected = np.zeros(count - 1)
        self.swaps = np.zeros(count - 1)

    def settle(self) -> None:
        """Choose the levels so that all exchanges succeed equally often, then walk them in."""
        for sweeps in PILOT_SWEEPS:
            self.run(self._affordable(sweeps))
            barrier = np.concatenate([[0.0], np.cumsum(self.rejected / np.maximum(self.swaps, 1) + 1e-3)])
            count = int(np.clip(np.ceil(2 * barrier[-1]) + 2, FEWEST_LEVELS, MOST_LEVELS))
            self._lay_out(np.interp(np.linspace(0, barrier[-1], count), barrier, self.levels))
        self.run(self._affordable(PILOT_SWEEPS[-1]))
        self.renewals = 0

    def _affordable(self, sweeps: int) -> int:
        """Cut a number of sweeps where the network is so large that they would take minutes."""
        cost = (self.soft.coupling.nnz * 2 + self.size * 8) * self.heat.size
        share = WORK / (BLOCKS + 4) / max(cost, 1)
        return int(np.clip(sweeps, FEWEST_SWEEPS, max(FEWEST_SWEEPS, share)))

    def block(self) -> int:
        """How many sweeps a block has."""
        return self._affordable(BLOCK_SWEEPS)

    def run(
        self,
        sweeps: int,
        see: Callable[[NDArray[np.float32], NDArray[np.float32]], None] | None = None,
    ) -> None:
        """Walk; after each sweep `see` gets the states at level 1 and their P(true), (variables, groups)."""
        for _ in range(sweeps):
            top = self.at[:, -1].copy()
            chances = self._sweep(top)
            if see is not None:
                see(self.states[:, top], chances)
            self._exchange()

    def _sweep(self, top: NDArray[np.int64]) -> NDArray[np.float32]:
        chances = np.empty((self.size, GROUPS), dtype=np.float32)
        for members, soft, hard in self.rows:
            odds = self.soft.linear[members, None] + soft @ self.states
            odds *= self.heat
            if self.penalty:
                exact = self.hard.linear[members, None] + hard @ self.states[:, top]
                odds[:, top] += np.float32(self.penalty) * exact
            np.clip(odds, -80, 80, out=odds)
            np.exp(-odds, out=odds)
            odds += 1
            np.reciprocal(odds, out=odds)
            chances[members] = odds[:, top]
            self.states[members] = self.rng.random(odds.shape, dtype=np.float32) < odds
        return chances

    def _exchange(self) -> None:
        energy = self.soft.values(self.states)
        lower = np.arange(self.parity, len(self.levels) - 1, 2)
        self.parity = 1 - self.parity
        cold, hot = self.at[:, lower + 1], self.at[:, lower]
        gain = (self.levels[lower + 1] - self.levels[lower]) * (energy[hot] - energy[cold])
        if self.penalty and lower.size and lower[-1] == len(self.levels) - 2:
            broken = self.hard.values(self.states[:, hot[:, -1]]) - self.hard.values(
                self.states[:, cold[:, -1]]
            )
            gain[:, -1] += self.penalty * broken
        chance = np.exp(np.minimum(gain, 0))
        swap = self.rng.random(gain.shape) < chance
        self.rejected[lower] += (1 - chance).mean(axis=0)
        self.swaps[lower] += 1
        self.at[:, lower + 1] = np.where(swap, hot, cold)
        self.at[:, lower] = np.where(swap, cold, hot)
        self.heat[self.at] = self.levels
        self.fresh[self.at[:, 0]] = True
        top = self.at[:, -1]
        self.renewals += int(self.fresh[top].sum())
        self.fresh[top] = False


class _Tally:
    """Sums of P(true) at level 1, a column a group; removed variables are drawn given each state."""

    def __init__(self, size: int, reduced: Reduced, walk: _Walk) -> None:
        self.core = list(reduced.variables)
        self.removed: tuple[Removed, ...] = tuple(reversed(reduced.removed))
        self.walk = walk
        self.block_sweeps = walk.block()
        self.sums = np.zeros((size, GROUPS))
        self.state = np.zeros((size, GROUPS), dtype=np.int64)
        self.sweeps = 0

    def add(self, states: NDArray[np.float32], chances: NDArray[np.float32]) -> None:
        self.sweeps += 1
        self.sums[self.core] += chances
        self.state[self.core] = states
        draws = self.walk.rng.random((len(self.removed), GROUPS))
        for step, draw in zip(self.removed, draws, strict=True):
            share = step.share[tuple(self.state[other] for other in step.neighbours)]
            self.sums[step.variable] += share
            self.state[step.variable] = draw < share

    def mean(self) -> Floats:
        result: Floats = np.clip(self.sums.mean(axis=1) / max(self.sweeps, 1), 0.0, 1.0)
        return result

    def error(self) -> float:
        """The half-width that holds for all variables at once, or what a mode never met may hide."""
        spread = float((self.sums / max(self.sweeps, 1)).std(axis=1, ddof=1).max()) / np.sqrt(GROUPS)
        tail = (1 - CERTAINTY) / 2 / len(self.sums)
        hidden = MISSED / max(self.walk.renewals, 1)
        return float(min(1.0, max(spread * -stdtrit(GROUPS - 1, tail), hidden)))


def _penalty(network: Network) -> float:
    """What breaking a hard zero must cost, so that all broken states together weigh nothing."""
    finite = np.where(np.isneginf(network.unary), -SOFT_FLOOR, network.unary)
    tables = np.where(np.isneginf(network.tables), -SOFT_FLOOR, network.tables)
    span = np.ptp(finite, axis=1).sum() + np.ptp(tables, axis=(1, 2)).sum()
    return float(span + network.size * np.log(2) + SOFT_FLOOR)


def _colour_classes(coupling: Any) -> list[NDArray[np.int64]]:  # noqa: ANN401 - scipy's sparse arrays are untyped here
    """Sets of variables without a factor between them, so that each set is drawn at once."""
    degree = np.diff(coupling.indptr)
    colour = np.full(len(degree), -1)
    for variable in np.argsort(-degree, kind="stable"):
        used = set(
            colour[coupling.indices[coupling.indptr[variable] : coupling.indptr[variable + 1]]].tolist()
        )
        free = 0
        while free in used:
            free += 1
        colour[variable] = free
    return [np.flatnonzero(colour == shade) for shade in range(int(colour.max(initial=-1)) + 1)]
