"""Stored judgments read again: what the current parsers make of replies that came long ago.

Nothing is asked. What has no reply, or was never read (a gate's verdict, a failure), stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from data.records import JudgeKind, Judgment, Outcome, Verdict
from judges.pairwise.llm_judge import STRIPPED, in_battle_terms
from judges.pairwise.panel import settle, settle_panel
from judges.pairwise.parsing import read
from judges.spec import JudgeSpec, leaves

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
    of_judge = [judgment for judgment in judgments if judgment.judge == spec.name]
    if spec.kind is not JudgeKind.LLM or not of_judge:
        return None
    # A retried battle keeps what was tried before; the last judgment of each vote counts.
    last: dict[tuple[str, str, int], Judgment] = {}
    for judgment in of_judge:
        settings = json.loads(judgment.settings or "{}")
        key = (settings.get("text", ""), judgment.presentation.value, settings.get("vote", 0))
        last[key] = judgment
    stripped = {key: judgment for key, judgment in last.items() if key[0] == STRIPPED}
    counted = stripped or last
    orders = dict.fromkeys(presentation for _, presentation, _ in counted)
    return settle(
        [[judgment for key, judgment in counted.items() if key[1] == order] for order in orders],
        reply_format=spec.reply,
    )
