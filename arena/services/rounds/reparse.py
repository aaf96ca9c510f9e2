"""A round's stored replies, read again by the current parsers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from data.errors import ConflictError
from data.progress import counted
from data.records import BattleEvidence, Judgment, Round, RoundState, Verdict
from data.records.plain import to_json
from data.store import Store
from judges.pairwise.parsing import compare_parsers
from judges.pairwise.reparse import reparse, reparse_verdict
from judges.spec import JudgeSpec, ReplyFormat

CHANGEABLE = (RoundState.PLANNED, RoundState.PAUSED, RoundState.FINISHED, RoundState.CANCELLED)
AT_ONCE = 1_000
EXAMPLES = 20


@dataclass(slots=True)
class ReparseReport:
    """What changes where stored replies are parsed again.

    `digit_scan_differs` counts the replies that RAG-QA Arena's digit scan reads otherwise than the strict
    rating, whatever the round's own format.
    """

    battles: int = 0
    replies: int = 0
    judgments_changed: int = 0
    verdicts_changed: int = 0
    digit_scan_differs: int = 0
    parsers: Counter[str] = field(default_factory=Counter)
    applied: bool = False
    examples: list[dict[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The object that `arena rounds show-replies --reparse --json` prints."""
        return to_json(self)


class ReparseService:
    """Use cases around stored replies."""

    def __init__(self, store: Store, *, round_spec: Callable[[Round], JudgeSpec]) -> None:
        self._store = store
        self._round_spec = round_spec

    def reparse(self, name: str, *, apply: bool) -> ReparseReport:
        """Read every reply of a round again; with `apply`, store the new readings and verdicts.

        Raises:
            ConflictError: The round is running or published, and its readings were to be stored.
            SpecError: The judge's spec is not what the round began with.
        """
        round_ = self._store.rounds.get(name)
        if apply and round_.state not in CHANGEABLE:
            raise ConflictError(
                f"Round {name} is {round_.state}, so its verdicts stay as they are.",
                advice="Read it again without --apply, or judge a new round.",
            )
        spec = self._round_spec(round_)
        report = ReparseReport(applied=apply)
        changes: list[tuple[int, tuple[Judgment, ...], Verdict | None]] = []
        total = self._store.rounds.counts(name).planned
        for evidence in counted(self._store.verdicts.evidence(name), "reading replies of battles", total):
            judgments, verdict = _reparsed(spec, evidence, report)
            if judgments != evidence.judgments or verdict is not None:
                changes.append((evidence.battle.id, judgments, verdict))
            if apply and len(changes) >= AT_ONCE:
                self._store.verdicts.revise(changes)
                changes.clear()
        if apply and changes:
            self._store.verdicts.revise(changes)
        return report


def _reparsed(
    spec: JudgeSpec, evidence: BattleEvidence, report: ReparseReport
) -> tuple[tuple[Judgment, ...], Verdict | None]:
    """The judgments read again, and the new verdict where it is another one."""
    report.battles += 1
    judgments = reparse(spec, evidence.judgments)
    for before, after in zip(evidence.judgments, judgments, strict=True):
        if before.reply is not None:
            report.replies += 1
            report.parsers[f"{before.parser} → {after.parser}"] += 1
            report.digit_scan_differs += _scanned_otherwise(before)
        report.judgments_changed += _reading(before) != _reading(after)
    verdict = reparse_verdict(spec, judgments)
    was = (evidence.battle.outcome, evidence.battle.preference)
    if all(
        _reading(before) == _reading(after)
        for before, after in zip(evidence.judgments, judgments, strict=True)
    ):
        return judgments, None
    if verdict is None or (verdict.outcome, verdict.preference) == was:
        return judgments, None
    report.verdicts_changed += 1
    if len(report.examples) < EXAMPLES:
        report.examples.append(
            {
                "battle": evidence.battle.key,
                "before": str(evidence.battle.preference or evidence.battle.outcome),
                "after": str(verdict.preference or verdict.outcome),
            }
        )
    return judgments, replace(verdict, detail="; ".join(filter(None, (verdict.detail, "read again"))))


def _reading(judgment: Judgment) -> tuple[object, ...]:
    return judgment.outcome, judgment.preference, judgment.margin, judgment.grade


def _scanned_otherwise(judgment: Judgment) -> bool:
    if judgment.reply is None:
        return False
    return bool(compare_parsers([judgment.reply], ReplyFormat.RATING, ReplyFormat.DIGIT_SCAN).changed)
