"""Store-backed LLM access for an event loop: replies, batches and a round's ledger.

The store's calls block, so they run in threads; replies that arrive together are committed together.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from arena.services.jobs.cancellation import alongside, call_when_set
from arena.settings import Settings
from data.errors import StoreError
from data.models import Reply
from data.store import Store
from data.store.rounds import LedgerStore
from judges.llm.client import Scheduler, open_client
from judges.llm.costs import Ledger, Usage
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings
from judges.llm.transports.batch import BatchRecord

ACCOUNT_EVERY = 0.5
SHARE_EVERY = 1.0


class StoredReplies:
    """Reply cache in the store; replies that arrive during a commit are committed together by the next.

    `put` returns after the commit, so that a crash loses at most the calls in flight.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[Reply, asyncio.Future[None]]] = []
        self._commits: asyncio.Task[None] | None = None

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return cached replies by key."""
        return await asyncio.to_thread(self._store.replies.get_many, keys)

    async def put(self, request: Request, reply: Reply) -> None:
        """Store a reply under its request's key, and wait for the commit."""
        if reply.key != request.key:
            raise ValueError(f"The reply's key differs from its request's: {reply.key} and {request.key}.")
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((reply, committed))
        if self._commits is None or self._commits.done():
            self._commits = asyncio.create_task(self._commit())
        await committed

    async def close(self) -> None:
        """Wait until everything is committed."""
        if self._commits is not None:
            await self._commits

    async def _commit(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            # Pass any exception on to the waiting callers.
            [error] = await asyncio.gather(
                asyncio.to_thread(self._store.replies.put, [reply for reply, _ in batch]),
                return_exceptions=True,
            )
            for _, committed in batch:
                if committed.cancelled():
                    continue
                if error is None:
                    committed.set_result(None)
                else:
                    committed.set_exception(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Ledger account that pays for calls through a worker's lease; `cap` is in USD."""

    ledgers: LedgerStore
    number: int
    lease_id: int
    cap: float | None = None


class StoredLedger:
    """Ledger account in the store, shared by workers."""

    def __init__(self, payer: Payer, cap: float) -> None:
        self._payer, self._cap = payer, cap

    async def draw(self, least: float, wished: float) -> float:
        """Reserve between `least` and `wished` USD of the budget; 0 if less than `least` remains."""
        payer = self._payer
        return await asyncio.to_thread(
            payer.ledgers.draw, payer.number, least, wished, lease_id=payer.lease_id
        )

    async def total_drawn(self) -> float:
        """Return the USD that all workers have reserved."""
        return (await asyncio.to_thread(self._payer.ledgers.account, self._payer.number)).drawn

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Settle a reservation: `spent` USD charged, `lost` possibly charged, `returned` unused."""
        payer = self._payer
        await asyncio.to_thread(
            payer.ledgers.settle,
            payer.number,
            spent=spent,
            returned=returned,
            lost=lost,
            lease_id=payer.lease_id,
        )


class StoredJournal:
    """Journal of batches in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def write(self, record: BatchRecord) -> None:
        """Save or update a batch."""
        await asyncio.to_thread(
            self._store.batches.write,
            record.name,
            endpoint=record.endpoint,
            keys=record.keys,
            batch_id=record.batch_id,
        )

    async def unread(self) -> Sequence[BatchRecord]:
        """Return the batches that were not deleted."""
        rows = await asyncio.to_thread(self._store.batches.unread)
        return [BatchRecord(**{**row, "keys": tuple(row["keys"])}) for row in rows]

    async def delete(self, name: str) -> None:
        """Delete a batch."""
        await asyncio.to_thread(self._store.batches.delete, name)


class RoundAccount:
    """Writes usage to the payer's account during a run; with a cap, the budget writes the costs."""

    def __init__(self, payer: Payer, scheduler: Scheduler) -> None:
        self._payer, self._scheduler = payer, scheduler
        self._noted = Usage()

    async def note(self) -> None:
        """Write the usage since the last note."""
        now, before = self._scheduler.usage, self._noted
        self._noted = replace(now)
        capped = self._payer.cap is not None
        spent = 0.0 if capped else now.cost_usd - before.cost_usd
        lost = 0.0 if capped else now.lost_usd - before.lost_usd
        sent = now.input_tokens - before.input_tokens
        returned = now.output_tokens - before.output_tokens
        if spent or lost or sent or returned:
            await asyncio.to_thread(
                self._payer.ledgers.note,
                self._payer.number,
                spent=spent,
                input_tokens=sent,
                output_tokens=returned,
                lost=lost,
                lease_id=self._payer.lease_id,
            )

    async def keep(self, ended: asyncio.Event) -> None:
        """Write the usage periodically until the run ends."""
        while not ended.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), ACCOUNT_EVERY)
            await self.note()
            await self._scheduler.flush()


def access_settings(settings: Settings, *, concurrency: int) -> AccessSettings:
    """Return this installation's settings of LLM access."""
    return AccessSettings(
        api_key=settings.api_key or "",
        other_keys=settings.other_keys,
        transport=settings.transport,
        cache_mode=settings.cache_mode,
        rpm=settings.rpm,
        tpm=settings.tpm,
        timeout=settings.timeout,
        batch_poll=settings.batch_poll,
        concurrency=concurrency,
        prices=settings.prices_file if settings.prices_file.is_file() else None,
    )


@asynccontextmanager
async def open_access(
    store: Store,
    settings: Settings,
    *,
    concurrency: int,
    payer: Payer | None = None,
    ledger: Ledger | None = None,
    stop: asyncio.Event | None = None,
) -> AsyncIterator[Scheduler]:
    """Open LLM access with the store's replies and batches, and a round's account or another ledger.

    Concurrent workers share the installation's rate limits. Once `stop` is set, calls in flight finish and
    are cached, and no new ones are sent.
    """
    if payer is not None and payer.cap is not None:
        ledger = StoredLedger(payer, payer.cap)
    replies = StoredReplies(store)
    account = None
    try:
        async with open_client(
            access_settings(settings, concurrency=concurrency), replies, ledger, journal=StoredJournal(store)
        ) as scheduler:
            if payer is not None:
                account = RoundAccount(payer, scheduler)
            limited = payer is not None and bool(settings.rpm or settings.tpm)
            if limited:
                await _share_limits(store, scheduler)
            sharing = alongside(_keep_sharing(store, scheduler)) if limited else nullcontext()
            async with call_when_set(stop, scheduler.stop), _accounting(account), sharing:
                yield scheduler
    finally:
        if account is not None:
            await account.note()
        await replies.close()


@asynccontextmanager
async def _accounting(account: RoundAccount | None) -> AsyncIterator[None]:
    ended = asyncio.Event()
    accounting = asyncio.create_task(account.keep(ended)) if account is not None else None
    try:
        yield
    finally:
        ended.set()
        if accounting is not None:
            await accounting


async def _share_limits(store: Store, scheduler: Scheduler) -> int:
    leases = await asyncio.to_thread(store.leases.count)
    scheduler.share(1 / max(1, leases))
    return leases


async def _keep_sharing(store: Store, scheduler: Scheduler) -> None:
    """Adjust the share to the number of workers; keep it while the database fails."""
    while True:
        await asyncio.sleep(SHARE_EVERY)
        with suppress(StoreError):
            await _share_limits(store, scheduler)
