"""Stored judgments read again: what the current parsers make of replies that came long ago.

Nothing is asked. What has no reply, or was never read (a gate's verdict, a failure), stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from data.records import JudgeKind, Judgment, Outcome, Verdict
from judges.pairwise.llm_judge import STRIPPED, in_battle_terms
from judges.pairwise.panel import majority, most_retryable, settle, settle_panel, weighted
from judges.pairwise.parsing import read
from judges.spec import JudgeSpec, PanelRule, ReplyFormat, leaves

UNREAD = frozenset({Outcome.FAILED, Outcome.SKIPPED})


def reparse(spec: JudgeSpec, judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """Every judgment as the current parsers read its reply, in the order given."""
    judges = {leaf.name: leaf for leaf in leaves(spec) if leaf.kind is JudgeKind.LLM}
    reparsed = []
    for judgment in judgments:
        judge = judges.get(judgment.judge)
        if judge is None or judgment.reply is None or judgment.outcome in UNREAD:
            reparsed.append(judgment)
            continue
        reading = read(judgment.reply, judge.reply, judge.verdict_words)
        if judgment.outcome is Outcome.REFUSED and reading.outcome is Outcome.UNREADABLE:
            # The re-ask was refused; the reply that is kept is the unreadable one before it.
            reparsed.append(judgment)
            continue
        preference, margin = in_battle_terms(reading, judgment.presentation)
        reparsed.append(
            replace(
                judgment,
                outcome=reading.outcome,
                preference=preference,
                margin=margin,
                rationale=reading.rationale,
                detail=reading.detail,
                grade=reading.grade,
                parser=reading.parser,
            )
        )
    return tuple(reparsed)


def reparse_verdict(spec: JudgeSpec, judgments: Sequence[Judgment]) -> Verdict | None:
    """The verdict that judgments settle by the judge's rules; None where there are none of an LLM."""
    if spec.kind is JudgeKind.PANEL:
        verdicts = [reparse_verdict(member, judgments) for member in spec.members]
        readable = [verdict for verdict in verdicts if verdict is not None]
        if len(readable) < len(verdicts):
            return None
        return settle_panel(spec, [member.name for member in spec.members], readable)
    of_judge = _counted(judgments, spec.name)
    return _settled(spec, of_judge) if spec.kind is JudgeKind.LLM and of_judge else None


def settled(judge: Mapping[str, Any], judgments: Sequence[Judgment]) -> Verdict | None:
    """The verdict that judgments settle by the rules of a judge as a round has written it down.

    Unlike `reparse_verdict` it needs neither specs nor replies, and takes what a judgment says as it is.

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


def _settled(spec: JudgeSpec, judgments: Sequence[Judgment]) -> Verdict:
    return _settled_by_order(judgments, spec.reply)


def _settled_by_order(judgments: Sequence[Judgment], reply_format: ReplyFormat) -> Verdict:
    orders = dict.fromkeys(judgment.presentation for judgment in judgments)
    return settle(
        [[judgment for judgment in judgments if judgment.presentation is order] for order in orders],
        reply_format=reply_format,
    )
