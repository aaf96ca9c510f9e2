"""Calibration: agreement of judges with human labels."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.jobs.cancellation import StopEvent, raise_if_stopped
from arena.services.jobs.service import JobService, JobStatus
from arena.services.judging.judges import JudgeService
from data.errors import FileFormatError, InputError, NotFoundError
from data.files.labels import read_labels
from data.files.text_files import ReadLimits
from data.models import HumanLabel, Job, JobKind, Passage, Question, TokenScope, Verdict
from data.models.rounds import require_amount
from judges.base import JudgeInput
from judges.llm.costs import MemoryLedger
from judges.spec import JudgeSpec
from leaderboard.agreement.pairs import Calibration, CalibrationPair
from leaderboard.agreement.pairs import calibrate as calibrate_pairs

LIMITS = ReadLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Pair with the labels of all annotators."""

    first: HumanLabel
    labels: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPairs:
    """Pairs of a file, and counts of excluded labels by reason."""

    pairs: tuple[LabelledPair, ...]
    left_out: Mapping[str, int]


def labelled_pairs(path: Path) -> LabelledPairs:
    """Read the pairs of a file; lines with the same id are labels of several people."""
    read = read_labels(path, LIMITS)
    by_id: dict[str, tuple[HumanLabel, list[float]]] = {}
    for label in read.labels:
        first, labels = by_id.setdefault(label.id, (label, []))
        if (first.answer_a, first.answer_b) != (label.answer_a, label.answer_b):
            raise FileFormatError(
                f"{path.name}: the pair {label.id} has different answers on different lines.",
                advice="Use a different id for every pair.",
                code="mixed-pair",
            )
        labels.append(label.label)
    pairs = tuple(LabelledPair(first=first, labels=tuple(labels)) for first, labels in by_id.values())
    return LabelledPairs(pairs=pairs, left_out=read.left_out)


NO_VERDICT = "none"
CONCURRENCY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalibration:
    """Agreement of a judge with the labels of a file.

    `flips` is the share of pairs on which the two orders disagree; None with a single order. `reasons` counts
    pairs without a verdict by reason, `confusion` pairs by the winners of people and judge, `left_out`
    excluded labels.
    """

    judge: str
    models: tuple[str, ...]
    calibration: Calibration
    flips: float | None
    reasons: Mapping[str, int]
    confusion: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `arena judges calibrate --json` prints."""
        return {
            "judge": self.judge,
            **self.calibration.as_json(),
            "flip_rate": self.flips,
            "reasons": dict(self.reasons),
            "labels_left_out": dict(self.left_out),
            "confusion": {people: dict(row) for people, row in self.confusion.items()},
        }


class CalibrationService:
    """Calibrate judges against human labels, here or in a worker."""

    def __init__(self, jobs: JobService, judges: JudgeService) -> None:
        self._jobs = jobs
        self._judges = judges

    def calibrate(
        self,
        judges: Sequence[str],
        labels: Path,
        *,
        concurrency: int,
        budget_usd: float | None = None,
        stop_event: StopEvent | None = None,
    ) -> tuple[JudgeCalibration, ...]:
        """Judge the labelled pairs of a file and compare with the labels; skip pairs beyond the total budget.

        Raises:
            StoppedError: Another thread set `stop_event`.
        """
        specs = [self._judges.spec(name) for name in judges]
        read = labelled_pairs(labels)
        pairs = read.pairs
        inputs = [contest_of(pair.first) for pair in pairs]
        ledger = None if budget_usd is None else MemoryLedger(require_amount(budget_usd))
        reports = []
        for spec in specs:
            raise_if_stopped(stop_event)
            deciding = self._judges.decide_all(
                spec, inputs, concurrency=concurrency, ledger=ledger, stop_event=stop_event
            )
            report = self._report(spec, pairs, asyncio.run(deciding))
            reports.append(replace(report, left_out=read.left_out))
        return tuple(reports)

    def _report(
        self, spec: JudgeSpec, pairs: Sequence[LabelledPair], verdicts: Sequence[Verdict]
    ) -> JudgeCalibration:
        calibrated = [
            CalibrationPair(
                id=pair.first.id,
                domain=pair.first.domain,
                question=pair.first.question,
                labels=pair.labels,
                preference=verdict.preference,
                margin=_margin(verdict),
            )
            for pair, verdict in zip(pairs, verdicts, strict=True)
        ]
        read_both = [verdict.flipped for verdict in verdicts if verdict.flipped is not None]
        reasons: dict[str, int] = {}
        for verdict in verdicts:
            if verdict.preference is None:
                reason = f"{verdict.outcome}: {verdict.detail}"
                reasons[reason] = reasons.get(reason, 0) + 1
        return JudgeCalibration(
            judge=spec.name,
            models=spec.models,
            calibration=calibrate_pairs(calibrated),
            flips=sum(read_both) / len(read_both) if read_both else None,
            reasons=reasons,
            confusion=confusion_of(calibrated),
        )

    def start(
        self, file: Path, judges: Sequence[str], *, budget_usd: float | None = None, caller: Caller
    ) -> Job:
        """Check a file of human labels and queue a calibration; judges with an LLM need a budget."""
        require(caller, TokenScope.ORGANISE)
        if not judges:
            raise InputError("No judge is chosen.", advice="Choose at least one.")
        with_llm = [judge for judge in judges if self._judges.spec(judge).models]
        if with_llm and budget_usd is None:
            message = f"{', '.join(with_llm)}: a calibration with an LLM needs a budget."
            raise InputError(message, advice="Set the budget.")
        labelled_pairs(file)
        rows = (asdict(label) for label in read_labels(file, LIMITS).labels)
        labels = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        return self._jobs.calibrate(
            judges, labels, concurrency=CONCURRENCY, budget_usd=budget_usd, caller=caller
        )

    def all(self, *, caller: Caller) -> tuple[JobStatus, ...]:
        """Return recent calibrations, newest first."""
        require(caller, TokenScope.ORGANISE)
        return self._jobs.recent(JobKind.CALIBRATE)

    def of_judge(self, judge: str, *, caller: Caller) -> tuple[Job, ...]:
        """Return the finished calibrations of a judge, newest first."""
        return tuple(
            status.job
            for status in self.all(caller=caller)
            if status.job.result is not None and judge in status.job.payload["judges"]
        )

    def get(self, number: int, *, caller: Caller) -> JobStatus:
        """Return a calibration."""
        require(caller, TokenScope.ORGANISE)
        status = self._jobs.status(number)
        if status.job.kind is not JobKind.CALIBRATE:
            raise NotFoundError(
                f"Job {number} is not a calibration.", advice="Choose a calibration from the list."
            )
        return status


def confusion_of(pairs: Sequence[CalibrationPair]) -> Mapping[str, Mapping[str, int]]:
    """Count pairs by the majority of people (`a`, `tie`, `b`) and the judge (also `none`)."""
    sides = ("a", "tie", "b")
    counts = Counter(
        (pair.people.value, pair.preference.value if pair.preference else NO_VERDICT) for pair in pairs
    )
    return {people: {judge: counts[people, judge] for judge in (*sides, NO_VERDICT)} for people in sides}


def contest_of(label: HumanLabel) -> JudgeInput:
    """Return a labelled pair as judges see it."""
    passages = tuple(Passage(f"p{number}", text) for number, text in enumerate(label.passages, start=1))
    question = Question(
        id=label.id,
        domain=label.domain or "all",
        question=label.question,
        reference=label.reference,
        passages=passages,
    )
    # A judge must not compare the reference with itself.
    side = {label.answer_a: "a", label.answer_b: "b"}.get(label.reference or "")
    return JudgeInput(
        battle_id=label.id,
        question=question,
        answer_a=label.answer_a,
        answer_b=label.answer_b,
        reference_side=side,
    )


def _margin(verdict: Verdict) -> float | None:
    margins = [judgment.margin for judgment in verdict.judgments if judgment.margin is not None]
    return sum(margins) / len(margins) if margins and verdict.preference is not None else None
