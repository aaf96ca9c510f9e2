"""Standing of a round while it is judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data.models import Round
from data.models.words import to_json
from data.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSystem:
    """A system in a live standing; None where it has no verdict yet.

    Attributes:
        system: Its name.
        questions: Questions on which it has a verdict.
        score: Mean share of the win, 0–1.
        lower: Lower end of its 95 % interval.
        upper: Upper end.
    """

    system: str
    questions: int = 0
    score: float | None = None
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStanding:
    """Win shares so far.

    Attributes:
        questions: Questions with a verdict.
        planned_questions: Questions of the round.
        systems: The systems without the reference, best first.
    """

    questions: int
    planned_questions: int
    systems: tuple[LiveSystem, ...]

    @property
    def sentence(self) -> str:
        """Coverage and validity of the intervals."""
        return (
            f"Verdicts on {self.questions:,} of {self.planned_questions:,} questions. The 95 % intervals "
            "hold for one look."
        )

    def as_json(self) -> dict[str, object]:
        """`live` of `arena rounds status --json`."""
        return to_json(self, sentence=self.sentence)


def live_standing(store: Store, round_: Round) -> LiveStanding:
    """Compute win shares from the verdicts stored so far."""
    from arena.services.rounds.battle_table import table_of_columns  # noqa: PLC0415 - loads scipy
    from leaderboard.rates import win_rates  # noqa: PLC0415 - as above

    battles = store.verdicts.columns(round_.name)
    judged = battles.question[battles.preference >= 0]
    rows = win_rates(table_of_columns(battles), by_domain=False).rows if len(judged) else ()
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
