"""The parts of an error, and what they make of estimates and their differences.

Source: docs/method/judge-error.md, "The full interval".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from leaderboard.ratings.counts import Floats, Ints
from leaderboard.vocabulary import ErrorKind

MOST_FREEDOM = 1e6
LEAST_VARIANCE = 1e-18
"""In squared log-odds or shares; below it a spread is rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """What the components depend on.

    Attributes:
        battles: Of the estimate.
        wordings: Whose shifts were compared; 1 where wordings cannot be told.
        left_out: Wordings that too few battles were read in.
        reworded: Battles read in all of these wordings.
        repeated: Battles asked again in the same words; 0 where repeats cannot be told.
    """

    battles: int
    wordings: int
    left_out: Ints
    reworded: int
    repeated: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """A variance and its degrees of freedom; the interval reaches Student's t times its root.

    Attributes:
        variance: Any shape; NaN where it cannot be told.
        freedom: The same shape.
        part: The error of a part of the causes. Few degrees of freedom of one cause count for less beside the
            others, so that its interval alone may reach further; the whole never reaches less.
    """

    variance: Floats
    freedom: Floats
    part: Spread | None = None

    def reach(self, level: float) -> Floats:
        """How far the interval of a level reaches to either side."""
        own = np.sqrt(self.variance) * stdtrit(self.freedom, (1 + level) / 2)
        return np.asarray(own if self.part is None else np.maximum(own, self.part.reach(level)))

    def p_values(self, gap: Floats) -> Floats:
        """How likely a distance from 0 at least as large is by chance; 1 without any spread."""
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = 2 * stdtr(self.freedom, -np.abs(gap) / np.sqrt(self.variance))
        own = np.where(self.variance > LEAST_VARIANCE, p_value, 1.0)
        return np.asarray(own if self.part is None else np.maximum(own, self.part.p_values(gap)))


@dataclass(frozen=True, slots=True)
class View:
    """What variances are of: of estimates, or of their differences.

    Attributes:
        variance: From a (D, D) covariance to them.
        units: From (D,) units behind estimates to those behind them.
        estimable: From (D,) to whether they can be told.
    """

    variance: Callable[[Floats], Floats]
    units: Callable[[Floats], Floats]
    estimable: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnShare:
    """How much of a judge's error an estimate has that is itself a mean of readings.

    Attributes:
        wordings: Σ c², with c the share of each wording in the estimate: 1 for one wording.
        by_question: The mean over battles of one by the wordings that it was read in.
        repeats: The mean over battles of the variance of their means, in that of a single reading.
    """

    wordings: float
    by_question: float
    repeats: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Reworded:
    """What battles tell that were read in several wordings; covariances as of `Components`.

    Attributes:
        between: Of the wordings' moves around their mean, as measured.
        within: What of `between` is no shift: chance, and what a wording does on single questions.
        by_question: What a wording does on single questions, repeats included.
        units: (D,) questions that wordings were compared on.
        estimable: (D,) for which targets this can be told.
    """

    between: Floats
    within: Floats
    by_question: Floats
    units: Floats
    estimable: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Components:
    """The parts of the error of D estimates: (D, D) covariances in the squared unit of the estimates.

    Those of the judge are what one reading of all battles adds; what cannot be told is None.

    Attributes:
        sampling: Of the estimate over questions (the sandwich), what its readings add included.
        questions: (D,) questions behind it.
        reworded: Of the wordings.
        by_question: What a wording does on single questions; with repeats where these cannot be told.
        repeats: What another call in the same words changes.
        estimable: (D,) for which targets there are parts of the judge.
        own: How much of these parts the estimate has itself.
        counts: What all this depends on.
    """

    sampling: Floats
    questions: Floats
    reworded: Reworded | None
    by_question: Floats | None
    repeats: Floats | None
    estimable: NDArray[np.bool_]
    own: OwnShare
    counts: Counts

    def of_targets(self, kind: ErrorKind) -> Spread:
        """(D,) error of each estimate."""
        return self._spread(kind, _TARGETS)

    def of_differences(self, kind: ErrorKind) -> Spread:
        """(D, D) error of each difference of two estimates."""
        return self._spread(kind, _DIFFERENCES)

    def deviations(self) -> tuple[Floats, Floats | None, Floats | None, Floats | None]:
        """(D,) standard deviations of a new round, by cause.

        Returns:
            Of questions, wordings, wordings on single questions, and repeats; None for what cannot be told.
        """
        sampled, shift, by_question, repeats = self._parts(_TARGETS)
        return (
            np.sqrt(sampled),
            None if self.reworded is None else np.sqrt(shift),
            None if self.by_question is None else np.sqrt(by_question),
            None if self.repeats is None else np.sqrt(repeats),
        )

    def _parts(self, view: View) -> tuple[Floats, Floats, Floats, Floats]:
        """Variances of a new round, 0 for what cannot be told: what a difference leaves below 0 is none."""
        nothing = np.zeros_like(view.variance(self.sampling))
        by_question = nothing if self.by_question is None else np.maximum(view.variance(self.by_question), 0)
        repeats = nothing if self.repeats is None else view.variance(self.repeats)
        shift = nothing
        if self.reworded is not None:
            shift = np.maximum(view.variance(self.reworded.between) - view.variance(self.reworded.within), 0)
        judged = self.own.by_question * by_question + self.own.repeats * repeats
        return np.maximum(view.variance(self.sampling) - judged, 0), shift, by_question, repeats

    def _spread(self, kind: ErrorKind, view: View) -> Spread:
        sampled, shift, by_question, repeats = self._parts(view)
        questions = view.units(self.questions)
        units = questions if self.reworded is None else view.units(self.reworded.units)
        new = shift + by_question + repeats
        estimate = self.own.wordings * shift
        squares = np.zeros_like(new)
        if self.reworded is not None:
            between = (1 + self.own.wordings) * view.variance(self.reworded.between)
            squares += between**2 / (self.counts.wordings - 1)
        if kind is ErrorKind.JUDGE:
            estimate = estimate + self.own.by_question * by_question + self.own.repeats * repeats
            squares += (by_question + repeats) ** 2 / np.maximum(units - 1, 1)
        else:
            estimate, new = estimate + view.variance(self.sampling), new + sampled
            squares += (view.variance(self.sampling) + sampled) ** 2 / np.maximum(questions - 1, 1)
        total = estimate + new
        freedom = np.divide(total**2, squares, out=np.full_like(total, MOST_FREEDOM), where=squares > 0)
        return Spread(
            variance=np.where(view.estimable(self.estimable), total, np.nan),
            freedom=np.clip(freedom, max(self.counts.wordings - 1, 1), MOST_FREEDOM),
            part=None if kind is ErrorKind.JUDGE else self._spread(ErrorKind.JUDGE, view),
        )


def _diagonal(matrix: Floats) -> Floats:
    return np.diag(matrix).copy()


def _differences(matrix: Floats) -> Floats:
    inner = np.diag(matrix)
    return np.asarray(inner[:, None] + inner - matrix - matrix.T)


_TARGETS = View(_diagonal, lambda units: units, lambda estimable: estimable)
_DIFFERENCES = View(
    _differences,
    lambda units: np.minimum.outer(units, units),
    lambda estimable: np.logical_and.outer(estimable, estimable),
)
