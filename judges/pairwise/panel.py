"""Panels: several judges, one verdict; several preferences or failures, one outcome."""

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
from judges.llm.costs import paid_whole
from judges.spec import JudgeSpec, PanelRule, ReplyFormat, leaves

EVEN = 0.5
_WORST_FIRST = (Outcome.SKIPPED, Outcome.FAILED, Outcome.MISSING, Outcome.REFUSED, Outcome.UNREADABLE)


def majority(preferences: Sequence[Preference]) -> Preference:
    """Return the paper's rule: unanimous → that; all different → tie; else the most common.

    Two preferences that are equally common (possible with four votes or more) are a tie.

    Source: RAG-QA Arena, section 4.2.
    """
    return weighted(preferences, [1.0] * len(preferences))


def weighted(preferences: Sequence[Preference], weights: Sequence[float]) -> Preference:
    """Return the preference with the most weight; where two have the most, a tie."""
    if not preferences:
        raise RecordError("There is no preference to settle.")
    usage = dict.fromkeys(preferences, 0.0)
    for preference, weight in zip(preferences, weights, strict=True):
        usage[preference] += weight
    most = max(usage.values())
    leaders = [preference for preference, weight in usage.items() if math.isclose(weight, most)]
    return leaders[0] if len(leaders) == 1 else Preference.TIE


def most_retryable(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a battle whose parts ended in several ways: the one most worth a retry."""
    present = set(outcomes)
    return next(outcome for outcome in _WORST_FIRST if outcome in present)


def degree(judgment: Judgment) -> float:
    """Return a judgment's lean to b, −1…1: its margin, or the preference alone."""
    if judgment.margin is not None:
        return judgment.margin
    return {Preference.A: -1.0, Preference.B: 1.0}.get(judgment.preference or Preference.TIE, 0.0)


def settle(orders: Sequence[Sequence[Judgment]], *, reply_format: ReplyFormat, note: str = "") -> Verdict:
    """Settle a battle from the judgments of one or both orders.

    Votes of one order settle by majority; orders that disagree settle as a tie and are a position
    flip. One order that is not judged leaves the battle not judged. Log-probability judges add a
    score, the mean share of the win that a gets, unless it leans to the other side than the preference:
    then the votes count, and nobody reads two figures that contradict each other.
    """
    judgments = tuple(judgment for order in orders for judgment in order)
    bad = [judgment for order in orders for judgment in blocking_votes(order)]
    if bad:
        outcome = most_retryable(judgment.outcome for judgment in bad)
        detail = next(judgment.detail for judgment in bad if judgment.outcome is outcome)
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
    """Return whether a share of a's leans to another side than the preference; a tie has any."""
    return (preference is Preference.A and score <= EVEN) or (preference is Preference.B and score >= EVEN)


def blocking_votes(votes: Sequence[Judgment]) -> list[Judgment]:
    """Return the judgments that keep one order's votes from settling.

    Any vote that failed or was skipped, since asking again can settle it; votes that were unreadable or
    refused only where they leave no more than half of the votes.
    """
    stopped = [vote for vote in votes if vote.outcome in {Outcome.FAILED, Outcome.SKIPPED}]
    unread = [vote for vote in votes if vote.outcome in {Outcome.UNREADABLE, Outcome.REFUSED}]
    return stopped or (unread if 2 * len(unread) >= len(votes) else [])


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

    async def judge(self, judge_input: JudgeInput) -> Verdict:
        """Settle one battle by majority or by weight."""
        with paid_whole(self._asks):
            verdicts = await asyncio.gather(*(member.judge(judge_input) for member in self.members))
        return settle_panel(self.spec, [member.name for member in self.members], verdicts)

    @cached_property
    def _asks(self) -> Mapping[tuple[str, str], int]:
        return certain_requests(self.spec)


def certain_requests(spec: JudgeSpec) -> Mapping[tuple[str, str], int]:
    """Count the requests that a battle takes at least where nothing fails, by endpoint and model."""
    asks = Counter[tuple[str, str]]()
    for leaf in leaves(spec):
        if leaf.kind is JudgeKind.LLM and leaf.price != 0:
            asks[leaf.endpoint, leaf.model] += leaf.votes * (2 if leaf.order is OrderPolicy.BOTH else 1)
    return asks


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
    """Settle by the votes of members, each of weight 1 without weights; None where too few voted."""
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
