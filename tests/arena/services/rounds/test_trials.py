"""Dry samples: what is tried, what it costs, and what of it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.container import Arena
from arena.services.accounts.auth import Caller, CallerKind
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.trials import spread
from arena.workers.worker import Worker
from data.records import PlannedBattle, TokenScope

ADA = Caller(kind=CallerKind.SESSION, name="Ada", scopes=frozenset(TokenScope), organiser=True, account="Ada")
REQUEST = RoundRequest(set_name="tiny", judge="lexical", name="spring")


def _work(arena: Arena) -> None:
    Worker(arena, arena.job_leases.worker).run(once=True)


@pytest.mark.long
def test_dry_sample_shows_verdicts_and_leaves_no_round(filled: Callable[..., Arena]) -> None:
    """Up to 20 battles are judged by a worker; no round, battle or verdict is stored."""
    arena = filled()
    job = arena.jobs.trial(REQUEST, caller=ADA)
    _work(arena)
    found = arena.round_admin.trial(job.id, caller=ADA).job.result
    assert found is not None
    assert (found["planned"], found["tried"], len(found["verdicts"])) == (36, 20, 20)
    assert sum(found["outcomes"].values()) == 20
    assert {"full", "short", "wrong"} <= {one["system_a"] for one in found["verdicts"]}
    assert arena.rounds.rounds() == ()


def _planned(systems: int, domains: int, questions: int) -> tuple[list[PlannedBattle], dict[int, str]]:
    """Each system against the reference (0) on every question, and the questions' domains."""
    battles = [
        PlannedBattle(key=f"{question}-{system}", question=question, a=system, b=0)
        for question in range(questions)
        for system in range(1, systems + 1)
    ]
    return battles, {question: f"d{question % domains}" for question in range(questions)}


@given(st.integers(1, 9), st.integers(1, 7), st.integers(7, 60))
def test_dry_sample_spreads_over_systems_and_domains(systems: int, domains: int, questions: int) -> None:
    """E3: no system is sampled more than once oftener than another, and every domain is seen."""
    battles, of = _planned(systems, domains, questions)
    chosen = spread(battles, of, 20)
    assert len(chosen) == len({battle.key for battle in chosen}) == min(20, len(battles))
    if len(battles) > 20:
        counts = [sum(battle.a == system for battle in chosen) for system in range(1, systems + 1)]
        assert max(counts) - min(counts) <= 1
    assert {of[battle.question] for battle in chosen} == set(of.values())


def test_dry_sample_of_many_pairs_meets_every_system_and_domain() -> None:
    """E3: where every pair of systems meets, the sample leaves out neither a system nor a domain."""
    pairs = list(combinations(range(8), 2))
    battles = [
        PlannedBattle(key=f"{question}-{a}-{b}", question=question, a=a, b=b)
        for question in range(60)
        for a, b in pairs
    ]
    of = {question: f"d{question // 10}" for question in range(60)}
    chosen = spread(battles, of, 20)
    assert {side for battle in chosen for side in (battle.a, battle.b)} == set(range(8))
    assert {of[battle.question] for battle in chosen} == set(of.values())
    assert len({battle.question for battle in chosen}) > 10


def test_dry_sample_tells_what_a_battle_costs(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """E3: the cost of the round is the measured cost of a battle times the battles planned."""
    endpoint = scripted_llm()
    arena = filled(endpoint=endpoint.url)
    job = arena.jobs.trial(replace(REQUEST, judge="reference-free", budget_usd=5.0), caller=ADA)
    _work(arena)
    found = arena.round_admin.trial(job.id, caller=ADA).job.result
    assert found is not None
    paid = sum(one["cost_usd"] for one in found["verdicts"])
    assert paid > 0
    assert found["cost_usd_battle"] == pytest.approx(paid / 20)
    assert found["cost_usd_round"] == pytest.approx(paid / 20 * 36)


def test_dry_sample_of_hidden_references_says_no_reasons(filled: Callable[..., Arena]) -> None:
    """Where a set hides its references, what a judge wrote about them is withheld from the page."""
    arena = filled()
    arena.policies.hide_references("tiny", hidden=True, caller=ADA)
    job = arena.jobs.trial(REQUEST, caller=ADA)
    _work(arena)
    found = arena.round_admin.trial(job.id, caller=ADA).job.result
    assert found is not None
    assert {one["why"] for one in found["verdicts"]} == {"Not shown: it quotes texts that are not public."}
