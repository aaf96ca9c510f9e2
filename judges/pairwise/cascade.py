"""Cascades: a cheap judge decides where it is sure, an expensive one the rest.

Source: Jung, Brahman & Choi (2024, "Trust or Escalate"), section 2.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from data.records import Judgment, Outcome, Verdict
from judges.base import Judge, JudgeInput
from judges.cascades import CascadeConfidence
from judges.pairwise.llm_judge import GATE, STRIPPED
from judges.pairwise.panel import degree
from judges.spec import JudgeSpec, leaves

DECIDED = "decided by the cheap member"
ESCALATED = "left to the expensive member"
UNASKED = "the cheap member is unsure by this reading, and the expensive one was not asked"
_ASKED_AGAIN = frozenset({Outcome.FAILED, Outcome.SKIPPED, Outcome.MISSING})


class Escalation(StrEnum):
    """Why the expensive member of a cascade is asked."""

    BELOW = "below threshold"
    FLIPPED = "flipped"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    ABSTAINED = "abstained"

    @property
    def mark(self) -> str:
        """How the detail of a battle begins that the expensive member was asked about for this reason."""
        return f"{ESCALATED}: {self.value}"


def counted(judgments: Sequence[Judgment], judge: str) -> list[Judgment]:
    """The judgments of one judge that count: those without suspicious parts, the last of each vote."""
    last: dict[tuple[str, str, int], Judgment] = {}
    for judgment in judgments:
        if judgment.judge != judge:
            continue
        settings = json.loads(judgment.settings or "{}")
        # A retried battle keeps what was tried before.
        key = (settings.get("text", ""), judgment.presentation.value, settings.get("vote", 0))
        last[key] = judgment
    stripped = [judgment for key, judgment in last.items() if key[0] == STRIPPED]
    return stripped or list(last.values())


def escalation(spec: JudgeSpec, verdict: Verdict) -> Escalation | None:
    """Why a cascade goes on to its expensive member; None where the cheap one decides.

    Args:
        spec: The cascade.
        verdict: The cheap member's, with its judgments.
    """
    if verdict.outcome is Outcome.REFUSED:
        return Escalation.REFUSED
    if verdict.outcome is not Outcome.JUDGED:
        read = any(judgment.reply is not None for judgment in verdict.judgments)
        return Escalation.UNREADABLE if read else Escalation.ABSTAINED
    if verdict.flipped:
        return Escalation.FLIPPED
    sure = confidence_of(spec.members[0], spec.confidence or CascadeConfidence.MARGIN, verdict)
    if sure is None:
        return Escalation.ABSTAINED
    return Escalation.BELOW if sure < (1.0 if spec.threshold is None else spec.threshold) else None


def confidence_of(cheap: JudgeSpec, confidence: CascadeConfidence, verdict: Verdict) -> float | None:
    """How sure a judge is of a verdict, 0–1; None where it gave none, or none that tells.

    Orders that disagree are no verdict to be sure of, so they give None as well.
    """
    if verdict.preference is None or verdict.flipped:
        return None
    read = [
        judgment
        for leaf in leaves(cheap)
        for judgment in counted(verdict.judgments, leaf.name)
        if judgment.preference is not None
    ]
    if not read:
        return None
    if confidence is CascadeConfidence.VOTES:
        votes = sorted(Counter(judgment.preference for judgment in read).values(), reverse=True)
        return (votes[0] - sum(votes[1:2])) / len(read)
    if confidence is CascadeConfidence.MARGIN and any(map(_untold, read)):
        return None
    return abs(fmean(map(degree, read)))


def _untold(judgment: Judgment) -> bool:
    """Whether a margin is missing, as where an endpoint gives no log probabilities."""
    return judgment.margin is None and judgment.parser != GATE


@dataclass(frozen=True)
class CascadeJudge:
    """Asks a cheap judge, and an expensive one where the cheap one is unsure.

    A cheap judge that failed, or for which there was no budget, leaves the battle to be tried again: a broken
    endpoint must not send everything to the expensive judge.
    """

    spec: JudgeSpec
    cheap: Judge
    expensive: Judge

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self.spec.name

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle.

        Raises:
            JudgeError: Judging as a whole cannot go on.
        """
        first = await self.cheap.judge(judge_input)
        if first.outcome in _ASKED_AGAIN or escalation(self.spec, first) is None:
            return settle_cascade(self.spec, first, None)
        return settle_cascade(self.spec, first, await self.expensive.judge(judge_input))


def settle_cascade(spec: JudgeSpec, first: Verdict, second: Verdict | None) -> Verdict:
    """Settle a battle from its members' verdicts; the second is None where it was not asked.

    The score is left out: shares of two judges are two scales.
    """
    asked = first.judgments + (() if second is None else second.judgments)
    if first.outcome in _ASKED_AGAIN:
        detail = f"{spec.members[0].name}: {first.detail}"
        return Verdict(outcome=first.outcome, detail=detail, judgments=asked)
    reason = escalation(spec, first)
    flips = [verdict.flipped for verdict in (first, second) if verdict and verdict.flipped is not None]
    flipped = any(flips) if flips else None
    if reason is None:
        detail = _noted(DECIDED, first.detail)
        return Verdict(
            outcome=Outcome.JUDGED,
            preference=first.preference,
            flipped=flipped,
            detail=detail,
            judgments=asked,
        )
    if second is None:
        return Verdict(outcome=Outcome.SKIPPED, detail=UNASKED, judgments=asked)
    return Verdict(
        outcome=second.outcome,
        preference=second.preference,
        flipped=flipped,
        detail=_noted(reason.mark, second.detail),
        judgments=asked,
    )


def _noted(mark: str, detail: str) -> str:
    return f"{mark}; {detail}" if detail else mark
