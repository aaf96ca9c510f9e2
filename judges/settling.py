"""How several preferences become one, and several failures one outcome."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from data.errors import RecordError
from data.records import Outcome, Preference

_WORST_FIRST = (Outcome.SKIPPED, Outcome.FAILED, Outcome.MISSING, Outcome.REFUSED, Outcome.UNREADABLE)


def majority(preferences: Sequence[Preference]) -> Preference:
    """The paper's rule: unanimous → that; all different → tie; else the most common.

    Two preferences that are equally common (possible with four votes or more) are a tie.

    Raises:
        RecordError: There is none.

    Source: RAG-QA Arena, section 4.2.
    """
    return weighted(preferences, [1.0] * len(preferences))


def weighted(preferences: Sequence[Preference], weights: Sequence[float]) -> Preference:
    """The preference with the most weight; where two have the most, a tie.

    Raises:
        RecordError: There is no preference.
    """
    if not preferences:
        message = "There is no preference to settle."
        raise RecordError(message)
    tally = dict.fromkeys(preferences, 0.0)
    for preference, weight in zip(preferences, weights, strict=True):
        tally[preference] += weight
    most = max(tally.values())
    leaders = [preference for preference, weight in tally.items() if math.isclose(weight, most)]
    return leaders[0] if len(leaders) == 1 else Preference.TIE


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a battle whose parts ended in several ways: the one most worth a retry."""
    present = set(outcomes)
    return next(outcome for outcome in _WORST_FIRST if outcome in present)
