"""Grid of a board: win rates and scores of every system in every domain, and their correlation."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from statistics import StatisticsError, correlation
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from leaderboard.standings.columns import board_lines
from leaderboard.stats import SEED, Floats
from leaderboard.vocabulary import OVERALL

FEW_QUESTIONS = 20
"""Cells with fewer questions are marked, and have no rating, since it would mostly equal the overall one."""
STEPS = 7
"""Shades of a cell."""
MIN_CELLS = 4
RESAMPLES = 1000
SPREAD = 1e-9
"""Share of a sum of squares below which a resample's values are all alike."""
WINS: Mapping[str, tuple[str, str, str]] = {
    "win_tie_rate": ("rate", "win_tie_lower", "win_tie_upper"),
    "win_rate": ("rate", "lower", "upper"),
    "rating": ("rating", "lower", "upper"),
}
"""Figures of battles: section of a line, and ends of the interval."""
METHOD = "Pearson's r; 95 % interval by a bootstrap of both systems and domains (Owen 2007)"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class GridFigure(_Model):
    """Figure with its 95 % interval, if any."""

    value: float
    lower: float | None = None
    upper: float | None = None


class GridCell(_Model):
    """One system in one domain, with the number of judged questions; `few` is true below 20."""

    system: str
    domain: str
    questions: int
    few: bool
    figures: dict[str, GridFigure]


class GridCorrelation(_Model):
    """Correlation of a win figure with a score over the cells that have both."""

    win: str
    score: str
    value: float
    lower: float
    upper: float
    cells: int


class Grid(_Model):
    """System × domain; figures are shares 0–1, ratings are points, scores are in their metric's unit."""

    systems: tuple[str, ...] = ()
    domains: dict[str, str] = {}
    wins: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    cells: tuple[GridCell, ...] = ()
    correlations: tuple[GridCorrelation, ...] = ()
    method: str = METHOD

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], GridCell]:
        return {(cell.system, cell.domain): cell for cell in self.cells}

    def cell(self, system: str, domain: str) -> GridCell | None:
        """Return the cell of a system in a domain; None if no battle was judged."""
        return self._by_place.get((system, domain))

    def weakest(self, system: str, win: str) -> tuple[tuple[GridCell, ...], bool]:
        """Return the cells with a system's lowest figure, and whether they are all of its cells."""
        cells = [cell for cell in self.cells if cell.system == system and win in cell.figures]
        lowest = min((cell.figures[win].value for cell in cells), default=0.0)
        weakest = tuple(cell for cell in cells if cell.figures[win].value == lowest)
        return weakest, len(weakest) == len(cells)

    def correlation(self, win: str, score: str) -> GridCorrelation | None:
        """Return the correlation of two figures; None if too few cells have both."""
        return next((row for row in self.correlations if (row.win, row.score) == (win, score)), None)

    def questions(self, domain: str) -> int:
        """Return the largest number of judged questions of any system in a domain."""
        return max((cell.questions for cell in self.cells if cell.domain == domain), default=0)

    def step(self, win: str, cell: GridCell) -> int:
        """Return the shade of a cell, 1 to `STEPS`: rates are relative to 0–1, ratings to their range."""
        low, high = 0.0, 1.0
        if win == "rating":
            values = [each.figures[win].value for each in self.cells if win in each.figures]
            low, high = min(values), max(values)
        share = (cell.figures[win].value - low) / (high - low or 1.0)
        return min(STEPS, 1 + int(STEPS * share))

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield one row per figure, for files."""
        for cell in self.cells:
            for measure, figure in cell.figures.items():
                keys = cell.model_dump(include={"system", "domain", "questions", "few"})
                yield keys | {"measure": measure} | figure.model_dump()


def grid_of(standings: Mapping[str, Any]) -> Grid:
    """Return the grid of a board's JSON, best system first, without the reference and unjudged cells."""
    lines, reference = board_lines(standings), standings.get("reference")
    cells = tuple(
        GridCell(
            system=line["system"],
            domain=domain,
            questions=questions,
            few=questions < FEW_QUESTIONS,
            figures=dict(_figures(line, few=questions < FEW_QUESTIONS)),
        )
        for domain, part in lines.items()
        for line in part
        if domain != OVERALL and line["system"] != reference
        if (questions := round((line["rate"] or {}).get("questions") or 0))
    )
    present = {name for cell in cells for name in cell.figures}
    wins = tuple(name for name in WINS if name in present)
    scores = tuple(sorted(present - WINS.keys()))
    used = {cell.domain for cell in cells}
    return Grid(
        systems=tuple(line["system"] for line in lines[OVERALL] if line["system"] != reference),
        domains={row["id"]: row["label"] for row in standings["domains"] if row["id"] in used},
        wins=wins,
        scores=scores,
        cells=cells,
        correlations=tuple(
            row for win in wins for score in scores if (row := _correlated(cells, win, score)) is not None
        ),
    )


def _figures(line: Mapping[str, Any], *, few: bool) -> Iterator[tuple[str, GridFigure]]:
    for name, (section, *ends) in WINS.items():
        fields = line[section] or {}
        if fields.get(name) is not None and not (few and name == "rating"):
            lower, upper = map(fields.get, ends)
            yield name, GridFigure(value=fields[name], lower=lower, upper=upper)
    for name, score in line["scores"].items():
        if score["mean"] is not None:
            yield name, GridFigure(value=score["mean"], lower=score["lower"], upper=score["upper"])


def _correlated(cells: tuple[GridCell, ...], win: str, score: str) -> GridCorrelation | None:
    both = [cell for cell in cells if win in cell.figures and score in cell.figures]
    if len(both) < MIN_CELLS:
        return None
    values = [(cell.figures[win].value, cell.figures[score].value) for cell in both]
    try:
        value = correlation(*zip(*values, strict=True))
    except StatisticsError:
        return None
    places = ([cell.system for cell in both], [cell.domain for cell in both])
    drawn = resampled_correlations(np.array(values).T, *places)
    lower, upper = map(float, np.quantile(drawn, (0.025, 0.975)))
    return GridCorrelation(win=win, score=score, value=value, lower=lower, upper=upper, cells=len(both))


def resampled_correlations(pairs: Floats, systems: Sequence[str], domains: Sequence[str]) -> Floats:
    """Return Pearson's r of (2, cells) values over resamples of both systems and domains (Owen 2007).

    Cells of one system, and those of one domain, are alike: they do not count as independent. Resamples
    without spread are left out.
    """
    rng, drawn, places = np.random.default_rng(SEED), [], []
    for names in (systems, domains):
        different, place = np.unique(names, return_inverse=True)
        shares = np.full(len(different), 1 / len(different))
        drawn.append(rng.multinomial(len(different), shares, RESAMPLES).astype(float))
        places.append(place)
    first, second = pairs - pairs.mean(axis=1, keepdims=True)
    terms = np.zeros((6, drawn[0].shape[1], drawn[1].shape[1]))
    terms[:, places[0], places[1]] = first**0, first, second, first**2, second**2, first * second
    count, a, b, aa, bb, ab = (drawn[0] @ terms * drawn[1]).sum(axis=2)
    spread_a, spread_b = count * aa - a**2, count * bb - b**2
    spread = (spread_a > SPREAD * count * aa) & (spread_b > SPREAD * count * bb)
    correlations: Floats = (count * ab - a * b)[spread] / np.sqrt(spread_a[spread] * spread_b[spread])
    return correlations.clip(-1.0, 1.0)
