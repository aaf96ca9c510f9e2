"""Reconstruct battle counts from a board published as percentages."""

import csv
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from data.errors import FileFormatError
from leaderboard.battles import BattleTable, Winner
from leaderboard.vocabulary import OVERALL

BUNDLED = "rag-qa-arena"
CARD = ("name", "title", "note", "source", "licence", "judge", "reference", "reference_by")
HALF_STEP = 0.05
"""Rounding error of a printed percentage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRate:
    """Printed percentages of a system in a domain, or `overall`."""

    system: str
    domain: str
    win_percent: float
    win_tie_percent: float


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class PublishedBoard:
    """Published results as battles.

    Attributes:
        reference: Opponent of every system.
        table: Counts of battles as weighted rows. Question ids are artificial, one per row, so ratings and
            rates must not be clustered by question.
    """

    name: str
    title: str
    note: str
    source: str
    licence: str
    judge: str
    reference: str
    reference_by: str
    labels: Mapping[str, str]
    table: BattleTable
    rates: tuple[PrintedRate, ...]


def bundled_board() -> PublishedBoard:
    """Load the bundled board."""
    # `data` is a sibling package, both in a checkout and in an installed wheel.
    return load_published(Path(__file__).parents[2] / "data" / "sets" / BUNDLED)


def load_published(folder: Path) -> PublishedBoard:
    """Load a published board: `board.toml` and the CSV files that it names."""
    card = _card(folder / "board.toml")
    questions = _rows(folder / card["questions"])
    rates = tuple(_rate(row) for row in _rows(folder / card["rates"]))
    counts = {row["domain"]: int(row["questions"]) for row in questions}
    return PublishedBoard(
        **{name: card[name] for name in CARD},
        labels=MappingProxyType({row["domain"]: row["label"] for row in questions}),
        table=battles_from_rates(counts, rates, card["reference"]),
        rates=rates,
    )


def battles_from_rates(
    questions: Mapping[str, int], rates: Sequence[PrintedRate], reference: str
) -> BattleTable:
    """Find counts of wins, ties and losses against the reference that round to the printed percentages.

    Returns:
        Up to three weighted rows for each system and domain; the system is side a.
    """
    systems = tuple(dict.fromkeys(rate.system for rate in rates))
    printed = {(rate.system, rate.domain): rate for rate in rates}
    rows: list[tuple[int, int, Winner, int]] = []
    for code, system in enumerate(systems):
        cells = [_printed(printed, system, domain) for domain in (OVERALL, *questions)]
        sizes = list(questions.values())
        wins = _counts([cell.win_percent for cell in cells], sizes, system)
        not_lost = _counts([cell.win_tie_percent for cell in cells], sizes, system)
        for domain, (size, won, unbeaten) in enumerate(zip(sizes, wins, not_lost, strict=True)):
            rows.append((code, domain, Winner.A, won))
            rows.append((code, domain, Winner.TIE, unbeaten - won))
            rows.append((code, domain, Winner.B, size - unbeaten))
    rows = [row for row in rows if row[3] > 0]
    domains = tuple(questions)
    return BattleTable(
        systems=(*systems, reference),
        questions=tuple(f"{domains[row[1]]}:{systems[row[0]]}:{row[2].name.lower()}" for row in rows),
        domains=domains,
        a=np.array([row[0] for row in rows], dtype=np.int32),
        b=np.full(len(rows), len(systems), dtype=np.int32),
        winner=np.array([row[2] for row in rows], dtype=np.int8),
        question=np.arange(len(rows), dtype=np.int32),
        domain=np.array([row[1] for row in rows], dtype=np.int32),
        weight=np.array([row[3] for row in rows], dtype=np.float64),
    )


def _counts(percents: Sequence[float], sizes: Sequence[int], system: str) -> list[int]:
    overall, parts = percents[0], percents[1:]
    exact = [percent * size / 100 for percent, size in zip(parts, sizes, strict=True)]
    ranges = [_range(percent, size) for percent, size in zip(parts, sizes, strict=True)]
    counts = [min(max(round(value), low), high) for value, (low, high) in zip(exact, ranges, strict=True)]
    lowest, highest = _range(overall, sum(sizes))
    while not lowest <= sum(counts) <= highest:
        step = 1 if sum(counts) < lowest else -1
        room = [index for index, (low, high) in enumerate(ranges) if low <= counts[index] + step <= high]
        if not room:
            message = f"No counts of {system} round to the printed percentages (overall {overall})."
            raise FileFormatError(message, advice="Check the percentages and the numbers of questions.")
        # Adjust the domain whose percentage stays closest to the printed one.
        best = min(room, key=lambda index: abs(counts[index] + step - exact[index]) / sizes[index])
        counts[best] += step
    return counts


def _range(percent: float, size: int) -> tuple[int, int]:
    low = math.ceil((percent - HALF_STEP) * size / 100)
    high = math.floor((percent + HALF_STEP) * size / 100)
    return max(0, low), min(size, high)


def _printed(printed: Mapping[tuple[str, str], PrintedRate], system: str, domain: str) -> PrintedRate:
    try:
        return printed[system, domain]
    except KeyError as error:
        message = f"No printed rate for {system} in {domain}."
        raise FileFormatError(message, advice="Add the row to the rates file.") from error


def _card(path: Path) -> dict[str, str]:
    try:
        return {key: str(value) for key, value in tomllib.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read: {error}."
        raise FileFormatError(message, advice="A published board is a folder with a board.toml.") from error


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as text:
            return list(csv.DictReader(text))
    except (OSError, ValueError, csv.Error) as error:
        message = f"{path} cannot be read: {error}."
        raise FileFormatError(message, advice="Restore the file next to its board.toml.") from error


def _rate(row: Mapping[str, str]) -> PrintedRate:
    return PrintedRate(
        system=row["system"],
        domain=row["domain"],
        win_percent=float(row["win_percent"]),
        win_tie_percent=float(row["win_tie_percent"]),
    )
