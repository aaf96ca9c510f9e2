from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import InputError, NotFoundError
from data.models import Outcome, Preference, Verdict
from tests.arena.conftest import Commands, Fill, write_answers, write_lines

STRENGTH: Mapping[str, float] = {"full": 1.0, "human": 0.4, "wrong": -0.2, "short": -1.2}


def preferred(random: np.random.Generator, gamma: float, a: str, b: str) -> Preference:
    """Return the preference of a fairly accurate judge."""
    chance = 1 / (1 + np.exp(-gamma * (STRENGTH[a] - STRENGTH[b])))
    return Preference.A if random.random() < chance else Preference.B


def judged(arena: Arena, name: str, gamma: float, *, leave: int = 0, judge: str = "lexical") -> None:
    """Round with verdicts of a fairly accurate judge on most battles."""
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, pairs="all", name=name))
    random = np.random.default_rng(abs(hash(gamma)) % 1000)
    verdicts = []
    for battle in list(arena.rounds.battles(name))[leave:]:
        preference = preferred(random, gamma, battle.system_a, battle.system_b)
        verdicts.append((battle.id, Verdict(outcome=Outcome.JUDGED, preference=preference)))
    arena.store.verdicts.record(verdicts)


def test_rounds_are_compared_on_common_battles(filled: Fill, run: Commands) -> None:
    arena = filled()
    judged(arena, "sharp", 3.0)
    judged(arena, "blunt", 0.5, leave=4)
    comparison, notes = arena.rounds.compare(["sharp", "blunt"])
    assert notes == ()
    fields = comparison.as_json()
    assert list(fields) == ["tau", "lower", "upper", "systems"]
    assert -1 <= float(str(fields["lower"])) <= float(str(fields["tau"])) <= float(str(fields["upper"])) <= 1
    ranks = dict(comparison.systems)
    assert ranks.keys() == STRENGTH.keys()
    assert sorted(places[0] or 0 for places in ranks.values()) == [1, 2, 3, 4]
    rows = run.json("rounds", "compare", "sharp", "blunt", "--json")["systems"]
    assert {row["system"]: len(row["ranks"]) for row in rows} == dict.fromkeys(STRENGTH, 2)
    assert "Kendall's tau:" in run("rounds", "compare", "sharp", "blunt")[1]
    run.fails("rounds", "compare", "sharp")


def test_rounds_that_cannot_be_compared_are_refused(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    judged(arena, "sharp", 2.0)
    for names in (["sharp"], ["sharp", "sharp"]):
        with pytest.raises(InputError, match="two different rounds"):
            arena.rounds.compare(names)
    with pytest.raises(NotFoundError):
        arena.rounds.compare(["sharp", "nowhere"])
    arena.submissions.add(
        write_answers(tmp_path / "new.jsonl", ("It is {word}.",), 12), "tiny", system="short"
    )
    judged(arena, "later", 2.0)
    comparison, (note,) = arena.rounds.compare(["sharp", "later"])
    assert "short" in note
    assert "short" not in dict(comparison.systems)


def test_verdict_files_are_compared(run: Commands, tmp_path: Path) -> None:
    words, paths = {1: "model_a", -1: "model_b"}, {}
    for name, sign in (("judge", 1), ("people", 1), ("other", -1)):
        rows = (
            {"question_id": f"q{at}", "model_a": a, "model_b": b, "winner": words[sign if at % 4 else -sign]}
            for at in range(40)
            for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
        )
        paths[name] = write_lines(tmp_path / f"{name}.jsonl", rows)
    fields = run.json("battles", "compare-rankings", paths["judge"], paths["people"], "--json")
    assert (fields["tau"], fields["lower"], fields["upper"]) == (1, 1, 1)
    assert fields["systems"] == [{"system": system, "ranks": [at, at]} for at, system in enumerate("xyz", 1)]
    assert run.json("battles", "compare-rankings", paths["judge"], paths["other"], "--json")["tau"] == -1
    run.fails("battles", "compare-rankings", paths["judge"])
