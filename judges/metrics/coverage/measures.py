"""Factuality, coverage and their mean. What does not exist is None, never 0 or 1."""

from __future__ import annotations

BETA = 1.0


def share(part: int, whole: int) -> float | None:
    """A part of a whole, None where there is no whole (ICAT, section 3: S_fact and S_coverage)."""
    return part / whole if whole else None


def icat(factuality: float | None, coverage: float | None, beta: float = BETA) -> float | None:
    """ICAT_β: the harmonic mean of factuality and coverage, coverage counting β times as much.

    Returns:
        0–1; 0 where nothing is covered, even where there is no claim that could be grounded; None where
        either is undefined otherwise.

    Source: ICAT, section 3, ICAT_β.
    """
    if coverage == 0:
        return 0.0
    if factuality is None or coverage is None:
        return None
    square = beta * beta
    weighted = square * factuality + coverage
    return (1 + square) * factuality * (coverage / weighted) if weighted else 0.0
