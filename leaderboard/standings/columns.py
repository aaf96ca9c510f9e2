"""Columns of a board; `columns.toml` defines them for pages, files, print and commands.

A column reads a line of `board_lines`. Metrics define more columns; votes have a separate section.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard.standings.places import lines_among_systems
from leaderboard.standings.sections import NOT_REPORTED, facts_by_system, people_ratings
from leaderboard.vocabulary import OVERALL

Json = Mapping[str, Any]
Read = Callable[[Json], Any]


class Surface(Enum):
    """Surface that shows a column."""

    FILES = 1
    """CSV, JSON rows and Parquet, with the descriptions of their fields."""
    PAGES = 2
    """The table of the board in HTML."""
    TERMINAL = 3
    """The tables of commands, including Markdown and LaTeX."""


class Unit(StrEnum):
    """Unit of a column, which decides its format."""

    TEXT = ""
    POINTS = "points"
    PLACE = "place"
    NUMBER = "number"
    COUNT = "count"
    SHARE = "share, 0–1"
    WORDS = "words"
    PARAMETERS = "parameters"
    TOKENS = "tokens per answer"
    USD = "US dollars per answer"
    MILLISECONDS = "milliseconds per answer"


PRINT_ORDER = {Unit.PLACE: 0, Unit.TEXT: 1, Unit.COUNT: 3}
MARKS = "marks"
"""Key of the marks that `marked` adds to system names."""


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column of a board.

    Attributes:
        name: Name in files.
        ends: Columns with the ends of its 95 % interval; None without an interval.
        heading: Heading on pages and in print; the name if empty.
        short: Heading for narrow tables.
        help: Explanation on the page, in addition to the meaning.
        place: Position on the page, from 1; columns with 0 follow in the order of files.
        usual: Whether the page shows it by default.
        least_first: Whether sorting is ascending by default.
        self_reported: Whether teams report it; only boards with such reports show it.
        sparse: Whether files contain it only if some line has a value.
    """

    name: str
    meaning: str
    read: Read
    unit: Unit = Unit.TEXT
    kind: type[str | int | float] = float
    ends: tuple[str, str] | None = None
    heading: str = ""
    short: str = ""
    help: str = ""
    surfaces: frozenset[Surface] = field(default_factory=lambda: frozenset(Surface))
    place: int = 0
    usual: bool = False
    least_first: bool = False
    self_reported: bool = False
    sparse: bool = False

    @property
    def title(self) -> str:
        """Heading of the column."""
        return self.heading or self.name

    @property
    def key(self) -> str:
        """Name in a URL."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def explained(self) -> str:
        """Meaning and help, for the page."""
        return f"{self.meaning}. {self.help}".strip().replace("..", ".")


def _reader(path: str) -> Read:
    """Return a function that reads a field of a line by its path; empty text if absent."""
    section, _, rest = path.partition(".")
    if not rest:
        return lambda line: line.get(section, "")

    def read(line: Json) -> Any:  # noqa: ANN401 - any value of a line
        value: Any = line
        for name in path.split("."):
            value = (value or {}).get(name)
        return value

    return read


def _flags(line: Json) -> str:
    return " ".join((line["rating"] or {}).get("flags", ()))


def declined_share(line: Json) -> float | None:
    """Return the share of a system's answers that decline; older boards are supported."""
    declined = line.get("declined") or {"share": line.get("no_answer_share")}
    share: float | None = declined["share"]
    return share


KINDS: Mapping[str, type[str | int | float]] = {"str": str, "int": int, "float": float}


@cache
def columns() -> tuple[BoardColumn, ...]:
    """Return the columns of `columns.toml` in the order of files.

    `from` is the path of a field in a line, by default the column's name.
    """
    computed: Mapping[str, Read] = {"declined": declined_share, "flags": _flags}
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    entries = []
    for row in tomllib.loads(text)["column"]:
        path = row.pop("from", row["name"])
        words: dict[str, Any] = {
            "read": computed.get(row["name"]) or _reader(path),
            "unit": Unit[row.pop("unit", "text").upper()],
            "kind": KINDS[row.pop("kind", "float")],
            "ends": tuple(row.pop("ends", ())) or None,
            "surfaces": frozenset(Surface[name.upper()] for name in row.pop("surfaces", Surface.__members__)),
        }
        entries.append(BoardColumn(**row, **words))
    return tuple(entries)


def columns_on(surface: Surface) -> tuple[BoardColumn, ...]:
    """Return the columns of a surface in order."""
    on_surface = [column for column in columns() if surface in column.surfaces]
    if surface is Surface.PAGES:
        on_surface.sort(key=lambda column: column.place or len(columns()))
    elif surface is not Surface.FILES:
        on_surface.sort(key=lambda column: PRINT_ORDER.get(column.unit, 2))
    return tuple(on_surface)


def column_named(name: str) -> BoardColumn | None:
    """Return a column by name."""
    return next((column for column in columns() if column.name == name), None)


def marked(standings: Json, marks: Mapping[str, str]) -> Json:
    """Add marks of systems to standings, for files other than JSON."""
    return {**standings, MARKS: marks} if marks else standings


def board_lines(standings: Json) -> Mapping[str, Sequence[Json]]:
    """Return the lines of a board by domain, for the columns.

    A line has the fields of the standings, the domain, and the system's attempts, mark, self-reported facts
    and corrected rating. The rate of the reference moves to `rate_against_all` on older boards.
    """
    reports, attempts = facts_by_system(standings), standings.get("attempts") or {}
    marks, people = standings.get(MARKS) or {}, people_ratings(standings)
    reference = standings.get("reference")
    return {
        domain: [
            {
                **line,
                "domain": domain,
                "rate": None if line["system"] == reference else line["rate"],
                "rate_against_all": (line.get("rate_against_all") or line["rate"])
                if line["system"] == reference
                else None,
                "attempts": attempts.get(line["system"]),
                "mark": marks.get(line["system"], line.get("partial", "")),
                "self_reported": reports.get(line["system"], NOT_REPORTED).cells(),
                "people": (people.get(line["system"]) if domain == OVERALL else None) or {},
            }
            for line in lines_among_systems(lines, reference)
        ]
        for domain, lines in standings["lines"].items()
    }
