"""Costs of rounds: judgments and the ledger say the same, and unknown prices stay unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system import metrics_of
from arena.site.admin.common import usd
from data.errors import ConflictError, InputError, ReplayMissError
from data.models import Outcome, RoundState
from judges.llm.settings import CacheMode
from tests.arena.conftest import Fill, Serve

FAULTS = {"wrong_format": 0.3, "malformed": 0.1, "refusal": 0.1, "bad_request": 0.05, "server_error": 0.1}


def _run(arena: Arena, name: str = "r", **fields: Any) -> Any:  # noqa: ANN401 - the round's books
    arena.rounds.create(
        RoundRequest(set_name="tiny", name=name, **{"judge": "reference-free", "pairs": "all", **fields})
    )
    return arena.rounds.run(name, concurrency=16, report=lambda _progress: None)


@pytest.mark.slow
@pytest.mark.parametrize("budget_usd", [None, 5.0])
def test_books_ledger_and_judgments_agree(
    filled: Fill, scripted_llm: Serve, budget_usd: float | None
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
    filled: Fill, scripted_llm: Serve, database_url: str, budget_usd: float | None
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


@pytest.mark.slow
def test_lost_calls_count_against_the_cap(filled: Fill, scripted_llm: Serve) -> None:
    """C6: Where every reply is lost the round stops at its cap with nothing charged."""
    arena = filled(endpoint=scripted_llm(faults={"drop": 1.0}).url)
    counts = _run(arena, budget_usd=0.02)
    assert counts.skipped > 0
    assert counts.cost_usd == 0.0
    assert 0.01 < counts.lost_usd <= 0.02 + 1e-9
    with pytest.raises(ConflictError, match="spent or lost"):
        arena.rounds.set_budget("r", counts.lost_usd / 2)


@pytest.mark.slow
def test_higher_budget_lets_a_capped_round_go_on(
    filled: Fill, scripted_llm: Serve, database_url: str
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


def test_budget_never_sinks_below_what_is_spent(filled: Fill, scripted_llm: Serve) -> None:
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


@pytest.mark.slow
def test_replay_asks_nothing_and_says_what_it_lacks(
    filled: Fill, scripted_llm: Serve, make_arena: Fill
) -> None:
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


@pytest.mark.slow
def test_round_over_batches_is_the_round_over_calls(
    filled: Fill, scripted_llm: Serve, make_arena: Fill
) -> None:
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


PANEL = """
kind = "panel"
rule = "majority"

[[members]]
name = "priced"
extends = "reference-free"
model = "gpt-4.1"

[[members]]
name = "unpriced"
extends = "reference-free"
model = "a-house-model"
"""
UNPRICED = 'kind = "llm"\nextends = "reference-free"\nmodel = "a-house-model"\n'


def _judge(folder: Path, spec: str) -> Path:
    path = folder / "house.toml"
    path.write_text(spec)
    return path


@patch("judges.llm.prices.is_private", lambda _: False)
def test_a_panel_with_an_unpriced_member_has_unknown_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Serve,
    tmp_path: Path,
) -> None:
    """D10: one member without a price makes the cost of the round null and a dash."""
    server = scripted_llm()
    judge = _judge(tmp_path, PANEL)
    words = ("--set", "tiny", "--judge", judge, "--sample", 6, "--name", "r")
    plan = arena_of.json("rounds", "plan", *words, "--json", endpoint=server.url)
    assert plan["cost_usd"] is None
    done = arena_of.json("rounds", "run", *words, "--no-cap", "--json", endpoint=server.url)
    assert done["judged"] == 12
    assert done["input_tokens"] > 0
    assert done["cost_usd"] is None
    shown = arena_of("rounds", "status", "r")[1]
    assert [line.split() for line in shown.splitlines() if line.startswith("cost_usd")] == [["cost_usd", "–"]]
    assert usd(done["cost_usd"]) == "price not known"
    assert arena_of("rounds", "export", "r", tmp_path / "out")[0] == 0


@patch("judges.llm.prices.is_private", lambda _: False)
def test_a_replayed_round_cost_nothing_and_a_priced_one_what_it_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Serve,
    tmp_path: Path,
) -> None:
    """D10: replies from the cache cost 0 whatever the model; a panel of priced models has a sum."""
    server = scripted_llm()
    judge = _judge(tmp_path, UNPRICED)
    words = ("--set", "tiny", "--judge", judge, "--sample", 3)
    first = arena_of.json("rounds", "run", *words, "--no-cap", "--name", "one", "--json", endpoint=server.url)
    assert first["cost_usd"] is None
    again = arena_of.json("rounds", "run", *words, "--no-cap", "--name", "two", "--json", endpoint=server.url)
    assert again["judged"] == 6
    assert again["cost_usd"] == 0
    priced = _judge(tmp_path, PANEL.replace("a-house-model", "gpt-4o"))
    words = ("--set", "tiny", "--judge", priced, "--sample", 3)
    third = arena_of.json(
        "rounds", "run", *words, "--no-cap", "--name", "three", "--json", endpoint=server.url
    )
    assert third["cost_usd"] > 0


@patch("judges.llm.prices.is_private", lambda _: False)
def test_metrics_of_an_unpriced_model_have_unknown_cost(
    arena_of: Any,  # noqa: ANN401 - commands
    scripted_llm: Serve,
    tmp_path: Path,
) -> None:
    """D10: a run of a metric that was charged at no known price says null."""
    server = scripted_llm()
    words = ("metrics", "run", "--set", "tiny", "--metric", "coverage-icat-a", "--systems", "half")
    judge = _judge(tmp_path, UNPRICED)
    found = arena_of.json(*words, "--judge", judge, "--json", endpoint=server.url)
    assert found["calls"] > 0
    assert found["cost_usd"] is None
