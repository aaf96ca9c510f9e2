"""Options: input by pipes, and confirmation of irreversible actions."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest
import typer

from arena.cli.options import confirm, whole_file
from tests.arena.conftest import Commands


def test_named_pipe_is_read_completely_once(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe.jsonl", tmp_path / "file.jsonl"
    os.mkfifo(pipe)
    content = b'{"question_id": "1", "answer": "A"}\n' * 10_000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    copy = whole_file(pipe)
    writer.join()
    assert (copy.name, copy.read_bytes()) == ("pipe.jsonl", content)
    file.write_bytes(content)
    assert whole_file(file) == file
    assert whole_file(tmp_path / "none") == tmp_path / "none"


ACTS = (
    ("rounds", "cancel", "r"),
    ("rounds", "cancel", "r", "--delete"),
    ("rounds", "retract", "r"),
    ("submissions", "withdraw", "1"),
    ("jobs", "1", "--cancel"),
    ("teams", "members", "lab", "ada", "--remove"),
    ("teams", "token", "revoke", "1"),
    ("sets", "policy", "tiny", "--drop", "open"),
)


@pytest.fixture
def stocked(arena_of: Commands) -> Commands:
    """An arena with a judged round of the tiny set."""
    arena_of.prepare("http://127.0.0.1:9")
    arena_of.json("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r", "--json")
    return arena_of


@pytest.mark.slow
def test_confirm_without_terminal_requires_yes(stocked: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    before = stocked("teams", "show", "--json")[1]
    for words in ACTS:
        assert "--yes" in stocked.fails(*words, code=2)
    assert stocked("teams", "show", "--json")[1] == before


def test_confirm_asks_on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    prompts = []

    def answer(text: str, **options: object) -> bool:
        prompts.append((text, options))
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", answer)
    with pytest.raises(typer.Abort):
        confirm("Delete it?", yes=False)
    confirm("Delete it?", yes=True)
    assert prompts == [("Delete it? This cannot be undone.", {"abort": True, "err": True})]


def test_unpublished_round_is_deleted(stocked: Commands) -> None:
    assert "24 verdicts" in stocked("rounds", "cancel", "r", "--delete", "--yes")[2]
    stocked.fails("rounds", "status", "r")
    again = stocked.json("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "r", "--json")
    assert again["judged"] == 24
    stocked.done("rounds", "publish", "r", "--no-metrics")
    assert "published" in stocked.fails("rounds", "cancel", "r", "--delete", "--yes")
    stocked.done("rounds", "retract", "r", "--yes")
    stocked.fails("rounds", "cancel", "r", "--delete", "--yes")
