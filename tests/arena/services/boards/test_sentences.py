from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from xml.etree.ElementTree import Element, fromstring

import pytest

from arena.formats import Bounded, points
from arena.models.boards import OVERALL, BoardView
from arena.services.boards.sentences import gap_between as verdict
from arena.services.boards.sentences import grounds, headline, leading, record_of, standing
from arena.services.boards.snapshot import read_board
from arena.site.boards.grid import grid_table
from arena.site.boards.matrix_page import matrix_rows
from arena.site.boards.standings_cells import Scale, brackets, system_cell
from arena.site.boards.standings_table import standings_table
from leaderboard.ratings import Settings
from leaderboard.ratings.ranks import is_separated
from leaderboard.standings.build import build_standings
from leaderboard.standings.grid import GridCorrelation, GridFigure
from leaderboard.standings.model import About
from tests.battle_tables import board_of, encoded, paper_board
from tests.narrow import known

SEPARATED = "It differs from every other system by more than chance."


@pytest.fixture(scope="module")
def view() -> BoardView:
    return read_board(paper_board())


def row_of(root: Element, system: str) -> list[str]:
    for row in root.iter("tr"):
        cells = ["".join(cell.itertext()) for cell in row]
        if any(cell.startswith(system) for cell in cells[:2]):
            return cells
    raise AssertionError(system)


def test_system_is_separated_from_all_if_every_difference_is_significant(view: BoardView) -> None:
    """`qwen1.5-32b-chat` is the only system of its tie group, but not separated from its neighbour."""
    lines = view.lines[OVERALL]
    for line in lines:
        peers = [other.system for other in lines if other is not line and line.letter_set & other.letter_set]
        assert (SEPARATED in standing(view, line.system)) is not bool(peers)
        assert all(peer in standing(view, line.system) for peer in peers)
    assert "Its difference from qwen1.5-110b-chat may be due to chance." in standing(view, "qwen1.5-32b-chat")


def test_sentence_omits_contradicting_interval(view: BoardView) -> None:
    pair = ("qwen1.5-110b-chat", "qwen1.5-32b-chat")
    for lower, end in (
        (-4.0, "95 % interval −4 to 16"),
        (2.0, "tested together with all pairs of the board"),
    ):
        variant = replace(view, gaps={pair: Bounded(value=9.0, lower=lower, upper=16.0)})
        assert verdict(variant, *pair).endswith(
            f"9 points above {pair[1]}, but the difference may be due to chance ({end})."
        )


def test_grid_has_dot_for_each_cell_with_both_figures(view: BoardView) -> None:
    grid, score = view.grid, {"x": GridFigure(value=0.5)}
    cells = [cell.model_copy(update={"figures": cell.figures | score}) for cell in grid.cells[::2]]
    correlation = GridCorrelation(
        win="win_rate", score="x", value=0.5, lower=0.1, upper=0.8, cells=len(cells)
    )
    made = {"cells": (*cells, *grid.cells[1::2]), "scores": ("x",), "correlations": (correlation,)}
    table = grid_table(replace(view, grid=grid.model_copy(update=made)), "win_rate", "x", systems=99)
    assert table.count("left:50.0%;") == len(cells)


def test_systems_are_ranked_without_reference(view: BoardView) -> None:
    """Without the reference, the first of the paper's board, the best system has the first place.

    Letters are of all lines: only the reference has "A".
    """
    among = view.competitors()
    assert {line.system for line in among} == {*view.systems} - {"LFRQA"}
    assert (among[0].rank, among[0].letters) == ("1", "B")
    assert standing(view, "gpt-4o").startswith("Rank 1 of 11 systems")
    assert "has no rank" in standing(view, "LFRQA")
    for one, other in combinations(among, 2):
        assert is_separated(one, other) is not bool(one.letter_set & other.letter_set)


def test_axis_has_distinct_round_values_within_scale() -> None:
    for low, high in ((614.0, 1556.0), (0.0, 1.0), (-12.5, 3.0), (0.412, 0.473), (998.0, 1003.0)):
        scale = Scale(low, high)
        assert 2 <= len(scale.ticks) <= 6
        assert all(0 <= scale.place(tick) <= 100 for tick in scale.ticks)
    assert [text for text, _ in Scale(999.6, 1001.2).axis(points)] == ["1000", "1001"]


def test_brackets_join_unseparated_systems(view: BoardView) -> None:
    lines = view.competitors()
    joints = brackets(lines)
    ends: dict[int, list[tuple[int, int]]] = {}
    for at, sets in enumerate(joints):
        for joint in sets:
            spans = ends.setdefault(joint.lane, [])
            first = at if joint.part == "first" else spans.pop()[0]
            spans.append((first, at))
    joined = {(low, high) for spans in ends.values() for low, high in spans}
    assert joined
    for one, other in combinations(range(len(lines)), 2):
        within = any(low <= one and other <= high for low, high in joined)
        assert within is bool(lines[one].letter_set & lines[other].letter_set)


def test_reference_has_no_rate_against_itself(view: BoardView) -> None:
    """The table has dashes; the reference's own page has rates "against all systems"."""
    cells = row_of(fromstring(standings_table(view, OVERALL, view.lines[OVERALL])), "LFRQA")  # noqa: S314 - made by the program
    assert "reference" in " ".join(cells[:2])
    assert "–" in cells
    assert "87" not in " ".join(cells[4:])
    for domain in (OVERALL, *view.domains):
        line = view.line("LFRQA", domain)
        assert line is not None
        assert (line.win, line.win_tie, line.rates.battles) == (None, None, 0)
        assert line.rating is not None
    assert known(view.line("gpt-4o")).win_tie is not None
    for system, named in (("LFRQA", "Win rate, against all systems"), ("gpt-4o", "Win rate")):
        assert [name for name, _ in record_of(view, system) if name.startswith("Win rate")] == [named]


def test_board_without_ratings_does_not_rank_reference(view: BoardView) -> None:
    """The leader's rate against the reference is not compared with the reference's rate against all."""
    parts = view.lines.items()
    lines = {name: tuple(replace(line, rating=None, letters=None) for line in part) for name, part in parts}
    said = leading(replace(view, lines=lines, gaps={}), OVERALL)
    assert "gpt-4o is first" in said
    assert not {"LFRQA", "reference"} & set(re.findall(r"\w+", said))


def test_single_system_has_no_lead(view: BoardView) -> None:
    only = {view.reference, view.competitors()[-1].system}
    selection = {
        name: tuple(line for line in lines if line.system in only) for name, lines in view.lines.items()
    }
    said = leading(replace(view, lines=selection), OVERALL)
    assert SEPARATED not in standing(replace(view, lines=selection), view.competitors()[-1].system)
    assert said.partition("is the only system")[2].count("won or tied") == 1
    assert "is first" not in said


def test_domain_reports_borrowed_evidence() -> None:
    board = paper_board()
    board.standings["lines"]["fiqa"][0]["rating"]["own_evidence"] = 0.123
    for domain in board.standings["domains"]:
        domain["note"] = "No systems are separated." if domain["id"] == "fiqa" else ""
    view = read_board(board)
    assert headline(view, "fiqa").endswith("No systems are separated.")
    assert "No systems" not in headline(view, OVERALL)
    assert "12 % own" in system_cell(view, view.lines["fiqa"][0])
    assert "own" not in system_cell(view, view.lines[OVERALL][0])


def built(rows: list[tuple[str, str, str, str, str]], reference: str = "") -> BoardView:
    """Read a board of battles: question, domain, two systems and the winner."""
    about = About(name="paper", title="Paper", reference=reference, labels={"big": "Big", "few": "Few"})
    return read_board(board_of(build_standings(encoded(rows), about, settings=Settings(bootstrap=200))))


def two_floors() -> list[tuple[str, str, str, str, str]]:
    """1 and 2 win every battle against 3 and 4; within each pair the first wins all battles except one."""
    return [
        (
            f"q{number}",
            "big" if number < 22 else "few",
            one,
            other,
            "model_b" if number == 5 and (one, other) in {("s1", "s2"), ("s3", "s4")} else "model_a",
        )
        for number in range(24)
        for one, other in combinations(("s1", "s2", "s3", "s4"), 2)
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_group_without_wins_is_separated_in_every_sentence(*, turned: bool) -> None:
    rows = two_floors()
    view = built(rows[::-1] if turned else rows)
    assert leading(view, OVERALL) == "s1 is first."
    assert grounds(view, OVERALL)[0].clause == "No other system is statistically tied with s1 (95 %)"
    for place, system in enumerate(("s1", "s2", "s3", "s4"), 1):
        assert standing(view, system).startswith(f"Rank {place} of 4 systems, rating ")
        assert standing(view, system).endswith(SEPARATED)
    assert all(row["apart"] for row in matrix_rows(view))
    assert verdict(view, "s3", "s2").startswith("s2 is better than s3, and the lead is statistically")
    # In a domain without ratings of losing systems, the headline says so.
    said = leading(view, "big")
    assert said.startswith("s1 is first in Big. s3 and s4 have no rating here.")


def test_leader_is_above_reference_on_other_scale() -> None:
    even = [
        (*row[:4], "model_b") if row[2:4] == ("s1", "s2") and number % 2 else row
        for number, row in enumerate(two_floors())
    ]
    even += [(f"q{number}", "big", "s2", "s1", "model_a") for number in range(10)]
    view = built(even, "s3")
    leader, reference = view.line("s1"), view.line("s3")
    assert known(known(leader).rating).value < known(known(reference).rating).value
    assert ". s1 is rated above the reference (won or tied " in leading(view, OVERALL)


def test_system_without_rating_has_place() -> None:
    view = built([row for row in two_floors() if "s4" not in row])
    assert standing(view, "s3") == f"Rank 3 of 3 systems, without a rating. {SEPARATED}"


def test_system_with_few_answers_has_no_lead() -> None:
    """A system that won all of its 5 questions of 56 does not lead; its page explains the missing rank."""
    rows = [
        (f"q{number}", "big", one, other, "model_b" if one == "b" and number % 4 == 0 else "model_a")
        for number in range(56)
        for one, other in combinations(("a", "b", "c"), 2)
        if number < 5 or one != "a"
    ]
    view = built(rows)
    said = leading(view, OVERALL)
    assert said.startswith("b is first")
    assert said.endswith("a answered too few questions for a rank.")
    assert standing(view, "a") == (
        "a has no rating on this board. It answered 5 of 56 questions, too few for a rank."
    )
    assert standing(view, "b").startswith("Rank 1 of 2 systems")
    table = fromstring(standings_table(view, OVERALL, view.lines[OVERALL]))  # noqa: S314 - as above
    assert table.findall(".//tbody/tr/th/a")[-1].text == "a"
    assert "It answered 5 of 56 questions, too few for a rank." in "".join(table.itertext())
    assert "not ranked" in "".join(table.findall(".//tbody")[-1].itertext())


def test_headline_without_ranks_does_not_deny_verdicts(view: BoardView) -> None:
    lines = tuple(replace(line, unranked="too few answers") for line in view.lines[OVERALL])
    said = leading(replace(view, lines={**view.lines, OVERALL: lines}), OVERALL)
    assert said.startswith("No system has a rank here.")
    assert said.endswith("answered too few questions for a rank.")
