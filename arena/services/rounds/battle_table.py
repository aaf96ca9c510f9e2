"""Battle tables for standings, and the live standings of a round."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from data.models import BattleColumns, Outcome, Preference, Round
from data.models.words import to_json
from data.store import Store
from leaderboard.battles import BattleTable
from leaderboard.columns import CodedColumn
from leaderboard.standings.sections import JudgedShare, JudgedShares

_MISSING = list(Outcome).index(Outcome.MISSING)
ROWS_AT_ONCE = 1 << 20
HALF = 0.5
WINNERS = {Preference.A: "model_a", Preference.B: "model_b", Preference.TIE: "tie"}


def table_of_columns(battles: BattleColumns) -> BattleTable:
    """Return the judged battles as a table for ratings and rates."""
    chosen = battles.preference >= 0
    judged = slice(None) if chosen.all() else chosen  # A slice copies nothing.
    question = battles.question[judged]
    labels = list(dict.fromkeys(battles.domains))
    codes = {label: code for code, label in enumerate(labels)}
    kind = np.min_scalar_type(-max(len(labels), 1))  # Saves memory over millions of battles.
    domain = np.array([codes[label] for label in battles.domains], dtype=kind)
    score = None if battles.score is None else battles.score[judged]
    table = BattleTable.from_columns(
        question_id=CodedColumn(question, battles.questions),
        domain=CodedColumn(domain[question], labels),
        model_a=CodedColumn(battles.a[judged], battles.systems),
        model_b=CodedColumn(battles.b[judged], battles.systems),
        winner=CodedColumn(battles.preference[judged], [WINNERS[preference] for preference in Preference]),
    )
    return replace(table, score=None if score is None or np.isnan(score).all() else score)


def outcomes_of(battles: BattleColumns) -> Counter[Outcome]:
    """Count battles by outcome."""
    counts = np.bincount(battles.outcome[battles.outcome >= 0], minlength=len(Outcome)).tolist()
    return Counter({outcome: count for outcome, count in zip(Outcome, counts, strict=True) if count})


def outcomes_by_system(battles: BattleColumns) -> Mapping[str, Mapping[Outcome, int]]:
    """Count battles by system and outcome, over all its versions."""
    size = len(Outcome) + 1  # The first column counts pending battles.
    by_system: dict[str, Counter[Outcome]] = {}
    for side in (battles.a, battles.b):
        counts = np.zeros(len(battles.systems) * size, dtype=np.int64)
        for first in range(0, len(battles), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            keys = side[rows].astype(np.int64) * size + battles.outcome[rows] + 1
            counts += np.bincount(keys, minlength=len(counts))
        table = counts.reshape(-1, size)[:, 1:]
        for code in np.flatnonzero(table.any(axis=1)).tolist():
            ended = zip(Outcome, table[code].tolist(), strict=True)
            by_system.setdefault(battles.systems[code], Counter()).update(
                {outcome: count for outcome, count in ended if count}
            )
    return by_system


def judged_shares(battles: BattleColumns) -> JudgedShares:
    """Compute the judged share of the battles without missing answers, overall and by system."""
    judged = battles.preference >= 0
    expected = battles.outcome != _MISSING
    size = len(battles.systems)
    counts = [
        np.bincount(battles.a[chosen], minlength=size) + np.bincount(battles.b[chosen], minlength=size)
        for chosen in (judged, expected, slice(None))
    ]
    return JudgedShares(
        overall=JudgedShare(judged=int(judged.sum()), expected=int(expected.sum())),
        systems={
            system: JudgedShare(judged=int(counts[0][code]), expected=int(counts[1][code]))
            for code, system in enumerate(battles.systems)
            if counts[2][code]
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSystem:
    """Mean win share of a system, 0–1, with its 95 % interval; None without a verdict."""

    system: str
    questions: int = 0
    score: float | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def word(self) -> str:
        """Compare the win share with one half, by its interval."""
        if self.lower is None or self.upper is None or self.lower <= HALF <= self.upper:
            return "not decided"
        return "above 50 %" if self.lower > HALF else "below 50 %"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStanding:
    """Win shares so far, best first, without the reference."""

    questions: int
    planned_questions: int
    systems: tuple[LiveSystem, ...]

    @property
    def sentence(self) -> str:
        """Coverage and validity of the intervals."""
        return (
            f"Verdicts on {self.questions:,} of {self.planned_questions:,} questions. Each 95 % interval is "
            "valid for a single look."
        )

    def as_json(self) -> dict[str, object]:
        """`live` of `arena rounds status --json`."""
        return to_json(self, sentence=self.sentence)


def live_standing(store: Store, round_: Round) -> LiveStanding:
    """Compute win shares from the verdicts stored so far."""
    from leaderboard.rates import win_rates

    battles = store.verdicts.columns(round_.name)
    # Battles with missing answers end at once, so a question counts only once all its battles ended.
    open_ = np.isin(battles.question, battles.question[battles.outcome < 0])
    ended = replace(battles, preference=np.where(open_, -1, battles.preference).astype(np.int8))
    judged = battles.question[ended.preference >= 0]
    rows = win_rates(table_of_columns(ended), by_domain=False).rows if len(judged) else ()
    rates = {row.system: row for row in rows}
    known = sorted(
        (row for row in rows if row.system in round_.plan["systems"]),
        key=lambda row: (-row.mean_score, row.system),
    )
    return LiveStanding(
        questions=len(np.unique(judged)),
        planned_questions=len(np.unique(battles.question)),
        systems=(
            *(
                LiveSystem(
                    system=row.system,
                    questions=row.questions,
                    score=row.mean_score,
                    lower=None if row.score_interval is None else row.score_interval.lower,
                    upper=None if row.score_interval is None else row.score_interval.upper,
                )
                for row in known
            ),
            *(LiveSystem(system=name) for name in sorted(round_.plan["systems"]) if name not in rates),
        ),
    )
