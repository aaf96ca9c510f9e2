"""The one place where a scheduler is put together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from data.errors import SpecError
from judges.llm.cache import ReplyCache
from judges.llm.chat_format import Transport
from judges.llm.client import Scheduler
from judges.llm.costs import Budget, CostMeter, Ledger
from judges.llm.prices import Prices
from judges.llm.settings import AccessSettings, TransportKind
from judges.llm.token_counting import TokenCounter
from judges.llm.transports.batch_files import BatchJournal

BATCH_PATIENCE = 24 * 3_600.0  # What is queued at the provider makes room within a day.


@contextlib.asynccontextmanager
async def open_client(
    settings: AccessSettings | None = None,
    cache: ReplyCache | None = None,
    ledger: Ledger | None = None,
    *,
    journal: BatchJournal | None = None,
    transport: Transport | None = None,
    watched: Callable[[Transport], Transport] | None = None,
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
        watched: Puts something around the transport, which sees every request that is sent.

    Raises:
        SpecError: The settings' prices file cannot be used, or there are batches and no journal.
    """
    settings = settings or AccessSettings()
    if settings.transport is TransportKind.BATCH:
        settings = replace(settings, rate_limit_patience=max(settings.rate_limit_patience, BATCH_PATIENCE))
    carrier = transport or _transport(settings, cache, journal)
    if watched is not None:
        carrier = watched(carrier)
    prices = Prices.load(
        settings.prices,
        batch=settings.transport is TransportKind.BATCH,
        litellm=settings.transport is TransportKind.LITELLM,
    )
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


def _transport(settings: AccessSettings, cache: ReplyCache | None, journal: BatchJournal | None) -> Transport:
    """The transport that the settings name, with its library loaded only now."""
    match settings.transport:
        case TransportKind.OPENAI:
            from judges.llm.transports.openai import OpenAITransport  # noqa: PLC0415 - one of four is used

            return OpenAITransport(settings)
        case TransportKind.DIRECT:
            from judges.llm.transports.httpx import DirectTransport  # noqa: PLC0415 - as above

            return DirectTransport(settings)
        case TransportKind.LITELLM:
            from judges.llm.transports.litellm import LitellmTransport  # noqa: PLC0415 - as above

            return LitellmTransport(settings)
        case TransportKind.BATCH:
            from judges.llm.transports.batch import BatchTransport  # noqa: PLC0415 - as above

            if journal is None:
                message = "Batches were asked for without a place to write their ids down."
                raise SpecError(message, advice="Give open_client a journal.")
            return BatchTransport(settings, journal, cache)
