from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from arena.container import Arena
from arena.services.judging.llm_access import StoredJournal
from arena.services.rounds.models import RoundRequest
from arena.services.system import metrics_of
from data.errors import ConflictError, InputError, ReplayMissError
from data.models import Outcome, RoundState
from data.store import Store
from judges.llm.settings import CacheMode
from judges.llm.transports.batch import BatchRecord

FAULTS = {"wrong_format": 0.3, "malformed": 0.1, "refusal": 0.1, "bad_request": 0.05, "server_error": 0.1}


def _run(arena: Arena, name: str = "r", **fields: Any) -> Any:  # noqa: ANN401 - the round's books
    arena.rounds.create(
        RoundRequest(set_name="tiny", name=name, **{"judge": "reference-free", "pairs": "all", **fields})
    )
    return arena.rounds.run(name, concurrency=16, report=lambda _progress: None)


@pytest.mark.slow
@pytest.mark.parametrize("budget_usd", [None, 5.0])
def test_books_ledger_and_judgments_agree(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], budget_usd: float | None
) -> None:
    """Re-asks, refusals and replies that were lost on the way are all in the cost, once."""
    arena = filled(endpoint=scripted_llm(faults=FAULTS).url)
    counts = _run(arena, budget_usd=budget_usd)
    made = [judgment for one in arena.store.verdicts.evidence("r") for judgment in one.judgments]
    paid = sum(one.cost_usd or 0.0 for one in made)
    tokens = sum(one.input_tokens for one in made)
    assert counts.cost_usd == pytest.approx(paid)
    assert counts.input_tokens == tokens
    account = arena.store.ledgers.account(arena.store.rounds.get("r").id)
    assert account.spent == pytest.approx(paid)
    assert account.drawn == pytest.approx(0.0, abs=1e-9)
    re_asked = [one for one in made if one.outcome is Outcome.UNREADABLE]
    assert re_asked
    assert all(one.input_tokens > one.reply.input_tokens for one in re_asked if one.reply)


@pytest.mark.slow
@pytest.mark.parametrize("budget_usd", [None, 5.0])
def test_lost_calls_stand_beside_what_was_charged(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    database_url: str,
    budget_usd: float | None,
) -> None:
    """C6: Books hold what replies cost, and apart what lost calls may have cost, with a cap or without."""
    arena = filled(endpoint=scripted_llm(faults={"drop": 0.3}).url, database_url=database_url)
    counts = _run(arena, budget_usd=budget_usd)
    costs = [
        judgment.cost_usd or 0.0 for one in arena.store.verdicts.evidence("r") for judgment in one.judgments
    ]
    assert counts.cost_usd == pytest.approx(sum(costs))
    assert counts.lost_usd > 0.05 * counts.cost_usd
    assert counts.reserved_usd == pytest.approx(0.0, abs=1e-9)
    account = arena.store.ledgers.account(arena.store.rounds.get("r").id)
    assert (account.spent, account.lost) == (counts.cost_usd, counts.lost_usd)
    scraped = metrics_of(arena.store).decode()
    assert f"arena_lost_usd {counts.lost_usd}" in scraped


@pytest.mark.long
def test_lost_calls_count_against_the_cap(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """C6: Where every reply is lost the round stops at its cap with nothing charged."""
    arena = filled(endpoint=scripted_llm(faults={"drop": 1.0}).url)
    counts = _run(arena, budget_usd=0.02)
    assert counts.skipped > 0
    assert counts.cost_usd == 0.0
    assert 0.01 < counts.lost_usd <= 0.02 + 1e-9
    with pytest.raises(ConflictError, match="spent or lost"):
        arena.rounds.set_budget("r", counts.lost_usd / 2)


@pytest.mark.long
def test_higher_budget_lets_a_capped_round_go_on(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    server = scripted_llm()
    arena = filled(endpoint=server.url, database_url=database_url)
    whole = _run(arena, "whole").cost_usd
    arena.store.replies.forget()
    before = server.log.calls
    capped = _run(arena, "capped", budget_usd=whole / 2)
    assert min(capped.judged, capped.skipped) > 0
    arena.rounds.set_budget("capped", 3 * whole)
    number = arena.store.rounds.get("capped").id
    account = arena.store.ledgers.account(number)
    assert arena.rounds.status("capped")[0].budget_usd == account.cap == pytest.approx(3 * whole)
    assert arena.rounds.retry("capped") == capped.skipped
    counts = arena.rounds.run("capped", concurrency=16, report=lambda _progress: None)
    assert (counts.judged, counts.skipped) == (counts.planned, 0)
    assert counts.cost_usd == pytest.approx(whole)
    assert server.log.calls - before == counts.planned


def test_budget_never_sinks_below_what_is_spent(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """A cap below the money spent, a sinking cap of a running round and no amount at all are refused."""
    arena = filled(endpoint=scripted_llm().url)
    spent = _run(arena, budget_usd=5.0).cost_usd
    with pytest.raises(ConflictError, match="are spent"):
        arena.rounds.set_budget("r", spent / 2)
    with pytest.raises(InputError, match="no amount of money"):
        arena.rounds.set_budget("r", float("nan"))
    assert arena.rounds.set_budget("r", spent).budget_usd == spent
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="running", budget_usd=5.0))
    arena.store.rounds.move("running", to=RoundState.RUNNING, allowed=(RoundState.PLANNED,))
    with pytest.raises(ConflictError, match="it is running"):
        arena.rounds.set_budget("running", 4.0)
    assert arena.rounds.set_budget("running", 6.0).budget_usd == 6.0


@pytest.mark.long
def test_replay_asks_nothing_and_says_what_it_lacks(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], make_arena: Callable[..., Arena]
) -> None:
    """Replay repeats a recorded round without a call; record asks all of it anew, and nothing else."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _run(arena, "one")
    asked = server.log.calls
    replaying = make_arena(endpoint=server.url, cache_mode=CacheMode.REPLAY)
    assert _run(replaying, "two").cost_usd == 0
    assert server.log.calls == asked
    with pytest.raises(ReplayMissError, match="never recorded"):
        _run(replaying, "other", judge="reference")
    assert arena.rounds.status("other")[0].state is RoundState.PAUSED
    _run(make_arena(endpoint=server.url, cache_mode=CacheMode.RECORD), "three")
    # An attack whose suspicious part is cut is a battle's own request, which record may ask for both.
    assert len(server.log.started) == asked
    assert min(server.log.started.values()) == 2


@pytest.mark.long
def test_round_over_batches_is_the_round_over_calls(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], make_arena: Callable[..., Arena]
) -> None:
    """Batch files give the same verdicts, and the store's book is empty at the end."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _run(arena, "calls")
    arena.store.replies.forget()
    batched = make_arena(endpoint=server.url, transport="batch", batch_poll=1)
    request = RoundRequest(set_name="tiny", judge="reference-free", name="b", pairs="all")
    batched.rounds.create(request)
    counts = batched.rounds.run("b", concurrency=200, report=lambda _progress: None)
    assert counts.judged == 72
    assert server.batches == 1
    assert arena.store.batches.unread() == ()
    verdicts = [[one.preference for one in arena.rounds.battles(name)] for name in ("calls", "b")]
    assert verdicts[0] == verdicts[1]


def test_book_keeps_batches_across_runs(store: Store) -> None:
    """A batch stays in the book, with what is known of it last, until it is struck out."""

    async def use() -> None:
        book = StoredJournal(store)
        sent = BatchRecord(name="one", endpoint="http://e/v1", keys=("a", "b"))
        await book.write(sent)
        known = BatchRecord(name="one", endpoint="http://e/v1", keys=("a", "b"), batch_id="batch-7")
        await book.write(known)
        assert list(await StoredJournal(store).unread()) == [known]
        await book.delete("one")
        assert list(await book.unread()) == []

    asyncio.run(use())
