"""Enumerations shared by commands and ratings; importing them loads nothing else."""

from enum import StrEnum

OVERALL = "overall"
"""Name of the results over all domains."""

COMMON_ALONE = "Only questions that both systems of a pair answered are compared."
"""Note on boards of rounds that skip missing answers."""


def partial_mark(answers: int, asked: int) -> str:
    """Mark a system that answered only some of the questions; empty of others."""
    return f"partial ({answers:,} of {asked:,})" if answers < asked else ""


class Method(StrEnum):
    """Method of estimating ratings."""

    BRADLEY_TERRY = "bradley-terry"
    DAVIDSON = "davidson"
    RAO_KUPPER = "rao-kupper"
    ELO = "elo"
    STYLE = "style"


class IntervalKind(StrEnum):
    """Source of standard errors and intervals."""

    BOOTSTRAP = "bootstrap"
    SANDWICH = "sandwich"


class Cluster(StrEnum):
    """Unit of resampling and clustering: questions, voters (battle files only) or single battles."""

    QUESTION = "question"
    VOTER = "voter"
    NONE = "none"


class Covariate(StrEnum):
    """Properties besides quality that may bias a judge.

    `LENGTH` in words, and how many `HEADINGS`, spans in `BOLD` and items of `LISTS` an answer has.
    `POSITION`: which answer was shown first.
    """

    LENGTH = "length"
    HEADINGS = "headings"
    BOLD = "bold"
    LISTS = "lists"
    POSITION = "position"


COVARIATES = "covariates"
"""The section of a board's JSON that holds what the fits with covariates gave."""
COUNTS = (Covariate.LENGTH, Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS)
"""The covariates that are counts of an answer's text."""


class TableFormat(StrEnum):
    """Forms of a board's table on the terminal."""

    CSV = "csv"
    MARKDOWN = "md"
    LATEX = "latex"


class BoardForm(StrEnum):
    """Forms of a board's file."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"

    @property
    def ending(self) -> str:
        """Ending of the file's name."""
        return _BOARD_FILES[self][0]

    @property
    def media_type(self) -> str:
        """Media type of its file."""
        return _BOARD_FILES[self][1]


_BOARD_FILES = {
    BoardForm.CSV: (".csv", "text/csv"),
    BoardForm.JSON: (".json", "application/json"),
    BoardForm.PARQUET: (".parquet", "application/vnd.apache.parquet"),
}
