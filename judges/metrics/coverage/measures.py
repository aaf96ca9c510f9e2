"""Factuality, coverage and their mean. What does not exist is None, never 0 or 1."""

from __future__ import annotations

import math

from data.errors import RecordError

BETA = 1.0


def share(part: int, whole: int) -> float | None:
    """A part of a whole, None where there is no whole.

    The share of grounded claims is S_fact, that of covered aspects S_coverage.

    Raises:
        RecordError: The part is negative or more than the whole.

    Source: ICAT, section 3.
    """
    if not 0 <= part <= whole:
        raise RecordError(f"{part} of {whole} is no share.", advice="Count each claim and aspect once.")
    return part / whole if whole else None


def check_beta(beta: float) -> None:
    """Refuse a β that weighs nothing.

    Raises:
        RecordError: It is not a finite positive number.
    """
    if not (math.isfinite(beta) and beta > 0):
        raise RecordError(f"β is {beta}.", advice="Give a positive number; 1 weighs both equally.")


def icat(factuality: float | None, coverage: float | None, beta: float = BETA) -> float | None:
    """ICAT_β: the weighted harmonic mean of factuality and coverage.

    Args:
        factuality: S_fact, 0–1, or None where the answer makes no claim.
        coverage: S_coverage, 0–1, or None where the question has no aspect.
        beta: How many times as much coverage counts.

    Returns:
        0–1; 0 where nothing is covered, even where there is no claim that could be grounded; None where
        either is undefined otherwise.

    Raises:
        RecordError: β is not positive, or a score lies outside 0–1.

    Source: ICAT, section 3, ICAT_β.
    """
    check_beta(beta)
    for score in (factuality, coverage):
        if score is not None and not 0 <= score <= 1:
            raise RecordError(f"A score is {score}.", advice="Factuality and coverage lie within 0 and 1.")
    if coverage == 0:
        return 0.0
    if factuality is None or coverage is None:
        return None
    square = beta * beta
    weighted = square * factuality + coverage
    return (1 + square) * factuality * (coverage / weighted) if weighted else 0.0
