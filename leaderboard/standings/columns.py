"""Columns of a board; `COLUMNS` defines them for pages, files, print and commands.

A column reads a line of `board_lines`. Metrics define their own columns; votes have a separate section.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
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
    """The tables of commands, also as Markdown and LaTeX."""


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
"""Placeholder for the marks that `marked` adds to names of systems."""
FILES_ALONE = frozenset({Surface.FILES})
PAGES_ALONE = frozenset({Surface.PAGES})
FILES_AND_PAGES = FILES_ALONE | PAGES_ALONE
IN_PRINT_TOO = FILES_ALONE | {Surface.TERMINAL}


@dataclass(frozen=True, slots=True)
class BoardColumn:
    """A column of a board.

    Attributes:
        name: Name in files.
        ends: The columns with the ends of its 95 % interval; none if it has no interval.
        heading: Heading on pages and in print; the name if empty.
        short: Heading for narrow tables.
        help: Explanation for readers of the page, besides the meaning.
        place: Position on the page, from 1; columns with 0 follow in their order here.
        usual: Whether the page shows it by default.
        least_first: Whether sorting puts the least first.
        said: Whether it is self-reported; only boards with such reports show it.
        seldom: Whether only files of boards with some value contain it.
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
    said: bool = False
    seldom: bool = False

    @property
    def title(self) -> str:
        """Heading of the column."""
        return self.heading or self.name

    @property
    def key(self) -> str:
        """Its name in an address."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def explained(self) -> str:
        """Meaning of the column for readers of the page."""
        return f"{self.meaning}. {self.help}".strip().replace("..", ".")


def _of(section: str, name: str) -> Read:
    return lambda line: (line[section] or {}).get(name)


def _line(name: str) -> Read:
    return lambda line: line[name]


def _in_files(
    section: str,
    name: str,
    meaning: str,
    unit: Unit,
    kind: type[str | int | float] = float,
    field_name: str = "",
    *,
    surfaces: frozenset[Surface] = FILES_ALONE,
) -> BoardColumn:
    seldom = section == "people"
    read = _of(section, field_name or name)
    return BoardColumn(name, meaning, read, unit, kind, surfaces=surfaces, seldom=seldom)


def _of_team(
    name: str,
    meaning: str,
    *,
    heading: str = "",
    unit: Unit = Unit.TEXT,
    kind: type[str | int | float] = str,
    least_first: bool = True,
) -> BoardColumn:
    return BoardColumn(
        name,
        meaning,
        _of("said", name),
        unit,
        kind,
        heading=heading,
        surfaces=FILES_AND_PAGES if heading else FILES_ALONE,
        least_first=least_first,
        said=True,
    )


def declined_share(line: Json) -> float | None:
    """Return the share of a system's answers that decline; older boards have it under another name."""
    declined = line.get("declined") or {"share": line.get("no_answer_share")}
    share: float | None = declined["share"]
    return share


def _of_declines(name: str, field_name: str, meaning: str, heading: str) -> tuple[BoardColumn, ...]:
    """Make the columns of a share of questions: the share with its interval, and both counts in files."""

    def read(part: str) -> Read:
        return lambda line: ((line.get("declined") or {}).get(field_name) or {}).get(part)

    ends = (f"{name}_lower", f"{name}_upper")
    share = BoardColumn(
        name,
        f"{meaning}, of all of them",
        read("share"),
        Unit.SHARE,
        heading=heading,
        help="With its 95 % interval. A missing answer counts as neither.",
        ends=ends,
        usual=True,
        seldom=True,
    )
    further = (
        (ends[0], "The lower end of that share's 95 % interval", "lower", Unit.SHARE),
        (ends[1], "The upper end of that share's 95 % interval", "upper", Unit.SHARE),
        (f"{name}_count", "How many questions that share is", "count", Unit.COUNT),
        (f"{name}_of", "Of how many questions that share is", "of", Unit.COUNT),
    )
    return share, *(
        BoardColumn(
            column,
            said,
            read(part),
            unit,
            int if unit is Unit.COUNT else float,
            surfaces=FILES_ALONE,
            seldom=True,
        )
        for column, said, part, unit in further
    )


COLUMNS: tuple[BoardColumn, ...] = (
    BoardColumn(
        "domain", "The domain's id; overall is all together", _line("domain"), kind=str, surfaces=FILES_ALONE
    ),
    BoardColumn(
        "system",
        "A system that answered the questions",
        _line("system"),
        kind=str,
        heading="System",
        help="Its name leads to its page; the mark at the end of its row opens its detail.",
        place=2,
        usual=True,
        least_first=True,
    ),
    BoardColumn(
        "rating",
        "Bradley-Terry strength on the Elo scale: 400 points more mean ten times the odds to win a "
        "battle; empty where there is none",
        _of("rating", "rating"),
        unit=Unit.POINTS,
        ends=("lower", "upper"),
        heading="Rating",
        help="Dot and bar are the value and its 95 % interval; the dashed line is the reference.",
        place=4,
        usual=True,
    ),
    _in_files("rating", "se", "Standard error of the rating", Unit.POINTS),
    _in_files(
        "rating", "lower", "The lower end of the rating's 95 % interval", Unit.POINTS, surfaces=IN_PRINT_TOO
    ),
    _in_files(
        "rating", "upper", "The upper end of the rating's 95 % interval", Unit.POINTS, surfaces=IN_PRINT_TOO
    ),
    BoardColumn(
        "rank",
        "Place by rating among the systems; the reference takes none",
        _of("rating", "rank"),
        unit=Unit.PLACE,
        kind=int,
        heading="Rank",
        short="#",
        help="Its possible places (95 %). A bracket joins systems whose difference may be chance.",
        ends=("rank_lower", "rank_upper"),
        place=1,
        usual=True,
        least_first=True,
    ),
    _in_files("rating", "rank_lower", "The best place that the battles leave open (95 %)", Unit.PLACE, int),
    _in_files("rating", "rank_upper", "The worst place that the battles leave open (95 %)", Unit.PLACE, int),
    _in_files(
        "rating",
        "tie_group",
        "1 for the leader and all whom the battles do not separate from it, then 2, …",
        Unit.NUMBER,
        int,
    ),
    _in_files(
        "rating",
        "letters",
        "Two systems of a ladder share a letter exactly where the battles do not separate them",
        Unit.TEXT,
        str,
    ),
    _in_files(
        "rating",
        "component",
        "Group of systems whose ratings are on one scale, 0 for the main one",
        Unit.NUMBER,
        int,
    ),
    _in_files(
        "rating",
        "ladder",
        "Systems whose places are counted together, 0 for the main group's",
        Unit.NUMBER,
        int,
    ),
    BoardColumn(
        "flags",
        "What a reader must know of the rating, such as never_wins",
        lambda line: " ".join((line["rating"] or {}).get("flags", ())),
        kind=str,
        surfaces=FILES_ALONE,
    ),
    _in_files(
        "rating",
        "own_evidence",
        "Share of what a domain's rating depends on that its own battles say; the rest is borrowed from the "
        "overall rating, which itself borrows nothing",
        Unit.SHARE,
    ),
    BoardColumn(
        "battles",
        "Judged battles, against the reference where there is one; empty in the reference's own row, "
        "and so are the rates",
        _of("rate", "battles"),
        unit=Unit.COUNT,
        heading="Battles",
        help="On the page below them those behind the rating, where they are others.",
    ),
    _in_files("rate", "wins", "How many of these battles the system won", Unit.COUNT),
    _in_files("rate", "ties", "How many of these battles were tied", Unit.COUNT),
    _in_files("rate", "losses", "How many of these battles the system lost", Unit.COUNT),
    BoardColumn(
        "questions",
        "Questions with a verdict on the system",
        _of("rate", "questions"),
        unit=Unit.COUNT,
        kind=int,
        heading="Questions",
        surfaces=FILES_AND_PAGES,
        place=5,
        usual=True,
    ),
    BoardColumn(
        "win_rate",
        "Share of battles won",
        _of("rate", "win_rate"),
        unit=Unit.SHARE,
        ends=("win_lower", "win_upper"),
        heading="Win",
        help="In per cent, of the battles against the reference where there is one.",
    ),
    _in_files(
        "rate", "win_lower", "The lower end of that share's 95 % interval", Unit.SHARE, field_name="lower"
    ),
    _in_files(
        "rate", "win_upper", "The upper end of that share's 95 % interval", Unit.SHARE, field_name="upper"
    ),
    BoardColumn(
        "win_tie_rate",
        "Share of battles won or tied",
        _of("rate", "win_tie_rate"),
        unit=Unit.SHARE,
        ends=("win_tie_lower", "win_tie_upper"),
        heading="Win + tie",
        help="In per cent, of the battles against the reference where there is one. The bar has battles won, "
        "tied and lost; the small figures are its 95 % interval.",
        place=3,
        usual=True,
    ),
    _in_files("rate", "win_tie_lower", "The lower end of that share's 95 % interval", Unit.SHARE),
    _in_files("rate", "win_tie_upper", "The upper end of that share's 95 % interval", Unit.SHARE),
    _in_files("rate", "mean_score", "Mean share of the win, a tie being a half", Unit.SHARE),
    _in_files("rate", "standard_error", "Standard error of the mean share of the win", Unit.SHARE),
    _in_files("rate", "clustered_error", "The same, counting the battles of a question together", Unit.SHARE),
    BoardColumn(
        "answers", "Answers of the system", _line("answers"), unit=Unit.COUNT, kind=int, surfaces=FILES_ALONE
    ),
    BoardColumn(
        "declined",
        "Share of its answers that decline: they say that they do not know",
        declined_share,
        unit=Unit.SHARE,
        heading="Declined",
        help="In per cent.",
        least_first=True,
        usual=True,
    ),
    *_of_declines(
        "declined_where_should",
        "where_should",
        "Unanswerable questions on which it declines",
        "Declined rightly",
    ),
    *_of_declines(
        "answered_where_should",
        "answered_where_should",
        "Answerable questions that it answers",
        "Answered rightly",
    ),
    BoardColumn(
        "median_words",
        "Median length of the answers",
        _line("median_words"),
        unit=Unit.WORDS,
        heading="Words",
        surfaces=FILES_AND_PAGES,
    ),
    BoardColumn(
        "attempts",
        "How many versions of the system were judged so far",
        _line("attempts"),
        unit=Unit.COUNT,
        heading="Attempts",
        surfaces=PAGES_ALONE,
    ),
    _of_team("organisation", "Who runs the system, as its team says", heading="Organisation"),
    _of_team("model", "The LLM that it uses, as its team says"),
    _of_team("licence", "The system's licence, as its team says", heading="Licence"),
    _of_team("link", "Where more of it is to be read, as its team says"),
    _of_team("open_weights", "Whether its weights are open, as its team says", heading="Weights"),
    _of_team("parameters", "How many parameters it has, as its team says"),
    _of_team("released", "When it was released, as its team says", heading="Released", least_first=False),
    _of_team(
        "parameter_count",
        "How many parameters it has, as a number",
        heading="Parameters",
        unit=Unit.PARAMETERS,
        kind=float,
    ),
    _of_team(
        "tokens",
        "Mean tokens of the answers that report them",
        heading="Tokens",
        unit=Unit.TOKENS,
        kind=float,
    ),
    _of_team("tokens_answers", "On how many answers the mean of tokens depends", unit=Unit.COUNT, kind=int),
    _of_team(
        "usd",
        "Mean price of the answers that report it, in US dollars",
        heading="USD",
        unit=Unit.USD,
        kind=float,
    ),
    _of_team("usd_answers", "On how many answers the mean price depends", unit=Unit.COUNT, kind=int),
    _of_team(
        "milliseconds",
        "Mean time of the answers that report it, in milliseconds",
        heading="ms",
        unit=Unit.MILLISECONDS,
        kind=float,
    ),
    _of_team("milliseconds_answers", "On how many answers the mean time depends", unit=Unit.COUNT, kind=int),
    BoardColumn(
        "corrected_rating",
        "The rating as people would give it: votes on some battles correct the judge's verdicts on "
        "all; it is known overall only",
        _of("people", "rating"),
        unit=Unit.POINTS,
        ends=("corrected_lower", "corrected_upper"),
        heading="People would say",
        help="With its 95 % interval. Ranks are by the judge's ratings.",
        place=5,
        usual=True,
        seldom=True,
    ),
    _in_files(
        "people",
        "corrected_lower",
        "The lower end of that rating's 95 % interval",
        Unit.POINTS,
        field_name="lower",
    ),
    _in_files(
        "people",
        "corrected_upper",
        "The upper end of that rating's 95 % interval",
        Unit.POINTS,
        field_name="upper",
    ),
    _in_files("people", "labelled_battles", "On how many of its battles people voted", Unit.COUNT, int),
    BoardColumn(
        "unranked",
        "Why the system has no rank: it answered too few questions; empty of all others",
        lambda line: line.get("unranked", ""),
        kind=str,
        surfaces=FILES_ALONE,
        seldom=True,
    ),
    BoardColumn(
        "mark",
        "Whether it was withdrawn or disqualified since, or did not answer everything; empty of all others",
        lambda line: line.get("mark", ""),
        kind=str,
        surfaces=FILES_ALONE,
        seldom=True,
    ),
)
"""Every column but those of metrics, in the order of files."""


def columns_on(surface: Surface) -> tuple[BoardColumn, ...]:
    """Return the columns of a surface in order."""
    found = [column for column in COLUMNS if surface in column.surfaces]
    if surface is Surface.PAGES:
        found.sort(key=lambda column: column.place or len(COLUMNS))
    elif surface is not Surface.FILES:
        found.sort(key=lambda column: PRINT_ORDER.get(column.unit, 2))
    return tuple(found)


def column_named(name: str) -> BoardColumn | None:
    """Return the column with a name; None if there is none."""
    return next((column for column in COLUMNS if column.name == name), None)


def marked(standings: Json, marks: Mapping[str, str]) -> Json:
    """Return a board's standings with marks next to names of systems, for files other than JSON."""
    return {**standings, MARKS: marks} if marks else standings


def board_lines(standings: Json) -> Mapping[str, Sequence[Json]]:
    """Return the lines of a board by domain, for the columns.

    Besides the fields of the standings a line has its domain, the system's attempts, its mark (of `marked`),
    its self-reported facts, and its corrected rating.
    The reference has no rates: those of boards published before `rate_against_all` count its battles against
    all.
    """
    said, attempts = facts_by_system(standings), standings.get("attempts") or {}
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
                "said": said.get(line["system"], NOT_REPORTED).cells(),
                "people": (people.get(line["system"]) if domain == OVERALL else None) or {},
            }
            for line in lines_among_systems(lines, reference)
        ]
        for domain, lines in standings["lines"].items()
    }
