"""How much of an estimate's error is the questions', how much the judge's: its wording's and its readings'.

Every estimate here solves Σ x (y − f(xᵀθ)) = 0 over battles, so that near its solution the share y of a
battle moves it by H⁻¹ x y, with H = Σ v x xᵀ. Readings of one battle in several wordings differ by what the
wording does to each system everywhere (its shift), by what it does on this question, and by chance; the three
are told apart by an analysis of variance on these moves.

Sources: Brennan (2001), "Generalizability theory" (crossed designs); Searle, Casella & McCulloch (1992),
"Variance components" (expected mean squares); Satterthwaite (1946) (degrees of freedom); Cameron, Gelbach &
Miller (2011) (variances by more than one kind of cluster).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from leaderboard.ratings.counts import Floats, Ints
from leaderboard.trust.judge_error.components import Components, Counts, OwnShare, Reworded
from leaderboard.trust.judge_error.design import Design
from leaderboard.trust.judge_error.readings import Cells

SEVERAL = 2
"""Wordings, readings or questions from which on a variance can be told."""
LEAST_COMPLETE = 0.5
"""Share of the battles read in two wordings or more that must be read in all wordings that count."""


def components(
    design: Design, cells: Cells, own: Cells, *, sampling: Floats, questions: Floats, column: int = 0
) -> Components:
    """Tell the parts of an error from battles that were read again.

    Where only a part of the battles was, each of them stands for its stratum's: the parts are those of a
    round of all battles.

    Args:
        design: Which targets each battle bears on.
        cells: Every reading; battles are rows of the design.
        own: Those that the estimate depends on.
        sampling: (D, D) covariance of the estimates over questions.
        questions: (D,) questions behind it.
        column: Of the readings' values.
    """
    rows, codes, means, left_out = _complete(cells, column)
    reworded = _reworded(design, rows, means) if len(codes) >= SEVERAL and len(rows) >= SEVERAL else None
    repeated = _repeated(design, cells, column)
    repeats, again, estimable = (None, 0, np.ones(design.targets, bool)) if repeated is None else repeated
    by_question = None if reworded is None else reworded.by_question
    if reworded is not None:
        estimable = estimable & reworded.estimable
    if by_question is not None and repeats is not None:
        by_question = by_question - _mean_inverse_count(cells, rows, codes) * repeats
    return Components(
        sampling=sampling,
        questions=questions,
        reworded=reworded,
        by_question=by_question,
        repeats=repeats,
        estimable=estimable,
        own=_own_share(own),
        counts=Counts(
            battles=len(np.unique(own.battle)),
            wordings=1 if reworded is None else len(codes),
            left_out=left_out,
            reworded=0 if reworded is None else len(rows),
            repeated=again,
        ),
    )


def _reworded(design: Design, rows: Ints, means: Floats) -> Reworded:
    """Parts of (n, W) means of the same battles in several wordings."""
    weight = design.weights(rows)
    operator, estimable = design.operator(rows, weight)
    part, free = design.directions[rows], means.shape[1] - 1
    off = means - means.mean(axis=1, keepdims=True)
    moves = operator @ (part.T @ (weight[:, None] * off))
    # A gauge is subtracted alike from all targets, so that residuals do not depend on it.
    residual = off - design.slope[rows][:, None] * (part @ moves)
    units = design.clusters(rows)
    factor = np.sqrt(units / np.maximum(units - 1, 1))
    number = np.unique(design.cluster[rows], return_inverse=True)[1]
    member = csr_array((weight, (number, np.arange(len(rows)))), shape=(number.max() + 1, len(rows)))
    together = np.zeros((design.targets, design.targets))
    for wording in range(means.shape[1]):
        scores = (member @ part.multiply(residual[:, [wording]]).tocsr()).toarray()
        together += scores.T @ scores
    square = (residual**2).sum(axis=1)
    alone, counted = (
        (part.T @ part.multiply((times * square)[:, None]).tocsr()).toarray() for times in (weight, weight**2)
    )
    sampled = design.pairs_within(rows, weight)
    everyone = np.arange(len(design.slope))
    share = design.pairs_within(everyone, np.ones(len(everyone))) / sampled if sampled > 0 else 0.0
    scale = np.outer(factor, factor) / free

    def moved(scores: Floats) -> Floats:
        return np.asarray(operator @ (scores * scale) @ operator.T)

    return Reworded(
        between=moves @ moves.T / free,
        within=moved(together),
        by_question=moved(alone + share * (together - counted)) * _grown(weight, len(everyone)),
        units=units,
        estimable=estimable,
    )


def _repeated(design: Design, cells: Cells, column: int) -> tuple[Floats, int, NDArray[np.bool_]] | None:
    """What another call in the same words changes; calls are independent of one another.

    Returns:
        (D, D) covariance, the battles it is told from, and (D,) for which targets; None without repeats.
    """
    several = cells.count >= SEVERAL
    if not several.any():
        return None
    battle = cells.battle[several]
    freedom = cells.count[several] - 1
    size = len(design.slope)
    pooled = np.bincount(battle, freedom * cells.variance[several, column], size)
    rows = np.unique(battle)
    variance = pooled[rows] / np.bincount(battle, freedom, size)[rows]
    weight = design.weights(rows)
    operator, estimable = design.operator(rows, weight)
    part = design.directions[rows]
    scores = (part.T @ part.multiply((weight * variance)[:, None]).tocsr()).toarray()
    covariance = operator @ scores @ operator.T * _grown(weight, size)
    return np.asarray(covariance), len(rows), estimable


def _grown(weight: Floats, battles: int) -> float:
    """From a variance over the battles that a sample stands for to one over all."""
    return float(weight.sum()) / battles


def _complete(cells: Cells, column: int) -> tuple[Ints, Ints, Floats, Ints]:
    """Battles that were read in all of several wordings.

    Wordings that too few battles were read in are left out, the rarest first.

    Returns:
        (n,) battles, (W,) codes of their wordings, (n, W) their means, and the codes of wordings left out.
    """
    wordings = np.unique(cells.wording)
    size = int(cells.battle.max()) + 1
    read = np.full((size, len(wordings)), np.nan)
    read[cells.battle, np.searchsorted(wordings, cells.wording)] = cells.mean[:, column]
    read_in = ~np.isnan(read)
    retested = read_in.sum(axis=1) >= SEVERAL
    kept = np.arange(len(wordings))
    while len(kept) > SEVERAL and (read_in[:, kept].all(axis=1).sum() < LEAST_COMPLETE * retested.sum()):
        rarest = read_in[retested][:, kept].sum(axis=0).argmin()
        kept = np.delete(kept, rarest)
    rows = np.flatnonzero(read_in[:, kept].all(axis=1)) if len(kept) >= SEVERAL else np.arange(0)
    return rows, wordings[kept], read[np.ix_(rows, kept)], np.setdiff1d(wordings, wordings[kept])


def _mean_inverse_count(cells: Cells, rows: Ints, codes: Ints) -> float:
    """The mean of one by the readings of a battle in a wording, over the compared battles and wordings."""
    used = np.isin(cells.battle, rows) & np.isin(cells.wording, codes)
    return float((1 / cells.count[used]).mean())


def _own_share(own: Cells) -> OwnShare:
    wordings = np.bincount(own.battle).astype(np.float64)
    share = 1 / wordings[own.battle]
    battles = float((wordings > 0).sum())
    each = np.bincount(own.wording, share) / battles
    return OwnShare(
        wordings=float((each**2).sum()),
        by_question=float((share**2).sum() / battles),
        repeats=float((share**2 / own.count).sum() / battles),
    )
