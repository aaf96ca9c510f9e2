"""`arena rounds plan`, `run`, `resume` and `retry`: what is judged, and how it is paced and paid."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bootstrap import Arena, open_arena
from arena.cli.grouped import grouped
from arena.cli.options import AsJson, JudgeName, Seed, SetName
from arena.cli.output import note, progress_bar, show_fields, show_json, show_line
from arena.cli.reaching import (
    Cache,
    Concurrency,
    Engine,
    EngineKind,
    Queue,
    Rpm,
    Timeout,
    Tpm,
    Transport,
    Workers,
    in_flight,
)
from arena.cli.round_status import RoundArgument, show_status
from arena.reaching import Reaching
from arena.settings import read_settings
from data.records import OrderPolicy

if TYPE_CHECKING:
    from arena.services.round_requests import RoundRequest

Budget = Annotated[float | None, typer.Option("--budget-usd", min=0.0, help="Most that may be spent.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeOptions:
    """What a round is to judge."""

    set_name: SetName
    judge: JudgeName
    pairs: Annotated[str, typer.Option("--pairs", help="reference, reference,complete:K, or all.")] = (
        "reference"
    )
    systems: Annotated[
        str | None, typer.Option("--systems", help="Systems by name, with commas between.")
    ] = None
    domains: Annotated[str | None, typer.Option("--domains", help="Domains by id, with commas between.")] = (
        None
    )
    sample: Annotated[str | None, typer.Option("--sample", help="Questions to take: 100, or 10%.")] = None
    order: Annotated[OrderPolicy | None, typer.Option("--order", help="Which answer is shown first.")] = None
    seed: Seed = 0
    budget_usd: Budget = None
    canaries: Annotated[
        int | None,
        typer.Option("--canaries", min=0, help="Attacks planted beside the battles; 0 plants none."),
    ] = None
    name: Annotated[str | None, typer.Option("--name", help="Name of the round.")] = None

    def request(self) -> RoundRequest:
        """The same for the service."""
        from arena.services.round_requests import RoundRequest

        named = {"systems": _names(self.systems), "domains": _names(self.domains)}
        return RoundRequest(**{**asdict(self), **named})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingOptions:
    """How a round is judged; what is None is as the settings say."""

    concurrency: Concurrency = None
    cache_mode: Cache = None
    transport: Transport = None
    rpm: Rpm = None
    tpm: Tpm = None
    timeout: Timeout = None
    engine: Engine = EngineKind.LOCAL
    workers: Workers = None
    queue: Queue = False

    def open(self) -> Arena:
        """The arena with these options in place of the environment's settings."""
        return open_arena(self._reaching().over(read_settings()))

    def judge(self, arena: Arena, name: str, *, as_json: bool) -> None:
        """Judge what is pending in a round, here, on a cluster, or by the workers of the queue."""
        reaching = self._reaching()
        if self.queue:
            given = {} if self.concurrency is None else {"concurrency": self.concurrency}
            job = arena.jobs.judge(name, options={**given, **reaching.for_job()}, workers=self.workers)
            note(f"Job {job.id} waits for a worker (`arena worker`); see: arena rounds status {name}")
            show_status(arena, name, as_json=as_json)
            return
        with progress_bar(f"judging {name}") as report:
            concurrency = in_flight(arena, self.concurrency)
            if self.engine is EngineKind.RAY:
                from arena.cluster import judge_on_ray

                workers = self.workers
                judge_on_ray(
                    arena, name, concurrency=concurrency, workers=workers, reaching=reaching, report=report
                )
            else:
                arena.rounds.run(name, concurrency=concurrency, report=report)
        counts = show_status(arena, name, as_json=as_json)
        if counts.pending:
            note(f"{counts.pending:,} battles are pending; go on with: arena rounds resume {name}")

    def _reaching(self) -> Reaching:
        return Reaching(
            cache_mode=self.cache_mode,
            transport=self.transport,
            rpm=self.rpm,
            tpm=self.tpm,
            timeout=self.timeout,
        )


@grouped
def plan(scope: ScopeOptions, *, as_json: AsJson = False) -> None:
    """Say what a round would judge, what is left out, and what it would cost; store nothing."""
    fields = open_arena().planner.estimate(scope.request())
    if as_json:
        show_json(fields)
        return
    left_out: dict[str, int] = fields.pop("left_out")
    show_fields({**fields, "systems": ", ".join(fields["systems"])})
    for what, count in left_out.items():
        show_line(f"left out: {count:,} {what}")


@grouped
def run(scope: ScopeOptions, how: JudgingOptions, *, as_json: AsJson = False) -> None:
    """Create a round and judge it. Ctrl-C pauses it; `arena rounds resume` goes on."""
    arena = how.open()
    created = arena.rounds.create(scope.request())
    note(f"Round {created.name}; if it is cut off, go on with: arena rounds resume {created.name}")
    how.judge(arena, created.name, as_json=as_json)


@grouped
def resume(
    name: RoundArgument, budget_usd: Budget = None, *, how: JudgingOptions, as_json: AsJson = False
) -> None:
    """Judge what is still pending in a round, with another budget where one is given."""
    arena = how.open()
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    how.judge(arena, name, as_json=as_json)


@grouped
def retry(
    name: RoundArgument, budget_usd: Budget = None, *, how: JudgingOptions, as_json: AsJson = False
) -> None:
    """Judge failed and skipped battles again, and nothing else; with another budget where one is given."""
    arena = how.open()
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    reopened = arena.rounds.retry(name)
    note(f"{reopened:,} battles are tried again.")
    if reopened:
        how.judge(arena, name, as_json=as_json)
    else:
        show_status(arena, name, as_json=as_json)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
