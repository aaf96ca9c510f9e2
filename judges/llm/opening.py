"""The one place where a scheduler is put together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from judges.llm.budget import Budget, Ledger
from judges.llm.cache import ReplyCache
from judges.llm.metering import Meter
from judges.llm.prices import Prices
from judges.llm.scheduler import Scheduler
from judges.llm.settings import AccessSettings, TransportKind
from judges.llm.tokens import TokenCounter
from judges.llm.wire import Transport


@contextlib.asynccontextmanager
async def open_asker(
    settings: AccessSettings | None = None,
    cache: ReplyCache | None = None,
    ledger: Ledger | None = None,
    *,
    transport: Transport | None = None,
) -> AsyncIterator[Scheduler]:
    """Open LLM access for the event loop that runs this, and close it at the end.

    At the end nothing new is started, calls in flight finish and are kept, what was reserved and not
    spent goes back to the ledger, and connections are closed.

    Args:
        settings: Limits, patience, keys and modes.
        cache: Where replies are looked up and kept; None asks everything and keeps nothing.
        ledger: The account with the cap that calls are held to; None is no cap.
        transport: Carries requests instead of the one that the settings name.

    Raises:
        SpecError: The settings' prices file cannot be used.
    """
    settings = settings or AccessSettings()
    prices = Prices.load(settings.prices, batch=settings.transport is TransportKind.BATCH)
    meter = Meter(
        prices,
        TokenCounter(),
        budget=None if ledger is None else Budget(ledger),
        unbounded_output=settings.unbounded_output,
    )
    scheduler = Scheduler(settings, transport or _transport(settings), cache=cache, meter=meter)
    try:
        yield scheduler
    finally:
        await scheduler.close()


def _transport(settings: AccessSettings) -> Transport:
    """The transport that the settings name, with its library loaded only now."""
    from judges.llm.openai_transport import OpenAITransport  # noqa: PLC0415

    return OpenAITransport(settings)
