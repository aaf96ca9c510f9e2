"""`arena battles rate|winrates --people`: a verdict file corrected with a votes file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.arena.conftest import Commands

HEADER = "question_id,model_a,model_b,winner,annotator,chance"
SYSTEMS = ("alpha", "beta", "gamma")
PAIRS = (("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma"))
WORDS = ("model_a", "model_b", "tie", "model_a")


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    """A judge's verdicts on 40 questions, each pair in both orders."""
    file = tmp_path / "verdicts.jsonl"
    rows = [
        {"question_id": f"q{number}", "domain": "odd" if number % 2 else "even"} | row
        for number in range(40)
        for index, (one, other) in enumerate(PAIRS)
        for row in (
            {"model_a": one, "model_b": other, "winner": WORDS[(number + index) % 4]},
            {"model_a": other, "model_b": one, "winner": WORDS[(3 * number + index) % 3]},
        )
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """Votes of two people on the pairs of every second question."""
    file = tmp_path / "votes.csv"
    lines = [
        f"q{number},{other},{one},{WORDS[(number // 2 + index + person) % 4]},p{person},0.5"
        for number in range(0, 40, 2)
        for index, (one, other) in enumerate(PAIRS)
        for person in range(2)
    ]
    file.write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    return file


def test_rate_estimates_human_ratings(run: Commands, verdicts: Path, votes: Path) -> None:
    report = run.json("battles", "rate", verdicts, "--people", votes, "--json")
    assert {row["system"] for row in report["ratings"]} == set(SYSTEMS)
    for row in report["ratings"]:
        for prefix in ("", "judge_", "people_"):
            assert row[f"{prefix}lower"] < row[f"{prefix}rating"] < row[f"{prefix}upper"]
        assert 1 <= row["rank_lower"] <= row["rank_upper"] <= len(SYSTEMS)
    assert (report["labelled_battles"], report["votes"], report["annotators"]) == (60, 120, 2)
    assert -1 <= report["correlation"] <= 1
    assert report["gain"] > 0
    assert "The judge" in report["advice"]
    assert (report["method"], report["interval"], report["cluster"]) == (
        "bradley-terry",
        "sandwich",
        "question",
    )


def test_winrates_estimate_human_rates(run: Commands, verdicts: Path, votes: Path) -> None:
    report = run.json("battles", "winrates", verdicts, "--people", votes, "--by", "domain", "--json")
    assert [row["domain"] for row in report["rows"][:3]] == ["overall", "even", "odd"]
    for row in report["rows"]:
        if row["domain"] == "odd":
            assert (row["labelled_battles"], row["people_win_rate"], row["lower"]) == (0, None, None)
            continue
        for prefix in ("", "judge_", "people_"):
            assert 0 <= row[f"{prefix}lower"] <= row[f"{prefix}win_rate"] <= row[f"{prefix}upper"] <= 1
            assert row[f"{prefix}win_rate"] <= row[f"{prefix}mean_score"] <= row[f"{prefix}win_tie_rate"]
    assert report["votes"] == 120
    assert "absent" in run.fails("battles", "winrates", verdicts, "--people", votes, "--reference", "absent")


BAD = {
    "off the plan": "q99,alpha,beta,tie,p9,0.5",
    "unknown system": "q0,alpha,delta,tie,p9,0.5",
    "no winner": "q0,alpha,beta,,p9,0.5",
    "chance of text": "q0,alpha,beta,tie,p9,often",
    "two chances": "q0,alpha,beta,tie,p9,0.25",
    "too few cells": "q0,alpha,beta",
}


@pytest.mark.parametrize("row", BAD.values(), ids=BAD.keys())
def test_bad_votes_are_refused_with_their_line(run: Commands, verdicts: Path, votes: Path, row: str) -> None:
    votes.write_text(f"{votes.read_text(encoding='utf-8')}\n{row}", encoding="utf-8")
    err = run.fails("battles", "rate", verdicts, "--people", votes)
    assert "votes.csv" in err
    assert "122" in err


@pytest.mark.parametrize("options", [("--method", "elo"), ("--cluster", "none"), ("--without", "alpha")])
def test_invalid_options_are_refused(
    run: Commands, verdicts: Path, votes: Path, options: tuple[str, ...]
) -> None:
    assert run.fails("battles", "rate", verdicts, "--people", votes, *options).startswith("arena: ")
