"""Pausing a round whose judge gives no usable verdicts, and saying so afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from data.errors import UnfitJudgeError
from data.models import Round, Verdict
from data.models.judgments import JudgeConduct

GO_ON = "go_on"
"""In a round's plan: somebody wants it judged whatever its judge says."""


@dataclass(slots=True)
class ConductGuard:
    """Counts what a run's judge says, and objects once it is no judge."""

    round_name: str
    conduct: JudgeConduct = field(default_factory=JudgeConduct)

    @classmethod
    def of_round(cls, round_: Round) -> ConductGuard | None:
        """The guard of a round; None where somebody wants it judged all the same."""
        return None if round_.plan.get(GO_ON) else cls(round_.name)

    def look(self, verdict: Verdict) -> UnfitJudgeError | None:
        """Count a verdict, and return what is wrong with the judge; None where nothing is, or not yet."""
        self.conduct.add(verdict)
        if not self.conduct.enough:
            return None
        wrong = self.conduct.grave()
        if not wrong:
            return None
        example = f" A reply: «{self.conduct.example}»." if self.conduct.example else ""
        name = self.round_name
        return UnfitJudgeError(
            f"Round {name} is paused. {' '.join(wrong)}{example}",
            advice=f"See its replies: `arena rounds status {name} --replies 20`. Correct the judge and "
            f"resume, or judge all the same: `arena rounds resume {name} --go-on`.",
        )
