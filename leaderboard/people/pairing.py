"""Bradley-Terry equations of pairs of systems: solved once, or for a stack of resamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from leaderboard.people.labelled import Floats, Ints

STEPS = 60
HALVINGS = 30
SETTLED = 1e-10
CHORDS = 40
SETTLED_DRAW = 1e-7


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Pairing:
    """The pairs of systems that meet.

    Attributes:
        low: (P,) first system of each pair.
        high: (P,) second.
        systems: S.
    """

    low: Ints
    high: Ints
    systems: int

    @property
    def ends(self) -> csr_array:
        """(S, P): +1 where a system is a pair's first, −1 where it is its second."""
        number = np.arange(len(self.low))
        entries = np.repeat([1.0, -1.0], len(number))
        places = (np.concatenate([self.low, self.high]), np.tile(number, 2))
        return csr_array(coo_array((entries, places), shape=(self.systems, len(number))))

    def laplacian(self, curvature: Floats) -> Floats:
        """(S, S) information from each pair's curvature."""
        matrix = np.zeros((self.systems, self.systems))
        np.add.at(matrix, (self.low, self.high), -curvature)
        np.add.at(matrix, (self.high, self.low), -curvature)
        matrix[np.diag_indices_from(matrix)] = -matrix.sum(axis=1)
        return matrix

    def inverse(self, curvature: Floats, precision: float = 0.0) -> Floats:
        """(S, S) inverse information; without a precision, in the gauge of mean 0."""
        matrix = self.laplacian(curvature)
        size = self.systems
        if precision:
            return np.asarray(np.linalg.inv(matrix + precision * np.eye(size)))
        lift = np.trace(matrix) / size**2
        return np.asarray(np.linalg.inv(matrix + lift) - 1 / (lift * size**2))


def climb(
    pairing: Pairing, wins: Floats, totals: Floats, *, precision: float = 0.0, start: Floats | None = None
) -> Floats | None:
    """Log-odds ratings whose expected wins are the given ones; None where there are none.

    Args:
        pairing: The pairs.
        wins: (P,) of each pair's first system; may leave 0 to `totals`.
        totals: (P,) battles.
        precision: Of a normal prior around 0 on every rating.
        start: (S,) where to start.
    """
    ends = pairing.ends

    def value(theta: Floats) -> float:
        gap = theta[pairing.low] - theta[pairing.high]
        likelihood = wins @ gap - totals @ np.logaddexp(0, gap)
        return float(likelihood - precision / 2 * theta @ theta)

    theta = np.zeros(pairing.systems) if start is None else start
    here = value(theta)
    for _ in range(STEPS):
        share = expit(theta[pairing.low] - theta[pairing.high])
        slope = ends @ (wins - totals * share) - precision * theta
        step = _newton_step(pairing, totals * share * (1 - share), slope, precision)
        if step is None:
            return None
        size, there = 1.0, value(theta + step)
        for _ in range(HALVINGS):
            if there >= here - 1e-12 * abs(here):
                break
            size /= 2
            there = value(theta + size * step)
        theta, here = theta + size * step, there
        if np.abs(step).max(initial=0.0) < SETTLED:
            return theta
    return None


def _newton_step(pairing: Pairing, curvature: Floats, slope: Floats, precision: float) -> Floats | None:
    if not curvature.max(initial=0.0) > 0:
        return None
    try:
        return np.asarray(pairing.inverse(curvature, precision) @ slope)
    except np.linalg.LinAlgError:
        return None


def climb_draws(
    pairing: Pairing, wins: Floats, totals: Floats, start: Floats, inverse: Floats, *, precision: float = 0.0
) -> Floats:
    """(S, B) ratings of B resamples; NaN where a resample has none.

    All take steps with the full fit's inverse information; the few that do not settle are climbed alone.

    Args:
        pairing: The pairs.
        wins: (P, B) of each pair's first system.
        totals: (P, B) battles.
        start: (S,) the full fit.
        inverse: (S, S) its inverse information.
        precision: As of `climb`.
    """
    ends = pairing.ends
    theta = np.repeat(start[:, None], wins.shape[1], axis=1)
    active = np.arange(wins.shape[1])
    for _ in range(CHORDS):
        point = theta[:, active]
        share = expit(point[pairing.low] - point[pairing.high])
        step = inverse @ (ends @ (wins[:, active] - totals[:, active] * share) - precision * point)
        theta[:, active] = point + step
        active = active[~(np.abs(step).max(axis=0) < SETTLED_DRAW)]
        if not len(active):
            return theta
    for draw in active.tolist():
        alone = climb(pairing, wins[:, draw], totals[:, draw], precision=precision)
        theta[:, draw] = np.nan if alone is None else alone
    return theta
