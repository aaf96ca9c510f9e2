"""`arena judges calibrate`: a judge's bias for each system, and what a full human round would say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.arena.conftest import Commands

TEXTS = {
    "full": "Item {n} is red and weighs {weight} grams.",
    "short": "Item {n} weighs {weight} grams.",
    "wrong": "Nobody knows.",
}
PAIRS = (("full", "short"), ("short", "wrong"), ("full", "wrong"))


def write_labels(path: Path, *, named: bool = True) -> Path:
    """Labels of two people on every pair of three systems, on twelve questions of two domains."""
    rows = [
        {
            "id": f"{one}-{other}-{number}",
            "domain": f"d{number % 2}",
            "question": f"What is item {number}?",
            "reference": f"Item {number} weighs {number + 10} grams, and it is red.",
            "passages": [],
            "answer_a": TEXTS[one].format(n=number, weight=number + 10),
            "answer_b": TEXTS[other].format(n=number, weight=number + 10),
            "label": (number + place + person) % 3 - 1,
            **({"system_a": one, "system_b": other} if named else {}),
        }
        for number in range(12)
        for place, (one, other) in enumerate(PAIRS)
        for person in range(2)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.long
def test_calibration_reports_bias_and_a_full_human_round(run: Commands, tmp_path: Path) -> None:
    """Bias is the judge's mean share less people's, overall and by domain; the round is people's alone."""
    labels = write_labels(tmp_path / "labels.jsonl")
    found = run.json("judges", "calibrate", "--judge", "lexical", "--labels", labels, "--json")
    rows = {(one["system"], one["domain"]): one for one in found["system_bias"]}
    assert set(rows) == {(name, domain) for name in TEXTS for domain in ("overall", "d0", "d1")}
    for row in rows.values():
        assert row["bias"] == pytest.approx(row["judge"] - row["people"])
        assert row["lower"] <= row["bias"] <= row["upper"]
    assert sum(rows[name, "overall"]["bias"] for name in TEXTS) == pytest.approx(0)
    assert rows["wrong", "overall"]["judge"] == 0
    assert rows["wrong", "overall"]["bias"] < 0
    assert rows["full", "overall"]["pairs"] == 24
    told = found["human_round"]
    assert (told["battles"], told["labelled_battles"], told["votes"]) == (36, 36, 72)
    for row in told["ratings"]:
        assert row["rating"] == pytest.approx(row["people_rating"])
        assert row["lower"] < row["rating"] < row["upper"]
    assert found["human_round_unknown"] == ""
    code, out, _ = run("judges", "calibrate", "--judge", "lexical", "--labels", labels)
    assert code == 0
    assert "What a full human round on questions like these would say" in out
    assert "beyond people" in out


def test_labels_without_systems_say_so(run: Commands, tmp_path: Path) -> None:
    """Where the file names no systems there is no bias of systems, and the reason is told."""
    labels = write_labels(tmp_path / "labels.jsonl", named=False)
    found = run.json("judges", "calibrate", "--judge", "lexical", "--labels", labels, "--json")
    assert found["system_bias"] == []
    assert found["human_round"] is None
    assert "name no systems" in found["human_round_unknown"]
