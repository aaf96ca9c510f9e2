"""How several preferences or judgments become one verdict, and several failures one outcome."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from data.errors import RecordError
from data.records import Judgment, Outcome, Preference, Verdict
from judges.spec import ReplyFormat

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


def degree(judgment: Judgment) -> float:
    """How far a judgment leans to b, −1…1: its margin, or the preference alone."""
    if judgment.margin is not None:
        return judgment.margin
    return {Preference.A: -1.0, Preference.B: 1.0}.get(judgment.preference or Preference.TIE, 0.0)


def settle(orders: Sequence[Sequence[Judgment]], *, reply_format: ReplyFormat, note: str = "") -> Verdict:
    """Settle a battle from the judgments of one or both orders.

    Votes of one order settle by majority; orders that disagree settle as a tie and are a position
    flip. One order that is not judged leaves the battle not judged. Log-probability judges add a
    score, the mean share of the win that a gets.
    """
    judgments = tuple(judgment for order in orders for judgment in order)
    bad = [judgment for order in orders for judgment in spoiling(order)]
    if bad:
        outcome = worst(judgment.outcome for judgment in bad)
        detail = next(judgment.detail for judgment in bad if judgment.outcome is outcome)
        return Verdict(outcome=outcome, detail=detail, judgments=judgments)
    preferences = [majority(_preferences(order)) for order in orders]
    flipped = len(set(preferences)) > 1 if len(orders) > 1 else None
    margins = [judgment.margin for judgment in judgments if judgment.margin is not None]
    soft = reply_format is ReplyFormat.LOGPROBS and len(margins) == len(judgments)
    return Verdict(
        outcome=Outcome.JUDGED,
        preference=Preference.TIE if flipped else preferences[0],
        score=(1 - fmean(margins)) / 2 if soft else None,
        flipped=flipped,
        detail=note,
        judgments=judgments,
    )


def spoiling(votes: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that keep one order's votes from settling.

    Any vote that failed or was skipped, since asking again can mend it; votes that were unreadable or
    refused only where they leave no more than half of the votes.
    """
    stopped = [vote for vote in votes if vote.outcome in {Outcome.FAILED, Outcome.SKIPPED}]
    unread = [vote for vote in votes if vote.outcome in {Outcome.UNREADABLE, Outcome.REFUSED}]
    return stopped or (unread if 2 * len(unread) >= len(votes) else [])


def _preferences(judgments: Iterable[Judgment]) -> list[Preference]:
    return [judgment.preference for judgment in judgments if judgment.preference is not None]
