from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from arena.container import Arena
from arena.services.boards.snapshot import read_board
from arena.site.boards.standings_table import columns_to_choose
from data.models import Board, SystemCard
from leaderboard.standings.columns import columns
from tests.arena.conftest import TEMPLATES, WORDS, Fill, answers_file, play, write_set

SAID = {column.title for column in columns() if column.self_reported and column.heading}
CARDS: Mapping[str, SystemCard] = {
    "full": SystemCard(organisation="Lab A", licence="MIT", open_weights="yes", parameters="70B"),
    "short": SystemCard(organisation="Lab B", released="2026-05", parameters="800M"),
    "wrong": SystemCard(),
}
FIGURES: Mapping[str, Callable[[int], dict[str, float]]] = {
    "full": lambda n: {"tokens": 100 + n, "usd": 0.25},
    "short": lambda n: {"usd": 0.0} if n % 2 else {},
    "wrong": lambda _n: {},
}


@pytest.fixture
def board(make_arena: Fill, tmp_path: Path) -> Callable[[], tuple[Arena, Board]]:
    """Published board of three systems, two with self-reported facts."""

    def publish() -> tuple[Arena, Board]:
        arena = make_arena()
        arena.sets.import_from(write_set(tmp_path))
        for system, template in TEMPLATES.items():
            path = tmp_path / f"{system}.jsonl"
            said = [template.format(n=n, word=WORDS[n % 6], weight=n + 10) for n in range(12)]
            rows = [
                {"question_id": f"q{n}", "answer": text, **FIGURES[system](n)} for n, text in enumerate(said)
            ]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            arena.submissions.add(path, "tiny", system=system, card=CARDS[system])
        play(arena, pairs="")
        return arena, arena.boards.publish("r", report=lambda _line: None, score=False)[0]

    return publish


def test_board_has_self_reported_figures(board: Callable[[], tuple[Arena, Board]], tmp_path: Path) -> None:
    arena, published = board()
    systems: dict[str, Any] = published.standings["systems"]
    assert set(systems) == {"full", "short"}
    assert systems["full"]["figures"] == {
        "tokens": {"mean": 105.5, "answers": 12},
        "usd": {"mean": 0.25, "answers": 12},
    }
    assert systems["short"]["figures"] == {"usd": {"mean": 0.0, "answers": 6}}
    assert (systems["full"]["parameter_count"], systems["short"]["parameter_count"]) == (70e9, 8e8)
    for ending in ("csv", "parquet"):
        arena.boards.write_file("r", tmp_path / f"b.{ending}")
    with (tmp_path / "b.csv").open() as file:
        rows = {row["system"]: row for row in csv.DictReader(file) if row["domain"] == "d0"}
    assert (rows["short"]["usd"], rows["short"]["usd_answers"], rows["wrong"]["usd"]) == ("0.0", "6", "")
    assert rows["full"]["organisation"] == "Lab A"
    assert {column.name for column in columns() if column.self_reported} <= set(
        pq.read_table(tmp_path / "b.parquet").column_names
    )


def test_boards_without_self_reported_figures_are_unchanged(filled: Fill) -> None:
    arena = filled()
    play(arena, pairs="")
    published, _ = arena.boards.publish("r", report=lambda _line: None, score=False)
    assert "systems" not in published.standings
    assert not SAID & set(columns_to_choose(read_board(published)))


def test_file_with_figures_is_another_version(
    board: Callable[[], tuple[Arena, Board]], tmp_path: Path
) -> None:
    arena, _ = board()
    plain = answers_file(tmp_path, "plain", TEMPLATES["full"])
    added = arena.submissions.add(plain, "tiny", system="full")
    assert (added.created, added.submission.version) == (True, 2)
    assert not arena.submissions.add(plain, "tiny", system="full").created
