"""Citation support by an LLM, over HTTP, through `arena metrics score`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands

LINE = {
    "id": "q",
    "question": "When?",
    "answer": "It opened in 1905 [1]. It closed in 1950 [1][2]. It is red [2].",
    "passages": [{"id": "p1", "text": "Opened 1905."}, {"id": "p2", "text": "Closed 1950, half."}],
}


def test_answers_of_trecs_rag_track_are_taken_and_scored(arena_of: Commands, tmp_path: Path) -> None:
    """A file of the track is accepted as it is; its citations are scored, and uncited sentences counted."""
    exported = tmp_path / "exported"
    assert arena_of("sets", "export", "tiny", exported)[0] == 0
    questions = [json.loads(line) for line in (exported / "questions.jsonl").read_text().splitlines()]
    rows = [
        {
            "run_id": "us",
            "topic_id": question["id"],
            "references": [passage["id"] for passage in question["passages"]],
            "answer": [
                {"text": question["passages"][0]["text"].split(". ")[0].rstrip(".") + ".", "citations": [0]},
                {"text": "Nobody knows more.", "citations": []},
            ],
        }
        for question in questions
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "us")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *metric)
    assert done["judged"] == len(rows), done
    row = arena_of.json("metrics", "show", *metric)["rows"][0]
    assert (row["precision"]["mean"], row["recall"]["mean"], row["uncited"]["mean"]) == (1.0, 0.5, 1.0)


def _cited(path: Path, sentence: str) -> Path:
    rows = [
        {"question_id": f"q{n}", "answer": f"Item {n} is {word}{sentence}"}
        for n, word in ((n, ["red", "blue", "green", "old", "new", "round"][n % 6]) for n in range(12))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.long
def test_publishing_scores_citations_of_systems_that_cite(arena_of: Commands, tmp_path: Path) -> None:
    citing = _cited(tmp_path / "citing.jsonl", " [1]. Nobody knows more. Its owner lives in Peru [1].")
    silent = _cited(tmp_path / "silent.jsonl", ".")
    for path in (citing, silent):
        assert arena_of("submissions", "add", path, "--set", "tiny", "--system", path.stem)[0] == 0
    words = ("--set", "tiny", "--judge", "lexical", "--pairs", "all", "--name", "r")
    assert arena_of("rounds", "run", *words, "--systems", "citing,silent")[0] == 0
    code, _, said = arena_of("rounds", "publish", "r")
    assert code == 0, said
    assert "not scoring citation-support of" in said
    assert "silent" in said.partition("not scoring citation-support of")[2].splitlines()[0]
    board = arena_of.json("leaderboard", "show", "r", "--json")
    lines = {line["system"]: line["scores"] for line in board["lines"]["overall"]}
    assert "citation-support" in lines["citing"]
    assert "citation-support" not in lines["silent"]


def test_answers_that_cite_nothing_are_counted_never_0_in_silence(arena_of: Commands, tmp_path: Path) -> None:
    """A run over them says so, and so does every table of them."""
    path = _cited(tmp_path / "silent.jsonl", ".")
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "silent")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "silent")
    _, out, _ = arena_of("metrics", "run", *metric)
    assert "scored: 12 × The answer cites nothing" in out
    table = arena_of.json("metrics", "show", *metric, "--json")
    assert table["notes"] == ["12 of 12 answers: The answer cites nothing, so its citation support is 0."]
    assert "12 of 12 answers" in arena_of("metrics", "show", *metric)[2]


def test_an_llm_grades_each_citation_by_itself(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """Partial support counts half; a reply that stays malformed leaves its citation undecided, counted."""
    server = scripted_llm()

    def rate(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        if not ask.tagged("sentence") or "red" in ask.tagged("sentence")[0]:
            return "I would rather not say."
        (sentence,), (passage,) = ask.tagged("sentence"), ask.tagged("passage")
        year = sentence.rstrip(".").split()[-1]
        return {"support": ("partial" if "half" in passage else "full") if year in passage else "none"}

    server.handlers["rate_support"] = rate
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "citation-support", "--judge", "reference-free")
    (line,) = arena_of.lines(*words, endpoint=server.url)
    details = line["details"]
    assert line["outcome"] == "judged", details
    assert details["precision"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert details["recall"] == pytest.approx((1 + 0.5) / 2)
    assert (details["counts"]["undecided"], details["counts"]["partial"]) == (1, 1)
    assert line["score"] == pytest.approx(0.6)


STYLES = {
    "It is red [2], [3].": [["second", "third"]],
    "It is red [2-3]. It is old.": [["second", "third"], []],
    "It is red\u30102\u2020source\u3011. Old\u30104:3\u2020source\u3011.": [["second"], ["third"]],
    "It is red [^3].\n\nIt is old [third].": [["third"], ["third"]],
    "Set x[1] = 3 to have it [1] (see [2]).": [["first", "second"]],
    "It is red [7]. It is old [2].": [[], ["second"]],
}
CONTEXTS = [
    {"id": "first", "text": ""},
    {"id": "second", "text": "It is red."},
    {"id": "third", "text": "Old."},
]


def _cited_in(details: Any) -> list[list[str]]:  # noqa: ANN401 - any JSON
    return [
        [one["passage"] for one in sentence["citations"] if one["passage"]]
        for sentence in details["sentences"]
    ]


def test_every_road_reads_the_same_citations(arena_of: Commands, tmp_path: Path) -> None:
    """A file that is scored, a submission that is scored, and its export name the same contexts."""
    rows = [
        {"question_id": f"q{n}", "answer": answer, "contexts": CONTEXTS} for n, answer in enumerate(STYLES)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    items = tmp_path / "items.jsonl"
    lines = [{"id": row["question_id"], "question": "What is it?", **row} for row in rows]
    items.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    scored = arena_of.lines("metrics", "score", items, "--metric", "citation-support")
    assert [_cited_in(line["details"]) for line in scored] == list(STYLES.values())
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "us")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us")
    assert arena_of("metrics", "run", *metric)[0] == 0
    assert arena_of("metrics", "export", tmp_path / "scores.json", *metric)[0] == 0
    stored = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    of_rows = {row["question_id"]: row for row in (stored if isinstance(stored, list) else stored["scores"])}
    kept = [of_rows[row["question_id"]] for row in rows]
    assert [_cited_in(row["details"]) for row in kept] == list(STYLES.values())
    assert [row["score"] for row in kept] == [line["score"] for line in scored]
