"""Result of every rating method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import NotFoundError
from data.models.words import to_json
from leaderboard.ratings.ranks import is_separated
from leaderboard.ratings.uncertainty.intervals import PairedErrors
from leaderboard.ratings.vocabulary import Anchor, Bounds, Cluster, Flag, IntervalKind, Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One system's rating.

    Attributes:
        rating: In points; None if the estimate does not exist (see `flags`).
        se: Standard error in points, relative to the anchor or the mean; None if unknown.
        lower: Lower end of the 95 % interval; the one-sided 95 % bound of a system that never loses.
        upper: Upper end; the one-sided 95 % bound of a system that never wins.
        rank: Rank in its ladder, 1 for the best; equal ratings share it.
        rank_lower: Best possible rank, simultaneously for all systems (95 %).
        tie_group: 1 for the leader and all systems not separated from it, 2 for the next group, …
        letters: Two systems of a ladder share a letter if and only if their paired difference is not
            significant, for all pairs at once (95 %); None if there are too many systems.
        component: Group of systems on one scale: 0 for the main group, 1, 2, … for the rest.
        ladder: Systems that are ranked together because chains of battles link them: 0 with the main group.
        own_evidence: Share, 0–1, of a domain's rating that comes from the domain's own battles; None if the
            rating does not borrow from the overall one.
    """

    system: str
    rating: float | None
    se: float | None
    lower: float | None
    upper: float | None
    rank: int
    rank_lower: int
    rank_upper: int
    tie_group: int
    letters: str | None = None
    battles: int
    component: int = 0
    ladder: int = 0
    flags: tuple[Flag, ...] = ()
    own_evidence: float | None = None

    def as_json(self) -> dict[str, object]:
        """Return the fields of `arena battles rate` (docs/json.md)."""
        return to_json(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a table; equal settings and battles give equal bytes.

    Attributes:
        bootstrap: Number of resamples; None without resampling.
        anchor: Fixed system; None if ratings average 1000.
    """

    method: Method = Method.BRADLEY_TERRY
    interval: IntervalKind = IntervalKind.BOOTSTRAP
    bootstrap: int | None = 1000
    cluster: Cluster = Cluster.QUESTION
    bounds: Bounds = Bounds.PERCENTILE
    anchor: Anchor | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class RatingTable:
    """Ratings with their settings and uncertainty.

    Attributes:
        ratings: Best first: the main group, then the other groups.
        systems: Names in the order of the arrays below.
        points: (S,) ratings in points, NaN without a rating.
        draws: (B, S) joint draws in points; None for sandwich intervals and above `SPARSE_ABOVE` systems.
        covariance: (S, S) in squared points; None above `SPARSE_ABOVE` systems.
        errors: Standard errors of differences, behind letters, ranks and probabilities; None above
            `SPARSE_ABOVE` systems.
        component: (S,) group of each system, 0 for the main one.
        gradient_norm: Convergence certificate: the largest difference, over systems, of observed and
            expected wins, as a share of the system's battles; None for online Elo.
        tie_parameter: Davidson's ν or Rao and Kupper's threshold (as a ratio); else None.
        draws_without_estimate: Resamples without an estimate, left out of intervals.
        notes: Sentences on settings that the battles required.
    """

    ratings: tuple[Rating, ...]
    settings: Settings
    systems: tuple[str, ...]
    points: NDArray[np.float64]
    draws: NDArray[np.float64] | None
    covariance: NDArray[np.float64] | None
    errors: PairedErrors | None
    component: NDArray[np.int32]
    questions: int
    gradient_norm: float | None
    tie_parameter: float | None = None
    draws_without_estimate: int = 0
    notes: tuple[str, ...] = ()

    def of(self, system: str) -> Rating:
        """Return the rating of a system."""
        for rating in self.ratings:
            if rating.system == system:
                return rating
        raise NotFoundError(
            f"No battle involves the system {system}.", advice="Use a name of the battle file."
        )

    def separates(self, first: str, second: str) -> bool:
        """Return whether two systems differ significantly, corrected for all pairs in the table."""
        return is_separated(self.of(first), self.of(second))

    def code(self, system: str) -> int:
        """Return the index of a system in the arrays."""
        if system not in self.systems:
            self.of(system)
        return self.systems.index(system)

    def as_json(self) -> dict[str, object]:
        """Return the object that `arena battles rate --json` prints."""
        anchor = self.settings.anchor
        return {
            "ratings": [rating.as_json() for rating in self.ratings],
            "method": self.settings.method.value,
            "interval": self.settings.interval.value,
            "bootstrap": self.settings.bootstrap,
            "cluster": self.settings.cluster.value,
            "seed": self.settings.seed,
            "anchor": None if anchor is None else anchor.as_json(),
            "bounds": self.settings.bounds.value,
            "gradient_norm": self.gradient_norm,
            "tie_parameter": self.tie_parameter,
            "draws_without_estimate": self.draws_without_estimate,
            "notes": list(self.notes),
        }
