from __future__ import annotations

from typing import Any

import pytest

from leaderboard.standings.grid import grid_of


def _line(system: str, questions: int, share: float, score: float | None) -> dict[str, Any]:
    rate = {"questions": questions, "win_rate": share / 2, "win_tie_rate": share, "win_tie_lower": 0.0}
    scores = {} if score is None else {"facts": {"mean": score, "lower": 0.1, "upper": 0.9}}
    return {"system": system, "rating": {"rating": 1000.0}, "rate": rate if questions else None} | {
        "scores": scores
    }


def _board(domains: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    every = [line for lines in domains.values() for line in lines]
    overall = list({line["system"]: line for line in every}.values())
    named = [{"id": domain, "label": domain.title()} for domain in domains]
    return {"lines": {"overall": overall, **domains}, "domains": named, "reference": "ref"}


def test_grid_marks_small_cells_and_omits_unjudged_ones() -> None:
    many = [_line("a", 20, 0.5, 0.4), _line("ref", 20, 0.5, None)]
    grid = grid_of(_board({"many": many, "few": [_line("a", 19, 0.2, None)], "all": [_line("a", 0, 0, 0.3)]}))
    assert (grid.systems, grid.domains) == (("a",), {"many": "Many", "few": "Few"})
    assert [(cell.domain, cell.few, set(cell.figures)) for cell in grid.cells] == [
        ("many", False, {"win_tie_rate", "win_rate", "rating", "facts"}),
        ("few", True, {"win_tie_rate", "win_rate"}),
    ]
    assert {"system": "a", "measure": "win_tie_rate", "value": 0.2}.items() <= list(grid.rows())[-2].items()


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.5], (0.983, 0.389, 1.0)),
        ([0.1, 0.2, 0.3, None], None),
        ([0.4, 0.4, 0.4, 0.4], None),
        ([0.1, 0.2, 0.3, 0.4], (1.0, 1.0, 1.0)),
    ],
)
def test_correlation_has_fishers_interval(
    scores: list[float | None], expected: tuple[float, ...] | None
) -> None:
    lines = {f"d{at}": [_line("a", 9, 0.2 * at, score)] for at, score in enumerate(scores)}
    result = grid_of(_board(lines)).correlation("win_tie_rate", "facts")
    ends = None if result is None else (result.value, result.lower, result.upper)
    assert ends == (None if expected is None else pytest.approx(expected, abs=0.001))


@pytest.mark.parametrize(
    ("rates", "expected"),
    [((0.8, 0.6, 0.4), ["d2"]), ((0.2, 0.6, 0.2), ["d0", "d2"]), ((0.5, 0.5, 0.5), []), ((), [])],
)
def test_weakest_domains_have_the_lowest_rate(rates: tuple[float, ...], expected: list[str]) -> None:
    lines = {f"d{at}": [_line("a", 9, rate, None)] for at, rate in enumerate(rates)}
    assert [cell.domain for cell in grid_of(_board(lines)).weakest("a", "win_tie_rate")] == expected
