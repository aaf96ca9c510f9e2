"""Verdict of stored judgments, by the rules of a judge as a round has written it down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from data.models import JudgeKind, Judgment, Outcome, Verdict
from judges.pairwise.llm_judge import STRIPPED
from judges.pairwise.panel import majority, most_retryable, settle, weighted
from judges.spec import PanelRule, ReplyFormat


def settled(judge: Mapping[str, Any], judgments: Sequence[Judgment]) -> Verdict | None:
    """The verdict that judgments settle by the rules of a judge as a round has written it down.

    Returns:
        None where there are no judgments.
    """
    if not judgments:
        return None
    names = list(dict.fromkeys(judgment.judge for judgment in judgments))
    members = judge.get("members") or ()
    if judge["kind"] != JudgeKind.PANEL:
        counted = _counted(judgments, names[-1])
        return _settled_by_order(counted, ReplyFormat(judge.get("reply") or ReplyFormat.RATING))
    verdicts = [
        _settled_by_order(_counted(judgments, name), ReplyFormat(member.get("reply") or ReplyFormat.RATING))
        for name, member in zip(names, members, strict=False)
    ]
    weights = judge.get("weights") or [1.0] * len(members)
    votes = [
        (one.preference, weight) for one, weight in zip(verdicts, weights, strict=False) if one.preference
    ]
    if len(votes) < (judge.get("quorum") or len(members)):
        return Verdict(outcome=most_retryable(one.outcome for one in verdicts), judgments=tuple(judgments))
    preferences = [preference for preference, _ in votes]
    by_weight = judge.get("rule") == PanelRule.WEIGHTED
    preference = (
        weighted(preferences, [weight for _, weight in votes]) if by_weight else majority(preferences)
    )
    return Verdict(outcome=Outcome.JUDGED, preference=preference, judgments=tuple(judgments))


def _counted(judgments: Sequence[Judgment], judge: str) -> list[Judgment]:
    """The judgments of one judge that count: of the last attempt, those without suspicious parts.

    A battle that was tried again keeps what was tried before. An attempt begins where an order, text and vote
    come again, or with another state of the judge; one may ask less than the one before it did.
    """
    last: dict[tuple[str, str, int], Judgment] = {}
    state = None
    for judgment in judgments:
        if judgment.judge != judge:
            continue
        settings = json.loads(judgment.settings or "{}")
        key = (settings.get("text", ""), judgment.presentation.value, settings.get("vote", 0))
        if key in last or settings.get("spec") != state:
            last.clear()
        state = settings.get("spec")
        last[key] = judgment
    stripped = [judgment for key, judgment in last.items() if key[0] == STRIPPED]
    return stripped or list(last.values())


def _settled_by_order(judgments: Sequence[Judgment], reply_format: ReplyFormat) -> Verdict:
    orders = dict.fromkeys(judgment.presentation for judgment in judgments)
    return settle(
        [[judgment for judgment in judgments if judgment.presentation is order] for order in orders],
        reply_format=reply_format,
    )
