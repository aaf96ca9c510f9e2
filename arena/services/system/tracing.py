"""Traces of rounds: what a round, its battles and their requests to LLMs did, for those who ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable

from arena.settings import Settings, Traces
from data.errors import InputError
from data.records import Round
from judges.base import Judge
from judges.llm.chat_format import Transport

EXTRA = "Install it: `pip install answer-arena[otel]`, or unset the variable."


@runtime_checkable
class Tracing(Protocol):
    """Sees what is judged."""

    def round(self, round_: Round, judge: Judge) -> AbstractContextManager[Judge]:
        """The judge of a round, watched at its battles until the block ends."""
        ...

    def transport(self, transport: Transport) -> Transport:
        """A transport, watched at its requests."""
        ...

    def close(self) -> None:
        """Send what was not sent yet."""
        ...


class NoTracing:
    """Sees nothing, and costs nothing."""

    @contextmanager
    def round(self, _round: Round, judge: Judge) -> Iterator[Judge]:
        """The judge itself."""
        yield judge

    def transport(self, transport: Transport) -> Transport:
        """The transport itself."""
        return transport

    def close(self) -> None:
        """There is nothing to send."""


def open_tracing(settings: Settings) -> Tracing:
    """What the settings ask for.

    Raises:
        InputError: Traces are asked for, and OpenTelemetry is not installed.
    """
    if settings.traces is Traces.OFF:
        return NoTracing()
    try:
        from arena.services.system.open_telemetry import OpenTelemetry  # noqa: PLC0415 - an extra
    except ImportError as error:
        # A library that is there and broken is a fault of its own.
        if not (error.name or "").startswith("opentelemetry"):
            raise
        raise InputError(
            f"ARENA_TRACES is {settings.traces}, and OpenTelemetry is not installed.", advice=EXTRA
        ) from error
    return OpenTelemetry.over_http()
