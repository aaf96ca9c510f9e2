"""`arena metrics show` and `metrics export`: what was scored, as tables and files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from data.models import EMBEDDED_ENGINE
from judges.metrics.relations.model import scorer_of
from leaderboard.stats import bca_mean
from tests.arena.conftest import Commands

FR = "factuality-fr1"
COUNTS = ("supported", "contradicted", "undecided")


@pytest.fixture
def scored(arena_of: Commands) -> Commands:
    """The small set, its two systems scored by FR1."""
    assert arena_of("metrics", "run", "--set", "tiny", "--metric", FR)[0] == 0
    return arena_of


def exported(scored: Commands, path: Path) -> list[dict[str, Any]]:
    """The lines of an export to JSON."""
    told = scored.json("metrics", "export", path, "--set", "tiny", "--metric", FR, "--json")
    assert told["answers"] == 24
    assert told["files"] == [str(path)]
    lines: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["scores"]
    return lines


def test_a_table_says_who_told_and_how_often_that_is_right(scored: Commands) -> None:
    """The note names the version of the engine with its measured figures; other metrics have none."""
    (told,) = scored.json("metrics", "show", "--set", "tiny", "--metric", FR, "--json")["notes"]
    assert told == scorer_of("", EMBEDDED_ENGINE).sentence
    assert told in scored("metrics", "show", "--set", "tiny", "--metric", FR)[2]
    assert scored("metrics", "run", "--set", "tiny", "--metric", "comprehensiveness-nli")[0] == 0
    other = ("metrics", "show", "--set", "tiny", "--metric", "comprehensiveness-nli", "--json")
    assert scored.json(*other)["notes"] == []


def test_a_table_has_the_measures_of_the_paper_with_k_from_the_data(scored: Commands, tmp_path: Path) -> None:
    """Means and deviations are those of the exported answers; K is the median number of their claims."""
    lines = exported(scored, tmp_path / "scores.json")
    table = scored.json("metrics", "show", "--set", "tiny", "--metric", FR, "--json")
    assert table["k"] == median(sum(line["details"][name] for name in COUNTS) for line in lines)
    assert [row["system"] for row in table["rows"]] == ["half", "whole", "all"]
    for row in table["rows"]:
        of_row = [line for line in lines if row["system"] in {line["system"], "all"}]
        assert row["answers"] == len(of_row)
        for measure in ("score", "f1_at_k", "entropy", "supported"):
            values = [line[measure] for line in of_row]
            assert row[measure]["mean"] == pytest.approx(fmean(values))
            assert row[measure]["sd"] == pytest.approx(stdev(values))
        sums = [sum(line["score"] for line in of_row if line["question_id"] == f"q{n}") for n in range(12)]
        interval = bca_mean(np.array(sums), np.full(12, len(of_row) / 12))
        assert interval is not None
        assert [row["score"]["lower"], row["score"]["upper"]] == pytest.approx(interval.as_json())
    first = lines[0]
    precision = first["details"]["supported"] / sum(first["details"][name] for name in COUNTS)
    recall = min(first["details"]["supported"] / table["k"], 1.0)
    assert first["f1_at_k"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert first["posteriors"] == [claim["posterior"] for claim in first["details"]["claims"]]


def test_all_files_say_the_same(scored: Commands, tmp_path: Path) -> None:
    """CSV, JSON, Parquet and trec_eval's lines hold the same score for every answer."""
    known = {
        (line["system"], line["question_id"]): line["score"]
        for line in exported(scored, tmp_path / "scores.json")
    }
    words = ("--set", "tiny", "--metric", FR)
    for name in ("scores.csv", "scores.parquet"):
        assert scored("metrics", "export", tmp_path / name, *words)[0] == 0
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert {(row["system"], row["question_id"]): float(row["score"]) for row in rows} == known
    table = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    assert {(row["system"], row["question_id"]): row["score"] for row in table} == known
    told = scored.json("metrics", "export", tmp_path / "run.trec", *words, "--json")
    assert [Path(path).name for path in told["files"]] == ["run.half.trec", "run.whole.trec"]
    for path in map(Path, told["files"]):
        system = path.name.split(".")[1]
        fields = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        queries = {query: value for name, query, value in fields if name.strip() == "factuality_fr1"}
        mean = float(queries.pop("all"))
        assert {query: float(value) for query, value in queries.items()} == {
            question: pytest.approx(score, abs=5e-5)
            for (who, question), score in known.items()
            if who == system
        }
        assert mean == pytest.approx(fmean(map(float, queries.values())), abs=1e-4)


def test_rows_may_be_domains_or_questions_and_a_question_has_no_interval(scored: Commands) -> None:
    """A row a domain or question; systems are no sample, so a question's mean has no interval."""
    words = ("metrics", "show", "--set", "tiny", "--metric", FR, "--json")
    domains = scored.json(*words, "--by", "domain")["rows"]
    assert sum(row["answers"] for row in domains[:-1]) == domains[-1]["answers"] == 24
    questions = scored.json(*words, "--by", "question")["rows"]
    assert [row["answers"] for row in questions] == [2] * 12 + [24]
    assert all(row["score"]["lower"] is None for row in questions[:-1])


def test_missing_scores_and_unknown_formats_are_one_line(scored: Commands, tmp_path: Path) -> None:
    """Nothing was scored, nobody of that name scored, no such format: one line that says what to do."""
    for words, said in (
        (("show", "--set", "tiny", "--metric", "answer-crux"), "Run `arena metrics run"),
        (("show", "--set", "tiny", "--metric", FR, "--judge", "nobody"), "Name one with --judge: embedded."),
        (("export", tmp_path / "a.xlsx", "--set", "tiny", "--metric", FR), "none of .csv, .json"),
    ):
        code, _, err = scored("metrics", *words)
        assert code == 1
        assert said in err
        assert len(err.strip().splitlines()) == 1
