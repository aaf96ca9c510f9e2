from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import combinations
from xml.etree.ElementTree import Element, fromstring

import pytest

from arena.container import Arena
from arena.models.boards import OVERALL
from arena.services.boards.sentences import gap_between as verdict
from arena.services.boards.sentences import headline, leading, standing
from arena.services.boards.snapshot import read_board
from arena.services.boards.text_tables import board_table
from arena.site.boards.matrix_page import matrix_rows, opponents_table
from arena.site.boards.standings_table import standings_table
from data.models import Board
from leaderboard.battles import BattleTable
from leaderboard.export.tables import standings_file
from leaderboard.ratings import Settings as RatingSettings
from leaderboard.ratings import rate
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About
from leaderboard.standings.places import separates
from leaderboard.vocabulary import BoardForm
from tests.served import published

REFERENCE = "human"
Rows = Sequence[tuple[str, str, str, str, str]]


def against(system: str, won: int, of: int, *, tied: int = 0) -> Rows:
    ends = ["model_a"] * won + ["tie"] * tied + ["model_b"] * (of - won - tied)
    return [(f"q{at}", f"d{at % 2}", system, REFERENCE, end) for at, end in enumerate(ends)]


def _end(turn: int, every: int) -> str:
    return "model_a" if turn % every else "model_b"


def everybody(systems: int, questions: int) -> Rows:
    """All pairs of some systems and the reference; earlier systems win more often, but not always."""
    names = [*(f"s{at}" for at in range(systems)), REFERENCE]
    return [
        (f"q{at}", f"d{at % 2}", one, other, _end(at + first + second, second - first + 2))
        for at in range(questions)
        for (first, one), (second, other) in combinations(enumerate(names), 2)
    ]


BOARDS: Mapping[str, Rows] = {
    "23 and 20 of 24": (*against("nearly-all", 23, 24), *against("most", 20, 24)),
    "few questions": (*against("one", 3, 4), *against("two", 1, 4)),
    "only ties": (*against("one", 0, 12, tied=12), *against("two", 0, 12, tied=12)),
    "two systems": against("only", 9, 12),
    "seven": everybody(6, 30),
}


on_each_board = pytest.mark.parametrize("name", BOARDS)


def table_of(name: str) -> BattleTable:
    return BattleTable.from_columns(*(list(column) for column in zip(*BOARDS[name], strict=True)))


@cache
def board_of(name: str) -> Board:
    about = About(name="b", title="B", reference=REFERENCE, labels={"d0": "Zero", "d1": "One"})
    return _published(build_standings(table_of(name), about, settings=RatingSettings(bootstrap=50)).as_json())


def _published(standings: Mapping[str, object]) -> Board:
    return Board(
        id=1,
        name="b",
        round_name="b",
        standings=json.loads(json.dumps(standings)),
        content_hash="ab" * 32,
        notice="",
        retracted=False,
        published_at=datetime(2026, 11, 1, tzinfo=UTC),
    )


def texts_of(row: Element) -> list[str]:
    return ["".join(cell.itertext()) for cell in row]


@on_each_board
def test_all_surfaces_use_one_significance_test(name: str) -> None:
    board = board_of(name)
    view, rated = read_board(board), rate(table_of(name), bootstrap=50)
    letters = {
        row["system"]: set(re.findall("[A-Z][a-z]*", row["letters"]))
        for row in _csv(board)
        if row["domain"] == OVERALL
    }
    pairs = {(row["system"], row["opponent"]): row for row in matrix_rows(view)}
    for system, other in combinations(view.systems, 2):
        apart = rated.separates(system, other)
        assert separates(board.standings, system, other) is apart
        assert view.separates(system, other) is view.separates(other, system) is apart
        assert (not letters[system] & letters[other]) is apart
        for row in filter(None, [pairs.get((system, other)), pairs.get((other, system))]):
            assert row["apart"] is apart
            lower, upper = row["lower"], row["upper"]
            if isinstance(lower, float) and isinstance(upper, float):
                assert (lower > 0 or upper < 0) is apart
        said = verdict(view, system, other)
        assert ("statistically significant" in said) is apart
        end = re.search(r"interval (\S+) to", said)
        assert end is None or end[1] == "0" or end[1].startswith("−") is not apart
        for opponent, *_, gap, word in map(texts_of, _tree(opponents_table(view, system)).iter("tr")):
            if opponent == other:
                assert word == ("yes" if apart else "may be chance")
                ends = re.search(r"(−?\d+) to (−?\d+)$", gap)
                one_side = ends is None or ("−" in ends[1]) is ("−" in ends[2])
                assert ends is None or one_side is apart or "0" in ends.groups()
    for system in view.systems:
        separated = all(view.separates(system, other) for other in view.systems if other != system)
        assert ("other system by more than chance" in standing(view, system)) is separated
    leader = view.competitors()[0].system
    if len(view.competitors()) > 1:
        separated = all(view.separates(leader, line.system) for line in view.competitors()[1:])
        said = leading(view, OVERALL)
        assert (f"{leader} is first" in said) is separated
        assert ("share first place" in said or "No system is first" in said) is not separated
    above = f"rated above {view.the_reference}" in headline(view, OVERALL)
    below = f"rated below {view.the_reference}" in headline(view, OVERALL)
    assert (above or below) is view.separates(leader, REFERENCE)


def test_headline_without_verdicts_names_no_leader() -> None:
    table, about = table_of("only ties"), About(name="b", title="B", reference=REFERENCE)
    nothing = build_standings(
        table.select(table.winner < 0),
        about,
        answers={"one": [], "two": []},
        settings=RatingSettings(bootstrap=50),
    ).as_json()
    assert leading(read_board(_published(nothing)), OVERALL) == "No system has been judged here."


@on_each_board
def test_ranks_and_counts_agree_on_all_surfaces(name: str) -> None:
    board = board_of(name)
    view = read_board(board)
    ranks = {line.system: line.rank for line in view.competitors()}
    for domain in (OVERALL, *view.domains):
        expected = {line.system: line.rank for line in view.competitors(domain)}
        files = {row["system"]: row["rank_lower"] or "–" for row in _csv(board) if row["domain"] == domain}
        assert files == {**expected, REFERENCE: "–"}
        printed = {
            cells[1]: str(cells[0] or "–").partition("–")[0] for cells in board_table(board, domain)[1]
        }
        assert printed == {**expected, REFERENCE: ""}
        lines = board.standings["lines"][domain]
        held = {line["system"]: str((line["rating"] or {}).get("rank_lower") or "–") for line in lines}
        assert held == {**expected, REFERENCE: "–"}
    assert _shown(_tree(standings_table(view, OVERALL, view.lines[OVERALL]))) == {**ranks, REFERENCE: "–"}


@on_each_board
def test_battle_counts_of_system_agree(name: str) -> None:
    board = board_of(name)
    view = read_board(board)
    files = {
        row["system"]: row["battles"] and f"{float(row['battles']):.0f}"
        for row in _csv(board)
        if row["domain"] == OVERALL
    }
    headers, rows, _ = board_table(board, OVERALL)
    printed = {cells[1]: cells[list(headers).index("battles")] or "" for cells in rows}
    assert printed == files
    table = _tree(standings_table(view, OVERALL, view.lines[OVERALL], chosen=("Battles",)))
    tables = {
        cells[1]: re.match(r"\d*", cells[-1])[0]  # type: ignore[index]
        for cells in (texts_of(row) for row in table.iter("tr") if row.get("class") is None)
    }
    names = files.keys() & tables.keys()
    assert {name: tables[name] for name in names} == {name: files[name] for name in names}


@pytest.mark.slow
def test_organiser_page_tables_and_api_agree_with_board() -> None:
    arena = Arena(published())
    view = read_board(arena.boards.get("tiny"))
    for one, other in combinations(view.systems, 2):
        duel = arena.ranking_results.duel("tiny", one, other)
        # A test of only this pair, like its interval; the board tests all pairs together and separates fewer.
        assert duel.significant or not view.separates(one, other)
        assert (
            duel.lower is None
            or duel.upper is None
            or duel.significant is not (duel.lower <= 0 <= duel.upper)
        )
        compared = arena.systems.compare("tiny", (one, other)).between("tiny")
        for share in compared.paired:
            assert share.separated is view.separates(one, other, share.domain)
    arena.close()


def _tree(html: str) -> Element:
    return fromstring(html)  # noqa: S314 - made by the program


def _csv(board: Board) -> list[dict[str, str]]:
    file = standings_file(board.standings, BoardForm.CSV).decode()
    return list(csv.DictReader(io.StringIO(file)))


def _shown(table: Element) -> dict[str, str]:
    cells = [texts_of(row) for row in table.iter("tr") if row.find("th[@scope='row']") is not None]
    names = [link.text or "" for link in table.iter("a")]
    return {name: re.match(r"\d*", texts[0])[0] or "–" for name, texts in zip(names, cells, strict=True)}  # type: ignore[index]
