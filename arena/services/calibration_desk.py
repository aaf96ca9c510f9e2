"""The organisers' desk for calibrations: labels checked at once, judges asked by a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from arena.services.calibration import LIMITS, labelled_pairs
from arena.services.identity import Caller, require
from arena.services.jobs import JobService, JobStatus
from arena.services.judges import JudgeService
from data.errors import InputError, NotFoundError
from data.files import read_text
from data.records import Job, JobKind, TokenScope

CONCURRENCY = 8
GZIP = b"\x1f\x8b"


class CalibrationDesk:
    """Use cases of organisers around calibrations; every one asks who the caller is."""

    def __init__(self, jobs: JobService, judges: JudgeService) -> None:
        self._jobs = jobs
        self._judges = judges

    def start(
        self, content: bytes, judges: Sequence[str], *, budget_usd: float | None = None, caller: Caller
    ) -> Job:
        """Check a file of human labels, and let a worker hold judges against it.

        Args:
            content: The file.
            judges: Names of judges.
            budget_usd: The most that they may spend together, in USD; needed where one of them asks an LLM.
            caller: Who asks.

        Raises:
            InvalidFileError: The file has problems; all of them are listed.
            InputError: No judge is named, or a judge asks an LLM and there is no cap.
            NotFoundError: There is no such judge.
        """
        require(caller, TokenScope.ORGANISE)
        if not judges:
            raise InputError("No judge is chosen.", advice="Choose one or several.")
        asking = [judge for judge in judges if self._judges.spec(judge).models]
        if asking and budget_usd is None:
            message = f"{', '.join(asking)}: a calibration that asks an LLM needs a cap."
            raise InputError(message, advice="Give the most it may spend.")
        ending = ".jsonl.gz" if content.startswith(GZIP) else ".jsonl"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"labels{ending}"
            path.write_bytes(content)
            labelled_pairs(path)
            labels = read_text(path, LIMITS)
        return self._jobs.calibrate(
            judges, labels, concurrency=CONCURRENCY, budget_usd=budget_usd, caller=caller
        )

    def all(self, *, caller: Caller) -> tuple[JobStatus, ...]:
        """The calibrations among the newest jobs, newest first."""
        require(caller, TokenScope.ORGANISE)
        return tuple(one for one in self._jobs.recent() if one.job.kind is JobKind.CALIBRATE)

    def get(self, number: int, *, caller: Caller) -> JobStatus:
        """One calibration.

        Raises:
            NotFoundError: No calibration has this number.
        """
        require(caller, TokenScope.ORGANISE)
        found = self._jobs.status(number)
        if found.job.kind is not JobKind.CALIBRATE:
            raise NotFoundError(f"Job {number} is no calibration.", advice="Choose one of the list.")
        return found
