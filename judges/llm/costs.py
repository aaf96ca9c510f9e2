"""Costs of calls: reservation, settlement and totals."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from data.errors import BudgetError
from data.models import Account, Reply, TokenUsage
from judges.llm.errors import NO_USAGE, CallError
from judges.llm.prices import Prices, price_advice
from judges.llm.requests import Request
from judges.llm.token_counting import TokenCounter

BLOCK_CALLS = 50
ROUNDING = 1e-9
OTHERS_POLL = 0.1
OTHERS_PATIENCE = 150.0
"""Seconds to wait while other workers hold budget without returning any."""
MAX_THINKING = 131_072
"""More tokens of thinking in one call are implausible."""
ADDED_PROMPT = 8_192
MARKS = 64


class Ledger(Protocol):
    """The shared account of a round; every method is atomic across workers.

    An implementation records withdrawals per worker, to release them when a worker stops.
    """

    async def draw(self, least: float, wished: float) -> float:
        """Withdraw between `least` and `wished` USD; 0 if less than `least` is left."""
        ...

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Settle withdrawn USD: `spent` were charged, `lost` may have been, `returned` are free again."""
        ...

    async def total_drawn(self) -> float:
        """Return the USD that all workers currently hold."""
        ...


class MemoryLedger:
    """A ledger for one process; `spent`, `drawn` and `lost` are its state in USD."""

    def __init__(self, cap: float) -> None:
        self._cap, self.spent, self.drawn, self.lost = cap, 0.0, 0.0, 0.0

    async def draw(self, least: float, wished: float) -> float:
        """Withdraw what the cap allows."""
        account = Account(cap=self._cap, spent=self.spent, drawn=self.drawn, lost=self.lost)
        amount = account.drawable(least, wished)
        self.drawn += amount
        return amount

    async def total_drawn(self) -> float:
        """Return the withdrawn USD."""
        return self.drawn

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Settle withdrawn USD."""
        self.drawn = max(0.0, self.drawn - spent - lost - returned)
        self.spent += spent
        self.lost += lost


class Budget:
    """One worker's share of a ledger."""

    def __init__(
        self, ledger: Ledger, *, block_calls: int = BLOCK_CALLS, patience: float = OTHERS_PATIENCE
    ) -> None:
        self._ledger = ledger
        self._block_calls = block_calls
        self._patience = patience
        self._free = 0.0
        self._reserved = 0
        self._spent = self._lost = self._overspent = 0.0
        self._refused: float | None = None
        self._lock = asyncio.Lock()
        self._settled = asyncio.Event()

    async def reserve(self, amount: float) -> bool:
        """Reserve `amount` USD for a call; False if the cap does not allow it.

        First waits for calls in flight and for other workers, because most calls cost less than reserved.
        """
        total, since = 0.0, time.monotonic()
        while True:
            if self._take(amount):
                return True
            if self._refused is not None and amount >= self._refused and not self._reserved:
                return False
            async with self._lock:
                if self._take(amount) or await self._draw(amount):
                    return True
            if self._reserved:
                self._settled.clear()
                await self._settled.wait()
                continue
            await self.close()  # Return the whole budget, or two workers could wait for each other.
            total, before = await self._ledger.total_drawn(), total
            since = time.monotonic() if total != before else since
            if total <= ROUNDING or time.monotonic() > since + self._patience:
                self._refused = amount if self._refused is None else min(amount, self._refused)
                return False
            await asyncio.sleep(OTHERS_POLL)

    def _take(self, amount: float) -> bool:
        if self._free + ROUNDING < amount:
            return False
        self._free -= amount
        self._reserved += 1
        return True

    async def _draw(self, amount: float) -> bool:
        """Flush spending, then withdraw a block; the caller must hold the lock."""
        await self._flush()
        lacking = amount - self._free
        if lacking > 0:
            # Not `self._free += await …`, which would read `_free` before the wait.
            block = await self._ledger.draw(lacking, amount * self._block_calls)
            self._free += block
        return self._take(amount)

    async def add(self, amount: float) -> bool:
        """Increase an existing reservation by `amount` USD; False if the cap does not allow it now."""
        if not self._take(amount):
            async with self._lock:
                if not (self._take(amount) or await self._draw(amount)):
                    return False
        self._reserved -= 1
        return True

    def share(self) -> None:
        """Split a reservation for another call; both are settled separately."""
        self._reserved += 1

    def settle(self, reserved: float, spent: float, lost: float = 0.0, *, rest: float = 0.0) -> None:
        """Settle a call that cost `spent` USD or may have cost `lost`; `rest` USD stay reserved."""
        self._reserved -= 1
        self._spent += spent
        self._lost += lost
        free = reserved - spent - lost - rest
        self._overspent += max(0.0, -free)  # A call may cost more than its estimated maximum.
        self._free += max(0.0, free)
        if free or not self._reserved:
            self._refused = None
            self._settled.set()

    async def flush(self) -> None:
        """Report the spending so far to the ledger, keeping reservations."""
        async with self._lock:
            await self._flush()

    async def _flush(self) -> None:
        spent, lost, over = self._spent, self._lost, self._overspent
        self._spent = self._lost = self._overspent = 0.0
        if spent or lost:
            # Overspending was never withdrawn.
            await self._ledger.settle(spent=spent, returned=-over, lost=lost)

    async def close(self) -> None:
        """Report the spending and return the rest."""
        async with self._lock:
            await self._flush()
            free, self._free = max(0.0, self._free), 0.0
            if free:
                await self._ledger.settle(spent=0.0, returned=free)


class BattleReserve:
    """Reservation of a battle for all its certain requests.

    It makes the cap take effect between battles, not between the two orders of one. A battle that waits for
    budget or for another battle's reply must release its reserve first; each further request then reserves
    for itself.
    """

    def __init__(self, requests: Mapping[tuple[str, str], int]) -> None:
        self.requests = requests
        self._budget: Budget | None = None
        self._left = 0.0
        self._released = self._refused = False
        self._filling = asyncio.Lock()

    @property
    def unfilled(self) -> bool:
        """True before the first reservation."""
        return self._budget is None and not self._released

    async def reserve(self, budget: Budget, amount: float, whole: float) -> bool:
        """Reserve `amount` USD for a call, initially `whole` for all; False if the cap does not allow it."""
        async with self._filling:
            if self.unfilled:
                await self._fill(budget, whole)
            if self._refused:
                return False
            if await self._draw(amount):
                return True
        return await budget.reserve(amount)

    async def _fill(self, budget: Budget, whole: float) -> None:
        if not await budget.reserve(whole):
            self._refused = self._released = True
        elif self._released:
            budget.settle(whole, 0.0)  # Meanwhile the battle ended or started to wait for another one.
        else:
            self._budget, self._left = budget, whole

    async def _draw(self, amount: float) -> bool:
        """Take from the rest of the reserve, increasing it if necessary and possible."""
        lacking = amount - self._left
        if self._budget is not None and lacking > ROUNDING:
            budget = self._budget
            if not await budget.add(lacking):
                self.release()
            elif self._released:
                budget.share()
                budget.settle(lacking, 0.0)
            else:
                self._left += lacking
        if self._budget is None:
            return False
        self._left -= amount
        self._budget.share()
        return True

    def settle(self, budget: Budget, reserved: float, spent: float, lost: float) -> None:
        """Settle a call; the unspent rest stays for the battle's next calls."""
        rest = 0.0 if self._budget is None else reserved - spent - lost
        self._left += rest
        budget.settle(reserved, spent, lost, rest=rest)

    def release(self) -> None:
        """Release the reserve permanently."""
        self._released = True
        budget, self._budget = self._budget, None
        left, self._left = self._left, 0.0
        if budget is not None:
            budget.settle(left, 0.0)


_current_reserve: ContextVar[BattleReserve | None] = ContextVar("current_reserve", default=None)


@contextmanager
def reserve_together(requests: Mapping[tuple[str, str], int]) -> Iterator[None]:
    """Reserve for all certain requests in the block together, by endpoint and model.

    In nested blocks the outer one counts, so that the members of a panel share a reserve.
    """
    if _current_reserve.get() is not None:
        yield
        return
    reserve = BattleReserve(requests)
    token = _current_reserve.set(reserve)
    try:
        yield
    finally:
        _current_reserve.reset(token)
        reserve.release()


def await_another() -> None:
    """Release this battle's reserve before waiting for another battle's request."""
    reserve = _current_reserve.get()
    if reserve is not None:
        reserve.release()


@dataclass(slots=True)
class Usage:
    """Usage of a scheduler so far.

    `lost_usd` is the maximum cost of calls without a reply or without reported tokens; `unmetered` counts the
    latter.
    """

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
    unmetered: int = 0

    @property
    def total_usd(self) -> float | None:
        """Cost of all calls; None if a call without a known price may have been charged."""
        return None if self.unpriced else self.cost_usd


@dataclass(slots=True)
class CallUsage:
    """Total usage of a request's calls so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class CostMeter:
    """Prices calls, checks them against the budget and sums them."""

    def __init__(
        self, prices: Prices, counter: TokenCounter, *, budget: Budget | None, unbounded_output: int
    ) -> None:
        self.usage = Usage()
        self._prices = prices
        self._counter = counter
        self._budget = budget
        self._unbounded_output = unbounded_output
        self._surplus: dict[tuple[str, str], TokenUsage] = {}
        self._implausible: Counter[tuple[str, str]] = Counter()

    def implausible_replies(self, request: Request, reply: Reply) -> int:
        """Count consecutive replies, up to this one, with more tokens than a call can use."""
        count = self._implausible[request.endpoint, request.model]
        return count if count and not self._is_plausible(request, reply.usage or NO_USAGE) else 0

    @property
    def reserves_battles(self) -> bool:
        """Return whether budget is reserved once per battle instead of per request."""
        return self._budget is not None and _current_reserve.get() is not None

    def token_bound(self, request: Request) -> int:
        """Return the maximum number of tokens of a call, in and out."""
        return self._counter.bound(request) + self._max_output(request)

    def _max_output(self, request: Request) -> int:
        allowed = request.sampling.max_tokens or self._unbounded_output
        return allowed + self._surplus_of(request).thinking

    def _surplus_of(self, request: Request) -> TokenUsage:
        return self._surplus.get((request.endpoint, request.model), NO_USAGE)

    def price(self, request: Request, usage: TokenUsage) -> float | None:
        """Return the cost in USD, at least the gateway's reported cost; None if both are unknown."""
        if request.free:
            return 0.0
        cost = self._prices.cost(request.endpoint, request.model, usage)
        return max(cost or 0.0, usage.stated_usd) if usage.stated_usd else cost

    def _max_cost(self, request: Request) -> float | None:
        most = TokenUsage(
            self._counter.bound(request),
            self._max_output(request),
            stated_usd=self._surplus_of(request).stated_usd,
        )
        return self.price(request, most)

    def _is_plausible(self, request: Request, usage: TokenUsage) -> bool:
        """Return whether a call can use this many tokens.

        Gateways may add a prompt of their own, and servers count a few special tokens. Thinking may exceed
        the limit of the request.
        """
        allowed = request.sampling.max_tokens or MAX_THINKING
        return (
            usage.input <= self._counter.bytes(request) + ADDED_PROMPT
            and usage.output - usage.reasoning <= allowed + MARKS
            and usage.reasoning <= MAX_THINKING
        )

    async def reserve(self, request: Request) -> float | None:
        """Reserve the maximum cost of a call; None if the cap does not allow it."""
        if self._budget is None:
            return 0.0
        most = self._max_cost(request)
        if most is None:
            message = f"With a budget, {request.model} at {request.endpoint} needs a price."
            raise BudgetError(message, advice=price_advice(request.model))
        reserve = _current_reserve.get()
        if reserve is None:
            return most if await self._budget.reserve(most) else None
        whole = self._max_battle_cost(reserve.requests, request, most) if reserve.unfilled else most
        return most if await reserve.reserve(self._budget, most, whole) else None

    def _max_battle_cost(
        self, requests: Mapping[tuple[str, str], int], request: Request, most: float
    ) -> float:
        """Return the maximum cost of a battle's certain requests, assuming equal lengths."""
        own = (request.endpoint, request.model)
        total = most * requests.get(own, 1)
        rest = [(place, count) for place, count in requests.items() if place != own]
        if rest:
            usage = TokenUsage(self._counter.bound(request), self._max_output(request))
            total += sum(count * (self._prices.cost(*place, usage) or 0.0) for place, count in rest)
        return total

    def release(self, reserved: float) -> None:
        """Release the reservation of an unsent call."""
        self._pay(reserved, 0.0, 0.0)

    def settle_reply(self, request: Request, call_usage: CallUsage, reserved: float, reply: Reply) -> None:
        """Settle a call with a reply; without plausible usage its maximum cost counts as lost."""
        usage = reply.usage or TokenUsage(reply.input_tokens, reply.output_tokens)
        plausible, place = self._is_plausible(request, usage), (request.endpoint, request.model)
        if not plausible:
            self._implausible[place] += 1
        elif reply.metered:
            self._implausible.pop(place, None)
        metered = reply.metered and plausible
        self._settle(request, call_usage, reserved, usage if metered else NO_USAGE, unknown=not metered)
        self.usage.replies += 1
        self.usage.unmetered += not metered

    def settle_fault(
        self, request: Request, call_usage: CallUsage, reserved: float, fault: CallError | None
    ) -> None:
        """Settle a call without a reply; `fault` is None if we aborted it.

        If it may have been charged without a report, its maximum cost counts as lost.
        """
        usage = NO_USAGE if fault is None else fault.usage
        if not self._is_plausible(request, usage):
            usage = NO_USAGE
        unknown = fault is None or (fault.billable and not any(usage)) or usage != fault.usage
        self._settle(request, call_usage, reserved, usage, unknown=unknown)

    def settle_unsent(self, request: Request, call_usage: CallUsage, reserved: float) -> None:
        """Settle a call that continues elsewhere: a later run pays for its reply."""
        self._settle(request, call_usage, reserved, NO_USAGE)

    def _settle(
        self,
        request: Request,
        call_usage: CallUsage,
        reserved: float,
        usage: TokenUsage,
        *,
        unknown: bool = False,
    ) -> None:
        cost = self.price(request, usage)
        surplus, allowed = self._surplus_of(request), request.sampling.max_tokens or self._unbounded_output
        beyond = max(usage.thinking, usage.output - allowed)
        if beyond > surplus.thinking or usage.stated_usd > surplus.stated_usd:
            self._surplus[request.endpoint, request.model] = TokenUsage(
                thinking=max(beyond, surplus.thinking), stated_usd=max(usage.stated_usd, surplus.stated_usd)
            )
        lost = (reserved or self._max_cost(request) or 0.0) if unknown else 0.0
        self.usage.lost_usd += lost
        if cost is not None:
            call_usage.cost_usd = (call_usage.cost_usd or 0.0) + cost
            self.usage.cost_usd += cost
        elif unknown or any(usage):
            self.usage.unpriced += 1
        call_usage.calls += 1
        call_usage.input_tokens += usage.input
        call_usage.output_tokens += usage.output
        self.usage.calls += 1
        self.usage.input_tokens += usage.input
        self.usage.output_tokens += usage.output
        self._pay(reserved, cost or 0.0, lost)

    def _pay(self, reserved: float, spent: float, lost: float) -> None:
        if self._budget is None:
            return
        reserve = _current_reserve.get()
        if reserve is None:
            self._budget.settle(reserved, spent, lost)
        else:
            reserve.settle(self._budget, reserved, spent, lost)

    async def flush(self) -> None:
        """Report the spending so far."""
        if self._budget is not None:
            await self._budget.flush()

    async def close(self) -> None:
        """Report the spending and return the rest."""
        if self._budget is not None:
            await self._budget.close()
