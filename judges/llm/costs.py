"""What a call may cost and what it cost: reserved before, settled after, counted always."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, fields
from typing import Protocol

from data.errors import BudgetError
from data.records import Reply
from judges.llm.errors import CallError
from judges.llm.prices import Prices
from judges.llm.requests import Request
from judges.llm.token_counting import TokenCounter

BLOCK_CALLS = 50
ROUNDING = 1e-12


class Ledger(Protocol):
    """The shared account of a round; every method is atomic across workers.

    An implementation keeps what is drawn by worker, so that it can be released when the worker is
    known to have stopped.
    """

    async def draw(self, least: float, wished: float) -> float:
        """Take between `least` and `wished` USD out of what is left; 0 where less than `least` is."""
        ...

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Of what was drawn, `spent` USD were charged, `lost` may have been, `returned` are free again."""
        ...


class MemoryLedger:
    """A ledger for one process; `spent`, `drawn` and `lost` are its state in USD."""

    def __init__(self, cap: float) -> None:
        self._cap, self.spent, self.drawn, self.lost = cap, 0.0, 0.0, 0.0

    async def draw(self, least: float, wished: float) -> float:
        """Take what is allowed."""
        available = self._cap - self.spent - self.lost - self.drawn + ROUNDING
        if least > available:
            return 0.0
        amount = max(least, min(wished, available))
        self.drawn += amount
        return amount

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Move from drawn to spent, to lost, or back."""
        self.drawn = max(0.0, self.drawn - spent - lost - returned)
        self.spent += spent
        self.lost += lost


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
        self._spent = self._lost = 0.0
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
        """Flush what was spent, then draw a block; called under the lock."""
        await self._flush()
        lacking = amount - self._free
        if lacking > 0:
            # Calls settle and are reserved meanwhile, so what is free is read again after the wait.
            amount_drawn = await self._ledger.draw(lacking, amount * self._block_calls)
            self._free += amount_drawn
        return self._take(amount)

    def settle(self, reserved: float, spent: float, lost: float = 0.0) -> None:
        """A call that `reserved` was set aside for cost `spent` USD, or may have cost `lost`."""
        self._reserved -= 1
        self._spent += spent
        self._lost += lost
        self._free += reserved - spent - lost
        self._refused = None
        self._settled.set()

    async def flush(self) -> None:
        """Report what was spent so far to the ledger; what is set aside stays so."""
        async with self._lock:
            await self._flush()

    async def _flush(self) -> None:
        spent, lost = self._spent, self._lost
        self._spent = self._lost = 0.0
        if spent or lost:
            await self._ledger.settle(spent=spent, returned=0.0, lost=lost)

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        async with self._lock:
            await self._flush()
            free, self._free = max(0.0, self._free), 0.0
            if free:
                await self._ledger.settle(spent=0.0, returned=free)


@dataclass(slots=True)
class Usage:
    """What a scheduler did so far; `lost_usd` is the most that calls without a reply may have cost."""

    calls: int = 0
    replies: int = 0
    cached: int = 0
    shared: int = 0
    faults: int = 0
    rate_limited: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    lost_usd: float = 0.0
    unpriced: int = 0

    @property
    def total_usd(self) -> float | None:
        """What all calls cost; None where some were charged, or may have been, at no known price."""
        return None if self.unpriced else self.cost_usd

    def __add__(self, other: Usage) -> Usage:
        counters = (counter.name for counter in fields(Usage))
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in counters})


@dataclass(slots=True)
class CallUsage:
    """What one request's calls used so far, with or without a reply."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class CostMeter:
    """Prices calls, holds them to the budget, and adds them up.

    Args:
        prices: USD for tokens.
        counter: Tokens of texts.
        budget: Where money is reserved; None is no cap.
        unbounded_output: Output tokens to expect at most where a request sets no maximum.
    """

    def __init__(
        self, prices: Prices, counter: TokenCounter, *, budget: Budget | None, unbounded_output: int
    ) -> None:
        self.usage = Usage()
        self._prices = prices
        self._counter = counter
        self._budget = budget
        self._unbounded_output = unbounded_output

    def token_bound(self, request: Request) -> int:
        """The most tokens that a call can use, in and out."""
        return self._counter.bound(request) + self._most_output(request)

    def _most_output(self, request: Request) -> int:
        return request.sampling.max_tokens or self._unbounded_output

    def price(self, request: Request, input_tokens: int, output_tokens: int) -> float | None:
        """USD for so many tokens; None where no price is known."""
        return self._prices.cost(request.endpoint, request.model, input_tokens, output_tokens)

    def _most_cost(self, request: Request) -> float | None:
        return self.price(request, self._counter.bound(request), self._most_output(request))

    async def reserve(self, request: Request) -> float | None:
        """Set the most that a call can cost aside; None where the cap leaves no room for it.

        Raises:
            BudgetError: There is a cap, and no price is known for the model.
        """
        if self._budget is None:
            return 0.0
        most = self._most_cost(request)
        if most is None:
            message = f"There is a budget, but no price is known for {request.model} at {request.endpoint}."
            raise BudgetError(message, advice="Add the model to a prices file, or leave the budget out.")
        return most if await self._budget.reserve(most) else None

    def settle_reply(self, request: Request, call_usage: CallUsage, reserved: float, reply: Reply) -> None:
        """A call returned a reply."""
        self._settle(request, call_usage, reserved, (reply.input_tokens, reply.output_tokens))
        self.usage.replies += 1

    def settle_fault(
        self, request: Request, call_usage: CallUsage, reserved: float, fault: CallError | None
    ) -> None:
        """A call returned none; without a fault it was cut off from our side.

        What may have been charged without a report counts as lost, at the most that it may have cost.
        """
        unknown = fault is None or (fault.billable and not any(fault.usage))
        self._settle(request, call_usage, reserved, (0, 0) if fault is None else fault.usage, unknown=unknown)

    def settle_unsent(self, request: Request, call_usage: CallUsage, reserved: float) -> None:
        """A call was handed over: its reply is paid for when it is asked for again."""
        self._settle(request, call_usage, reserved, (0, 0))

    def _settle(
        self,
        request: Request,
        call_usage: CallUsage,
        reserved: float,
        usage: tuple[int, int],
        *,
        unknown: bool = False,
    ) -> None:
        cost = self.price(request, *usage)
        lost = (reserved or self._most_cost(request) or 0.0) if unknown else 0.0
        self.usage.lost_usd += lost
        if cost is not None:
            call_usage.cost_usd = (call_usage.cost_usd or 0.0) + cost
            self.usage.cost_usd += cost
        elif unknown or any(usage):
            self.usage.unpriced += 1
        call_usage.calls += 1
        call_usage.input_tokens += usage[0]
        call_usage.output_tokens += usage[1]
        self.usage.calls += 1
        self.usage.input_tokens += usage[0]
        self.usage.output_tokens += usage[1]
        if self._budget is not None:
            self._budget.settle(reserved, cost or 0.0, lost)

    async def flush(self) -> None:
        """Report what was spent so far."""
        if self._budget is not None:
            await self._budget.flush()

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        if self._budget is not None:
            await self._budget.close()
