from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from data.errors import FileFormatError
from leaderboard.rates import win_rates
from leaderboard.ratings import Cluster, IntervalKind, rate
from leaderboard.standings.published import PrintedRate, battles_from_rates, bundled_board, load_published
from tests.battle_tables import printed_ratings

SHARED = Path(__file__).parents[3] / "../shared/data/rag_qa_arena_tables"
GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena_rates.json"


def test_rates_match_published_table() -> None:
    """Every win and win+tie rate of Table 3, overall included, to the printed decimal."""
    board = bundled_board()
    rates = win_rates(board.table, reference=board.reference, clustered=False)
    assert len(rates.rows) == len(board.rates) == 11 * 8
    for printed in board.rates:
        row = rates.of(printed.system, printed.domain)
        assert round(100 * row.win_rate, 1) == printed.win_percent
        assert round(100 * row.win_tie_rate, 1) == printed.win_tie_percent


def test_rates_and_intervals_equal_golden_ones() -> None:
    board = bundled_board()
    rows = win_rates(board.table, reference=board.reference, clustered=False).as_json()["rows"]
    assert isinstance(rows, list)
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert len(golden) == len(rows)
    for row, expected in zip(rows, golden, strict=True):
        assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_board_has_every_battle_of_paper() -> None:
    board = bundled_board()
    assert board.table.weight is not None
    assert board.table.weight.sum() == 177_089
    assert (board.table.weight > 0).all()
    assert len(board.table.systems) == 12
    assert len(board.table.domains) == len(board.labels) == 7
    assert "not single battles" in board.note


def test_ratings_equal_printed_ones() -> None:
    """Table 5 (A) within a point."""
    table = rate(bundled_board().table, cluster=Cluster.NONE, interval=IntervalKind.SANDWICH)
    assert {row.system: row.rating for row in table.ratings} == pytest.approx(printed_ratings(), abs=1.0)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared tables are not next to the checkout")
def test_bundled_figures_equal_shared_ones() -> None:
    board = bundled_board()
    ids = {name[:2].upper(): name for name in board.table.domains} | {"overall": "overall"}
    with (SHARED / "table3_win_rates.csv").open() as text:
        shared = [
            (row["system"], ids[row["domain"]], float(row["win_pct"]), float(row["win_tie_pct"]))
            for row in csv.DictReader(text)
        ]
    rates = [(rate.system, rate.domain, rate.win_percent, rate.win_tie_percent) for rate in board.rates]
    assert rates == shared


def test_impossible_percentages_and_missing_files_are_errors(tmp_path: Path) -> None:
    rates = [
        PrintedRate(system="x", domain="overall", win_percent=90.0, win_tie_percent=95.0),
        PrintedRate(system="x", domain="d", win_percent=10.0, win_tie_percent=95.0),
    ]
    with pytest.raises(FileFormatError, match="No counts of x"):
        battles_from_rates({"d": 1000}, rates, "r")
    with pytest.raises(FileFormatError, match="No printed rate for x in e"):
        battles_from_rates({"d": 1000, "e": 10}, rates, "r")
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_published(tmp_path)
