"""Errata: what organisers say of a published board afterwards."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from structlog.typing import EventDict

from arena.cli import main
from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.services.rounds.models import RoundRequest
from data.errors import AccessError, ConflictError, InputError

ERRATUM = "Question q3 was ambiguous; <b>it stays</b> in this round."


@pytest.fixture
def arena(filled: Callable[..., Arena]) -> Arena:
    """An arena with a published round named `tiny`."""
    opened = filled()
    opened.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="tiny"))
    opened.rounds.run("tiny", concurrency=2, report=lambda _progress: None)
    opened.boards.publish("tiny", report=lambda _line: None, score=False)
    return opened


def test_a_notice_changes_neither_numbers_nor_hash(arena: Arena, audit_log: list[EventDict]) -> None:
    """A notice stands beside the standings, can be replaced and taken off, and each change is logged."""
    before = arena.boards.get("tiny")
    arena.boards.put_notice("tiny", f"  {ERRATUM}\n")
    noted = arena.boards.get("tiny")
    assert (noted.notice, noted.standings, noted.content_hash) == (
        ERRATUM,
        before.standings,
        before.content_hash,
    )
    assert arena.boards.clear_notice("tiny").notice == ""
    put, cleared = [line for line in audit_log if line["event"] == "board-noted"]
    assert (put["notice"], cleared["before"]) == (ERRATUM, ERRATUM)


def test_notices_are_organisers_alone(arena: Arena) -> None:
    """Readers cannot put notices, and one that says nothing or too much is refused."""
    with pytest.raises(AccessError):
        arena.boards.put_notice("tiny", ERRATUM, caller=PUBLIC)
    for text in (" \n", "x" * 2001):
        with pytest.raises(InputError):
            arena.boards.put_notice("tiny", text)


def test_the_reason_of_a_retraction_is_not_written_over(arena: Arena) -> None:
    """A retracted board keeps the notice that says why."""
    arena.boards.retract("tiny", "Two files were exchanged.")
    with pytest.raises(ConflictError):
        arena.boards.put_notice("tiny", ERRATUM)
    with pytest.raises(ConflictError):
        arena.boards.clear_notice("tiny")
    assert arena.boards.get("tiny").notice == "Two files were exchanged."


def test_readers_see_a_notice_at_once_and_as_text(arena: Arena) -> None:
    """The history shows a notice as soon as it is put."""
    arena.boards.put_notice("tiny", ERRATUM)
    assert arena.history.entries()[0].board.notice == ERRATUM


def test_the_command_puts_and_clears(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rounds publish --notice` puts a text on a board, an empty one takes it off."""
    monkeypatch.setenv("ARENA_HOME", str(arena.settings.home))
    monkeypatch.setenv("ARENA_DATABASE_URL", arena.settings.database_url)

    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["arena", "rounds", "publish", "tiny", "--notice", *words, "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    for words, notice in (([ERRATUM], ERRATUM), ([""], "")):
        assert run(*words) == 0
        assert json.loads(capsys.readouterr().out)["notice"] == notice
