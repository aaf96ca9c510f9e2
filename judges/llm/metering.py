"""What a call may cost and what it cost: reserved before, settled after, counted always."""

from __future__ import annotations

from dataclasses import dataclass

from data.errors import BudgetError
from data.records import Reply
from judges.llm.budget import Budget
from judges.llm.faults import FaultError
from judges.llm.prices import Prices
from judges.llm.requests import Request
from judges.llm.tokens import TokenCounter


@dataclass(slots=True)
class Tally:
    """What a scheduler did so far."""

    calls: int = 0
    replies: int = 0
    cached: int = 0
    shared: int = 0
    faults: int = 0
    rate_limited: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(slots=True)
class Bill:
    """What one request's calls used so far, whether they brought a reply or not."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Meter:
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
        self.tally = Tally()
        self._prices = prices
        self._counter = counter
        self._budget = budget
        self._unbounded_output = unbounded_output

    def token_bound(self, request: Request) -> int:
        """The most tokens that a call can use, in and out."""
        return self._counter.bound(request) + self._most_output(request)

    def _most_output(self, request: Request) -> int:
        return request.sampling.max_tokens or self._unbounded_output

    def price(self, request: Request, given: int, returned: int) -> float | None:
        """USD for so many tokens; None where no price is known."""
        return self._prices.cost(request.endpoint, request.model, given, returned)

    async def reserve(self, request: Request) -> float | None:
        """Set the most that a call can cost aside; None where the cap leaves no room for it.

        Raises:
            BudgetError: There is a cap, and no price is known for the model.
        """
        if self._budget is None:
            return 0.0
        most = self.price(request, self._counter.bound(request), self._most_output(request))
        if most is None:
            message = f"There is a budget, but no price is known for {request.model} at {request.endpoint}."
            raise BudgetError(message, advice="Add the model to a prices file, or leave the budget out.")
        return most if await self._budget.reserve(most) else None

    def settle_reply(self, request: Request, bill: Bill, reserved: float, reply: Reply) -> None:
        """A call brought a reply."""
        self._settle(request, bill, reserved, (reply.input_tokens, reply.output_tokens))
        self.tally.replies += 1

    def settle_fault(self, request: Request, bill: Bill, reserved: float, fault: FaultError | None) -> None:
        """A call brought none; without a fault it was cut off from our side.

        What may have been charged without a report is taken to cost all that was reserved.
        """
        unknown = fault is None or (fault.billable and not any(fault.usage))
        self._settle(request, bill, reserved, (0, 0) if fault is None else fault.usage, unknown=unknown)

    def settle_unsent(self, request: Request, bill: Bill, reserved: float) -> None:
        """A call was let go of: what it brings is paid for when it is asked for again."""
        self._settle(request, bill, reserved, (0, 0))

    def _settle(
        self, request: Request, bill: Bill, reserved: float, usage: tuple[int, int], *, unknown: bool = False
    ) -> None:
        cost = self.price(request, *usage)
        if cost is not None:
            cost = reserved if unknown else cost
            bill.cost_usd = (bill.cost_usd or 0.0) + cost
            self.tally.cost_usd += cost
        bill.calls += 1
        bill.input_tokens += usage[0]
        bill.output_tokens += usage[1]
        self.tally.calls += 1
        self.tally.input_tokens += usage[0]
        self.tally.output_tokens += usage[1]
        if self._budget is not None:
            self._budget.settle(reserved, cost or 0.0)

    async def pay_in(self) -> None:
        """Report what was spent so far."""
        if self._budget is not None:
            await self._budget.pay_in()

    async def close(self) -> None:
        """Report what was spent and give back what was not."""
        if self._budget is not None:
            await self._budget.close()
