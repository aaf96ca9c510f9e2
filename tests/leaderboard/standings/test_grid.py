from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from leaderboard.standings.grid import RESAMPLES, grid_of, resampled_correlations
from leaderboard.stats import SEED, Floats


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
        ([0.1, 0.2, 0.3, None], None),
        ([0.4, 0.4, 0.4, 0.4], None),
        ([0.1, 0.2, 0.3, 0.4], (1.0, 1.0, 1.0)),
        ([0.4, 0.3, 0.2, 0.1], (-1.0, -1.0, -1.0)),
    ],
)
def test_correlation_of_few_or_equal_cells_is_hidden(
    scores: list[float | None], expected: tuple[float, ...] | None
) -> None:
    lines = {f"d{at}": [_line("a", 9, 0.2 * at, score)] for at, score in enumerate(scores)}
    correlation = grid_of(_board(lines)).correlation("win_tie_rate", "facts")
    ends = None if correlation is None else (correlation.value, correlation.lower, correlation.upper)
    assert ends == (None if expected is None else pytest.approx(expected))


def _crossed(rng: np.random.Generator, systems: int, domains: int) -> Floats:
    """Values in (2, systems, domains): r is 0.37, with parts of systems, of domains and of cells."""
    shapes = ((2, systems, 1), (2, 1, domains), (2, systems, domains))
    parts = [rng.standard_normal(shape) for shape in shapes]
    for part, share in zip(parts, (0.6, 0.3, 0.2), strict=True):
        part[1] = share * part[0] + np.sqrt(1 - share**2) * part[1]
    return np.asarray(sum(parts[1:], parts[0]))


def test_resampled_correlations_match_scipy_on_repeated_cells() -> None:
    values, rng = _crossed(np.random.default_rng(1), 5, 4), np.random.default_rng(SEED)
    drawn = [rng.multinomial(count, [1 / count] * count, RESAMPLES) for count in (5, 4)]
    expected = []
    for systems, domains in zip(*(some[:100] for some in drawn), strict=True):
        rows, columns = np.repeat(range(5), systems), np.repeat(range(4), domains)
        again = values[:, rows][:, :, columns].reshape(2, -1)
        if np.ptp(again, axis=1).all():
            expected.append(stats.pearsonr(*again).statistic)
    places = [(f"s{row}", f"d{column}") for row in range(5) for column in range(4)]
    correlations = resampled_correlations(values.reshape(2, -1), *zip(*places, strict=True))
    assert correlations[: len(expected)] == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "domains"), [(6, 7), (12, 4)])
def test_resampled_correlation_interval_covers_dependent_cells(systems: int, domains: int) -> None:
    rng, covered, independent = np.random.default_rng(2), 0, 0
    places = [(f"s{row}", f"d{column}") for row in range(systems) for column in range(domains)]
    true = (0.6 + 0.3 + 0.2) / 3
    for _ in range(200):
        values = _crossed(rng, systems, domains).reshape(2, -1)
        low, high = np.quantile(resampled_correlations(values, *zip(*places, strict=True)), (0.025, 0.975))
        covered += int(low <= true <= high)
        ends = stats.pearsonr(*values).confidence_interval()
        independent += int(ends.low <= true <= ends.high)
    assert (covered >= 184, independent < 176) == (True, True)


@pytest.mark.parametrize(
    ("rates", "expected", "all_alike"),
    [
        ((0.8, 0.6, 0.4), ["d2"], False),
        ((0.2, 0.6, 0.2), ["d0", "d2"], False),
        ((0.5, 0.5), ["d0", "d1"], True),
        ((), [], True),
    ],
)
def test_weakest_domains_have_lowest_rate(
    rates: tuple[float, ...], expected: list[str], all_alike: bool
) -> None:
    lines = {f"d{at}": [_line("a", 9, rate, None)] for at, rate in enumerate(rates)}
    cells, everywhere = grid_of(_board(lines)).weakest("a", "win_tie_rate")
    assert ([cell.domain for cell in cells], everywhere) == (expected, all_alike)
