"""Rounds beside each other: rankings, who moves, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import InputError, NotFoundError
from data.records import Judgment, Outcome, Preference, Presentation, Verdict
from tests.arena.conftest import Commands, mix, write_answers

STRENGTH: Mapping[str, float] = {"full": 1.0, "human": 0.4, "wrong": -0.2, "short": -1.2}


def preferred(random: np.random.Generator, gamma: float, a: str, b: str) -> Preference:
    """What a judge of some discrimination says of two systems."""
    chance = 1 / (1 + np.exp(-gamma * (STRENGTH[a] - STRENGTH[b])))
    return Preference.A if random.random() < chance else Preference.B


def judged(arena: Arena, name: str, gamma: float, *, leave: int = 0, judge: str = "lexical") -> None:
    """A round whose verdicts come from a judge of some discrimination, all but some battles."""
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, pairs="all", name=name))
    random = np.random.default_rng(abs(hash(gamma)) % 1000)
    battles = list(arena.rounds.battles(name))
    verdicts = [
        (
            battle.id,
            Verdict(
                outcome=Outcome.JUDGED, preference=preferred(random, gamma, battle.system_a, battle.system_b)
            ),
        )
        for battle in battles[leave:]
    ]
    arena.store.verdicts.record(verdicts)


def test_rounds_are_compared_on_the_battles_that_all_decided(filled: Callable[..., Arena]) -> None:
    """Tau has an interval, every system its shift, and what one round did not decide is counted."""
    arena = filled()
    judged(arena, "sharp", 3.0)
    judged(arena, "blunt", 0.5, leave=4)
    comparison = arena.comparison.compare(["sharp", "blunt"])
    sides = {side.name: side for side in comparison.sides}
    assert sides["sharp"].battles - sides["sharp"].common == 4
    assert comparison.battles == sides["blunt"].battles == sides["blunt"].common
    (pair,) = comparison.pairs
    assert pair.agreement.kendall.value is not None
    assert pair.agreement.kendall.interval is not None
    assert {move.system for move in pair.moves} == set(comparison.systems)
    assert any("4 of" in line for line in comparison.notes)


def test_what_cannot_be_compared_is_said(filled: Callable[..., Arena], tmp_path: Path) -> None:
    """One judge, the same round twice and an unknown round are refused with advice."""
    arena = filled()
    judged(arena, "sharp", 2.0)
    with pytest.raises(InputError, match="one judge"):
        arena.comparison.compare(["sharp"])
    with pytest.raises(InputError, match="named twice"):
        arena.comparison.compare(["sharp", "sharp"])
    with pytest.raises(NotFoundError):
        arena.comparison.compare(["sharp", "nowhere"])
    arena.submissions.add(
        write_answers(tmp_path / "new.jsonl", ("It is {word}.",), 12), "tiny", system="short"
    )
    judged(arena, "later", 2.0)
    comparison = arena.comparison.compare(["sharp", "later"])
    assert comparison.other_versions == ("short",)
    assert "short" not in comparison.systems


def test_the_members_of_a_panel_are_compared(filled: Callable[..., Arena], tmp_path: Path) -> None:
    """A panel's round compares its members, each battle by the mean of what a member said of it."""
    arena = mix(filled(), tmp_path)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="panel", pairs="all", name="panel"))
    random = np.random.default_rng(5)
    verdicts = []
    for battle in arena.rounds.battles("panel"):
        votes = {
            name: preferred(random, gamma, battle.system_a, battle.system_b)
            for name, gamma in (("careful", 1.5), ("hasty", 0.3), ("other", 1.0))
        }
        judgments = tuple(
            Judgment(
                judge=name,
                model="m",
                presentation=Presentation.A_FIRST,
                outcome=Outcome.JUDGED,
                preference=vote,
            )
            for name, vote in votes.items()
        )
        verdicts.append(
            (battle.id, Verdict(outcome=Outcome.JUDGED, preference=votes["careful"], judgments=judgments))
        )
    arena.store.verdicts.record(verdicts)
    comparison = arena.comparison.compare(["panel"])
    assert [side.name for side in comparison.sides] == ["careful", "hasty", "other"]
    assert len(comparison.pairs) == 3
    assert all(side.common == len(verdicts) for side in comparison.sides)


def test_the_command_prints_both_forms(filled: Callable[..., Arena], run: Commands) -> None:
    """`rounds compare` prints a table, and with --json what scripts read."""
    arena = filled()
    judged(arena, "sharp", 1.5)
    judged(arena, "blunt", 0.5)
    fields = run.json("rounds", "status", "--compare", "sharp", "blunt", "--json")
    assert fields["set"] == "tiny"
    assert {"kendall", "spearman", "pearson", "intervals", "moves", "by"} <= fields["pairs"][0].keys()
    code, out, _ = run("rounds", "status", "--compare", "sharp", "blunt")
    assert code == 0
    assert "sharp and blunt: tau" in out
    code, _, err = run("rounds", "status", "--compare", "sharp")
    assert code == 1
    assert "one judge" in err
