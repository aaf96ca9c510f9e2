"""A board whose intervals count the judge's own error: section, lines, table of causes, exports."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from arena.services.boards.text_tables import error_table
from arena.site.boards.sentences import leading
from arena.site.boards.snapshot_reader import read_board
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.trust.error_view import parts_table, with_error
from data.errors import ConflictError
from data.records import Board
from leaderboard.export.tables import export_standings
from leaderboard.ratings import Settings
from leaderboard.standings.build import build_standings
from leaderboard.standings.full_error import ERROR, NOT_RETESTED, error_sentence
from leaderboard.standings.model import About
from leaderboard.trust.judge_error.board_section import error_section
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import ErrorKind
from tests.narrow import known
from tests.simulated_judge import Judge

SEED = 3


@pytest.fixture(scope="module")
def standings() -> Mapping[str, Any]:
    """A board of four systems, a third of whose battles was judged again in three further wordings."""
    random = np.random.default_rng(1)
    judge = Judge(systems=4, by_wording=0.4)
    wins = judge.read(random, judge.qualities(random, 60), wordings=4, repeats=2)
    rows, wording, repeat = judge.table(wins)
    own = (np.array(wording) == "w0") & (np.array(repeat) == "0")
    judged = rows.select(own)
    kept = np.flatnonzero(own | np.broadcast_to(random.random(wins.shape[2:]) < 1 / 3, wins.shape).ravel())
    readings = Readings.from_table(
        rows.select(kept),
        [wording[row] for row in kept.tolist()],
        [repeat[row] for row in kept.tolist()],
        own=own[kept],
    )
    about = About(name="tiny", title="Tiny", reference="s03", labels={})
    plain = build_standings(judged, about, settings=Settings(seed=SEED)).as_json()
    section = error_section(judged, readings, reference="s03", seed=SEED)
    found: dict[str, Any] = json.loads(json.dumps({**plain, ERROR: section}, allow_nan=False))
    return found


def board_of(standings: Mapping[str, Any]) -> Board:
    """A published board of these standings."""
    return Board(
        name="tiny",
        round_name="tiny",
        standings=standings,
        content_hash="ab" * 32,
        notice="",
        retracted=False,
        published_at=datetime(2026, 11, 1, tzinfo=UTC),
    )


@pytest.fixture
def view(standings: Mapping[str, Any]) -> BoardView:
    """The board, read."""
    return read_board(board_of(standings))


def test_the_section_widens_the_boards_own_ratings(standings: Mapping[str, Any]) -> None:
    """Ratings are those of the board, to the byte; `all` holds the judge's interval and the questions'."""
    judged = {line["system"]: line["rating"] for line in standings["lines"][OVERALL]}
    for row in standings[ERROR]["ratings"]:
        rating = judged[row["system"]]
        assert row["rating"] == rating["rating"]
        assert row["all"]["lower"] <= min(row["judge"]["lower"], rating["lower"])
        assert row["all"]["upper"] >= max(row["judge"]["upper"], rating["upper"])
        assert row["components"]["wordings"] is not None
        if rating["rank_lower"] is not None:
            assert row["all"]["rank_lower"] <= rating["rank_lower"] <= rating["rank_upper"]
            assert rating["rank_upper"] <= row["all"]["rank_upper"]


def test_lines_follow_the_switch_and_keep_their_order(view: BoardView) -> None:
    """Intervals, places, letters and rates are of the kind; values and order are the board's."""
    assert with_error(view, ErrorKind.QUESTIONS) is view
    for kind in (ErrorKind.JUDGE, ErrorKind.ALL):
        shown = with_error(view, kind)
        assert shown.systems == view.systems
        assert shown.key != view.key
        assert view.error.sentence in shown.method
        for line, before in zip(shown.lines[OVERALL], view.lines[OVERALL], strict=True):
            ends = view.error.systems[line.system].ends[kind]
            assert known(line.rating).value == known(before.rating).value
            assert (line.rating, line.letters) == (ends.rating, ends.letters)
            assert (line.win is None) is line.is_reference
            if line.win is not None and kind is ErrorKind.ALL:
                assert (
                    line.win.span[0]
                    <= known(before.win).span[0]
                    <= known(before.win).span[1]
                    <= line.win.span[1]
                )
    assert "do not separate" in leading(with_error(view, ErrorKind.ALL), OVERALL)


def test_the_causes_are_shown_with_a_dash_for_what_is_not_known(standings: Mapping[str, Any]) -> None:
    """A row a system; a part that the retest does not tell is a dash, never 0."""
    section = standings[ERROR]
    rows = [{**row, "components": {**row["components"], "repeats": None}} for row in section["ratings"]]
    view = read_board(board_of({**standings, ERROR: {**section, "ratings": rows}}))
    cells = [
        ["".join(cell.itertext()) for cell in row]
        for row in parts_table(with_error(view, ErrorKind.ALL)).iter("tr")
    ][1:]
    assert [row[0] for row in cells] == list(view.systems)
    assert all(row[-1] == "–" and row[2] not in {"–", ""} for row in cells)


def test_exports_have_the_columns_where_the_board_has_the_section(
    standings: Mapping[str, Any], tmp_path: Path
) -> None:
    """CSV, JSON and Parquet hold them; a board that was not retested has none of them."""
    export_standings(standings, tmp_path / "board.csv")
    export_standings(standings, tmp_path / "board.parquet")
    export_standings(standings, tmp_path / "board.json")
    with (tmp_path / "board.csv").open(encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    expected = next(row for row in standings[ERROR]["ratings"] if row["system"] != standings["reference"])
    row = next(row for row in rows if row["system"] == expected["system"])
    assert float(row["all_lower"]) == expected["all"]["lower"]
    assert float(row["error_wordings"]) == expected["components"]["wordings"]
    found = pq.read_table(tmp_path / "board.parquet").to_pylist()
    columns = next(row for row in found if row["system"] == expected["system"])
    assert columns["judge_upper"] == expected["judge"]["upper"]
    # The reference, which takes no rank, is counted in the section alone.
    assert 1 <= columns["judge_rank_upper"] <= expected["judge"]["rank_upper"]
    assert json.loads((tmp_path / "board.json").read_text(encoding="utf-8"))[ERROR] == standings[ERROR]
    plain = {key: part for key, part in standings.items() if key != ERROR}
    export_standings(plain, tmp_path / "plain.csv")
    with (tmp_path / "plain.csv").open(encoding="utf-8") as text:
        assert not {"all_lower", "error_wordings"} & set(next(csv.reader(text)))


def test_a_board_that_was_not_retested_says_so(standings: Mapping[str, Any], view: BoardView) -> None:
    """Pages and commands say what to do; nothing pretends to know the judge's own error."""
    plain = board_of({key: part for key, part in standings.items() if key != ERROR})
    assert not read_board(plain).error.systems
    assert error_sentence(plain.standings) == NOT_RETESTED
    with pytest.raises(ConflictError, match="judged again"):
        error_table(plain, ErrorKind.ALL)
    headers, rows = error_table(board_of(standings), ErrorKind.JUDGE)
    assert len(rows) == len(view.systems)
    assert all(len(row) == len(headers) for row in rows)
    assert with_error(read_board(plain), ErrorKind.ALL).error_kind is ErrorKind.QUESTIONS
