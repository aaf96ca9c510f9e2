"""The lines of a domain by the domain's own battles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arena.site.boards.view_model import Line
from leaderboard.ratings.ranks import letters, places_among

LEAST_QUESTIONS = 20
"""Below this a domain has no ratings of its own: what they say is borrowed from the other domains."""


def by_own_battles(lines: tuple[Line, ...], *, judged_here: bool) -> tuple[Line, ...]:
    """Order, places and letters by shares of battles not lost, where ratings are not the domain's own.

    Ratings of a domain are drawn towards the overall ones, so places that they give are not the domain's.
    Here two systems are separated where the intervals of their shares do not meet. Ratings stay where the
    domain has `LEAST_QUESTIONS`, as drawn ones, and are left out below that.

    Args:
        lines: Of one domain, best first.
        judged_here: Whether it is a domain whose questions are known; other lines stay as they are.
    """
    few = max((line.own_rates.questions for line in lines), default=0) < LEAST_QUESTIONS
    if not judged_here or not (few or any(line.own_evidence is not None for line in lines)):
        return lines
    rates = {line.system: None if line.unranked else line.win_tie for line in lines}
    ordered = sorted(lines, key=lambda line: -1.0 if (rate := rates[line.system]) is None else rate.value)[
        ::-1
    ]
    spans = [rate.span for line in ordered if (rate := rates[line.system]) is not None]
    placed = iter(places_among(letters(_apart(spans))) if spans else ())
    return tuple(_placed(line, next(placed) if rates[line.system] else None, few=few) for line in ordered)


def _apart(spans: Sequence[tuple[float, float]]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(S, S) whether two intervals do not meet."""
    lower, upper = np.array(spans).T
    above: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = lower[:, None] > upper[None, :]
    return above | above.T


def _placed(line: Line, place: tuple[int, int, str] | None, *, few: bool) -> Line:
    best, worst, text = (None, None, None) if place is None else place
    if few:
        line = replace(line, rating=None, own_evidence=None, flags=())
    return replace(line, rank_lower=best, rank_upper=worst, letters=text, ladder=0)
