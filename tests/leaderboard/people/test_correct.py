"""Corrected ratings and rates against PPI++ means, plain means and simulation."""

from __future__ import annotations

import runpy
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from data.errors import NotFoundError, RecordError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.people.correct import MEASURES, correct, correct_rates
from leaderboard.people.votes import Vote, votes_of
from leaderboard.ratings import Anchor, IntervalKind, rate

Floats = NDArray[np.float64]
Verdict = tuple[str, str, str, str, float]
SYSTEMS = ("a", "b", "c")


def plan_of(verdicts: list[Verdict]) -> BattleTable:
    question, domain, first, second, share = zip(*verdicts, strict=True)
    return BattleTable.from_columns(question, domain, first, second, ["tie"] * len(verdicts), score=share)


def vote(verdict: Verdict, share: float, **more: object) -> dict[str, object]:
    question, _, first, second, _ = verdict
    return {"question_id": question, "model_a": first, "model_b": second, "score": share, **more}


def round_of(seed: int, questions: int = 40, labelled: float = 0.4) -> tuple[list[Verdict], list[Vote]]:
    random = np.random.default_rng(seed)
    verdicts = [
        (f"q{number}", f"d{number % 2}", first, second, float(random.choice([0.0, 0.5, 1.0])))
        for number in range(questions)
        for first, second in combinations(SYSTEMS, 2)
    ]
    votes = [
        vote(verdict, verdict[4] if random.random() < 0.6 else float(random.choice([0.0, 0.5, 1.0])))
        for verdict in verdicts
        if random.random() < labelled
        for _ in range(2)
    ]
    return verdicts, votes_of(votes)


def rating(table: dict[str, Any], system: str) -> dict[str, Any]:
    return next(row for row in table["ratings"] if row["system"] == system)


def powered_mean(people: Floats, judge: Floats, rest: Floats) -> tuple[float, float]:
    joint = float(np.mean((people - people.mean()) * (judge - judge.mean())))
    spread = float(np.cov(np.concatenate([judge, rest])))
    weight = min(max(joint / ((1 + len(people) / len(rest)) * spread), 0.0), 1.0)
    error = np.sqrt((weight * rest).var() / len(rest) + (people - weight * judge).var() / len(people))
    return float(weight * rest.mean() + (people - weight * judge).mean()), float(2 * 1.959964 * error)


@pytest.mark.parametrize("seed", range(3))
def test_rates_equal_powered_means(seed: int) -> None:
    random = np.random.default_rng(seed)
    people = random.choice([0.0, 0.5, 1.0], 600, p=[0.3, 0.2, 0.5])
    judge = np.where(random.random(600) < 0.75, people, random.choice([0.0, 0.5, 1.0], 600))
    chosen = np.sort(random.choice(600, 200, replace=False))
    rows = [(f"q{at:03}", "d", "s", "human", float(share)) for at, share in enumerate(judge)]
    cast = votes_of([vote(rows[at], float(people[at])) for at in chosen])
    table = correct_rates(plan_of(rows), cast, reference="human", by_domain=False)
    (row,) = table["rows"]
    rest = np.setdiff1d(np.arange(600), chosen)
    for measure, ends in MEASURES.items():
        votes, verdicts = (
            {"mean_score": share, "win_rate": 1.0 * (share > 0.5), "win_tie_rate": 1.0 * (share >= 0.5)}[
                measure
            ]
            for share in (people, judge)
        )
        mean, expected = powered_mean(votes[chosen], verdicts[chosen], verdicts[rest])
        assert row[measure] == pytest.approx(mean, abs=0.004)
        width = row[f"{ends}upper"] - row[f"{ends}lower"]
        assert width == pytest.approx(expected, rel=0.04)
        classical = 2 * 1.96 * float(votes[chosen].std()) / np.sqrt(200)
        assert width < 0.95 * classical


def test_complete_votes_ignore_judge() -> None:
    verdicts, _ = round_of(1)
    shares = np.random.default_rng(2).choice([0.0, 0.5, 1.0], len(verdicts)).tolist()
    votes = votes_of([vote(*pair) for pair in zip(verdicts, shares, strict=True)])
    table = correct(plan_of(verdicts), votes)
    own = rate(
        plan_of([(*verdict[:4], share) for verdict, share in zip(verdicts, shares, strict=True)]),
        interval=IntervalKind.SANDWICH,
    )
    for row in table["ratings"]:
        assert row["rating"] == pytest.approx(own.of(row["system"]).rating)
        assert row["people_rating"] == pytest.approx(row["rating"])
    assert table["labelled_battles"] == table["battles"] == len(verdicts)
    assert table["gain"] == pytest.approx(1)


def test_good_judge_narrows_intervals() -> None:
    random = np.random.default_rng(5)
    pairs = [
        (f"q{number}", "d", *pair, float(random.random() < 0.6))
        for number in range(150)
        for pair in combinations(SYSTEMS, 2)
    ]
    votes = votes_of([vote(pair, pair[4]) for pair in pairs if random.random() < 0.3])
    good = correct(plan_of(pairs), votes)
    useless = correct(plan_of([(*pair[:4], float(random.random() < 0.5)) for pair in pairs]), votes)
    assert good["gain"] > 2
    assert useless["gain"] < 1.1
    assert good["correlation"] == pytest.approx(1)
    assert "judge helps" in good["advice"]
    assert "adds no information" in useless["advice"]
    widths = [[row["upper"] - row["lower"] for row in table["ratings"]] for table in (good, useless)]
    assert np.mean(widths[0]) < 0.75 * np.mean(widths[1])


def test_ratings_do_not_depend_on_order_or_sides() -> None:
    verdicts, votes = round_of(3)
    swapped = [(q, d, b, a, 1 - share) for q, d, a, b, share in reversed(verdicts)]
    plain, shuffled = (
        {row["system"]: row for row in correct(plan_of(rows), list(cast))["ratings"]}
        for rows, cast in ((verdicts, votes), (swapped, reversed(votes)))
    )
    for system, row in plain.items():
        for field in ("rating", "lower", "upper", "people_rating", "judge_rating", "rank_lower"):
            assert row[field] == pytest.approx(shuffled[system][field])


def test_votes_are_weighted_by_inverse_probability() -> None:
    random = np.random.default_rng(8)
    verdicts = [(f"q{number}", "d", "a", "b", float(random.random() < 0.5)) for number in range(4000)]
    chance = {0.0: 0.1, 1.0: 0.4}
    sample = [row for row in verdicts if random.random() < chance[row[4]]]
    weighed = votes_of([vote(row, row[4], chance=chance[row[4]]) for row in sample])
    plain = votes_of([vote(row, row[4]) for row in sample])
    rows = [correct_rates(plan_of(verdicts), votes)["rows"][0] for votes in (weighed, plain)]
    assert rows[0]["people_win_rate"] == pytest.approx(0.5, abs=0.04)
    assert rows[1]["people_win_rate"] == pytest.approx(0.8, abs=0.04)


def test_anchor_is_fixed_and_domains_are_listed() -> None:
    verdicts, votes = round_of(4)
    table = correct(plan_of(verdicts), votes, anchor=Anchor(system="b", rating=1200.0))
    assert rating(table, "b")["rating"] == pytest.approx(1200)
    assert rating(table, "b")["lower"] == pytest.approx(1200)
    with pytest.raises(NotFoundError):
        correct(plan_of(verdicts), votes, anchor=Anchor(system="x", rating=1.0))
    rates = correct_rates(plan_of(verdicts), votes, reference="c")
    assert [(row["system"], row["domain"]) for row in rates["rows"]].count(("a", "d1")) == 1
    assert {row["domain"] for row in rates["rows"]} == {"overall", "d0", "d1"}
    with pytest.raises(NotFoundError, match="unknown"):
        correct_rates(plan_of(verdicts), votes, reference="unknown")


@pytest.mark.parametrize(
    ("count", "lower", "words"),
    [(80, 0.954, "over 80 questions"), (3, 0.438, "over 3 questions"), (1, None, "too few votes")],
)
def test_unanimous_votes_give_wilsons_interval(count: int, lower: float | None, words: str) -> None:
    verdicts = [(f"q{number}", "d", "a", "b", float(number % 3 > 0)) for number in range(120)]
    result = correct_rates(plan_of(verdicts), votes_of([vote(verdict, 1.0) for verdict in verdicts[:count]]))
    row = next(row for row in result["rows"] if row["system"] == "a")
    assert (row["win_rate"], row["upper"]) == (1, None if lower is None else 1)
    assert row["lower"] == (None if lower is None else pytest.approx(lower, abs=1e-3))
    assert words in result["advice"]


def test_insufficient_or_unknown_votes_are_refused() -> None:
    verdicts, _ = round_of(6)
    plan = plan_of(verdicts)
    with pytest.raises(RecordError, match=r"votes, row 2.*'q99' is unknown"):
        correct(plan, votes_of([vote(verdicts[0], 1.0), {**vote(verdicts[1], 1.0), "question_id": "q99"}]))
    with pytest.raises(UnrankableError, match="one question"):
        correct(plan, votes_of([vote(verdict, 0.5) for verdict in verdicts[:3]]))
    with pytest.raises(UnrankableError, match="do not compare"):
        correct(plan, votes_of([vote(verdict, 1.0) for verdict in verdicts if verdict[2] == "a"]))
    mixed = [vote(verdicts[0], 1.0, chance=0.5), vote(verdicts[1], 1.0)]
    with pytest.raises(RecordError, match="chance is missing"):
        correct(plan, votes_of(mixed))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(7))
def test_intervals_cover_peoples_ratings(number: int) -> None:
    simulation = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks/people.py"), run_name="people")
    result = simulation["measured"](simulation["SETTINGS"][number], repeats=60)
    for name in ("rating", *MEASURES):
        assert result.share(name) >= 0.92
    assert result.share("judge") < 0.9
