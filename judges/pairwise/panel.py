"""Panels: combine several judgments or verdicts into one."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from data.errors import RecordError
from data.models import JudgeKind, Judgment, OrderPolicy, Outcome, Preference, Verdict
from judges.base import Judge, JudgeInput
from judges.llm.costs import reserve_together
from judges.spec import JudgeSpec, PanelRule, ReplyFormat, leaves

EVEN = 0.5
_WORST_FIRST = (Outcome.SKIPPED, Outcome.FAILED, Outcome.MISSING, Outcome.REFUSED, Outcome.UNREADABLE)


def majority(preferences: Sequence[Preference]) -> Preference:
    """Return the most common preference; a draw is a tie.

    Source: RAG-QA Arena, section 4.2.
    """
    return weighted(preferences, [1.0] * len(preferences))


def weighted(preferences: Sequence[Preference], weights: Sequence[float]) -> Preference:
    """Return the preference with the largest total weight; a draw is a tie."""
    if not preferences:
        raise RecordError("Cannot settle without preferences.")
    totals = dict.fromkeys(preferences, 0.0)
    for preference, weight in zip(preferences, weights, strict=True):
        totals[preference] += weight
    highest = max(totals.values())
    leaders = [preference for preference, weight in totals.items() if math.isclose(weight, highest)]
    return leaders[0] if len(leaders) == 1 else Preference.TIE


def most_retryable(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome that benefits most from a retry."""
    present = set(outcomes)
    return next(outcome for outcome in _WORST_FIRST if outcome in present)


def degree(judgment: Judgment) -> float:
    """Return a judgment's margin towards b, −1…1, or its preference without a margin."""
    if judgment.margin is not None:
        return judgment.margin
    return {Preference.A: -1.0, Preference.B: 1.0}.get(judgment.preference or Preference.TIE, 0.0)


def settle(orders: Sequence[Sequence[Judgment]], *, reply_format: ReplyFormat, note: str = "") -> Verdict:
    """Settle a battle from the judgments of one or both orders.

    The majority of an order's votes counts; orders that disagree are a tie and a position flip. If one order
    has no verdict, the battle has none. Log-probability judges add a score, a's mean win share, unless
    it contradicts the preference.
    """
    judgments = tuple(judgment for order in orders for judgment in order)
    blocking = [judgment for order in orders for judgment in blocking_votes(order)]
    if blocking:
        outcome = most_retryable(judgment.outcome for judgment in blocking)
        detail = next(judgment.detail for judgment in blocking if judgment.outcome is outcome)
        return Verdict(outcome=outcome, detail=detail, judgments=judgments)
    preferences = [
        majority([judgment.preference for judgment in order if judgment.preference is not None])
        for order in orders
    ]
    flipped = len(set(preferences)) > 1 if len(orders) > 1 else None
    margins = [judgment.margin for judgment in judgments if judgment.margin is not None]
    soft = reply_format is ReplyFormat.LOGPROBS and len(margins) == len(judgments)
    preference = Preference.TIE if flipped else preferences[0]
    score = (1 - fmean(margins)) / 2 if soft else None
    return Verdict(
        outcome=Outcome.JUDGED,
        preference=preference,
        score=None if score is None or _contradicts(preference, score) else score,
        flipped=flipped,
        detail=note,
        judgments=judgments,
    )


def _contradicts(preference: Preference, score: float) -> bool:
    return (preference is Preference.A and score <= EVEN) or (preference is Preference.B and score >= EVEN)


def blocking_votes(votes: Sequence[Judgment]) -> list[Judgment]:
    """Return the judgments that prevent a verdict in one order.

    Failed and skipped votes always do, because a retry can settle them; unreadable and refused votes only if
    they are at least half of the votes.
    """
    failed = [vote for vote in votes if vote.outcome in {Outcome.FAILED, Outcome.SKIPPED}]
    unreadable = [vote for vote in votes if vote.outcome in {Outcome.UNREADABLE, Outcome.REFUSED}]
    return failed or (unreadable if 2 * len(unreadable) >= len(votes) else [])


@dataclass(frozen=True)
class PanelJudge:
    """Settles battles by the votes of its members and keeps all their judgments.

    A member without a verdict does not vote. With fewer votes than the quorum (by default all members) the
    battle has no verdict.
    """

    spec: JudgeSpec
    members: tuple[Judge, ...]

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        return self.spec.name

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle by majority or by weight."""
        with reserve_together(self._requests):
            verdicts = await asyncio.gather(*(member.judge(judge_input) for member in self.members))
        return settle_panel(self.spec, [member.name for member in self.members], verdicts)

    @cached_property
    def _requests(self) -> Mapping[tuple[str, str], int]:
        return certain_requests(self.spec)


def certain_requests(spec: JudgeSpec) -> Mapping[tuple[str, str], int]:
    """Count a battle's minimum requests by endpoint and model."""
    requests = Counter[tuple[str, str]]()
    for leaf in leaves(spec):
        if leaf.kind is JudgeKind.LLM and leaf.price != 0:
            requests[leaf.endpoint, leaf.model] += leaf.votes * (2 if leaf.order is OrderPolicy.BOTH else 1)
    return requests


def settle_panel(spec: JudgeSpec, names: Sequence[str], verdicts: Sequence[Verdict]) -> Verdict:
    """Settle a battle from its members' verdicts, in the order of the spec."""
    judgments = tuple(judgment for verdict in verdicts for judgment in verdict.judgments)
    preference = by_votes(verdicts, spec.weights, quorum=spec.quorum, rule=spec.rule)
    if preference is None:
        outcome = most_retryable(verdict.outcome for verdict in verdicts)
        return Verdict(outcome=outcome, detail=_note(names, verdicts), judgments=judgments)
    flips = [verdict.flipped for verdict in verdicts if verdict.flipped is not None]
    return Verdict(
        outcome=Outcome.JUDGED,
        preference=preference,
        flipped=any(flips) if flips else None,
        detail=_note(names, verdicts),
        judgments=judgments,
    )


def by_votes(
    verdicts: Sequence[Verdict], weights: Sequence[float], *, quorum: int | None, rule: PanelRule
) -> Preference | None:
    """Combine the members' votes, with weight 1 by default; None below the quorum."""
    votes = [
        (verdict.preference, weight)
        for verdict, weight in zip(verdicts, weights or (1.0,) * len(verdicts), strict=False)
        if verdict.preference is not None
    ]
    if len(votes) < (quorum or len(verdicts)):
        return None
    preferences = [preference for preference, _ in votes]
    by_weight = rule is PanelRule.WEIGHTED
    return weighted(preferences, [weight for _, weight in votes]) if by_weight else majority(preferences)


def _note(names: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    return "; ".join(
        f"{name}: {verdict.preference or verdict.outcome}"
        + (f" ({verdict.detail})" if verdict.detail else "")
        for name, verdict in zip(names, verdicts, strict=True)
    )
