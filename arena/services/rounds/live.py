"""How a round stands while it runs, with intervals that looking does not spoil, and with fixed ones after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arena.services.rounds.stopping import StopWhen, in_random_order
from data.intervals import wilson
from data.records import BattleColumns, Outcome, Preference, Round, RoundState
from data.records.plain import to_json
from data.store import Store
from leaderboard.trust.sequences import ERROR, Floats, Ints, mean_bounds, question_scores

if TYPE_CHECKING:
    from leaderboard.ratings import RatingTable

ENDED = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED, RoundState.RETRACTED)
MISSING = list(Outcome).index(Outcome.MISSING)
SHARES = np.array([{Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}[side] for side in Preference])


class IntervalValidity(StrEnum):
    """At how many looks intervals hold."""

    ANYTIME = "anytime"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSystem:
    """One system in a live standing; what is not known yet is None.

    Attributes:
        system: Its name.
        questions: Questions on which it has a score.
        score: Its mean share of the win a question, 0–1.
        lower: Lower end of its 95 % interval.
        upper: Upper end.
        behind: The leader's score less its own, on the questions of both.
        behind_lower: Lower bound of that.
        behind_upper: Upper bound.
        separated: Whether the leader is shown to be better: as the board says once the round has ended.
    """

    system: str
    questions: int
    score: float | None
    lower: float | None
    upper: float | None
    behind: float | None
    behind_lower: float | None
    behind_upper: float | None
    separated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStanding:
    """How the systems of a round stand at this look.

    Attributes:
        intervals: Whether the intervals hold at every look, or at the end alone.
        questions: Questions that it depends on.
        planned_questions: Questions of the round.
        systems: The systems without the reference, best first.
        stop_when: The round's stopping rule; None without.
        ended: Battles that ended, other than by the rule.
        planned: Battles of the round.
        stopped: Whether the rule ended the round.
    """

    intervals: IntervalValidity
    questions: int
    planned_questions: int
    systems: tuple[LiveSystem, ...]
    stop_when: str | None
    ended: int
    planned: int
    stopped: bool

    @property
    def sentence(self) -> str:
        """What its intervals mean, and how the round was stopped."""
        stopped = (
            f"Stopped after {self.ended:,} of {self.planned:,} battles: {self.stop_when or 'separated'}. "
            if self.stopped
            else ""
        )
        if self.intervals is IntervalValidity.FIXED:
            return "The round has ended: 95 % intervals for its fixed number of questions."
        held = f"the first {self.questions:,} of {self.planned_questions:,} questions in random order"
        return f"{stopped}Anytime-valid 95 % intervals on {held}; looking does not spoil them."

    def as_json(self) -> dict[str, object]:
        """`live` of `arena rounds status --json`."""
        return to_json(self, sentence=self.sentence)


def live_standing(store: Store, round_: Round) -> LiveStanding:
    """How the systems of a round stand now, from the stored verdicts.

    While the round runs, and after a stopping rule ended it, intervals are confidence sequences over the
    questions up to the first that has not ended; bounds of differences hold for all systems together. Once a
    round has ended by itself they are those of a fixed number of questions.
    """
    battles = store.verdicts.columns(round_.name)
    names = sorted(round_.plan["systems"])
    reference = store.sets.summary(round_.set_name).reference_name
    codes, scores, complete = _scored(battles, names)
    order = in_random_order(
        [(place, battles.questions[code]) for place, code in enumerate(codes)], round_.seed
    )
    stopped = battles.left_out is not None
    fixed = round_.state in ENDED and not stopped
    first_open = len(order) if complete.all() else int(np.argmin(complete[order]))
    used = scores[order] if fixed else scores[order[:first_open]]
    text = round_.plan.get("stop_when")
    error = (StopWhen.parse(text) if text else StopWhen()).error(max(len(names), 2), ERROR)
    left_out = int(battles.left_out.sum()) if battles.left_out is not None else 0
    return LiveStanding(
        intervals=IntervalValidity.FIXED if fixed else IntervalValidity.ANYTIME,
        questions=len(used),
        planned_questions=len(order),
        systems=_systems(names, used, error, _ratings(battles, reference) if fixed else None, fixed=fixed),
        stop_when=text,
        ended=int((battles.outcome >= 0).sum()) - left_out,
        planned=len(battles),
        stopped=stopped,
    )


def _ratings(battles: BattleColumns, reference: str) -> RatingTable | None:
    """The ratings whose tests say who is separated once a round has ended; None where there are none."""
    from arena.services.rounds.battle_table import table_of_columns  # noqa: PLC0415 - loads scipy, as below
    from leaderboard.standings.build import board_ratings  # noqa: PLC0415 - as above

    return board_ratings(table_of_columns(battles), reference)


def _separated(ratings: RatingTable | None, leader: str, other: str) -> bool | None:
    """Whether ratings tell two systems apart; None where there are none."""
    if ratings is None:
        return None
    return {leader, other} <= set(ratings.systems) and ratings.separates(leader, other)


def _scored(battles: BattleColumns, names: list[str]) -> tuple[Ints, Floats, NDArray[np.bool_]]:
    """(Q,) codes of the round's questions, their (Q, S) scores, and (Q,) whether all their battles ended."""
    codes, question = np.unique(battles.question.astype(np.int64), return_inverse=True)
    place = np.array([names.index(name) if name in names else -1 for name in battles.systems], dtype=np.int64)
    open_ = battles.outcome < 0
    if battles.left_out is not None:
        open_ |= battles.left_out
    complete: NDArray[np.bool_] = np.ones(len(codes), dtype=np.bool_)
    complete[question[open_]] = False
    counted = ~open_ & (battles.outcome != MISSING)
    share = SHARES[np.maximum(battles.preference, 0)]
    if battles.score is not None:
        share = np.where(np.isnan(battles.score), share, battles.score)
    scores = question_scores(
        question[counted],
        (place[battles.a[counted]], place[battles.b[counted]]),
        share[counted],
        battles.preference[counted] < 0,
        (len(codes), len(names)),
    )
    return codes, scores, complete


def _systems(
    names: list[str], scores: Floats, error: float, ratings: RatingTable | None, *, fixed: bool
) -> tuple[LiveSystem, ...]:
    counts = np.isfinite(scores).sum(axis=0)
    means = _means(scores)
    order = sorted(
        range(len(names)), key=lambda place: (-np.nan_to_num(means[place], nan=-1.0), names[place])
    )
    gaps = scores[:, order[:1]] - scores
    ends = _fixed(scores, 0.0) if fixed else mean_bounds(scores, error=ERROR / 2, low=0.0, high=1.0)
    apart = _fixed(gaps, -1.0) if fixed else mean_bounds(gaps, error=error)
    behind = _means(gaps)
    rows = []
    for rank, place in enumerate(order):
        known = bool(counts[place])
        follows = rank > 0 and bool(np.isfinite(behind[place]))
        by_rating = _separated(ratings, names[order[0]], names[place])
        rows.append(
            LiveSystem(
                system=names[place],
                questions=int(counts[place]),
                score=_number(means[place]) if known else None,
                lower=_number(ends[0][place]) if known else None,
                upper=_number(ends[1][place]) if known else None,
                behind=_number(behind[place]) if follows else None,
                behind_lower=_number(apart[0][place]) if follows else None,
                behind_upper=_number(apart[1][place]) if follows else None,
                separated=follows and (bool(apart[0][place] > 0) if by_rating is None else by_rating),
            )
        )
    return tuple(rows)


def _means(values: Floats) -> Floats:
    """(S,) means of what is there; NaN for nothing."""
    count = np.isfinite(values).sum(axis=0)
    total = np.nansum(values, axis=0)
    return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))


def _fixed(values: Floats, low: float) -> tuple[Floats, Floats]:
    """(S,) ends of intervals of the means of values from `low` to 1, NaN where there are none.

    Wilson's, as of the board's win rates, on as many trials as say as much: a t interval of few questions
    reaches beyond what is possible, and is a point where all of them ended alike.
    """
    from leaderboard.stats.intervals import effective_count  # noqa: PLC0415 - loads scipy, not while a round runs

    ends = []
    for column in ((values - low) / (1 - low)).T:
        there = column[np.isfinite(column)]
        count = len(there)
        variance = float(there.var(ddof=1) / count) if count > 1 else 0.0
        mean = float(there.mean()) if count else 0.0
        interval = wilson(mean, effective_count(mean, math.inf, count, variance))
        ends.append((np.nan, np.nan) if interval is None else (interval.lower, interval.upper))
    stacked = low + (1 - low) * np.array(ends, dtype=np.float64).reshape(-1, 2)
    return stacked[:, 0], stacked[:, 1]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
