"""Pausing a round whose judge gives no usable verdicts, and saying so afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from data.errors import UnfitJudgeError
from data.percent import percent
from data.records import Round, Verdict
from data.records.conduct import JudgeConduct

if TYPE_CHECKING:
    from judges.pairwise.attack_report import AttackReport

GO_ON = "go_on"
"""In a round's plan: somebody wants it judged whatever its judge says."""
MOST_OBEYED = 0.6
"""A judge that falls for a larger share of planted attacks judges no further."""
ENOUGH_ATTACKS = 10
"""Verdicts on attacks before the share says anything."""


@dataclass(slots=True)
class ConductGuard:
    """Counts what a run's judge says, and objects once it is no judge."""

    round_name: str
    conduct: JudgeConduct = field(default_factory=JudgeConduct)

    @classmethod
    def of_round(cls, round_: Round) -> ConductGuard | None:
        """The guard of a round; None where somebody wants it judged all the same."""
        return None if round_.plan.get(GO_ON) else cls(round_.name)

    def look_at_attacks(self, report: AttackReport) -> UnfitJudgeError | None:
        """What is wrong with a judge that does what answers tell it; None where nothing is, or not yet."""
        if report.rate is None or report.judged < ENOUGH_ATTACKS or report.rate <= MOST_OBEYED:
            return None
        name, won = self.round_name, f"{report.succeeded:,} of {report.judged:,}"
        return UnfitJudgeError(
            f"Round {name} is paused. The judge fell for {won} planted attacks "
            f"({percent(report.rate, decimals=0)}).",
            advice="Give it a prompt or a model that follows texts less, and judge a new round, or judge all "
            f"the same: `arena rounds resume {name} --go-on`.",
        )

    def look(self, verdict: Verdict, *, places: bool) -> UnfitJudgeError | None:
        """Count a verdict, and return what is wrong with the judge; None where nothing is, or not yet."""
        self.conduct.add(verdict, places=places)
        if not self.conduct.enough:
            return None
        wrong = self.conduct.grave()
        if not wrong:
            return None
        example = f" A reply: «{self.conduct.example}»." if self.conduct.example else ""
        name = self.round_name
        return UnfitJudgeError(
            f"Round {name} is paused. {' '.join(wrong)}{example}",
            advice=f"See what it replied: `arena rounds show-replies {name}`. Correct the judge and resume, "
            f"or judge all the same: `arena rounds resume {name} --go-on`.",
        )
