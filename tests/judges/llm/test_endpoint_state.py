from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.llm.costs import Budget, MemoryLedger
from judges.llm.endpoint_state import AdaptiveLimiter, CircuitBreaker, TokenBucket
from judges.llm.errors import CallError, CallErrorKind
from judges.llm.settings import AccessSettings


class Clock:
    """Manual clock."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.integers(2, 6_000), st.lists(st.floats(0, 5), min_size=1, max_size=300))
def test_no_minute_has_more_starts_than_allowed(limit: int, gaps: list[float]) -> None:
    clock, starts = Clock(), []
    bucket = TokenBucket(limit, clock)
    for gap in gaps:
        clock.now += gap
        starts.append(clock.now + bucket.delay(1))
    for first in starts:
        assert sum(first <= start < first + 59.999 for start in starts) <= limit


def test_large_amounts_delay_later_ones() -> None:
    bucket = TokenBucket(6_000, Clock())
    assert bucket.delay(1_000) == 0
    assert bucket.delay(1) == pytest.approx(901 / (5_900 / 60))


def test_gate_admits_in_order_up_to_limit() -> None:
    async def run() -> list[int]:
        gate, order = AdaptiveLimiter(2, 2), list[int]()

        async def visit(name: int) -> None:
            async with gate:
                order.append(name)
                assert gate.in_use <= 2
                await asyncio.sleep(0.001)

        visits = [asyncio.create_task(visit(name)) for name in range(8)]
        await asyncio.sleep(0)
        visits[4].cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        assert gate.in_use == 0
        return order

    assert asyncio.run(run()) == [0, 1, 2, 3, 5, 6, 7]


def test_one_burst_of_rate_limits_cuts_once() -> None:
    gate = asyncio.run(_entered(100))
    for _ in range(100):
        gate.cut(started=0.0)
    assert gate.limit == pytest.approx(70)


def test_limit_grows_by_one_per_round_after_cut() -> None:
    gate = asyncio.run(_entered(10))
    gate.cut(started=0.0)
    assert gate.limit == pytest.approx(7)
    for _ in range(7):
        gate.succeed()
    assert 7.9 < gate.limit <= 8


async def _entered(count: int) -> AdaptiveLimiter:
    """Enter a gate as often as possible at once."""
    gate = AdaptiveLimiter(count, 100)
    for _ in range(count):
        await gate.enter()
    return gate


def test_breaker_tolerates_short_outage() -> None:
    clock = Clock()
    breaker = CircuitBreaker("e", AccessSettings(), clock)
    breaker.succeed()
    for request in range(1_000):
        breaker.fail(CallError(CallErrorKind.TRANSIENT, "HTTP 503"), f"{request}")
    assert not breaker.is_open
    clock.now = 21.0
    breaker.fail(CallError(CallErrorKind.TRANSIENT, "HTTP 503"), "last")
    assert breaker.is_open


@pytest.mark.parametrize(
    ("kind", "requests", "succeeds_every"),
    [
        pytest.param("TRANSIENT", 10_000, 1, id="successes between faults"),
        pytest.param("TRANSIENT", 3, 10_000, id="a few poisoned requests"),
        pytest.param("REJECTED", 10_000, 10_000, id="rejected after a success"),
    ],
)
def test_breaker_stays_closed_if_endpoint_works(kind: str, requests: int, succeeds_every: int) -> None:
    clock = Clock()
    breaker = CircuitBreaker("e", AccessSettings(), clock)
    for second in range(3_000):
        clock.now = float(second)
        if second % succeeds_every == 0 and requests > 3:
            breaker.succeed()
        breaker.fail(CallError(CallErrorKind[kind], "HTTP"), f"{second % requests}")
    assert not breaker.is_open


@given(
    st.floats(0.1, 10),
    st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1)), min_size=1, max_size=60),
    st.integers(1, 4),
)
def test_budgets_with_shared_ledger_respect_cap(
    cap: float, calls: list[tuple[float, float]], workers: int
) -> None:
    async def run() -> None:
        ledger = MemoryLedger(cap)
        budgets = [Budget(ledger, block_calls=3, patience=0) for _ in range(workers)]

        async def one(place: int, reserved: float, share: float) -> None:
            budget = budgets[place % workers]
            if await budget.reserve(reserved):
                await asyncio.sleep(0)
                budget.settle(reserved, reserved * share)
            assert ledger.spent + ledger.drawn <= cap + 1e-9

        await asyncio.gather(*(one(place, *call) for place, call in enumerate(calls)))
        for budget in budgets:
            await budget.close()
        assert ledger.drawn == pytest.approx(0, abs=1e-9)

    asyncio.run(run())


def test_budget_waits_for_calls_in_flight() -> None:
    async def run() -> tuple[bool, bool]:
        budget = Budget(MemoryLedger(1.0))
        assert await budget.reserve(0.9)
        second = asyncio.create_task(budget.reserve(0.5))
        await asyncio.sleep(0)
        waiting = not second.done()
        budget.settle(0.9, 0.1)
        return waiting, await second

    assert asyncio.run(run()) == (True, True)


async def _many_through(ledger: MemoryLedger) -> int:
    """Reserve and settle from forty tasks while the ledger is slow; return the number of calls."""
    budget, made = Budget(ledger), 0

    async def ask() -> None:
        nonlocal made
        for _ in range(5):
            if await budget.reserve(0.005):
                await asyncio.sleep(0.001)
                budget.settle(0.005, 0.003)
                made += 1
            await budget.flush()

    await asyncio.gather(*(ask() for _ in range(40)))
    await budget.close()
    return made


def test_cap_is_respected_with_slow_ledger() -> None:
    class Slow(MemoryLedger):
        async def draw(self, least: float, wished: float) -> float:
            amount = await super().draw(least, wished)
            await asyncio.sleep(0.002)
            return amount

        async def settle(self, *, spent: float, returned: float, lost: float = 0.0) -> None:
            await asyncio.sleep(0.002)
            await super().settle(spent=spent, returned=returned, lost=lost)

    ledger = Slow(0.2)
    made = asyncio.run(_many_through(ledger))
    assert ledger.spent <= 0.2
    assert ledger.spent == pytest.approx(0.003 * made)
    assert ledger.drawn == pytest.approx(0.0, abs=1e-9)


async def _judged_by(workers: int, cap: float) -> tuple[int, MemoryLedger]:
    """Judge with several workers of one ledger until all are refused; a call costs a tenth of its maximum."""
    ledger = MemoryLedger(cap)

    async def work() -> int:
        budget, made = Budget(ledger), 0

        async def ask() -> None:
            nonlocal made
            while await budget.reserve(0.13):
                await asyncio.sleep(0.001)
                budget.settle(0.13, 0.013)
                made += 1

        await asyncio.gather(*(ask() for _ in range(4)))
        await budget.close()
        return made

    return sum(await asyncio.gather(*(work() for _ in range(workers)))), ledger


def test_several_workers_use_cap_like_one_worker() -> None:
    single, _ = asyncio.run(_judged_by(1, 1.5))
    for workers in (2, 3):
        judged, ledger = asyncio.run(_judged_by(workers, 1.5))
        assert abs(judged - single) <= 2
        assert ledger.spent <= 1.5
        assert ledger.drawn == pytest.approx(0.0, abs=1e-9)
