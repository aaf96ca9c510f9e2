"""The one place where a scheduler is put together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

from judges.llm.cache import ReplyCache
from judges.llm.chat_format import Transport
from judges.llm.client import Scheduler
from judges.llm.costs import Budget, CostMeter, Ledger
from judges.llm.prices import Prices
from judges.llm.settings import AccessSettings
from judges.llm.token_counting import TokenCounter
from judges.llm.transports.batch_files import BatchJournal
from judges.llm.transports.registry import transport_info

BATCH_PATIENCE = 24 * 3_600.0  # What is queued at the provider makes room within a day.


@contextlib.asynccontextmanager
async def open_client(
    settings: AccessSettings | None = None,
    cache: ReplyCache | None = None,
    ledger: Ledger | None = None,
    *,
    journal: BatchJournal | None = None,
    transport: Transport | None = None,
    prices: Prices | None = None,
) -> AsyncIterator[Scheduler]:
    """Open LLM access for the event loop that runs this, and close it at the end.

    At the end nothing new is started, calls in flight finish and are kept, what was reserved and not
    spent goes back to the ledger, and connections are closed.

    Args:
        settings: Limits, patience, keys and modes.
        cache: Where replies are looked up and kept; None asks everything and keeps nothing.
        ledger: The account with the cap that calls are held to; None is no cap.
        journal: Where batches are written down; needed where they are the transport.
        transport: Carries requests instead of the one that the settings name.
        prices: What tokens cost, instead of the bundled prices and those of the settings' file.

    Raises:
        SpecError: The settings' prices file cannot be used, or there are batches and no journal.
        NotFoundError: There is no transport of the settings' name.
    """
    settings = settings or AccessSettings()
    info = transport_info(settings.transport)
    if info.batches:
        settings = replace(settings, rate_limit_patience=max(settings.rate_limit_patience, BATCH_PATIENCE))
    carrier = transport or info.opened(settings, journal, cache)
    more = info.prices() if prices is None and info.prices is not None else None
    prices = prices or Prices.load(settings.prices, batch=info.batches, more=more)
    meter = CostMeter(
        prices,
        TokenCounter(),
        budget=None if ledger is None else Budget(ledger),
        unbounded_output=settings.unbounded_output,
    )
    scheduler = Scheduler(settings, carrier, cache=cache, meter=meter)
    try:
        yield scheduler
    finally:
        await scheduler.close()
