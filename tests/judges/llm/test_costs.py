"""The cap takes effect between battles: both orders of a battle are paid, or none."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.models import OrderPolicy, Outcome, Question, Verdict
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.llm.client import open_client
from judges.llm.costs import BattleReserve, Budget, MemoryLedger, await_another
from judges.llm.settings import AccessSettings
from judges.spec import JudgeSpec, make_spec
from tests.arena.conftest import Serve


def _halves(verdicts: Sequence[Any], orders: int) -> list[Any]:
    """Return the battles for which some but not all orders were paid."""
    paid = [sum(judgment.calls > 0 for judgment in verdict.judgments) for verdict in verdicts]
    return [verdict for verdict, count in zip(verdicts, paid, strict=True) if 0 < count < orders]


def _judged(
    spec: JudgeSpec, ledger: MemoryLedger, battles: int, texts: int, *, concurrency: int = 64
) -> list[Verdict]:
    inputs = [
        JudgeInput(
            battle_id=f"b{n}",
            question=Question(id=f"q{n}", domain="d", question=f"What is {n % texts}?"),
            # Swapped texts make battles wait for each other's requests.
            answer_a=f"It is {(n + n // texts) % 2}, they say.",
            answer_b=f"It is {(1 + n + n // texts) % 2}, they say.",
        )
        for n in range(battles)
    ]

    async def run() -> list[Verdict]:
        async with open_client(AccessSettings(backoff=0.01, concurrency=concurrency), None, ledger) as client:
            judge = build_judge(spec, client=client)
            async with asyncio.timeout(60):
                return await asyncio.gather(*map(judge.judge, inputs))

    return asyncio.run(run())


@pytest.mark.slow
def test_battles_with_shared_requests_do_not_deadlock(scripted_llm: Serve) -> None:
    """Battles with swapped texts all end under a small cap and a concurrency of 1."""
    spec = load_spec("reference-free").at(scripted_llm(latency=0.002).url).using(order=OrderPolicy.BOTH)
    spec = spec.using(protection="none")
    for cap in (0.0005, 0.002, 0.005, 0.02):
        ledger = MemoryLedger(cap)
        verdicts = _judged(spec, ledger, 24, 3, concurrency=1)
        assert {verdict.outcome for verdict in verdicts} <= {Outcome.JUDGED, Outcome.SKIPPED}
        assert ledger.spent <= cap
        assert ledger.drawn == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("faults", [{}, {"rate_limit": 0.3}])
def test_panel_reserves_for_all_members(scripted_llm: Serve, faults: dict[str, float]) -> None:
    url = scripted_llm(latency=0.002, faults=faults).url
    member = load_spec("reference-free").at(url).using(order=OrderPolicy.BOTH)
    members = tuple(member.using(name=model, model=model) for model in ("gpt-4o", "gpt-4o-mini", "gpt-4.1"))
    panel = make_spec({"name": "panel", "kind": "panel", "members": members})
    spent = 0.0
    for cap in (0.05, 0.15):
        ledger = MemoryLedger(cap)
        verdicts = _judged(panel, ledger, 40, 40)
        judged = sum(verdict.outcome is Outcome.JUDGED for verdict in verdicts)
        assert ledger.spent + ledger.lost <= cap
        assert 0 < judged < len(verdicts)
        assert not _halves(verdicts, orders=6)
        assert ledger.spent > spent
        spent = ledger.spent


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1.2)), min_size=1, max_size=4),
        min_size=1,
        max_size=12,
    ),
    st.floats(0.1, 6),
    st.integers(0, 1000),
)
def test_reservations_add_up(battles: list[list[tuple[float, float]]], cap: float, seed: int) -> None:
    chance = random.Random(seed)

    async def run() -> None:
        ledger = MemoryLedger(cap)
        budget = Budget(ledger, block_calls=3)

        async def call(reserve: BattleReserve, reserved: float, share: float, whole: float) -> None:
            await asyncio.sleep(chance.random() / 500)
            if chance.random() < 0.1:
                await_another()
            if not await reserve.reserve(budget, reserved, whole):
                return
            await asyncio.sleep(chance.random() / 500)
            reserve.settle(budget, reserved, min(1.0, share) * reserved, 0.0)

        async def battle(calls: list[tuple[float, float]]) -> None:
            reserve = BattleReserve({})
            whole = calls[0][0] * len(calls)
            try:
                if chance.random() < 0.5:
                    await asyncio.gather(*(call(reserve, *row, whole) for row in calls))
                else:
                    for row in calls:
                        await call(reserve, *row, whole)
            finally:
                reserve.release()

        async with asyncio.timeout(20):
            await asyncio.gather(*map(battle, battles))
        assert ledger.spent + ledger.drawn <= cap + 1e-9
        await budget.close()
        assert ledger.drawn == pytest.approx(0.0, abs=1e-9)

    asyncio.run(run())
