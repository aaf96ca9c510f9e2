"""Judges held against people: human labels in, agreement out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.services.judges import JudgeService
from data.errors import FileFormatError
from data.files import ReadLimits
from data.human_labels import read_labels
from data.records import HumanLabel, Passage, Question, Verdict
from judges.base import Contest
from judges.spec import JudgeSpec
from leaderboard.agreement.pairs import Calibration, CalibrationPair
from leaderboard.agreement.pairs import calibrate as hold_against


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalibration:
    """One judge against the labels of a file.

    `flips` is the share of pairs read in both orders on which the orders disagree; None where the
    judge reads one order. `reasons` count why pairs have no verdict.
    """

    judge: str
    calibration: Calibration
    flips: float | None
    reasons: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The object that `arena judges calibrate --json` prints."""
        return {
            "judge": self.judge,
            **self.calibration.as_json(),
            "flip_rate": self.flips,
            "reasons": dict(self.reasons),
        }


class CalibrationService:
    """Use cases around the trust in judges."""

    def __init__(self, judges: JudgeService) -> None:
        self._judges = judges

    def calibrate(
        self, judges: Sequence[str], labels: Path, *, concurrency: int
    ) -> tuple[JudgeCalibration, ...]:
        """Let judges decide the labelled pairs of a file, and hold them against the people.

        Raises:
            InvalidFileError: The file has problems; all of them are listed.
            NotFoundError: There is no such judge.
        """
        specs = [self._judges.spec(name) for name in judges]
        pairs = _pairs(labels)
        return tuple(self._one(spec, pairs, concurrency) for spec in specs)

    def _one(
        self, spec: JudgeSpec, pairs: Sequence[tuple[HumanLabel, tuple[float, ...]]], concurrency: int
    ) -> JudgeCalibration:
        contests = [_contest(label) for label, _ in pairs]
        verdicts = asyncio.run(self._judges.decide_all(spec, contests, concurrency=concurrency))
        calibration = hold_against(
            [
                _calibration_pair(label, labels, verdict)
                for (label, labels), verdict in zip(pairs, verdicts, strict=True)
            ]
        )
        read_both = [verdict.flipped for verdict in verdicts if verdict.flipped is not None]
        reasons: dict[str, int] = {}
        for verdict in verdicts:
            if verdict.preference is None:
                reason = f"{verdict.outcome}: {verdict.detail}"
                reasons[reason] = reasons.get(reason, 0) + 1
        return JudgeCalibration(
            judge=spec.name,
            calibration=calibration,
            flips=sum(read_both) / len(read_both) if read_both else None,
            reasons=reasons,
        )


def _pairs(path: Path) -> list[tuple[HumanLabel, tuple[float, ...]]]:
    """The pairs of a file with all their labels; lines with one id are several annotators."""
    found: dict[str, tuple[HumanLabel, list[float]]] = {}
    for label in read_labels(path, ReadLimits()):
        first, labels = found.setdefault(label.id, (label, []))
        if (first.answer_a, first.answer_b) != (label.answer_a, label.answer_b):
            raise FileFormatError(
                f"{path.name}: the pair {label.id} has different answers on different lines.",
                advice="Give every pair an id of its own.",
                code="mixed-pair",
            )
        labels.append(label.label)
    return [(first, tuple(labels)) for first, labels in found.values()]


def _contest(label: HumanLabel) -> Contest:
    passages = tuple(Passage(f"p{number}", text) for number, text in enumerate(label.passages, start=1))
    question = Question(
        id=label.id,
        domain=label.domain or "all",
        question=label.question,
        reference=label.reference,
        passages=passages,
    )
    # Where one of the answers is the reference itself, a judge must not hold it against itself.
    side = {label.answer_a: "a", label.answer_b: "b"}.get(label.reference or "")
    return Contest(
        battle_id=label.id,
        question=question,
        answer_a=label.answer_a,
        answer_b=label.answer_b,
        reference_side=side,
    )


def _calibration_pair(label: HumanLabel, labels: tuple[float, ...], verdict: Verdict) -> CalibrationPair:
    margins = [judgment.margin for judgment in verdict.judgments if judgment.margin is not None]
    return CalibrationPair(
        id=label.id,
        domain=label.domain,
        question=label.question,
        labels=labels,
        preference=verdict.preference,
        margin=sum(margins) / len(margins) if margins and verdict.preference is not None else None,
    )
