"""Many battles with every fault at once: books, money and ratings at the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.judging.llm_access import StoredReplies
from arena.services.rounds.models import RoundRequest
from data.errors import StoreError
from data.models import Outcome, Reply
from data.store import Store
from judges.llm.requests import Message, Request
from leaderboard.ratings import rate
from tests.battle_tables import table_of

BATTLES = 20_000
SYSTEMS = 8
FAULTS = {
    "rate_limit": 0.02,
    "rate_limit_after": 0.01,
    "server_error": 0.02,
    "drop": 0.01,
    "malformed": 0.01,
    "hang": 0.0002,
    "bad_request": 0.01,
    "refusal": 0.02,
    "filtered": 0.01,
    "truncated": 0.02,
    "wrong_format": 0.03,
}


def _fill(arena: Arena, folder: Path, questions: int) -> None:
    """A set and eight systems whose answers differ in every question."""
    folder.mkdir()
    (folder / "set.toml").write_text('name = "soak"\nreference_name = "human"\n[domains]\nd0 = "Zero"\n')
    with (folder / "questions.jsonl").open("w") as file:
        for n in range(questions):
            row = {"id": f"q{n}", "domain": "d0", "question": f"Why {n}?", "reference": f"Because of {n}."}
            file.write(json.dumps(row) + "\n")
    arena.sets.import_from(folder)
    for system in range(SYSTEMS):
        path = folder / f"s{system}.jsonl"
        with path.open("w") as file:
            for n in range(questions):
                row = {"question_id": f"q{n}", "answer": f"System {system} thinks that {n} is the reason."}
                file.write(json.dumps(row) + "\n")
        arena.submissions.add(path, "soak", system=f"s{system}")


def _judge(arena: Arena, name: str) -> Any:  # noqa: ANN401 - the round's books
    # Control battles are asked anew in every round, and the calls are counted here.
    request = RoundRequest(set_name="soak", judge="reference-free", name=name, budget_usd=500.0)
    arena.rounds.create(request)
    return arena.rounds.run(name, concurrency=64, report=lambda _progress: None)


@pytest.fixture(params=[400, pytest.param(BATTLES, marks=pytest.mark.slow)])
def soaked(
    request: pytest.FixtureRequest,
    make_arena: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
) -> tuple[Arena, Any, int]:
    """An arena with a set of so many battles, over an endpoint in which everything fails now and then."""
    server = scripted_llm(faults=FAULTS, retry_after=0.05, rule="hash", fault_attempts=4)
    arena = make_arena(endpoint=server.url, timeout=5)
    battles: int = request.param
    _fill(arena, tmp_path / "soak", battles // SYSTEMS)
    return arena, server, battles


@pytest.mark.long
def test_every_fault_at_once_costs_nothing_but_the_battles_that_it_hits(
    soaked: tuple[Arena, Any, int],
) -> None:
    """Books balance, no reply is paid for twice, and readable battles rate as in the fault-free round."""
    arena, server, battles = soaked
    counts = _judge(arena, "faulty")
    ended = (counts.judged, counts.unreadable, counts.refused, counts.failed, counts.skipped, counts.missing)
    assert (sum(ended), counts.planned, counts.pending) == (battles, battles, 0)
    assert min(counts.judged, counts.unreadable, counts.refused) > 0
    assert not server.log.asked_twice
    paid = sum(
        judgment.cost_usd or 0.0
        for one in arena.store.verdicts.evidence("faulty")
        for judgment in one.judgments
    )
    account = arena.store.ledgers.account(arena.store.rounds.get("faulty").id)
    assert counts.cost_usd == account.spent == pytest.approx(paid)
    assert account.drawn == pytest.approx(0.0, abs=1e-6)

    asked = server.log.calls
    server.script.faults = {}
    arena.store.replies.forget()
    clean = _judge(arena, "clean")
    assert (clean.judged, server.log.calls > asked) == (battles, True)
    faulty = {one.key: one for one in arena.rounds.battles("faulty") if one.outcome is Outcome.JUDGED}
    same = [one for one in arena.rounds.battles("clean") if one.key in faulty]
    assert [one.preference for one in same] == [faulty[one.key].preference for one in same]
    expected = rate(table_of(same), bootstrap=2).as_json()["ratings"]
    assert rate(table_of(list(faulty.values())), bootstrap=2).as_json()["ratings"] == expected

    asked = server.log.calls
    again = _judge(arena, "again")
    assert (server.log.calls, again.cost_usd, again.judged) == (asked, 0.0, battles)


def test_reply_is_committed_when_put_returns(sqlite_store: Store) -> None:
    requests = [Request(endpoint="e", model="m", messages=(Message("user", str(n)),)) for n in range(50)]

    async def put() -> None:
        replies = StoredReplies(sqlite_store)

        async def one(request: Request) -> None:
            await replies.put(request, Reply(key=request.key, endpoint="e", model="m", text="t"))
            assert request.key in sqlite_store.replies.get_many([request.key])

        await asyncio.gather(*(one(request) for request in requests))
        with sqlite_store.database.begin() as connection:
            connection.exec_driver_sql("DROP TABLE reply")
        with pytest.raises(StoreError):
            await one(requests[0])

    asyncio.run(put())
