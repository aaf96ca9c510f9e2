"""Options of commands that ask LLMs: they go before the environment."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from arena.bootstrap import Arena, open_arena
from arena.reaching import Reaching
from arena.settings import read_settings
from judges.llm.settings import CacheMode, TransportKind


class EngineKind(StrEnum):
    """Where a round is judged."""

    LOCAL = "local"
    RAY = "ray"


Cache = Annotated[
    CacheMode | None,
    typer.Option("--cache-mode", help="live: ask what is missing; replay: ask nothing; record: ask anew."),
]
Transport = Annotated[
    TransportKind | None,
    typer.Option(
        "--transport", help="How LLM requests travel (direct: least work a call; batch: half the price)."
    ),
]
Rpm = Annotated[int | None, typer.Option("--rpm", min=1, help="Requests a minute at most.")]
Tpm = Annotated[int | None, typer.Option("--tpm", min=1, help="Tokens a minute at most.")]
Timeout = Annotated[int | None, typer.Option("--timeout", min=1, help="Longest wait for a reply, seconds.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency", min=1, max=20_000, help="Calls in flight at most (16; with batches 10,000)."
    ),
]

Engine = Annotated[
    EngineKind, typer.Option("--engine", help="local: in this process; ray: on a Ray cluster.")
]
Queue = Annotated[
    bool, typer.Option("--queue", help="Leave it to the workers of the queue, and return at once.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="How many workers may share it (queue, ray).")
]

USUAL = 16
WITH_BATCHES = 10_000


def open_reaching(
    cache_mode: CacheMode | None = None,
    transport: TransportKind | None = None,
    rpm: int | None = None,
    tpm: int | None = None,
    timeout: int | None = None,
) -> Arena:
    """Open the arena with the options that were given in place of the environment's settings."""
    wanted = Reaching(cache_mode=cache_mode, transport=transport, rpm=rpm, tpm=tpm, timeout=timeout)
    return open_arena(wanted.over(read_settings()))


def in_flight(arena: Arena, asked: int | None) -> int:
    """How many battles may be in flight: what was asked for, else what suits the transport."""
    if asked is not None:
        return asked
    return WITH_BATCHES if arena.settings.transport is TransportKind.BATCH else USUAL
