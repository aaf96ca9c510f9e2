"""Deliveries: what is due is sent, tried again with growing waits, and dead after the last attempt."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta

from arena.services.notifications.sending import SECONDS, Sender
from data.records.notifications import Attempt, ClaimedDelivery
from data.store import Store

AT_ONCE = 8
CLAIMED_FOR = 120.0
"""Seconds that a delivery is one worker's: longer than any attempt takes."""
FIRST_WAIT, FACTOR, LONGEST_WAIT = 5.0, 4.0, 43_200.0
SPREAD = 0.25
KEPT = timedelta(days=90)
"""How long the log names what was delivered or given up."""
MOST_ATTEMPTS = 10
"""Attempts of a delivery, over a day and a half."""


class DeliveryService:
    """Sends what is due. Each delivery is sent once unless it is not answered, by however many workers.

    Args:
        store: Where events and deliveries are.
        public_url: The address of the site; empty where it is not known.
        private: Whether hosts that are not public may be asked.
        seconds: Longest wait for an answer.
        first_wait: Seconds between the first attempt and the second.
    """

    def __init__(
        self,
        store: Store,
        *,
        public_url: str = "",
        private: bool = False,
        seconds: float = SECONDS,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self._store = store
        self._sender = Sender(public_url=public_url, private=private, seconds=seconds)
        self._first_wait = first_wait
        self._random = random.SystemRandom()

    def look_ahead(self) -> None:
        """Record what the calendar says, the phases that close within a day, and forget what is long past."""
        self._store.outbox.closing_phases()
        self._store.deliveries.forget(datetime.now(UTC) - KEPT)

    async def deliver_due(self, stop: asyncio.Event | None = None) -> int:
        """Send what is due, some at once, until nothing is or `stop` is set.

        Returns:
            How many attempts were made.

        Raises:
            StoreError: The database cannot be used.
        """
        first = await asyncio.to_thread(self._store.deliveries.claim, CLAIMED_FOR)
        if first is None:
            return 0
        lanes = (self._send_on(first, stop), *(self._send_on(None, stop) for _ in range(AT_ONCE - 1)))
        return sum(await asyncio.gather(*lanes))

    def deliver(self, number: int) -> None:
        """Send one delivery now, if it is due."""
        claimed = self._store.deliveries.claim(CLAIMED_FOR, number=number)
        if claimed is not None:
            asyncio.run(self._send(claimed))

    async def _send_on(self, claimed: ClaimedDelivery | None, stop: asyncio.Event | None) -> int:
        attempts = 0
        while True:
            if claimed is None and (stop is None or not stop.is_set()):
                claimed = await asyncio.to_thread(self._store.deliveries.claim, CLAIMED_FOR)
            if claimed is None:
                return attempts
            await self._send(claimed)
            attempts, claimed = attempts + 1, None

    async def _send(self, claimed: ClaimedDelivery) -> None:
        attempt = await self._sender.send(claimed)
        wait = self.wait_after(claimed.attempts, attempt)
        await asyncio.to_thread(self._store.deliveries.end, claimed, attempt, wait=wait)

    def wait_after(self, attempts: int, attempt: Attempt) -> float | None:
        """Seconds until the next attempt after so many; None where there is none."""
        if attempt.final or attempts >= MOST_ATTEMPTS:
            return None
        wait = min(LONGEST_WAIT, self._first_wait * FACTOR ** (attempts - 1))
        # Many that failed at once do not come back at once.
        wait *= self._random.uniform(1 - SPREAD, 1 + SPREAD)
        return max(wait, attempt.wait or 0.0)
