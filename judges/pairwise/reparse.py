"""Stored judgments read again: what the current parsers make of replies that came long ago.

Nothing is asked. What has no reply, or was never read (a gate's verdict, a failure), stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from data.records import JudgeKind, Judgment, Outcome, Verdict
from judges.pairwise.cascade import counted, settle_cascade
from judges.pairwise.llm_judge import in_battle_terms
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
    if spec.kind is JudgeKind.CASCADE:
        cheap, expensive = spec.members
        second = reparse_verdict(expensive, judgments) or _embedded(expensive, judgments)
        # A member that declined left no judgment.
        silent = Verdict(outcome=Outcome.UNREADABLE) if second else None
        first = reparse_verdict(cheap, judgments) or _embedded(cheap, judgments) or silent
        return None if first is None else settle_cascade(spec, first, second)
    of_judge = counted(judgments, spec.name)
    return _settled(spec, of_judge) if spec.kind is JudgeKind.LLM and of_judge else None


def _embedded(spec: JudgeSpec, judgments: Sequence[Judgment]) -> Verdict | None:
    """What an embedded judge said, which is not read again; None where it said nothing."""
    said = counted(judgments, spec.name) if spec.kind is JudgeKind.LEXICAL else []
    return _settled(spec, said) if said else None


def _settled(spec: JudgeSpec, judgments: Sequence[Judgment]) -> Verdict:
    orders = dict.fromkeys(judgment.presentation for judgment in judgments)
    return settle(
        [[judgment for judgment in judgments if judgment.presentation is order] for order in orders],
        reply_format=spec.reply,
    )
