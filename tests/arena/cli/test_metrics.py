"""`arena metrics`: plan, run and score, also with a rule-based LLM, and score tables."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from arena.container import Arena
from arena.settings import read_settings
from judges.metrics.registry import metrics
from leaderboard.stats import bca_means
from tests.arena.conftest import Commands, Serve, until, write_lines

Words = Sequence[object]
NLI = "comprehensiveness-nli"
RUN = ("metrics", "run", "--set", "tiny", "--metric", NLI, "--json")


def key(text: str) -> str:
    """Return a statement without case and punctuation."""
    return re.sub(r"\W+", " ", text.casefold()).strip()


def serve_rules(server: Any) -> Any:  # noqa: ANN401 - the scripted server's own type
    """Treat sentences as relevant claims, equal words as equivalent, and all else as neutral."""

    def extract(ask: Any) -> object:  # noqa: ANN401 - as above
        (text,) = ask.tagged("text") or ask.tagged("answer") or ask.tagged("passage")
        sentences = [part.strip() for part in re.split(r"(?<=[.])\s+", text) if part.strip()]
        return {"claims": [{"text": sentence, "kind": "fact"} for sentence in sentences]}

    def relate(ask: Any) -> object:  # noqa: ANN401 - as above
        same = key(ask.tagged("premise")[0]) == key(ask.tagged("hypothesis")[0])
        return {"relation": "entailment" if same else "neutral"}

    server.handlers["extract_claims"] = extract
    server.handlers["revise_claims"] = lambda _: {"claims": []}
    server.handlers["rate_relevance"] = lambda _: {"relevance": 5}
    server.handlers["classify_relation"] = relate
    return server


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [4, 16])
def test_scores_are_requested_once(arena_of: Commands, scripted_llm: Serve, concurrency: int) -> None:
    server = serve_rules(scripted_llm())
    words = (*RUN, "--judge", "reference-free", "--concurrency", concurrency)
    done = arena_of.json(*words, endpoint=server.url)
    assert (done["judged"], done["pending"], done["kept"]) == (24, 0, 0)
    assert done["mean"] == pytest.approx(0.75)
    assert done["calls"] == server.log.calls > 0
    assert done["judge"] == f"reference-free@{done['model']}"
    calls = server.log.calls
    again = arena_of.json(*words, endpoint=server.url)
    assert (again["judged"], again["kept"], server.log.calls) == (0, 24, calls)
    embedded = arena_of.json(*RUN, "--systems", "half")
    assert (embedded["judged"], embedded["judge"]) == (12, "embedded")
    assert {judge for judge, *_ in arena_of.scores()} == {"", done["judge"]}


@pytest.mark.slow
def test_exhausted_budget_skips_and_next_run_continues(arena_of: Commands, scripted_llm: Serve) -> None:
    server = serve_rules(scripted_llm())
    words = (*RUN, "--judge", "reference-free")
    none = arena_of.json(*words, "--budget-usd", "0", endpoint=server.url)
    assert (none["skipped"], none["judged"], server.log.calls) == (24, 0, 0)
    assert list(none["reasons"]) == ["The budget's cap is reached."]
    some = arena_of.json(*words, "--budget-usd", "0.05", "--concurrency", "1", endpoint=server.url)
    assert some["cost_usd"] <= 0.05
    assert some["skipped"] == 24 - some["judged"] < 24
    rest = arena_of.json(*words, endpoint=server.url)
    assert (rest["judged"], rest["kept"]) == (some["skipped"], some["judged"])


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_run_continues(arena_of: Commands, scripted_llm: Serve, how: signal.Signals) -> None:
    server = serve_rules(scripted_llm(latency=0.05))
    words = (*RUN, "--judge", "reference-free", "--concurrency", "2")
    arena_of.prepare(server.url)
    command = [sys.executable, "-m", "arena", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: len(arena_of.scores()) >= 3)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    count = len(arena_of.scores())
    assert 3 <= count < 24
    if how is signal.SIGINT:
        assert process.returncode == 0, err
        assert json.loads(out)["pending"] == 24 - count
    rest = arena_of.json(*words, endpoint=server.url)
    assert (rest["judged"], rest["kept"], rest["pending"]) == (24 - count, count, 0)
    if how is signal.SIGINT:
        assert server.log.asked_twice == {}
    assert sum(value for _, _, value, _ in arena_of.scores() if value is not None) == pytest.approx(18.0)


def test_file_is_scored_line_by_line(arena_of: Commands, scripted_llm: Serve, tmp_path: Path) -> None:
    passages = [{"id": "p1", "text": "The sky is blue."}, {"id": "p2", "text": "Grass is green."}]
    rows = [
        {"id": "a", "question": "Colours?", "answer": "The sky is blue.", "passages": passages},
        {"id": "b", "question": "Why?", "answer": "The sky is blue. Grass is green.", "passages": passages},
        {"id": "c", "question": "Colours?", "answer": "The sky is blue."},
    ]
    path = write_lines(tmp_path / "items.jsonl", rows)
    server = serve_rules(scripted_llm())
    for more in ((), ("--judge", "reference-free")):
        out = arena_of.done("metrics", "score", path, "--metric", NLI, *more, endpoint=server.url)
        lines = [json.loads(line) for line in out.splitlines()]
        assert [(line["id"], line["score"]) for line in lines] == [("a", 0.5), ("b", 1.0), ("c", None)]
        assert lines[2]["outcome"] == "unreadable"
        assert "neither passages nor a reference" in lines[2]["details"]["reason"]
    assert server.log.calls > 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--judge", "panel"), "needs a single LLM"),
        (("--judge", "absent"), "absent"),
        (("--systems", "half,absent"), "absent did not submit"),
        (("--option", "relevence=3"), "relevence"),
    ],
)
def test_unrunnable_command_fails_in_one_line(arena_of: Commands, more: Words, message: str) -> None:
    assert message in arena_of.fails(*RUN, *more)


@pytest.mark.slow
def test_publish_scores_available_metrics_and_reports_missing_ones(arena_of: Commands) -> None:
    arena_of.done("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r")
    err = arena_of.stderr("rounds", "publish", "r")
    assert "not scoring coverage-icat-s: no question of the set has aspects" in err
    assert "no answer file contains the contexts" in err
    arena = Arena(read_settings())
    line = arena.boards.get("r").standings["lines"]["overall"][0]
    arena.close()
    assert set(line["scores"]) == {NLI}


BY_LLM = ("--set", "tiny", "--judge", "reference-free")


@pytest.mark.slow
@pytest.mark.parametrize("metric", [NLI, "factuality-fr1", "factuality-fr2"])
def test_plan_estimates_requests_of_run(arena_of: Commands, scripted_llm: Serve, metric: str) -> None:
    server = serve_rules(scripted_llm())
    words = (*BY_LLM, "--metric", metric)
    each = ("--claims-per-sentence", 1)
    (plan,) = arena_of.json("metrics", "plan", *words, *each, "--json", endpoint=server.url)
    assert server.log.calls == 0
    done = arena_of.json("metrics", "run", *words, "--json", endpoint=server.url)
    assert (plan["answers"], plan["pending"]) == (24, 24)
    assert plan["requests"] == pytest.approx(done["calls"], rel=0.1)
    assert plan["requests"] == pytest.approx(sum(task["requests"] for task in plan["tasks"]), abs=1)
    assert 0 < plan["cost_usd"] < plan["cost_usd_most"]
    (again,) = arena_of.json("metrics", "plan", *words, "--json", endpoint=server.url)
    assert again["pending"] == 24 - done["judged"] - done["unreadable"]


def test_llm_metrics_can_be_planned_and_embedded_ones_are_free(arena_of: Commands) -> None:
    planned = arena_of.json("metrics", "plan", *BY_LLM, "--json")
    assert [plan["metric"] for plan in planned] == [
        info.name for info in metrics() if not info.takes_judgments
    ]
    needless = {"coverage-icat-s", "context-crux", "answer-crux", "citation-support", "nuggets"}
    assert all(plan["requests"] > 0 for plan in planned if plan["metric"] not in needless)
    embedded = arena_of.json("metrics", "plan", "--set", "tiny", "--json")
    assert {(plan["requests"], plan["cost_usd"], plan["model"]) for plan in embedded} == {(0, 0.0, None)}


FR = "factuality-fr1"
COUNTS = ("supported", "contradicted", "undecided")


@pytest.fixture
def by_fr1(arena_of: Commands) -> Commands:
    """The small set with two systems, scored by FR1."""
    arena_of.done("metrics", "run", "--set", "tiny", "--metric", FR)
    return arena_of


def exported_lines(by_fr1: Commands, path: Path) -> list[dict[str, Any]]:
    """Read the lines of a JSON export."""
    report = by_fr1.json("metrics", "export", path, "--set", "tiny", "--metric", FR, "--json")
    assert (report["answers"], report["files"]) == (24, [str(path)])
    lines: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["scores"]
    return lines


def test_table_has_paper_measures_with_k_from_data(by_fr1: Commands, tmp_path: Path) -> None:
    lines = exported_lines(by_fr1, tmp_path / "scores.json")
    table = by_fr1.json("metrics", "show", "--set", "tiny", "--metric", FR, "--json")
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
        (interval,) = bca_means([(np.array(sums), np.full(12, len(of_row) / 12))])
        assert interval is not None
        assert [row["score"]["lower"], row["score"]["upper"]] == pytest.approx(interval.as_json())
    first = lines[0]
    precision = first["details"]["supported"] / sum(first["details"][name] for name in COUNTS)
    recall = min(first["details"]["supported"] / table["k"], 1.0)
    assert first["f1_at_k"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert first["posteriors"] == [claim["posterior"] for claim in first["details"]["claims"]]


def test_exported_files_agree(by_fr1: Commands, tmp_path: Path) -> None:
    known = {
        (line["system"], line["question_id"]): line["score"]
        for line in exported_lines(by_fr1, tmp_path / "scores.json")
    }
    words = ("--set", "tiny", "--metric", FR)
    for name in ("scores.csv", "scores.parquet"):
        by_fr1.done("metrics", "export", tmp_path / name, *words)
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert {(row["system"], row["question_id"]): float(row["score"]) for row in rows} == known
    rows = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    assert {(row["system"], row["question_id"]): row["score"] for row in rows} == known
    report = by_fr1.json("metrics", "export", tmp_path / "run.trec", *words, "--json")
    assert [Path(path).name for path in report["files"]] == ["run.half.trec", "run.whole.trec"]
    for path in map(Path, report["files"]):
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
