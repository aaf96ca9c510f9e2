"""What became of a round whose judge is a cascade: who decided how much, why, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.records import JudgeKind, Outcome, Round
from data.store import Store

if TYPE_CHECKING:
    # What judges loads for rounds of cascades alone.
    from judges.cascades import Guarantee
    from judges.pairwise.cascade import Escalation

UNPROMISED = "nothing is promised: somebody chose the threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeReport:
    """A cascade in a round.

    Attributes:
        cheap: Name of the cheap member.
        expensive: Name of the other.
        decided: Battles that the cheap member decided.
        escalated: Battles that the other was asked about, by reason; those without any are left out.
        judged: Those of them that it decided.
        costs: What each judge's calls cost in USD; None where a price is not known.
        threshold: Least confidence with which the cheap member decides.
        guarantee: What that was set on; None where somebody chose it.
    """

    cheap: str
    expensive: str
    decided: int
    escalated: Mapping[Escalation, int]
    judged: int
    costs: Mapping[str, float | None]
    threshold: float
    guarantee: Guarantee | None

    @property
    def asked(self) -> int:
        """Battles that the expensive member was asked about."""
        return sum(self.escalated.values())

    def as_json(self) -> dict[str, Any]:
        """`cascade` of `rounds status`, and of `round.json` in an export."""
        return {
            "cheap": {"name": self.cheap, "decided": self.decided},
            "expensive": {"name": self.expensive, "asked": self.asked, "decided": self.judged},
            "escalated": {reason.value: count for reason, count in self.escalated.items()},
            "cost_usd": dict(self.costs),
            "threshold": self.threshold,
            "guarantee": None if self.guarantee is None else self.guarantee.model_dump(),
        }

    @property
    def promise(self) -> str:
        """What is promised of the cheap member."""
        return UNPROMISED if self.guarantee is None else str(self.guarantee)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason.value}" for reason, count in self.escalated.items())
        passed = f"{self.expensive} was asked about {self.asked:,}" + (f" ({reasons})" if reasons else "")
        unjudged = self.asked - self.judged
        undecided = f" and decided all but {unjudged:,}" if unjudged else ""
        return f"{self.cheap} decided {self.decided:,} battles, {passed}{undecided}"

    def lines(self) -> dict[str, str]:
        """The same for people, label to value."""
        costs = (
            f"{name} {'not known' if cost is None else f'{cost:.4f}'}" for name, cost in self.costs.items()
        )
        return {"cascade": str(self), "promise": self.promise, "cost in USD by judge": ", ".join(costs)}


def cascade_report(store: Store, round_: Round) -> CascadeReport | None:
    """How a cascade fared in a round so far; None where the judge is none."""
    judge = round_.judge
    if judge["kind"] != JudgeKind.CASCADE:
        return None
    from judges.cascades import Guarantee  # noqa: PLC0415 - see above
    from judges.pairwise.cascade import DECIDED, Escalation  # noqa: PLC0415 - see above

    marks = (DECIDED, *(reason.mark for reason in Escalation))
    noted = store.members.noted(round_.id, marks)
    asked = {
        reason: sum(count for (mark, _), count in noted.items() if mark == reason.mark)
        for reason in Escalation
    }
    guarantee = judge.get("guarantee")
    cheap, expensive = judge["member_names"]
    return CascadeReport(
        cheap=cheap,
        expensive=expensive,
        decided=noted.get((DECIDED, Outcome.JUDGED), 0),
        escalated={reason: count for reason, count in asked.items() if count},
        judged=sum(noted.get((reason.mark, Outcome.JUDGED), 0) for reason in Escalation),
        costs=store.members.costs(round_.id),
        threshold=judge["threshold"],
        guarantee=None if guarantee is None else Guarantee(**guarantee),
    )
