"""What a correction teaches: whether the judge helps, and what more labels would bring."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from leaderboard.people.labelled import Labelled
from leaderboard.people.result import Evidence
from leaderboard.vocabulary import VoteRule

WORTHWHILE = 1.05
"""From this ratio of variances on the judge is said to add something: one label in twenty."""


def evidence_of(labelled: Labelled, rule: VoteRule, *, corrected: float, alone: float) -> Evidence:
    """What a correction depends on.

    Args:
        labelled: The battles, with their votes.
        rule: What several votes on a battle come to.
        corrected: Variance of the corrected estimates, summed over systems.
        alone: The same of those by votes alone.
    """
    return Evidence(
        battles=len(labelled),
        labelled_battles=len(labelled.rows),
        votes=labelled.votes,
        repeated_votes=labelled.repeated,
        annotators=labelled.annotators,
        labelled_questions=len(np.unique(labelled.question[labelled.rows])),
        rule=rule,
        correlation=correlation(labelled),
        gain=alone / corrected if corrected > 0 else None,
    )


def correlation(labelled: Labelled) -> float | None:
    """Correlation of the judge's share with people's within pairs of systems, over all planned battles.

    Labelled battles count by their inverse chances; None where either does not vary within pairs.
    """
    rows, weight = labelled.rows, labelled.weight
    _, pair = np.unique(labelled.low[rows] * len(labelled.systems) + labelled.high[rows], return_inverse=True)
    total = np.bincount(pair, weight)
    judge, people = (
        values - (np.bincount(pair, weight * values) / total)[pair]
        for values in (labelled.judge[rows, 0], labelled.people[:, 0])
    )
    below = float((weight * judge**2).sum() * (weight * people**2).sum())
    return float((weight * judge * people).sum() / math.sqrt(below)) if below > 1e-18 else None  # noqa: PLR2004 - rounding


def advice(evidence: Evidence, widths: Sequence[float | None], wanted: float, unit: str) -> str:
    """Sentences on the judge's use and on the labels that a width needs.

    Args:
        evidence: What the estimates depend on.
        widths: Of the corrected intervals; None for what has none.
        wanted: The width asked about.
        unit: Of the widths.
    """
    known = [width for width in widths if width is not None]
    if not known or evidence.gain is None:
        return "The votes are too few for intervals; label more battles, of every system."
    return f"{_of_judge(evidence.gain)} {_of_labels(evidence, float(np.mean(known)), wanted, unit)}"


def _of_judge(gain: float) -> str:
    if gain >= WORTHWHILE:
        return f"The judge is worth having: votes alone would need {gain:.2f} times as many labels."
    return "The judge adds nothing to the votes alone: their intervals are as narrow without it."


def _of_labels(evidence: Evidence, width: float, wanted: float, unit: str) -> str:
    now = f"Intervals are {_number(width)} {unit} wide on average"
    if width <= wanted:
        return f"{now}; {_number(wanted)} {unit} need no more labels."
    needed = math.ceil(evidence.labelled_battles * (width / wanted) ** 2)
    more = needed - evidence.labelled_battles
    text = f"{now}; {_number(wanted)} {unit} need about {more:,} more labelled battles"
    if needed > evidence.battles:
        return f"{text}, more than the plan has: add questions."
    return f"{text}."


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.3g}"  # noqa: PLR2004 - points are shown whole
