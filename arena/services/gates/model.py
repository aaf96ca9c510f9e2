"""What somebody asks of a gate, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from arena.services.submissions.version_names import LAST, number_in
from data.errors import InputError
from data.records.rounds import require_amount
from leaderboard.gates import GateShare, GateVerdict

MOST_POINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """What somebody asks of a gate.

    Attributes:
        submission: Number of the new version, which may be checked only.
        against: The old version: `last`, a number of a version, or `id:` and the number of a submission.
        max_loss: Percentage points of win + tie that may be lost.
        judge: The judge; None as the set's rule says, else the embedded one.
        budget_usd: The most that it may spend; None as the set's rule says.
        seed: Seed of the order of questions.
    """

    submission: int
    max_loss: float
    against: str = LAST
    judge: str | None = None
    budget_usd: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.max_loss <= MOST_POINTS:
            message = f"{self.max_loss} is no loss in percentage points."
            raise InputError(message, advice="Use 0 to 100, such as 2 for two points of win + tie.")
        if self.budget_usd is not None:
            require_amount(self.budget_usd)
        if self.against != LAST:
            number_in(self.against)

    def of(self, submission: int) -> GateRequest:
        """The same of another submission."""
        return replace(self, submission=submission)

    def as_json(self) -> dict[str, Any]:
        """The request as a job or a route carries it."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> GateRequest:
        """What `as_json` gave, read back."""
        read: GateRequest = TypeAdapter(cls).validate_python(dict(fields))
        return read


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVersion:
    """One of the two versions."""

    submission: int
    version: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What a gate says. Differences and intervals are in percentage points of win + tie, new less old.

    Attributes:
        verdict: Whether a loss above `max_loss` is ruled out (`pass`), shown (`worse`), or neither.
        reason: That in words.
        overall: The difference that decides.
        domains: The same by domain; each interval holds by itself.
        questions: Questions that both versions answer and the judge can decide, and those that only the old
            one answers.
        asked: How many of those were asked of the judge.
        same: How many have the same text in both versions, which differ by 0 and are not asked.
        lost: How many only the old version answers; the new one counts as losing there.
        added: Questions that only the new version answers; they are in no figure.
        undecidable: Questions that the judge cannot decide against the reference, by reason.
        unjudged: Questions that were asked, and have no verdict for one of the two, by outcome.
        waves: Looks: how many questions were decided in all, and the interval then.
        stopped: What ended it: `decided`, `questions` (there were no more) or `budget`.
        cost_usd: What it cost now; replies that the cache has cost nothing.
    """

    verdict: GateVerdict
    reason: str
    set: str
    system: str
    new: GateVersion
    old: GateVersion
    judge: str
    max_loss: float
    overall: GateShare
    domains: tuple[GateShare, ...]
    questions: int
    asked: int
    same: int
    lost: int
    added: int
    undecidable: Mapping[str, int]
    unjudged: Mapping[str, int]
    waves: tuple[tuple[int, float, float], ...]
    stopped: str
    budget_usd: float | None
    cost_usd: float
    seed: int

    def as_json(self) -> dict[str, Any]:
        """What `arena submissions gate --json` prints, and a job's result."""
        fields: dict[str, Any] = TypeAdapter(GateReport).dump_python(self, mode="json")
        waves = [{"questions": n, "lower": lower, "upper": upper} for n, lower, upper in self.waves]
        return {**fields, "waves": waves}
