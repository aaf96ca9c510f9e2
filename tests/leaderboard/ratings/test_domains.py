"""Ratings of domains borrow from the overall ratings, report how much, and are robust to few questions."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

from leaderboard.battles import BattleTable
from leaderboard.export.tables import flat_rows
from leaderboard.ratings import Cluster, DomainTable, IntervalKind, RatingTable, Settings, rate, rate_domains
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About
from leaderboard.vocabulary import OVERALL
from tests.battle_tables import encoded
from tests.narrow import known, listed

QUICK = Settings(bootstrap=60)
Row = tuple[str, str, str, str, str]


def simulated(
    domain: str, questions: int, strength: Sequence[float], seed: int = 0, *, same: bool = False
) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(questions):
        luck = 2 * rng.standard_normal(len(strength)) * same
        for a, b in combinations(range(len(strength)), 2):
            gap = strength[a] + luck[a] - strength[b] - luck[b]
            winner = "model_a" if rng.random() < 1 / (1 + np.exp(-gap)) else "model_b"
            rows.append((f"{domain}{number}", domain, f"s{a}", f"s{b}", winner))
    return rows


def odd(repeats: int, first: str = "s0", second: str = "s3") -> list[Row]:
    return [(f"o{number}", "odd", first, second, "model_a") for number in range(2) for _ in range(repeats)]


def rated(battles: BattleTable, settings: Settings = QUICK) -> tuple[RatingTable, dict[str, DomainTable]]:
    domains = {table.domain: table for table in rate_domains(battles, settings)}
    return rate(battles, bootstrap=60, cluster=settings.cluster), domains


def moves(overall: RatingTable, domain: DomainTable) -> dict[str, float]:
    return {
        row.system: abs(known(row.rating) - known(overall.of(row.system).rating))
        for row in domain.table.ratings
    }


@pytest.mark.parametrize("strength", [(-0.9, -0.2, 0.3, 0.8), (-3.0, -1.0, 1.0, 3.0)])
@pytest.mark.parametrize("repeats", [1, 3, 20, 200])
def test_two_questions_barely_move_ratings(strength: tuple[float, ...], repeats: int) -> None:
    battles = encoded([*simulated("main", 40, strength), *odd(repeats)])
    overall, domains = rated(battles)
    assert max(moves(overall, domains["odd"]).values()) < 300
    if repeats == 3:
        assert max(moves(overall, domains["odd"]).values()) < 60


def test_consistently_different_domains_are_not_shrunk() -> None:
    battles = encoded(
        [*simulated("up", 80, (-1.0, 0.0, 0.0, 1.0)), *simulated("down", 80, (1.0, 0.0, 0.0, -1.0), 1)]
    )
    _, domains = rated(battles)
    for domain, sign in (("up", 1), ("down", -1)):
        result = domains[domain].table
        gap = known(result.of("s3").rating) - known(result.of("s0").rating)
        assert gap * sign == pytest.approx(2 * 400 / np.log(10), rel=0.35)
        assert all(known(row.own_evidence) > 0.8 for row in result.ratings)
        assert result.notes == ()


def test_own_evidence_grows_with_questions() -> None:
    strength = (-0.6, -0.2, 0.2, 0.6)
    few, more = (
        rated(encoded([*simulated("main", 60, strength), *simulated("part", size, strength, 1)]))[1]["part"]
        for size in (2, 30)
    )
    shares = [{row.system: known(row.own_evidence) for row in part.table.ratings} for part in (few, more)]
    assert all(0 < shares[0][name] < shares[1][name] < 1 for name in shares[0])
    absent = encoded([*simulated("main", 60, strength), *odd(3)])
    assert rated(absent)[1]["odd"].table.of("s1").own_evidence == 0
    assert rate(absent, bootstrap=20).of("s1").own_evidence is None


def test_correlated_battles_of_question_count_less() -> None:
    strength = (-0.6, -0.2, 0.2, 0.6)
    rows = [*simulated("one", 40, strength, same=True), *simulated("two", 40, strength[::-1], 3, same=True)]
    battles = encoded(rows)
    clustered, independent = (
        rated(battles, Settings(bootstrap=60, cluster=cluster))[1]["two"]
        for cluster in (Cluster.QUESTION, Cluster.NONE)
    )
    assert all(
        known(clustered.table.of(row.system).own_evidence) < known(row.own_evidence)
        for row in independent.table.ratings
    )


def test_board_and_files_include_own_evidence() -> None:
    battles = encoded([*simulated("main", 60, (-1.5, -0.5, 0.5, 1.5)), *odd(1, "s3", "s0")])
    board = build_standings(battles, About(name="b", title="B"), settings=QUICK).as_json()
    rows = flat_rows(board)
    for row in rows:
        assert (row["own_evidence"] is None) is (row["domain"] == OVERALL)
    (thin,) = [row["own_evidence"] for row in rows if (row["domain"], row["system"]) == ("odd", "s3")]
    assert isinstance(thin, float)
    assert 0 < thin < 0.2
    notes = {part["id"]: part["note"] for part in listed(board["domains"])}
    assert notes["main"] == ""
    assert "do not separate any two systems" in notes["odd"]


@pytest.mark.parametrize("cluster", list(Cluster))
def test_analytic_errors_equal_errors_of_draws(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    strength = tuple(np.linspace(-1, 1, 6))
    battles = encoded([*simulated("one", 60, strength, 1), *simulated("two", 90, strength, 2)])
    by_draws = rate_domains(battles, Settings(cluster=cluster))
    monkeypatch.setattr(import_module("leaderboard.ratings.rate"), "MAX_RESAMPLED", 5)
    settings = Settings(cluster=cluster, interval=IntervalKind.SANDWICH, bootstrap=None)
    for drawn, analytic in zip(by_draws, rate_domains(battles, settings), strict=True):
        assert drawn.table.draws is not None
        assert analytic.table.draws is None
        for row in drawn.table.ratings:
            same = analytic.table.of(row.system)
            assert known(same.rating) == pytest.approx(known(row.rating))
            assert known(same.se) == pytest.approx(known(row.se), rel=0.12)
