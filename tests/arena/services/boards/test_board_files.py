"""Boards as files of other people's formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC
from arena.services.rounds.models import RoundRequest
from data.errors import FileFormatError, NotFoundError, RetractedError
from data.models import SystemCard
from leaderboard.vocabulary import BoardForm

SECRET = "only-for-us@example.org"


@pytest.fixture
def judged(
    filled: Callable[..., Arena], answers_file: Callable[..., Path], scripted_llm: Callable[..., Any]
) -> Callable[[str], Arena]:
    """Open an arena with a published round `r` of four systems, one with a card, by the judge of a name."""

    def judge(name: str) -> Arena:
        arena = filled(endpoint=scripted_llm().url)
        card = SystemCard(
            model="vendor/model-7b", organisation="A/../Lab é", link="https://x.example", contact=SECRET
        )
        path = answers_file("carded", "Item {n} is {word}.")
        arena.submissions.add(path, "tiny", system="carded.one", card=card)
        arena.rounds.create(RoundRequest(set_name="tiny", judge=name, pairs="all", name="r"))
        arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
        arena.boards.publish("r", report=lambda _line: None)
        return arena

    return judge


def test_what_cannot_be_written_is_said(judged: Callable[[str], Arena], tmp_path: Path) -> None:
    """An ending that names no form, a place that is no folder, a board that is gone or was taken down."""
    arena = judged("lexical")
    with pytest.raises(FileFormatError, match=r"r\.xlsx ends in none of .csv, .json, .parquet"):
        arena.board_files.write("r", tmp_path / "r.xlsx")
    (tmp_path / "taken").mkdir()
    with pytest.raises(FileFormatError, match="taken cannot be written"):
        arena.board_files.write("r", tmp_path / "taken", BoardForm.CSV)
    with pytest.raises(NotFoundError):
        arena.board_files.content("none", BoardForm.CSV)
    arena.boards.retract("r", "A wrong file.")
    for form in BoardForm:
        with pytest.raises(RetractedError, match="A wrong file"):
            arena.board_files.content("r", form, caller=PUBLIC)
