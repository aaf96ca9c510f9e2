"""Options of `arena rounds`: the scope of a round and its judging."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import (
    Cache,
    Concurrency,
    Domains,
    Engine,
    JudgeName,
    Pairs,
    Queue,
    Rpm,
    Sample,
    Seed,
    SetName,
    Systems,
    Timeout,
    Tpm,
    Transport,
    Workers,
    in_flight,
    open_reaching,
)
from arena.cli.output import note
from arena.cli.rounds.reports import show_status
from arena.container import Arena
from arena.settings import LlmOverrides
from data.errors import StoppedError
from data.models import OrderPolicy, RoundState
from data.progress import reporting

if TYPE_CHECKING:
    from arena.services.rounds.models import RoundRequest

Budget = Annotated[
    float | None,
    typer.Option("--budget-usd", metavar="X", min=0.0, help="The most that the round may spend."),
]
NewBudget = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="X",
        min=0.0,
        help="A new budget for the round, not below what it has spent; battles that the old one skipped can "
        "then be retried.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOptions:
    """Scope of a round."""

    set_name: SetName
    judge: JudgeName
    pairs: Pairs = ""
    systems: Systems = None
    domains: Domains = None
    sample: Sample = None
    order: Annotated[
        OrderPolicy | None,
        typer.Option("--order", show_default="as the judge's spec says", help="Which answer is shown first."),
    ] = None
    seed: Seed = 0
    budget_usd: Budget = None
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", show_default="set, judge and date", help="Name of the round."),
    ] = None

    def request(self) -> RoundRequest:
        """Return the same for the service."""
        from arena.services.rounds.models import RoundRequest

        named = {"systems": _names_in(self.systems), "domains": _names_in(self.domains)}
        return RoundRequest(**{**asdict(self), **named})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingOptions:
    """Judging options of a round; None means the settings' value."""

    concurrency: Concurrency = None
    cache_mode: Cache = None
    transport: Transport = None
    rpm: Rpm = None
    tpm: Tpm = None
    timeout: Timeout = None
    engine: Engine = None
    workers: Workers = None
    queue: Queue = False

    def open(self) -> Arena:
        """Return the arena with these options in place of the environment's settings."""
        return open_reaching(**asdict(self._reaching()), engine=self.engine)

    def judge(self, arena: Arena, name: str, *, as_json: bool) -> None:
        """Judge what is pending in a round, here, on a cluster, or by the workers of the queue.

        Raises:
            StoppedError: It was judged here and is not finished: somebody stopped it.
        """
        reaching = self._reaching()
        if self.queue:
            options = {} if self.concurrency is None else {"concurrency": self.concurrency}
            job = arena.jobs.judge(name, options={**options, **reaching.to_json()}, workers=self.workers)
            note(f"Job {job.id} waits for a worker (`arena worker`); see: arena rounds status {name}")
            show_status(arena, name, as_json=as_json)
            return
        with reporting(f"judging {name}") as report:
            concurrency = in_flight(arena, self.concurrency)
            arena.engine.judge(
                name,
                concurrency=concurrency,
                workers=self.workers,
                reaching=reaching.to_json(),
                report=report,
            )
        show_status(arena, name, as_json=as_json)
        _require_finished(arena, name)

    def _reaching(self) -> LlmOverrides:
        return LlmOverrides(
            cache_mode=self.cache_mode,
            transport=self.transport,
            rpm=self.rpm,
            tpm=self.tpm,
            timeout=self.timeout,
        )


def _require_finished(arena: Arena, name: str) -> None:
    """Refuse to end as if all was done where a round was stopped, by Ctrl-C or from elsewhere."""
    round_, counts = arena.round_reader.status(name)
    if round_.state is not RoundState.FINISHED:
        verb = "retry" if round_.state is RoundState.CANCELLED else "resume"
        raise StoppedError(
            f"Round {name} is {round_.state}, and {counts.pending:,} battles are pending.",
            advice=f"Go on with: arena rounds {verb} {name}",
        )


def _names_in(text: str | None) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
