"""Client with retries, caching, limits and budget; `open_client` creates one.

A request passes these steps: deduplication of requests in flight, the reply cache, the endpoint's concurrency
limit, the limits per minute, the budget and the transport. Only transient errors are retried, with
exponential backoff and jitter; 429 is retried until its patience ends. A wait that an endpoint requests is a
lower bound.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from data.errors import ReplayMissError, StoppedError
from data.models import OUT_OF_BUDGET, Outcome, Reply
from judges.llm.chat_format import Transport
from judges.llm.costs import Budget, CallUsage, CostMeter, Ledger, Usage, await_another
from judges.llm.endpoint_state import EndpointState
from judges.llm.errors import Backoff, CallError, CallErrorKind, Wait
from judges.llm.prices import Prices
from judges.llm.redaction import Redaction
from judges.llm.reply_size import Incoming, ReplyRoom
from judges.llm.requests import CacheReader, CallFailure, ReplyCache, Request
from judges.llm.settings import AccessSettings, CacheMode
from judges.llm.token_counting import TokenCounter
from judges.llm.transports.registry import transport_info

if TYPE_CHECKING:
    from judges.llm.transports.batch import BatchJournal

SHORT_CAUSE = 120
MAX_IMPLAUSIBLE = 5
IMPLAUSIBLE = (
    "{0} replies in a row reported more tokens than a call can use, the last {1.input:,} in and "
    "{1.output:,} out; the maximum cost of each call counts as lost"
)
DENIED_ATTEMPTS = 2


class Scheduler:
    """Answers requests over a transport, for one event loop; created by `open_client`."""

    def __init__(
        self, settings: AccessSettings, transport: Transport, *, cache: ReplyCache | None, meter: CostMeter
    ) -> None:
        self._settings = settings
        self._transport = transport
        self._cache = cache
        self._reader = None if cache is None else CacheReader(cache)
        self._meter = meter
        self._lanes: dict[tuple[str, str], EndpointState] = {}
        self._part = 1.0
        self._shared: dict[str, asyncio.Future[Reply | CallFailure]] = {}
        self._waits: set[Wait] = set()
        self._room = ReplyRoom()
        self._redaction = Redaction(settings.keys)
        self._stopping = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._backoff = Backoff(settings.backoff, settings.longest_backoff)

    @property
    def usage(self) -> Usage:
        """Usage so far."""
        return self._meter.usage

    @property
    def waiting(self) -> Wait | None:
        """The retry wait that ends first, if any."""
        return min(self._waits, key=lambda wait: wait.until, default=None)

    @property
    def concurrency(self) -> dict[tuple[str, str], int]:
        """Current limit of concurrent calls per endpoint and model."""
        return {name: int(endpoint.gate.limit) for name, endpoint in self._lanes.items()}

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Return the reply, or the reason for a failure."""
        key = request.key
        while (shared := self._shared.get(key)) is not None:
            await_another()
            try:
                answer = await asyncio.shield(shared)
            except asyncio.CancelledError:
                if not shared.cancelled():
                    raise
                continue  # The other caller was cancelled.
            self.usage.shared += 1
            return _costless(answer)
        return await self._lead(request, key)

    async def _lead(self, request: Request, key: str) -> Reply | CallFailure:
        future: asyncio.Future[Reply | CallFailure] = asyncio.get_running_loop().create_future()
        self._shared[key] = future
        self._idle.clear()
        try:
            answer = await self._answer(request)
        except asyncio.CancelledError:
            future.cancel()
            raise
        except BaseException as error:
            future.set_exception(error)
            future.exception()  # Marks it as retrieved if no other caller waits.
            raise
        else:
            future.set_result(answer)
            return answer
        finally:
            del self._shared[key]
            if not self._shared:
                self._idle.set()

    async def _answer(self, request: Request) -> Reply | CallFailure:
        mode = self._settings.cache_mode
        if self._reader is not None and mode is not CacheMode.RECORD:
            recorded = await self._reader.get(request.key)
            if recorded is not None:
                self.usage.cached += 1
                return recorded.from_cache()
        if mode is CacheMode.REPLAY:
            message = f"The cache has no reply to this request to {request.model} ({request.key[:12]})."
            raise ReplayMissError(message, advice="Use the cache mode 'live' to request it.")
        return await self._call(request)

    async def _call(self, request: Request) -> Reply | CallFailure:
        endpoint, call_usage = self._endpoint_for(request), CallUsage()
        transient, limited, patience_ends = 0, 0, float("inf")
        while True:
            self._check_running()
            started = time.monotonic()
            try:
                reply = await self._attempt(request, endpoint, call_usage)
            except CallError as fault:
                if fault.kind is CallErrorKind.RATE_LIMITED:
                    limited += 1
                    patience_ends = min(patience_ends, started + self._settings.rate_limit_patience)
                else:
                    transient += 1
                # The breaker did not open, so the fatal status concerns only this request: retry once.
                maximum = DENIED_ATTEMPTS if fault.kind is CallErrorKind.FATAL else self._settings.attempts
                wait = self._backoff.seconds(call_usage.calls, fault.retry_after)
                over = (
                    transient >= maximum
                    or limited >= self._settings.rate_limit_attempts
                    or time.monotonic() > patience_ends
                )
                if over or fault.kind in {CallErrorKind.REFUSED, CallErrorKind.REJECTED}:
                    return _failure(fault, call_usage)
                await self._sleep_out(fault, wait)
            else:
                if reply is None:
                    return _with_usage(Outcome.SKIPPED, OUT_OF_BUDGET, call_usage)
                return reply

    async def _attempt(
        self, request: Request, endpoint: EndpointState, call_usage: CallUsage
    ) -> Reply | None:
        """Make one call in a slot of the gate; None if the budget is exhausted."""
        if not self._meter.reserves_battles:
            async with endpoint.gate:
                await self._check_place(request, endpoint)
                reserved = await self._meter.reserve(request)
                if reserved is None:
                    return None
                return await self._place(request, endpoint, call_usage, reserved)
        # Reserve before entering the gate, so that no call waits for budget while it occupies a slot.
        reserved = await self._meter.reserve(request)
        if reserved is None:
            return None
        sent = False
        try:
            async with endpoint.gate:
                await self._check_place(request, endpoint)
                sent = True
                return await self._place(request, endpoint, call_usage, reserved)
        finally:
            if not sent:
                self._meter.release(reserved)

    async def _check_place(self, request: Request, endpoint: EndpointState) -> None:
        if endpoint.limited:
            await self._take_turn(request, endpoint)
        # Both may have changed during the wait.
        self._check_running()
        endpoint.check()

    async def _place(
        self, request: Request, endpoint: EndpointState, call_usage: CallUsage, reserved: float
    ) -> Reply:
        sent_at = time.monotonic()
        with self._room.reply(request.sampling) as incoming:
            try:
                reply = await self._send(request, incoming, call_usage, reserved)
            except CallError as fault:
                self.usage.faults += 1
                self.usage.rate_limited += fault.kind is CallErrorKind.RATE_LIMITED
                endpoint.fail(fault, request.key, sent_at)
                raise
            endpoint.succeed()
            # The reply also carries the costs of its failed attempts.
            reply = replace(
                reply,
                input_tokens=call_usage.input_tokens,
                output_tokens=call_usage.output_tokens,
                cost_usd=call_usage.cost_usd,
            )
            if self._cache is not None:
                # Store before leaving the slot: after a kill at most `concurrency` calls are repeated.
                await self._cache.put(request, reply)
        count = self._meter.implausible_replies(request, reply)
        if count >= MAX_IMPLAUSIBLE:
            endpoint.give_up(IMPLAUSIBLE.format(count, reply.usage))
        return reply

    async def _take_turn(self, request: Request, endpoint: EndpointState) -> None:
        async with endpoint.turn:
            wait = endpoint.delay(self._meter.token_bound(request) if endpoint.counts_tokens else 0)
            if wait:
                await self._sleep(wait)

    async def _send(
        self, request: Request, incoming: Incoming, call_usage: CallUsage, reserved: float
    ) -> Reply:
        try:
            async with incoming:
                reply = self._redaction.reply(await self._transport.send(request))
        except CallError as fault:
            fault.redact(self._redaction.text)
            # Traceback frames would keep the reply's body in memory until the next attempt.
            fault.__traceback__ = fault.__cause__ = fault.__context__ = None
            self._meter.settle_fault(request, call_usage, reserved, fault)
            raise
        except StoppedError:
            if incoming.cut_off:
                self._meter.settle_fault(request, call_usage, reserved, None)
            else:
                self._meter.settle_unsent(request, call_usage, reserved)
            raise
        except BaseException:
            self._meter.settle_fault(request, call_usage, reserved, None)
            raise
        self._meter.settle_reply(request, call_usage, reserved, reply)
        return reply

    async def _sleep_out(self, fault: CallError, seconds: float) -> None:
        wait = Wait(fault.detail[:SHORT_CAUSE].rstrip(" .,:"), time.monotonic() + seconds)
        self._waits.add(wait)
        try:
            await self._sleep(seconds)
        finally:
            self._waits.discard(wait)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless the scheduler is stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return
        self._check_running()

    def share(self, part: float) -> None:
        """Use only a part (0-1) of the limits per minute; other processes use the rest."""
        if part != self._part:
            self._part = part
            for endpoint in self._lanes.values():
                endpoint.share(part)

    def stop(self) -> None:
        """Start no more calls; calls in flight finish and are cached, waiting calls raise."""
        self._stopping.set()
        for endpoint in self._lanes.values():
            endpoint.gate.close(_stopped)
        self._room.stop()
        self._transport.stop()

    async def flush(self) -> None:
        """Report the spending so far to the budget's ledger, if any."""
        await self._meter.flush()

    async def close(self) -> None:
        """Stop, wait for calls in flight, settle the budget and close connections."""
        self.stop()
        await self._idle.wait()
        await self._meter.close()
        await self._transport.close()

    def _check_running(self) -> None:
        if self._stopping.is_set():
            raise _stopped()

    def _endpoint_for(self, request: Request) -> EndpointState:
        name = (request.endpoint, request.model)
        endpoint = self._lanes.get(name)
        if endpoint is None:
            endpoint = self._lanes[name] = EndpointState(
                request, self._settings, unlimited=self._transport.unlimited
            )
            if self._part < 1:
                endpoint.join(self._part)
        return endpoint


def _stopped() -> StoppedError:
    return StoppedError("Judging was stopped.", advice="Resume to request what is missing.")


def _costless(answer: Reply | CallFailure) -> Reply | CallFailure:
    if isinstance(answer, Reply):
        return answer.from_cache()
    return replace(answer, calls=0, input_tokens=0, output_tokens=0, cost_usd=None)


def _failure(fault: CallError, call_usage: CallUsage) -> CallFailure:
    outcome = Outcome.REFUSED if fault.kind is CallErrorKind.REFUSED else Outcome.FAILED
    detail = fault.detail if call_usage.calls == 1 else f"{fault.detail} (call {call_usage.calls})"
    return replace(_with_usage(outcome, detail, call_usage), rejected=fault.kind is CallErrorKind.REJECTED)


def _with_usage(outcome: Outcome, detail: str, call_usage: CallUsage) -> CallFailure:
    return CallFailure(
        outcome=outcome,
        detail=detail,
        calls=call_usage.calls,
        input_tokens=call_usage.input_tokens,
        output_tokens=call_usage.output_tokens,
        cost_usd=call_usage.cost_usd,
    )


BATCH_PATIENCE = 24 * 3_600.0  # A provider's queue empties within a day.


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
    """Open a client for the running event loop.

    On exit, calls in flight finish and are cached, unspent reservations return to the ledger, and connections
    close.
    """
    settings = settings or AccessSettings()
    info = transport_info(settings.transport)
    if info.batches:
        settings = replace(settings, rate_limit_patience=max(settings.rate_limit_patience, BATCH_PATIENCE))
    carrier = transport or info.opened(settings, journal, cache)
    prices = prices or Prices.load(settings.prices, batch=info.batches)
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
