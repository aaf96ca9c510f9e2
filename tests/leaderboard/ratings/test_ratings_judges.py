"""Ratings from several judges: what is planted is recovered, and another implementation agrees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from data.errors import InputError, UnrankableError
from leaderboard.battles import BattleTable, JudgeColumn
from leaderboard.ratings import Anchor, Cluster, IntervalKind, Settings, rate
from leaderboard.ratings.judges import Ballots, JudgeTrust, rate_with_judges
from leaderboard.ratings.vocabulary import POINTS

Floats = NDArray[np.float64]
GOLDEN = Path(__file__).parents[2] / "golden" / "ratings" / "judges.json"


def planted(
    seed: int, gamma: Sequence[float], *, systems: int = 6, questions: int = 300, ties: float = 0.0
) -> tuple[Floats, BattleTable, JudgeColumn]:
    """Strengths, and the verdicts of judges of known discriminations on the same battles, two a question."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1, systems)
    theta -= theta.mean()
    battles, judges = 2 * questions, len(gamma)
    a = rng.integers(0, systems, battles)
    b = (a + rng.integers(1, systems, battles)) % systems
    sides = (np.tile(a, judges), np.tile(b, judges))
    judge = np.repeat(np.arange(judges), battles)
    chance = 1 / (1 + np.exp(-np.array(gamma)[judge] * (theta[sides[0]] - theta[sides[1]])))
    winner = np.where(rng.random(len(judge)) < chance, 0, 1)
    winner = np.where(rng.random(len(judge)) < ties, 2, winner)
    table = BattleTable(
        systems=tuple(f"s{code}" for code in range(systems)),
        questions=tuple(f"q{code}" for code in range(questions)),
        domains=("",),
        a=sides[0].astype(np.int32),
        b=sides[1].astype(np.int32),
        winner=winner.astype(np.int8),
        question=np.tile(np.repeat(np.arange(questions), 2), judges).astype(np.int32),
        domain=np.zeros(len(judge), np.int32),
    )
    names = tuple(f"j{code}" for code in range(judges))
    return theta, table, JudgeColumn(names=names, code=judge.astype(np.int32))


def of(trusts: Sequence[JudgeTrust], name: str) -> JudgeTrust:
    """One judge."""
    return next(trust for trust in trusts if trust.name == name)


def optimised(table: BattleTable, judges: JudgeColumn) -> tuple[Floats, Floats]:
    """Strengths and discriminations by a general optimiser on the verdicts themselves, in the same gauge."""
    systems, count = len(table.systems), len(judges.names)

    def loss(point: Floats) -> tuple[float, Floats]:
        theta, gamma = point[:systems], point[systems:]
        gap, sharp = theta[table.a] - theta[table.b], gamma[judges.code]
        rest = table.share - 1 / (1 + np.exp(-sharp * gap))
        slope = np.zeros(len(point))
        np.add.at(slope, table.a, sharp * rest)
        np.add.at(slope, table.b, -sharp * rest)
        np.add.at(slope, systems + judges.code, gap * rest)
        return float((np.logaddexp(0, sharp * gap) - table.share * sharp * gap).sum()), -slope

    start = np.concatenate([np.linspace(-0.1, 0.1, systems), np.ones(count)])
    best = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 3000}).x
    theta, gamma = best[:systems], best[systems:]
    mean = float(gamma[judges.code].mean())
    return (theta - theta.mean()) * mean, gamma / mean


@pytest.mark.parametrize("ties", [0.0, 0.2])
def test_a_general_optimiser_finds_the_same_ratings_and_discriminations(ties: float) -> None:
    """Two implementations agree on the same likelihood, with and without ties, to five digits."""
    _, table, judges = planted(3, [2.0, 1.0, 0.3, -0.4], ties=ties)
    rated = rate_with_judges(table, judges)
    theta, gamma = optimised(table, judges)
    assert rated.ratings.points == pytest.approx(1000 + POINTS * theta, abs=1e-2)
    fitted = [of(rated.judges, name).discrimination for name in judges.names]
    assert fitted == pytest.approx(gamma.tolist(), abs=1e-4)


def test_one_kind_of_judge_gives_the_plain_ratings() -> None:
    """Judges that say the same have discrimination 1, and the ratings are those of Bradley-Terry."""
    _, table, _ = planted(5, [1.0])
    twice = table.select(np.tile(np.arange(len(table)), 2))
    both = JudgeColumn(names=("x", "y"), code=np.repeat([0, 1], len(table)).astype(np.int32))
    rated = rate_with_judges(twice, both)
    plain = rate(table, interval=IntervalKind.SANDWICH)
    assert rated.ratings.points == pytest.approx(plain.points, abs=1e-6)
    assert [judge.discrimination for judge in rated.judges] == pytest.approx([1.0, 1.0])
    assert [judge.weight for judge in rated.judges] == pytest.approx([0.5, 0.5])


def test_a_guesser_has_none_and_a_contradictor_has_a_negative_discrimination() -> None:
    """The interval of a judge that guesses has 0 in it; one that contradicts lies below 0 and has no vote."""
    _, table, judges = planted(7, [1.5, 1.0, 0.0, -1.0], questions=800)
    rated = rate_with_judges(table, judges)
    guesser, contradictor = of(rated.judges, "j2"), of(rated.judges, "j3")
    assert guesser.lower is not None
    assert guesser.upper is not None
    assert guesser.lower < 0 < guesser.upper
    assert contradictor.upper is not None
    assert contradictor.upper < 0
    assert contradictor.weight == 0
    assert sum(judge.weight for judge in rated.judges) == pytest.approx(1.0)


def test_the_weighted_panel_listens_to_the_one_judge_that_knows() -> None:
    """Where two judges guess, weights by discrimination order systems better than a vote each."""
    theta, table, judges = planted(11, [3.0, 0.05, 0.05], questions=400)
    panel = rate_with_judges(table, judges).panel
    assert panel.plain is not None
    assert panel.weighted is not None
    assert panel.differing > 0
    spread = [np.corrcoef(theta, ratings.points)[0, 1] for ratings in (panel.plain, panel.weighted)]
    assert spread[1] >= spread[0]
    gaps = [float(np.ptp(ratings.points)) for ratings in (panel.plain, panel.weighted)]
    assert gaps[1] > 1.5 * gaps[0]


def test_ballots_settle_by_weight_and_tie_where_weights_are_alike() -> None:
    """Two judges that disagree tie with a vote each; the heavier one decides where votes weigh."""
    table = BattleTable.from_columns(
        question_id=["q", "q", "q2"],
        domain=["d"] * 3,
        model_a=["A", "B", "A"],
        model_b=["B", "A", "B"],
        winner=["model_a", "model_a", "model_b"],
    )
    judges = JudgeColumn(names=("x", "y"), code=np.array([0, 1, 0], dtype=np.int32))
    ballots = Ballots.of(table, judges)
    assert ballots.settled(np.ones(2)).winner.tolist() == [2]
    assert ballots.settled(np.array([0.9, 0.1])).winner.tolist() == [0]
    assert ballots.settled(np.array([0.1, 0.9])).winner.tolist() == [1]
    assert ballots.judges.tolist() == [2, 1]


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_and_of_sides_changes_nothing(random: object) -> None:
    """Shuffled rows, and sides named the other way round, give the same figures."""
    _, table, judges = planted(13, [1.5, 0.7], questions=60)
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]  # Random, typed as object
    order = rng.permutation(len(table))
    turned = rng.random(len(table)) < 0.5
    a, b = np.where(turned, table.b, table.a), np.where(turned, table.a, table.b)
    winner = np.where(turned, 1 - table.winner, table.winner).astype(np.int8)
    other = replace(table, a=a, b=b, winner=winner).select(order)
    first, second = rate_with_judges(table, judges), rate_with_judges(other, judges.select(order))
    assert first.ratings.points == pytest.approx(second.ratings.points, abs=1e-6)
    for one, two in zip(first.judges, second.judges, strict=True):
        assert one.name == two.name
        assert (one.lower, one.upper) == pytest.approx((two.lower, two.upper), abs=1e-6)


def test_an_anchor_moves_all_ratings_and_no_judge() -> None:
    """With an anchor a system stands at its rating; discriminations stay."""
    _, table, judges = planted(17, [1.5, 0.7])
    free = rate_with_judges(table, judges)
    held = rate_with_judges(table, judges, Settings(anchor=Anchor(system="s2", rating=1200.0)))
    assert held.ratings.of("s2").rating == pytest.approx(1200.0)
    assert np.ptp(held.ratings.points - free.ratings.points) == pytest.approx(0.0, abs=1e-6)
    assert held.judges == free.judges


def test_what_cannot_be_told_apart_is_refused() -> None:
    """One judge is refused; so are judges that share no pair of systems, whose scales nothing connects."""
    _, table, judges = planted(19, [1.0, 1.0])
    with pytest.raises(InputError, match="1 judge"):
        rate_with_judges(table, replace(judges, code=np.zeros_like(judges.code)))
    apart = BattleTable.from_columns(
        question_id=[f"q{row}" for row in range(40)],
        domain=["d"] * 40,
        model_a=["A"] * 20 + ["B"] * 20,
        model_b=["B"] * 20 + ["C"] * 20,
        winner=(["model_a"] * 12 + ["model_b"] * 8) * 2,
    )
    code = np.repeat([0, 1], 20).astype(np.int32)
    with pytest.raises(UnrankableError, match=r"(common scale|did not settle)"):
        rate_with_judges(apart, JudgeColumn(names=("x", "y"), code=code))


def test_rows_without_a_judge_are_counted_and_left_out() -> None:
    """A row that names no judge has no part in the fit."""
    _, table, judges = planted(23, [1.2, 0.8])
    code = judges.code.copy()
    code[:10] = -1
    rated = rate_with_judges(table, replace(judges, code=code))
    kept = rate_with_judges(table.select(code >= 0), judges.select(code >= 0))
    assert rated.unnamed == 10
    assert rated.ratings.points == pytest.approx(kept.ratings.points)


def test_golden_figures() -> None:
    """The figures of a fixed file of verdicts stay as they were checked."""
    _, table, judges = planted(29, [1.6, 1.0, 0.4], systems=4, questions=80, ties=0.1)
    fields = json.loads(json.dumps(rate_with_judges(table, judges).as_json()))
    assert fields["method"] == "judge-aware"
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert {key: fields["panel"][key] for key in expected["panel"]} == expected["panel"]
    for part in ("judges", "ratings"):
        for shown, checked in zip(fields[part], expected[part], strict=True):
            figures = {key: shown[key] for key in checked}
            name = "name" if part == "judges" else "system"
            assert figures.pop(name) == checked.pop(name)
            assert figures == pytest.approx(checked, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", list(Cluster))
def test_intervals_cover_planted_ratings_and_discriminations(cluster: Cluster) -> None:
    """Over 400 simulated files the 95 % intervals cover what was planted 93 to 97 % of the time."""
    gamma = np.array([1.8, 1.0, 0.5, 0.0, -0.3])
    covered: list[bool] = []
    for seed in range(400):
        theta, table, judges = planted(seed, gamma.tolist(), questions=250)
        rated = rate_with_judges(table, judges, Settings(cluster=cluster))
        truth = gamma / gamma.mean()
        for name, value in zip(judges.names, truth.tolist(), strict=True):
            trust = of(rated.judges, name)
            assert trust.lower is not None
            assert trust.upper is not None
            covered.append(trust.lower <= value <= trust.upper)
        points = 1000 + POINTS * theta * gamma.mean()
        for system, value in zip(table.systems, points.tolist(), strict=True):
            rating = rated.ratings.of(system)
            assert rating.lower is not None
            assert rating.upper is not None
            covered.append(rating.lower <= value <= rating.upper)
    assert 0.93 <= np.mean(covered) <= 0.97
