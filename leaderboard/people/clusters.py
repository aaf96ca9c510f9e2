"""Variances from questions, with what few labelled questions need.

Leverage: a question pulls the fit towards itself, so its residuals are too small; CR2 divides that out
(Bell & McCaffrey, 2002). Degrees of freedom: those of a sum of unequal parts, Satterthwaite's with the
effective number of clusters (Carter, Schnepel & Steigerwald, 2017). The judge's weight is a number taken
from the same votes: each question's part is measured with the weight that the other questions give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from leaderboard.people.labelled import Floats

LEVEL = 0.95
LEAST_LEFT = 0.02
"""What is left of a residual at least: where a question alone carries a rating, no factor can tell."""


@dataclass(frozen=True, eq=False, slots=True)
class JudgeWeight:
    """How much the judge counts beside votes.

    Attributes:
        whole: The weight that minimises the summed variances.
        without: (Q,) the weight when a question is left out.
    """

    whole: float
    without: Floats


def judge_weight(votes: Floats, judge: Floats) -> JudgeWeight:
    """The weight of the judge under which votes less judge vary least, never below 0.

    Args:
        votes: (Q, K) each question's part in the error of votes alone.
        judge: (Q, K) its part in the judge's error on the labelled battles.

    Source: Angelopoulos et al. (2024), "PPI++", section 4.
    """
    joint, square = (votes * judge).sum(axis=1), (judge**2).sum(axis=1)
    if not square.sum() > 0:
        return JudgeWeight(0.0, np.zeros(len(votes)))
    left = np.maximum(square.sum() - square, 1e-12 * square.sum())
    return JudgeWeight(
        float(max(joint.sum() / square.sum(), 0.0)), np.maximum((joint.sum() - joint) / left, 0.0)
    )


def unlevered(design: Floats, residual: Floats) -> Floats:
    """(k,) residuals of one question's battles with its own pull on the fit divided out (CR2).

    Args:
        design: (k, m) rows with design designᵀ the question's leverage.
        residual: (k,) standardised residuals.
    """
    left, pull, _ = np.linalg.svd(design, full_matrices=False)
    factor = 1 / np.sqrt(np.maximum(1 - pull**2, LEAST_LEFT))
    return np.asarray(residual + left @ ((factor - 1) * (left.T @ residual)))


def freedom(parts: Floats, rest: Floats) -> Floats:
    """(K,) degrees of freedom of variances made of clusters' parts, at least 1.

    Args:
        parts: (Q, K) expected share of each labelled question.
        rest: (K,) expected share of everything else, which is many small parts.
    """
    total = parts.sum(axis=0) + rest
    square = (parts**2).sum(axis=0)
    found = np.divide(total**2, square, out=np.full(len(total), np.inf), where=square > 0)
    return np.asarray(np.maximum(found - 1, 1.0))


def reach(degrees: Floats, level: float = LEVEL) -> Floats:
    """How many standard errors an interval reaches, by Student's t."""
    return np.asarray(stdtrit(np.minimum(degrees, 1e6), (1 + level) / 2))
