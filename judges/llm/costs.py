"""Costs of calls: reserved before, settled after, counted always."""

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
"""Seconds to wait while other workers hold money and return none."""
MAX_THINKING = 131_072
"""More tokens of thinking in one call are not believed."""
ADDED_PROMPT = 8_192
MARKS = 64


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

    async def drawn_by_all(self) -> float:
        """Return what all workers hold at the moment, in USD."""
        ...


class MemoryLedger:
    """A ledger for one process; `spent`, `drawn` and `lost` are its state in USD."""

    def __init__(self, cap: float) -> None:
        self._cap, self.spent, self.drawn, self.lost = cap, 0.0, 0.0, 0.0

    async def draw(self, least: float, wished: float) -> float:
        """Take what is allowed."""
        account = Account(cap=self._cap, spent=self.spent, drawn=self.drawn, lost=self.lost)
        amount = account.drawable(least, wished)
        self.drawn += amount
        return amount

    async def drawn_by_all(self) -> float:
        """Return what is drawn."""
        return self.drawn

    async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
        """Move from drawn to spent, to lost, or back."""
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
        """Set `amount` USD aside for a call; False where the cap leaves no room for it.

        Waits for calls in flight to settle before it gives up, and for what other workers hold, since
        calls mostly cost less than was reserved.
        """
        held, since = 0.0, time.monotonic()
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
            await self.close()  # Whoever waits holds nothing, or two workers would wait for each other.
            held, before = await self._ledger.drawn_by_all(), held
            since = time.monotonic() if held != before else since
            if held <= ROUNDING or time.monotonic() > since + self._patience:
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
        """Flush what was spent, then draw a block; called under the lock."""
        await self._flush()
        lacking = amount - self._free
        if lacking > 0:
            # Calls settle and are reserved meanwhile, so what is free is read again after the wait.
            amount_drawn = await self._ledger.draw(lacking, amount * self._block_calls)
            self._free += amount_drawn
        return self._take(amount)

    async def add(self, amount: float) -> bool:
        """Set `amount` USD more aside for who has some set aside; False where the cap leaves no room now."""
        if not self._take(amount):
            async with self._lock:
                if not (self._take(amount) or await self._draw(amount)):
                    return False
        self._reserved -= 1
        return True

    def share(self) -> None:
        """Pay one more call from what is set aside already; each of both is settled."""
        self._reserved += 1

    def settle(self, reserved: float, spent: float, lost: float = 0.0, *, kept: float = 0.0) -> None:
        """Settle a call that `reserved` was set aside for: it cost `spent` USD, or may have cost `lost`.

        Of the rest, `kept` USD stay set aside.
        """
        self._reserved -= 1
        self._spent += spent
        self._lost += lost
        free = reserved - spent - lost - kept
        self._overspent += max(0.0, -free)  # A call may cost more than was thought possible.
        self._free += max(0.0, free)
        if free or not self._reserved:
            self._refused = None
            self._settled.set()

    async def flush(self) -> None:
        """Report what was spent so far to the ledger; what is set aside stays so."""
        async with self._lock:
            await self._flush()

    async def _flush(self) -> None:
        spent, lost, over = self._spent, self._lost, self._overspent
        self._spent = self._lost = self._overspent = 0.0
        if spent or lost:
            # What was overspent was never drawn.
            await self._ledger.settle(spent=spent, returned=-over, lost=lost)

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        async with self._lock:
            await self._flush()
            free, self._free = max(0.0, self._free), 0.0
            if free:
                await self._ledger.settle(spent=0.0, returned=free)


class Purse:
    """Money that a battle reserves at once for all requests that it is certain to make.

    So a cap is met between two battles and not between the two orders of one. Nobody who waits, for money
    or for another battle's reply, holds a purse meanwhile: it is given back first, and from then on each
    request is reserved alone.
    """

    def __init__(self, asks: Mapping[tuple[str, str], int]) -> None:
        self.asks = asks
        self._budget: Budget | None = None
        self._left = 0.0
        self._given_back = self._refused = False
        self._filling = asyncio.Lock()

    @property
    def unfilled(self) -> bool:
        """True if nothing was reserved yet."""
        return self._budget is None and not self._given_back

    async def reserve(self, budget: Budget, amount: float, whole: float) -> bool:
        """Set `amount` USD aside for a call, at the first one `whole` for all; False: there is no room."""
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
            self._refused = self._given_back = True
        elif self._given_back:
            budget.settle(whole, 0.0)  # While this waited, the battle ended or began to wait for another.
        else:
            self._budget, self._left = budget, whole

    async def _draw(self, amount: float) -> bool:
        """Take from what is left, with more where that is too little and there is some."""
        lacking = amount - self._left
        if self._budget is not None and lacking > ROUNDING:
            budget = self._budget
            if not await budget.add(lacking):
                self.give_back()
            elif self._given_back:
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
        """Settle a call; its unspent reserve stays for the next ones of the battle."""
        kept = 0.0 if self._budget is None else reserved - spent - lost
        self._left += kept
        budget.settle(reserved, spent, lost, kept=kept)

    def give_back(self) -> None:
        """Hold nothing from now on."""
        self._given_back = True
        budget, self._budget = self._budget, None
        left, self._left = self._left, 0.0
        if budget is not None:
            budget.settle(left, 0.0)


_purse: ContextVar[Purse | None] = ContextVar("purse", default=None)


@contextmanager
def paid_whole(asks: Mapping[tuple[str, str], int]) -> Iterator[None]:
    """Within the block the budget pays for all certain requests, by endpoint and model, or for none.

    In a block within another one, the outer counts: the members of a panel are paid together.
    """
    if _purse.get() is not None:
        yield
        return
    purse = Purse(asks)
    token = _purse.set(purse)
    try:
        yield
    finally:
        _purse.reset(token)
        purse.give_back()


def await_another() -> None:
    """Say that this battle waits for a request of another one, and so must hold no money meanwhile."""
    purse = _purse.get()
    if purse is not None:
        purse.give_back()


@dataclass(slots=True)
class Usage:
    """Usage of a scheduler so far.

    `lost_usd` is the most that calls may have cost which brought no reply, or one without its tokens;
    `unmetered` counts the latter.
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
        """Cost of all calls; None where some were charged, or may have been, at no known price."""
        return None if self.unpriced else self.cost_usd


@dataclass(slots=True)
class CallUsage:
    """Usage of one request's calls so far, with or without a reply."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class CostMeter:
    """Prices calls, holds them to the budget, and adds them up."""

    def __init__(
        self, prices: Prices, counter: TokenCounter, *, budget: Budget | None, unbounded_output: int
    ) -> None:
        self.usage = Usage()
        self._prices = prices
        self._counter = counter
        self._budget = budget
        self._unbounded_output = unbounded_output
        self._surplus: dict[tuple[str, str], TokenUsage] = {}
        self._unbelieved: Counter[tuple[str, str]] = Counter()

    def unbelieved(self, request: Request, reply: Reply) -> int:
        """Return how many replies in a row, up to this one, reported more tokens than a call can use."""
        count = self._unbelieved[request.endpoint, request.model]
        return count if count and not self._is_believable(request, reply.usage or NO_USAGE) else 0

    @property
    def pays_whole(self) -> bool:
        """True if the request belongs to a battle that a budget pays for as a whole."""
        return self._budget is not None and _purse.get() is not None

    def token_bound(self, request: Request) -> int:
        """Return the most tokens that a call can use, in and out."""
        return self._counter.bound(request) + self._most_output(request)

    def _most_output(self, request: Request) -> int:
        allowed = request.sampling.max_tokens or self._unbounded_output
        return allowed + self._surplus_of(request).thinking

    def _surplus_of(self, request: Request) -> TokenUsage:
        return self._surplus.get((request.endpoint, request.model), NO_USAGE)

    def price(self, request: Request, usage: TokenUsage) -> float | None:
        """USD for a call, at least what the gateway states; None where neither says anything."""
        if request.free:
            return 0.0
        cost = self._prices.cost(request.endpoint, request.model, usage)
        return max(cost or 0.0, usage.stated_usd) if usage.stated_usd else cost

    def _most_cost(self, request: Request) -> float | None:
        most = TokenUsage(
            self._counter.bound(request),
            self._most_output(request),
            stated_usd=self._surplus_of(request).stated_usd,
        )
        return self.price(request, most)

    def _is_believable(self, request: Request, usage: TokenUsage) -> bool:
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
        """Set the most that a call can cost aside; None where the cap leaves no room for it."""
        if self._budget is None:
            return 0.0
        most = self._most_cost(request)
        if most is None:
            message = f"There is a budget, but no price is known for {request.model} at {request.endpoint}."
            raise BudgetError(message, advice=price_advice(request.model))
        purse = _purse.get()
        if purse is None:
            return most if await self._budget.reserve(most) else None
        whole = self._most_of(purse.asks, request, most) if purse.unfilled else most
        return most if await purse.reserve(self._budget, most, whole) else None

    def _most_of(self, asks: Mapping[tuple[str, str], int], request: Request, most: float) -> float:
        """Return the most that all certain requests of a battle can cost, as long as the first one each."""
        own = (request.endpoint, request.model)
        total = most * asks.get(own, 1)
        others = [(place, count) for place, count in asks.items() if place != own]
        if others:
            usage = TokenUsage(self._counter.bound(request), self._most_output(request))
            total += sum(count * (self._prices.cost(*place, usage) or 0.0) for place, count in others)
        return total

    def release(self, reserved: float) -> None:
        """Release the reservation of a call that was never sent."""
        self._pay(reserved, 0.0, 0.0)

    def settle_reply(self, request: Request, call_usage: CallUsage, reserved: float, reply: Reply) -> None:
        """Settle a call with a reply; without believable usage the most that it may cost counts as lost."""
        usage = reply.usage or TokenUsage(reply.input_tokens, reply.output_tokens)
        believed, place = self._is_believable(request, usage), (request.endpoint, request.model)
        if not believed:
            self._unbelieved[place] += 1
        elif reply.metered:
            self._unbelieved.pop(place, None)
        metered = reply.metered and believed
        self._settle(request, call_usage, reserved, usage if metered else NO_USAGE, unknown=not metered)
        self.usage.replies += 1
        self.usage.unmetered += not metered

    def settle_fault(
        self, request: Request, call_usage: CallUsage, reserved: float, fault: CallError | None
    ) -> None:
        """Settle a call without a reply; without a fault it was cut off from our side.

        What may have been charged without a report counts as lost, at the most that it may have cost.
        """
        usage = NO_USAGE if fault is None else fault.usage
        if not self._is_believable(request, usage):
            usage = NO_USAGE
        unknown = fault is None or (fault.billable and not any(usage)) or usage != fault.usage
        self._settle(request, call_usage, reserved, usage, unknown=unknown)

    def settle_unsent(self, request: Request, call_usage: CallUsage, reserved: float) -> None:
        """Settle a call that was handed over: its reply is paid for when it is asked for again."""
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
        lost = (reserved or self._most_cost(request) or 0.0) if unknown else 0.0
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
        purse = _purse.get()
        if purse is None:
            self._budget.settle(reserved, spent, lost)
        else:
            purse.settle(self._budget, reserved, spent, lost)

    async def flush(self) -> None:
        """Report what was spent so far."""
        if self._budget is not None:
            await self._budget.flush()

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        if self._budget is not None:
            await self._budget.close()
