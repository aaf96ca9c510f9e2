"""Win rates as people would give them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.people import CorrectedRateTable, Votes, correct_rates
from leaderboard.ratings import IntervalKind

QUICK = settings(max_examples=15, deadline=None)
PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))
WORDS = ("model_a", "model_b", "tie")


@st.composite
def rounds(draw: st.DrawFn) -> tuple[BattleTable, list[tuple[str, str, str, str]]]:
    """A judge's round on 12–20 questions of two domains, and two votes on about half of its battles."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows: list[tuple[str, str, str, str, str]] = []
    votes: list[tuple[str, str, str, str]] = []
    for number in range(draw(st.integers(12, 20))):
        for one, other in PAIRS:
            rows.append(
                (f"q{number}", "even" if number % 2 else "odd", one, other, str(random.choice(WORDS)))
            )
            if random.random() < 0.5 or number < 4:
                votes.extend((f"q{number}", other, one, str(random.choice(WORDS))) for _ in range(2))
    return BattleTable.from_columns(*zip(*rows, strict=True)), votes


def columns(votes: list[tuple[str, str, str, str]]) -> Votes:
    """Votes as columns."""
    question, first, second, winner = zip(*votes, strict=True)
    return Votes.from_columns(question, first, second, winner)


def plain_mean(
    plan: BattleTable, votes: list[tuple[str, str, str, str]], system: str, value: dict[str, float]
) -> tuple[float, float]:
    """A system's corrected mean and the judge's weight, by loops: votes alone less what the draw favours."""
    side = {"model_a": {"model_a": "win", "model_b": "loss", "tie": "tie"}}
    side["model_b"] = {"model_a": "loss", "model_b": "win", "tie": "tie"}
    judge: dict[tuple[str, str], float] = {}
    people: dict[tuple[str, str], list[float]] = {}
    for row in range(len(plan)):
        names = (plan.systems[plan.a[row]], plan.systems[plan.b[row]])
        if system in names:
            role = "model_a" if names[0] == system else "model_b"
            battle = (plan.questions[plan.question[row]], next(name for name in names if name != system))
            judge[battle] = value[side[role][WORDS[plan.winner[row]]]]
    for question, first, second, winner in votes:
        if system in (first, second):
            role, other = ("model_a", second) if first == system else ("model_b", first)
            people.setdefault((question, other), []).append(value[side[role][winner]])
    means = {battle: sum(values) / len(values) for battle, values in people.items()}
    alone = sum(means.values()) / len(means)
    heard = sum(judge[battle] for battle in means) / len(means)
    every = sum(judge.values()) / len(judge)
    joint = square = 0.0
    for question in {battle[0] for battle in judge}:
        mine = [battle for battle in means if battle[0] == question]
        vote = sum(means[battle] - alone for battle in mine) / len(means)
        part = sum(judge[battle] - heard for battle in mine) / len(means)
        part -= sum(x - every for battle, x in judge.items() if battle[0] == question) / len(judge)
        joint, square = joint + vote * part, square + part * part
    weight = max(joint / square, 0.0)
    return min(max(alone - weight * (heard - every), 0.0), 1.0), weight


@QUICK
@given(rounds())
def test_rates_are_those_of_the_plain_reference(
    given_round: tuple[BattleTable, list[tuple[str, str, str, str]]],
) -> None:
    """Mean share, win rate and win+tie rate are those of a second implementation by loops."""
    plan, votes = given_round
    table = correct_rates(plan, columns(votes), by_domain=False)
    values = {
        "mean_score": {"win": 1.0, "tie": 0.5, "loss": 0.0},
        "win_rate": {"win": 1.0, "tie": 0.0, "loss": 0.0},
        "win_tie_rate": {"win": 1.0, "tie": 1.0, "loss": 0.0},
    }
    for row in table.rows:
        for name, value in values.items():
            expected, _ = plain_mean(plan, votes, row.system, value)
            assert getattr(row, name).corrected.value == pytest.approx(expected)


@QUICK
@given(rounds())
def test_domains_and_opponents_narrow_the_battles(
    given_round: tuple[BattleTable, list[tuple[str, str, str, str]]],
) -> None:
    """A domain's rows are those of its battles alone; a reference leaves its battles only."""
    plan, votes = given_round
    even = {f"q{number}" for number in range(1, 20, 2)}
    part = plan.select(np.array([plan.questions[code] in even for code in plan.question]))
    whole = correct_rates(plan, columns(votes))
    chance = len({vote[:3] for vote in votes}) / len(plan)
    kept = [vote for vote in votes if vote[0] in even]
    alone = correct_rates(
        part,
        Votes.from_columns(*zip(*kept, strict=True), sampling_prob=[chance] * len(kept)),
        by_domain=False,
    )
    for row in alone.rows:
        other = next(r for r in whole.rows if (r.system, r.domain) == (row.system, "even"))
        assert other.win_rate.corrected.value == pytest.approx(row.win_rate.corrected.value)
        assert other.mean_score.corrected.width == pytest.approx(row.mean_score.corrected.width)
    against = correct_rates(plan, columns(votes), reference="c", by_domain=False)
    assert {row.system for row in against.rows} == {"a", "b"}
    assert all(row.battles == len(plan.questions) for row in against.rows)
    with pytest.raises(NotFoundError, match="nobody"):
        correct_rates(plan, columns(votes), reference="nobody")


def simulated(seed: int) -> CorrectedRateTable:
    """40 questions of three systems, two fifths voted on; systems suit questions; a fairly good judge."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str, str]] = []
    votes: list[tuple[str, str, str, str]] = []
    for number in range(40):
        suits = dict(zip("abc", random.normal([0.5, 0, -0.5], 0.7), strict=True))
        for one, other in PAIRS:
            chance = 1 / (1 + np.exp(suits[other] - suits[one]))
            rows.append((f"q{number}", "all", one, other, WORDS[int(random.random() > chance)]))
            if random.random() < 0.4:
                votes.extend(
                    (f"q{number}", one, other, WORDS[int(random.random() > chance)]) for _ in range(3)
                )
    return correct_rates(BattleTable.from_columns(*zip(*rows, strict=True)), columns(votes))


@pytest.mark.slow
def test_intervals_of_rates_cover() -> None:
    """With 48 labelled battles, 95 % intervals of mean shares hold the population's in 92.5–97.5 %."""
    draws = np.random.default_rng(9).normal([0.5, 0, -0.5], 0.7, (400_000, 3))
    share = 1 / (1 + np.exp(draws[:, None, :] - draws[:, :, None]))
    means = share.mean(axis=0)
    truth = {name: (means[code].sum() - 0.5) / 2 for code, name in enumerate("abc")}
    held = []
    for row in (row for seed in range(400) for row in simulated(seed).rows):
        found = row.mean_score.corrected
        assert found.lower is not None
        assert found.upper is not None
        held.append(found.lower <= truth[row.system] <= found.upper)
    assert 0.925 < np.mean(held) < 0.975


def test_bootstrap_and_sandwich_agree() -> None:
    """Both kinds of interval are about as wide, around the same value."""
    random = np.random.default_rng(2)
    rows = [(f"q{n}", "all", a, b, str(random.choice(WORDS))) for n in range(200) for a, b in PAIRS]
    votes = [(q, a, b, str(random.choice(WORDS))) for q, _, a, b, _ in rows if random.random() < 0.5]
    plan = BattleTable.from_columns(*zip(*rows, strict=True))
    sandwich = correct_rates(plan, columns(votes))
    bootstrap = correct_rates(plan, columns(votes), interval=IntervalKind.BOOTSTRAP, bootstrap=2000)
    for one, two in zip(sandwich.rows, bootstrap.rows, strict=True):
        assert one.mean_score.corrected.value == two.mean_score.corrected.value
        assert one.mean_score.corrected.width == pytest.approx(two.mean_score.corrected.width, rel=0.12)


@pytest.mark.parametrize("interval", list(IntervalKind))
def test_votes_that_all_agree_leave_an_interval(interval: IntervalKind) -> None:
    """Three votes of three for one system do not make its rate certain."""
    plan = BattleTable.from_columns(
        question_id=[f"q{number}" for number in range(20)],
        domain=["d"] * 20,
        model_a=["a"] * 20,
        model_b=["b"] * 20,
        winner=["model_a"] * 20,
    )
    votes = columns([(f"q{number}", "a", "b", "model_a") for number in range(3)])
    table = correct_rates(plan, votes, interval=interval)
    first = next(rate for rate in table.rows if rate.system == "a")
    assert first.mean_score.corrected.value == 1
    assert first.mean_score.corrected.upper == 1
    assert first.mean_score.corrected.lower is not None
    assert 0.3 < first.mean_score.corrected.lower < 0.6
