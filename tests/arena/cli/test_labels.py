"""`arena labels`."""

from __future__ import annotations

from pathlib import Path

from tests.arena.conftest import Commands, write_lines


def test_labels_are_opened_exported_imported_and_closed(arena_of: Commands, tmp_path: Path) -> None:
    arena_of.prepare("http://127.0.0.1:9")
    run = ("rounds", "run", "--set", "tiny", "--judge", "lexical", "--pairs", "all", "--name", "r", "--json")
    arena_of.json(*run)
    arena_of("teams", "accounts", "ann")
    arena_of.fails("labels", "open", "r")
    assert arena_of.json("labels", "open", "r", "--invite", "ann", "--json")["invited"] == ["ann"]
    votes = tmp_path / "votes.jsonl"
    named = {"question_id": "q1", "model_a": "half", "model_b": "whole"}
    write_lines(votes, [{**named, "winner": "model_a", "annotator": "bob"}])
    report = arena_of.json("labels", "import", "r", votes, "--json")
    assert report == {"round": "r", "labels": 1, "left_out": {}}
    assert arena_of.json("labels", "show", "r", "--json")["people"] == {"bob": 1}
    assert arena_of.json("labels", "show", "--json") == [
        {"round": "r", "set": "tiny", "open": True, "labels": 1}
    ]
    for name in ("labels.csv", "labels.json"):
        arena_of.done("labels", "export", "r", tmp_path / name)
        assert "bob" in (tmp_path / name).read_text()
    arena_of.done("judges", "calibrate", "--judge", "lexical", "--labels", tmp_path / "labels.csv")
    arena_of.done("labels", "close", "r")
    assert "open" in arena_of("labels", "show", "r")[1]
