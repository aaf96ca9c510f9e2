"""Turns at checks: few at once, one of a party, and nobody behind all that another has brought."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from arena.api.dependencies import ConcurrencyGate
from arena.services.submissions.turns import FairTurns
from data.errors import UnavailableError


def _come(turns: list[tuple[str, Future[None]]]) -> list[str]:
    return [party for party, turn in turns if turn.done()]


def test_one_party_holds_up_no_other() -> None:
    """However many files a team brings, it works on one, and another's comes before its second."""
    turns = FairTurns(at_once=2)
    asked = [("beta", turns.ask("beta")) for _ in range(5)] + [("alpha", turns.ask("alpha"))]
    assert _come(asked) == ["beta", "alpha"]
    asked.append(("gamma", turns.ask("gamma")))
    turns.leave("beta")
    assert _come(asked) == ["beta", "beta", "alpha"], "alpha works still, and beta waited longer than gamma"
    turns.leave("beta")
    assert _come(asked) == ["beta", "beta", "alpha", "gamma"], "beta had its turn"


def test_a_party_may_wait_for_so_many_and_no_more() -> None:
    """A party that brings too much is refused; others may still come, until all places are taken."""
    turns = FairTurns(at_once=1, most_waiting=4, most_of_one=2)
    kept = [turns.ask("beta") for _ in range(3)]
    with pytest.raises(UnavailableError, match="Too many files"):
        turns.ask("beta")
    kept += [turns.ask("alpha"), turns.ask("gamma")]
    with pytest.raises(UnavailableError, match="Too many files"):
        turns.ask("delta")
    assert kept[1].cancel()
    turns.ask("delta")


def test_a_client_that_leaves_gives_its_turn_back() -> None:
    """Who waits and goes takes no place, and who is at work and goes gives it back when that is done."""

    async def play() -> list[str]:
        gate, done, hold = ConcurrencyGate(FairTurns(at_once=1)), [], threading.Event()
        first = asyncio.create_task(gate.run("beta", lambda: hold.wait(10)))
        await asyncio.sleep(0.05)
        gone = asyncio.create_task(gate.run("alpha", lambda: done.append("gone")))
        last = asyncio.create_task(gate.run("gamma", lambda: done.append("last")))
        await asyncio.sleep(0.05)
        gone.cancel()
        hold.set()
        await asyncio.gather(first, last)
        return done

    assert asyncio.run(play()) == ["last"]
