from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from data.errors import NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.formats.reading import read_battles
from leaderboard.rates import win_rates
from leaderboard.standings.head_to_head import head_to_head
from leaderboard.stats import wilson

WORDS = ("model_a", "model_b", "tie")


def table_of(rows: list[tuple[str, str, int, int, int]], weight: list[float] | None = None) -> BattleTable:
    question, domain, first, second, winner = zip(*rows, strict=True)
    names = [f"s{code}" for code in first], [f"s{code}" for code in second]
    return BattleTable.from_columns(question, domain, *names, [WORDS[code] for code in winner], weight=weight)


def random_table(seed: int, repeats: int = 1) -> BattleTable:
    random = np.random.default_rng(seed)
    rows = []
    for question in range(60):
        for a, b in ((0, 1), (2, 0), (1, 2)):
            rows += [(f"q{question}", f"d{question % 3}", a, b, int(random.integers(3)))] * repeats
    return table_of(rows)


def test_counts_add_up_and_overall_is_micro_average() -> None:
    rates = win_rates(random_table(1), reference="s0")
    assert {row.system for row in rates.rows} == {"s1", "s2"}
    for system in ("s1", "s2"):
        rows = [row for row in rates.rows if row.system == system]
        assert rows[0].domain == "overall"
        assert [row.domain for row in rows[1:]] == ["d0", "d1", "d2"]
        for field in ("battles", "wins", "ties", "losses"):
            assert sum(getattr(row, field) for row in rows[1:]) == getattr(rows[0], field)
        assert rows[0].wins + rows[0].ties + rows[0].losses == rows[0].battles == 60
        assert rows[0].win_rate == pytest.approx(rows[0].wins / 60)
        assert rows[0].win_tie_rate == pytest.approx((rows[0].wins + rows[0].ties) / 60)
    assert rates.unused == 60


def test_rates_do_not_depend_on_sides() -> None:
    table = random_table(2)
    winner = np.array([1, 0, 2], dtype=np.int8)[table.winner]
    flipped = replace(table, a=table.b, b=table.a, winner=winner)
    for row, same in zip(win_rates(flipped).rows, win_rates(table).rows, strict=True):
        assert row.as_json() == pytest.approx(same.as_json())


def test_weights_equal_repeated_battles() -> None:
    rows = [("q1", "d", 0, 1, 0), ("q2", "d", 0, 1, 1), ("q3", "d", 0, 1, 2)]
    short = win_rates(table_of(rows, [3, 1, 2]), reference="s1", clustered=False).of("s0")
    long = [rows[0]] * 3 + [rows[1]] + [rows[2]] * 2
    full = win_rates(table_of(long), reference="s1", clustered=False).of("s0")
    assert short.as_json() | {"questions": 0} == pytest.approx(full.as_json() | {"questions": 0})


def test_one_battle_per_question_gives_wilsons_interval() -> None:
    table = random_table(3)
    row = win_rates(table, reference="s0").of("s1")
    expected = wilson(row.win_rate, 60)
    assert expected is not None
    assert row.win_interval == expected
    assert row.win_interval == win_rates(table, reference="s0", clustered=False).of("s1").win_interval


def test_repeated_battles_do_not_narrow_clustered_intervals() -> None:
    once, twice = (win_rates(random_table(4, n), reference="s0").of("s1") for n in (1, 2))
    battle = win_rates(random_table(4, 2), reference="s0", clustered=False).of("s1")
    assert once.win_interval is not None
    assert twice.win_interval is not None
    assert battle.win_interval is not None
    assert twice.win_interval.width == pytest.approx(once.win_interval.width, rel=0.05)
    assert battle.win_interval.width < 0.75 * once.win_interval.width


def test_alpaca_eval_rates_equal_official_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    preferences = [*(1 + random.random(400)).tolist(), *([0, 1.5, None, 1, 2] * 9)]
    records = [
        {"instruction": f"do {n}", "generator_1": "base", "generator_2": "m", "preference": preference}
        for n, preference in enumerate(preferences)
    ]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(records))
    official = pd.Series(preferences, dtype=float).replace(0.0, 1.5).dropna() - 1
    row = win_rates(read_battles(path).table, reference="base").of("m")
    assert row.battles == len(official)
    assert 100 * row.mean_score == pytest.approx(official.mean() * 100, abs=1e-6)
    assert row.standard_error is not None
    error = official.sem()
    assert isinstance(error, float)
    assert 100 * row.standard_error == pytest.approx(error * 100, abs=1e-6)
    assert row.wins == (official > 0.5).sum()
    assert row.losses == (official < 0.5).sum()


def test_single_battle_has_bounds_but_no_standard_error() -> None:
    row = win_rates(table_of([("q", "d", 0, 1, 0)]), reference="s1").of("s0").as_json()
    assert row["standard_error"] is None
    assert row["clustered_error"] is None
    assert row["lower"] == pytest.approx(0.2065, abs=1e-4)


def test_unknown_reference_error_lists_systems() -> None:
    with pytest.raises(NotFoundError, match="s0, s1, s2"):
        win_rates(random_table(8), reference="S0")


@pytest.mark.parametrize("reference", [None, "s1"])
def test_unweighted_rates_equal_weights_of_one(
    monkeypatch: pytest.MonkeyPatch, reference: str | None
) -> None:
    rng = np.random.default_rng(4)
    ends = [(int(a), int(b)) for a, b in rng.integers(0, 3, (400, 2)) if a != b]
    rows = [
        (f"q{rng.integers(0, 30)}", f"d{rng.integers(0, 2)}", a, b, int(rng.integers(0, 3))) for a, b in ends
    ]
    monkeypatch.setattr("leaderboard.rates.ROWS_AT_ONCE", 50)
    monkeypatch.setattr("leaderboard.ratings.counts.ROWS_AT_ONCE", 50)
    counted, summed = table_of(rows), table_of(rows, [1.0] * len(rows))
    assert win_rates(counted, reference=reference) == win_rates(summed, reference=reference)
    pairs = [head_to_head(table, table.systems).as_json() for table in (counted, summed)]
    assert pairs[0] == pairs[1]
