"""Known numbers: the paper's Table 5 (A), a golden round, and a public engine's strengths."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import Anchor, Bounds, Cluster, IntervalKind, Method, RatingTable, rate
from leaderboard.ratings.vocabulary import POINTS
from tests.narrow import known

ROOT = Path(__file__).parents[3]
TABLES = ROOT / "../shared/data/rag_qa_arena_tables"
GOLDEN = ROOT / "tests/golden/ratings/round.json"


def paper_battles() -> BattleTable:
    with (TABLES / "table2_questions.csv").open() as file:
        counts = {row["domain"]: int(row["questions"]) for row in csv.DictReader(file)}
    with (TABLES / "table3_win_rates.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["domain"] != "overall"]
    columns: list[list[str]] = [[], [], [], [], []]
    for row in rows:
        asked = counts[row["domain"]]
        won = round(asked * float(row["win_pct"]) / 100)
        tied = round(asked * float(row["win_tie_pct"]) / 100) - won
        words = ["model_a"] * won + ["tie"] * tied + ["model_b"] * (asked - won - tied)
        # Which question was won is not known; a stride spreads the wins over the questions.
        columns[0] += [f"{row['domain']}-{k}" for k in range(asked)]
        columns[1] += [row["domain"]] * asked
        columns[2] += [row["system"]] * asked
        columns[3] += ["LFRQA"] * asked
        columns[4] += words
    return BattleTable.from_columns(*columns)


@pytest.mark.skipif(not TABLES.exists(), reason="the paper's tables are not beside the checkout")
def test_table_5_comes_out_of_table_3() -> None:
    table = rate(paper_battles(), cluster=Cluster.NONE)
    with (TABLES / "table5_elo.csv").open() as file:
        printed = {row["system"]: row for row in csv.DictReader(file) if row["column"] == "A"}
    off = []
    for rating in table.ratings:
        row = printed[rating.system]
        points, lower, upper = known(rating.rating), known(rating.lower), known(rating.upper)
        assert abs(points - float(row["rating"])) < 1
        off.append(upper - points - float(row["ci_up"]))
        off.append(points - lower - float(row["ci_down"]))
    assert np.abs(off).mean() < 1
    assert np.abs(off).max() < 2


def golden_battles() -> BattleTable:
    systems, questions = 5, 30
    low, high = np.triu_indices(systems, k=1)
    question = np.repeat(np.arange(questions), len(low))
    a, b = np.tile(low, questions), np.tile(high, questions)
    mixed = (question * 7 + a * 3 + b * 5 + question * a) % 10
    winner = np.where(mixed < 2, Winner.TIE, np.where(mixed < 4 + 2 * (b - a), Winner.A, Winner.B))
    return BattleTable(
        systems=tuple("abcde"),
        questions=tuple(f"q{k:02d}" for k in range(questions)),
        domains=("one", "two"),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        winner=winner.astype(np.int8),
        question=question.astype(np.int32),
        domain=(question % 2).astype(np.int32),
    )


CASES: dict[str, Callable[[BattleTable], RatingTable]] = {
    "question-bootstrap": partial(rate, bootstrap=200, seed=1),
    "battle-bootstrap-bca": partial(rate, bootstrap=200, seed=1, cluster=Cluster.NONE, bounds=Bounds.BCA),
    "clustered-sandwich": partial(rate, interval=IntervalKind.SANDWICH),
    "plain-sandwich": partial(rate, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE),
    "davidson": partial(rate, method=Method.DAVIDSON, interval=IntervalKind.SANDWICH),
    "rao-kupper": partial(rate, method=Method.RAO_KUPPER, interval=IntervalKind.SANDWICH),
    "anchored": partial(rate, interval=IntervalKind.SANDWICH, anchor=Anchor(system="c", rating=1200)),
    "elo": partial(rate, method=Method.ELO, bootstrap=20),
}


def rounded(table: RatingTable) -> list[dict[str, object]]:
    return [
        {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in rating.as_json().items()
        }
        for rating in table.ratings
    ]


@pytest.mark.parametrize("case", list(CASES))
def test_a_known_round_has_its_known_ratings(case: str) -> None:
    wanted = json.loads(GOLDEN.read_text())[case]
    found = rounded(CASES[case](golden_battles()))
    assert [row["system"] for row in found] == [row["system"] for row in wanted]
    for one, other in zip(found, wanted, strict=True):
        for key, value in other.items():
            assert one[key] == (pytest.approx(value, abs=2e-6) if isinstance(value, float) else value), key


def test_strengths_equal_evalicas() -> None:
    evalica = pytest.importorskip("evalica")
    battles = golden_battles()
    words = {Winner.A: evalica.Winner.X, Winner.B: evalica.Winner.Y, Winner.TIE: evalica.Winner.Draw}
    scores = evalica.bradley_terry(
        [battles.systems[code] for code in battles.a],
        [battles.systems[code] for code in battles.b],
        [words[Winner(code)] for code in battles.winner.tolist()],
        tolerance=1e-12,
        limit=100_000,
    ).scores
    logs = np.log(scores.reindex(list(battles.systems)).to_numpy())
    table = rate(battles, interval=IntervalKind.SANDWICH)
    assert np.abs(1000 + POINTS * (logs - logs.mean()) - table.points).max() < 1e-6


def test_the_json_object_has_the_fields_that_others_read() -> None:
    found = json.loads(json.dumps(rate(golden_battles(), bootstrap=20).as_json(), allow_nan=False))
    assert {"ratings", "method", "interval", "bootstrap", "cluster", "seed", "anchor"} <= set(found)
    first = found["ratings"][0]
    wanted = {
        "system",
        "rating",
        "se",
        "lower",
        "upper",
        "rank",
        "rank_lower",
        "rank_upper",
        "battles",
        "flags",
    }
    assert wanted | {"tie_group"} <= set(first)
    assert (found["method"], found["interval"], found["cluster"]) == (
        "bradley-terry",
        "bootstrap",
        "question",
    )
