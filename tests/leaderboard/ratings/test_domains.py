"""Ratings of domains borrow from the overall ones, say how much, and never follow a few questions far."""

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


def played(
    domain: str, questions: int, strength: Sequence[float], seed: int = 0, *, same: bool = False
) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(questions):
        luck = 2 * rng.standard_normal(len(strength)) * same
        for one, other in combinations(range(len(strength)), 2):
            gap = strength[one] + luck[one] - strength[other] - luck[other]
            winner = "model_a" if rng.random() < 1 / (1 + np.exp(-gap)) else "model_b"
            rows.append((f"{domain}{number}", domain, f"s{one}", f"s{other}", winner))
    return rows


def odd(repeats: int, first: str = "s0", second: str = "s3") -> list[Row]:
    return [(f"o{number}", "odd", first, second, "model_a") for number in range(2) for _ in range(repeats)]


def rated(battles: BattleTable, settings: Settings = QUICK) -> tuple[RatingTable, dict[str, DomainTable]]:
    found = rate_domains(battles, settings)
    return rate(battles, bootstrap=60, cluster=settings.cluster), {each.domain: each for each in found}


def moves(overall: RatingTable, domain: DomainTable) -> dict[str, float]:
    return {
        row.system: abs(known(row.rating) - known(overall.of(row.system).rating))
        for row in domain.table.ratings
    }


@pytest.mark.parametrize("strength", [(-0.9, -0.2, 0.3, 0.8), (-3.0, -1.0, 1.0, 3.0)])
@pytest.mark.parametrize("repeats", [1, 3, 20, 200])
def test_two_questions_move_no_rating_far(strength: tuple[float, ...], repeats: int) -> None:
    battles = encoded([*played("main", 40, strength), *odd(repeats)])
    overall, domains = rated(battles)
    assert max(moves(overall, domains["odd"]).values()) < 300
    if repeats == 3:
        assert max(moves(overall, domains["odd"]).values()) < 60


def test_domains_that_differ_throughout_are_left_to_differ() -> None:
    battles = encoded(
        [*played("up", 80, (-1.0, 0.0, 0.0, 1.0)), *played("down", 80, (1.0, 0.0, 0.0, -1.0), 1)]
    )
    _, domains = rated(battles)
    for domain, sign in (("up", 1), ("down", -1)):
        found = domains[domain].table
        gap = known(found.of("s3").rating) - known(found.of("s0").rating)
        assert gap * sign == pytest.approx(2 * 400 / np.log(10), rel=0.35)
        assert all(known(row.own_evidence) > 0.8 for row in found.ratings)
        assert found.notes == ()


def test_own_evidence_grows_with_the_questions_of_a_domain() -> None:
    strength = (-0.6, -0.2, 0.2, 0.6)
    few, more = (
        rated(encoded([*played("main", 60, strength), *played("part", size, strength, 1)]))[1]["part"]
        for size in (2, 30)
    )
    shares = [{row.system: known(row.own_evidence) for row in each.table.ratings} for each in (few, more)]
    assert all(0 < shares[0][name] < shares[1][name] < 1 for name in shares[0])
    absent = encoded([*played("main", 60, strength), *odd(3)])
    assert rated(absent)[1]["odd"].table.of("s1").own_evidence == 0
    assert rate(absent, bootstrap=20).of("s1").own_evidence is None


def test_battles_of_one_question_count_for_less_where_they_go_together() -> None:
    strength = (-0.6, -0.2, 0.2, 0.6)
    rows = [*played("one", 40, strength, same=True), *played("two", 40, strength[::-1], 3, same=True)]
    battles = encoded(rows)
    clustered, alone = (
        rated(battles, Settings(bootstrap=60, cluster=cluster))[1]["two"]
        for cluster in (Cluster.QUESTION, Cluster.NONE)
    )
    assert all(
        known(clustered.table.of(row.system).own_evidence) < known(row.own_evidence)
        for row in alone.table.ratings
    )


def test_board_and_files_carry_own_evidence() -> None:
    battles = encoded([*played("main", 60, (-1.5, -0.5, 0.5, 1.5)), *odd(1, "s3", "s0")])
    board = build_standings(battles, About(name="b", title="B"), settings=QUICK).as_json()
    rows = flat_rows(board)
    for row in rows:
        assert (row["own_evidence"] is None) is (row["domain"] == OVERALL)
    (thin,) = [row["own_evidence"] for row in rows if (row["domain"], row["system"]) == ("odd", "s3")]
    assert isinstance(thin, float)
    assert 0 < thin < 0.2
    notes = {part["id"]: part["note"] for part in listed(board["domains"])}
    assert notes["main"] == ""
    assert "separate no two systems" in notes["odd"]


@pytest.mark.parametrize("cluster", list(Cluster))
def test_errors_without_draws_are_those_of_draws(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    strength = tuple(np.linspace(-1, 1, 6))
    battles = encoded([*played("one", 60, strength, 1), *played("two", 90, strength, 2)])
    drawn = rate_domains(battles, Settings(cluster=cluster))
    monkeypatch.setattr(import_module("leaderboard.ratings.rate"), "MOST_RESAMPLED", 5)
    found = rate_domains(battles, Settings(cluster=cluster, interval=IntervalKind.SANDWICH, bootstrap=None))
    for one, other in zip(drawn, found, strict=True):
        assert one.table.draws is not None
        assert other.table.draws is None
        for row in one.table.ratings:
            same = other.table.of(row.system)
            assert known(same.rating) == pytest.approx(known(row.rating))
            assert known(same.se) == pytest.approx(known(row.se), rel=0.12)
