"""Round requests, plans, estimates and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.services.accounts.redaction import hide_addresses
from data.errors import NotFoundError
from data.models import (
    JobKind,
    MissingRule,
    OrderPolicy,
    Outcome,
    PlannedBattle,
    Question,
    Round,
    RoundCounts,
    RoundState,
    SetSummary,
    Submission,
    require_name,
)
from data.models.rounds import RESUMABLE, require_amount
from data.store import Store

if TYPE_CHECKING:
    # Lists of rounds do not need these slow imports.
    from arena.services.jobs.service import JobStatus
    from arena.services.rounds.battle_table import LiveStanding
    from arena.services.rounds.pairing import Plan
    from judges.base import JudgeInput
    from judges.spec import JudgeSpec

LoadSpec: TypeAlias = "Callable[[str], JudgeSpec]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """Request for a round.

    `pairs` and `sample` are as on the command line; empty `pairs` means `reference` if the set has
    references, else `all`. Empty `systems` and `domains` mean all.
    """

    set_name: str
    judge: str
    pairs: str = ""
    systems: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    sample: str | None = None
    order: OrderPolicy | None = None
    missing: MissingRule = MissingRule.LOSE
    seed: int = 0
    budget_usd: float | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            require_name(self.name, "Round name")
        if self.budget_usd is not None:
            require_amount(self.budget_usd)


def questions_in(
    domains: tuple[str, ...], summary: SetSummary, questions: Iterable[tuple[int, Question]]
) -> tuple[tuple[int, Question], ...]:
    """Return a set's questions of `domains`, or all if `domains` is empty."""
    unknown = [domain for domain in domains if domain not in summary.domains]
    if unknown:
        names = ", ".join(summary.domains)
        raise NotFoundError(
            f"{summary.name} has no domain {', '.join(unknown)}.", advice=f"The domains are: {names}."
        )
    return tuple(entry for entry in questions if not domains or entry[1].domain in domains)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """Plan of a round that is not stored yet."""

    request: RoundRequest
    summary: SetSummary
    spec: JudgeSpec
    entrants: tuple[Submission, ...]
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEstimate:
    """Estimated requests and cost of a round.

    Attributes:
        requests: Minimum number of requests.
        requests_most: Maximum with all retries and swapped orders.
        cached: Requests with cached replies, which cost nothing.
        input_tokens: Tokens of `requests`.
        output_tokens: Tokens of their replies, by the judge's mean reply length or a default.
        cost_usd: Cost of these tokens; None if a price is unknown.
        cost_usd_most: Cost of `requests_most` with the longest replies; None if a price or limit is unknown.
        free_by_place: Models that count as free since their address is private.
    """

    requests: int = 0
    requests_most: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    cost_usd_most: float | None = 0.0
    free_by_place: tuple[str, ...] = ()

    def __add__(self, other: RoundEstimate) -> RoundEstimate:
        return RoundEstimate(
            requests=self.requests + other.requests,
            requests_most=self.requests_most + other.requests_most,
            cached=self.cached + other.cached,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=_sum(self.cost_usd, other.cost_usd),
            cost_usd_most=_sum(self.cost_usd_most, other.cost_usd_most),
            free_by_place=tuple(dict.fromkeys(self.free_by_place + other.free_by_place)),
        )


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def entrants_of(store: Store, round_: Round) -> tuple[Submission, ...]:
    """Return a round's submissions, withdrawn ones too, without the reference."""
    versions: Mapping[str, int] = round_.plan["systems"]
    submissions = store.submissions.find(set_name=round_.set_name)
    return tuple(
        submission for submission in submissions if versions.get(submission.system) == submission.version
    )


MAX_VALUE = 60
HARMLESS = ("endpoint", "price")
"""Settings of a judge that cannot change a verdict."""


def same_verdicts(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether two judges differ at most in endpoints and prices."""
    return _deciding(before) == _deciding(after)


def _deciding(judge: Mapping[str, Any]) -> dict[str, Any]:
    settings = {name: value for name, value in judge.items() if name not in {"source", "hash", *HARMLESS}}
    return {**settings, "members": [_deciding(member) for member in judge.get("members") or ()]}


def differences(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield each changed setting with its old and new value, panel members by number."""
    for name in sorted((before.keys() | after.keys()) - {"source", "hash"}):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        if name == "members" and isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            for number, (old, new) in enumerate(zip(was, now, strict=True), 1):
                yield from differences(old, new, f"{prefix}member {number}: ")
        elif name == "prompt":
            yield f"{prefix}prompt (changed text)"
        else:
            yield f"{prefix}{name} was {_short(was)}, is {_short(now)}"


def _short(value: object) -> str:
    text = "unset" if value is None else str(value) if value != "" else "empty"
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


FORMER = "former_judges"
"""Key in a round's plan: its earlier judges, each with the changed settings."""


def former_sentences(round_: Round) -> tuple[str, ...]:
    """Return the board's notes on battles judged with other settings."""
    former: list[Mapping[str, Any]] = round_.plan.get(FORMER) or []
    return tuple(
        f"The first {judge['judged']:,} battles were judged with other settings: "
        f"{hide_addresses(str(judge['changed']))}."
        for judge in former
    )


def judge_inputs(
    store: Store, planned: PlannedRound, battles: Sequence[PlannedBattle]
) -> Iterator[JudgeInput]:
    """Yield battles of a planned round with their texts."""
    from judges.base import JudgeInput

    reference = store.submissions.reference(planned.request.set_name).id
    questions: Mapping[int, Question] = dict(store.sets.numbered(planned.summary.id))
    texts = store.submissions.texts(
        [(side, battle.question) for battle in battles for side in (battle.a, battle.b)]
    )
    for battle in battles:
        yield JudgeInput(
            battle_id=battle.key,
            question=questions[battle.question],
            answer_a=texts[battle.a, battle.question],
            answer_b=texts[battle.b, battle.question],
            reference_side={battle.a: "a", battle.b: "b"}.get(reference),
        )


DELETABLE = (RoundState.PLANNED, RoundState.PAUSED, RoundState.FINISHED, RoundState.CANCELLED)
REOPENABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)
RETRIED = (Outcome.FAILED, Outcome.SKIPPED)
"""Outcomes of battles that a retry judges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundProgress:
    """Round with its progress and current job, if any."""

    round: Round
    counts: RoundCounts
    job: JobStatus | None

    @property
    def rate(self) -> float:
        """Battles per second over all workers."""
        return 0.0 if self.job is None else self.job.rate

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds, from a single worker's replies or the overall rate."""
        if self.job is not None and self.job.seconds_left is not None:
            return self.job.seconds_left
        return self.counts.pending / self.rate if self.rate else None

    @property
    def share(self) -> float:
        """Share of the planned battles with a verdict, 0–1."""
        return self.counts.judged / self.counts.planned if self.counts.planned else 1.0

    @property
    def unjudged(self) -> Mapping[str, int]:
        """Number of battles that ended without a verdict, by outcome."""
        counts = {o.value: getattr(self.counts, o.value) for o in Outcome if o != Outcome.JUDGED}
        return {name: count for name, count in counts.items() if count}

    @property
    def sentence(self) -> str:
        """Counts of judged battles and of the rest by outcome."""
        counts = {**self.unjudged, "still to judge": self.counts.pending}
        rest = "".join(f", {count:,} {name}" for name, count in counts.items() if count)
        return f"{self.counts.judged:,} of {self.counts.planned:,} battles judged{rest}"

    @property
    def waiting(self) -> bool:
        """True if a job of it is queued or running."""
        return self.job is not None and self.job.job.finished_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundWatch(RoundProgress):
    """Current state of a round; `capped` if its budget skipped battles."""

    live: LiveStanding
    warnings: tuple[str, ...] = ()
    capped: bool = False

    @property
    def retriable(self) -> Mapping[str, int]:
        """Number of battles that a retry would judge, by outcome."""
        return {name: count for name, count in self.unjudged.items() if name in RETRIED}

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of its workers; expired leases are marked."""
        leases = () if self.job is None else self.job.leases
        return tuple(f"{lease.worker.name}{'' if lease.lease_left > 0 else ' (lost)'}" for lease in leases)

    @property
    def cap_sentence(self) -> str:
        """Sentence on battles skipped by the cap; empty if there are none."""
        skipped = f"The cap skipped {self.counts.skipped:,} of {self.counts.planned:,} battles."
        return f"{skipped} A higher cap lets you judge them." if self.capped else ""

    @property
    def publishing(self) -> bool:
        """True while its board is published."""
        return self.waiting and self.job is not None and self.job.job.kind is JobKind.PUBLISH

    @property
    def actions(self) -> frozenset[str]:
        """Allowed actions: pause, resume, overrule, retry, cancel, delete."""
        state, idle = self.round.state, not self.waiting
        allowed = {
            "pause": state in RESUMABLE and not idle and not self.publishing,
            "resume": state in RESUMABLE and idle,
            "overrule": state is RoundState.PAUSED and idle and self.warnings,
            "retry": state in REOPENABLE and idle and self.retriable,
            "cancel": state in RESUMABLE,
            "delete": state in DELETABLE and idle,
        }
        return frozenset(name for name, is_allowed in allowed.items() if is_allowed)
