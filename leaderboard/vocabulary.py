"""Words that commands and ratings share; importing them loads nothing else."""

from __future__ import annotations

from enum import StrEnum

OVERALL = "overall"
"""What rates and ratings of all domains together are called."""


class Method(StrEnum):
    """How ratings are estimated."""

    BRADLEY_TERRY = "bradley-terry"
    DAVIDSON = "davidson"
    RAO_KUPPER = "rao-kupper"
    ELO = "elo"
    STYLE = "style"


class IntervalKind(StrEnum):
    """Where standard errors and intervals come from."""

    BOOTSTRAP = "bootstrap"
    SANDWICH = "sandwich"


class Cluster(StrEnum):
    """What is resampled, or summed before squaring: whole questions, or single battles."""

    QUESTION = "question"
    NONE = "none"


class VoteRule(StrEnum):
    """What several votes on one battle come to.

    `MEAN`: the mean of their shares of the win. `MAJORITY`: the side that more than half
    of them name, else a tie.
    """

    MEAN = "mean"
    MAJORITY = "majority"
