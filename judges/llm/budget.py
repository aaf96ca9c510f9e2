"""Money: reserved before each call, settled after it, never beyond the cap, also with many workers.

Workers share one `Ledger` (in the database). Each draws from it in blocks through its own `Budget`,
so that a call costs no transaction. What was drawn counts against the cap until it is returned, hence
`spent + drawn <= cap` at every moment. A call that may have been charged although no reply came back
is settled at its whole reservation.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

BLOCK_CALLS = 50
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The state of a ledger, in USD."""

    cap: float
    spent: float
    drawn: float

    @property
    def left(self) -> float:
        """What may still be drawn."""
        return max(0.0, self.cap - self.spent - self.drawn)


class Ledger(Protocol):
    """The shared account of a round; every method is atomic across workers.

    An implementation keeps what is drawn by worker, so that it can be released when the worker is
    known to be dead.
    """

    async def draw(self, least: float, wished: float) -> float:
        """Take between `least` and `wished` USD out of what is left; 0 where less than `least` is."""
        ...

    async def settle(self, *, spent: float, returned: float) -> None:
        """Of what was drawn, `spent` USD were paid and `returned` USD are free again."""
        ...

    async def balance(self) -> Balance:
        """The state now."""
        ...


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self, cap: float) -> None:
        self._cap, self._spent, self._drawn = cap, 0.0, 0.0

    async def draw(self, least: float, wished: float) -> float:
        """Take what is allowed."""
        left = self._cap - self._spent - self._drawn + ROUNDING
        if least > left:
            return 0.0
        amount = max(least, min(wished, left))
        self._drawn += amount
        return amount

    async def settle(self, *, spent: float, returned: float) -> None:
        """Move from drawn to spent, or back."""
        self._drawn = max(0.0, self._drawn - spent - returned)
        self._spent += spent

    async def balance(self) -> Balance:
        """The state now."""
        return Balance(cap=self._cap, spent=self._spent, drawn=self._drawn)


class Budget:
    """One worker's share of a ledger.

    Args:
        ledger: Where money is drawn.
        block_calls: For how many calls to draw at once.
    """

    def __init__(self, ledger: Ledger, *, block_calls: int = BLOCK_CALLS) -> None:
        self._ledger = ledger
        self._block_calls = block_calls
        self._free = 0.0
        self._reserved = 0
        self._spent = 0.0
        self._refused: float | None = None
        self._lock = asyncio.Lock()
        self._settled = asyncio.Event()

    async def reserve(self, amount: float) -> bool:
        """Set `amount` USD aside for a call; False where the cap leaves no room for it.

        Waits for calls in flight to settle before it gives up, since they mostly cost less than was
        reserved.
        """
        while True:
            if self._take(amount):
                return True
            if self._refused is not None and amount >= self._refused and not self._reserved:
                return False
            async with self._lock:
                if self._take(amount) or await self._draw(amount):
                    return True
            if not self._reserved:
                self._refused = amount if self._refused is None else min(amount, self._refused)
                return False
            self._settled.clear()
            await self._settled.wait()

    def _take(self, amount: float) -> bool:
        if self._free + ROUNDING < amount:
            return False
        self._free -= amount
        self._reserved += 1
        return True

    async def _draw(self, amount: float) -> bool:
        """Pay in what was spent, then draw a block; called under the lock."""
        await self._flush()
        lacking = amount - self._free
        if lacking > 0:
            # Calls settle and are reserved meanwhile, so what is free is read again after the wait.
            drawn = await self._ledger.draw(lacking, amount * self._block_calls)
            self._free += drawn
        return self._take(amount)

    def settle(self, reserved: float, spent: float) -> None:
        """A call that `reserved` was set aside for cost `spent` USD."""
        self._reserved -= 1
        self._spent += spent
        self._free += reserved - spent
        self._refused = None
        self._settled.set()

    async def pay_in(self) -> None:
        """Report what was spent so far to the ledger; what is set aside stays so."""
        async with self._lock:
            await self._flush()

    async def _flush(self) -> None:
        spent, self._spent = self._spent, 0.0
        if spent:
            await self._ledger.settle(spent=spent, returned=0.0)

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        async with self._lock:
            spent, free = self._spent, max(0.0, self._free)
            self._spent = self._free = 0.0
            if spent or free:
                await self._ledger.settle(spent=spent, returned=free)
