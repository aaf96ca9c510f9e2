"""Words that commands and ratings share; importing them loads nothing else."""

from __future__ import annotations

from enum import StrEnum


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
