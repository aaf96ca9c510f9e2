"""What somebody asks of a gate, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from arena.services.submissions.version_names import LAST, number_in
from data.errors import InputError
from data.records.rounds import require_amount
from leaderboard.gates import GateShare, GateVerdict

MOST_POINTS = 100
MARK = {"pass": "✅", "worse": "❌", "undecided": "❔"}
WORDS = {"pass": "passes", "worse": "is worse", "undecided": "is undecided"}
NOTHING_PUBLIC = "Nothing of this is public, and no quota was used."


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


def gate_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a report, as `GateReport.as_json` gives it."""
    new, old = report["new"], report["old"]
    yield (
        f"{report['system']} {WORDS[report['verdict']]}: {report['reason']} "
        f"(submission {new['submission']} against version {old['version']}, {report['set']}, "
        f"judge {report['judge']})"
    )
    for share in (report["overall"], *report["domains"]):
        yield (
            f"{share['domain']}: {_points(share)} points of win + tie, {_interval(share)}; "
            f"{share['questions']:,} questions, {share['ahead']:,} better, {share['behind']:,} worse"
        )
    yield from _notes(report)


def gate_markdown(report: Mapping[str, Any]) -> str:
    """The same as Markdown; names stand in it as code, so that they cannot be read as markup."""
    new, old = report["new"], report["old"]
    title = f"{_code(report['system'])} {WORDS[report['verdict']]} on {_code(report['set'])}"
    scope = (
        f"Submission {new['submission']} against version {old['version']} (submission {old['submission']}), "
        f"judged by {_code(report['judge'])}; {report['max_loss']:g} points may be lost."
    )
    lines = [
        f"### {MARK[report['verdict']]} {title}",
        "",
        f"{report['reason']} {scope}",
        "",
        "| | win + tie, points | 95 % interval at every look | questions | better | worse |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {_code(share['domain'])} | {_points(share)} | {_interval(share)} | {share['questions']:,} "
            f"| {share['ahead']:,} | {share['behind']:,} |"
            for share in (report["overall"], *report["domains"])
        ),
        "",
        *(f"- {note}" for note in _notes(report)),
    ]
    return "\n".join(lines) + "\n"


def _notes(report: Mapping[str, Any]) -> Iterator[str]:
    count = len(report["waves"])
    looks = f"{count} {'look' if count == 1 else 'looks'}"
    cap = "" if report["budget_usd"] is None else f" of {report['budget_usd']:g}"
    yield (
        f"{report['asked']:,} of {report['questions']:,} questions asked in {looks}, "
        f"{report['cost_usd']:.4f}{cap} USD; {report['same']:,} have the same answer in both versions."
    )
    if report["lost"]:
        yield f"{report['lost']:,} questions are answered by the old version alone: lost by the new one."
    if report["added"]:
        yield f"{report['added']:,} questions are answered by the new version alone: in no figure."
    for reason, count in report["undecidable"].items():
        yield f"{count:,} questions left out: {reason}."
    for outcome, count in report["unjudged"].items():
        yield f"{count:,} questions without a verdict: {outcome}."
    yield NOTHING_PUBLIC


def _points(share: Mapping[str, Any]) -> str:
    return "–" if share["difference"] is None else f"{share['difference']:+.1f}"


def _interval(share: Mapping[str, Any]) -> str:
    return f"{share['lower']:+.1f} to {share['upper']:+.1f}"


def _code(text: str) -> str:
    return f"`{text.replace('`', '').replace('|', '')}`"
