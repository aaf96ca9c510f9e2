"""Panels: several judges, one verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from data.records import Outcome, Verdict
from judges.base import Contest, Judge
from judges.settling import majority, weighted, worst
from judges.spec import JudgeSpec, PanelRule


@dataclass(frozen=True)
class PanelJudge:
    """Settles battles by the votes of its members, whose judgments are all kept.

    A member that did not judge has no vote, and never counts as a tie: with fewer votes than the
    quorum (by default all members) the battle is not judged.
    """

    spec: JudgeSpec
    members: tuple[Judge, ...]

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self.spec.name

    async def judge(self, contest: Contest) -> Verdict:
        """Settle one battle by majority or by weight.

        Raises:
            JudgeError: Judging as a whole cannot go on.
        """
        verdicts = await asyncio.gather(*(member.judge(contest) for member in self.members))
        return settle_panel(self.spec, [member.name for member in self.members], verdicts)


def settle_panel(spec: JudgeSpec, names: Sequence[str], verdicts: Sequence[Verdict]) -> Verdict:
    """Settle a battle from its members' verdicts, in the order of the spec."""
    judgments = tuple(judgment for verdict in verdicts for judgment in verdict.judgments)
    weights = spec.weights or (1.0,) * len(verdicts)
    votes = [
        (verdict.preference, weight)
        for verdict, weight in zip(verdicts, weights, strict=True)
        if verdict.preference is not None
    ]
    if len(votes) < (spec.quorum or len(verdicts)):
        outcome = worst(verdict.outcome for verdict in verdicts if verdict.outcome is not Outcome.JUDGED)
        return Verdict(outcome=outcome, detail=_note(names, verdicts), judgments=judgments)
    preferences = [preference for preference, _ in votes]
    preference = (
        weighted(preferences, [weight for _, weight in votes])
        if spec.rule is PanelRule.WEIGHTED
        else majority(preferences)
    )
    flips = [verdict.flipped for verdict in verdicts if verdict.flipped is not None]
    return Verdict(
        outcome=Outcome.JUDGED,
        preference=preference,
        flipped=any(flips) if flips else None,
        detail=_note(names, verdicts),
        judgments=judgments,
    )


def _note(names: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    """How each member voted, and why one did not."""
    return "; ".join(
        f"{name}: {verdict.preference or verdict.outcome}"
        + (f" ({verdict.detail})" if verdict.detail else "")
        for name, verdict in zip(names, verdicts, strict=True)
    )
