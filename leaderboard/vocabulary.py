"""Enumerations shared by commands and ratings; the module imports nothing heavy."""

from enum import StrEnum

OVERALL = "overall"
"""Name of the results over all domains."""

COMMON_QUESTIONS_NOTE = "Only questions that both systems of a pair answered are compared."
"""Note on boards of rounds that skip missing answers."""


def partial_mark(answers: int, questions: int) -> str:
    """Mark a system that answered only some of the questions; empty if it answered all."""
    return f"partial ({answers:,} of {questions:,})" if answers < questions else ""


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
    """Properties other than quality that may bias a judge: length in words, counts of markup, position."""

    LENGTH = "length"
    HEADINGS = "headings"
    BOLD = "bold"
    LISTS = "lists"
    POSITION = "position"


COVARIATES = "covariates"
"""Key of the fits with covariates in a board's JSON."""
COUNTS = (Covariate.LENGTH, Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS)
"""Covariates counted in the text of an answer."""


class TableFormat(StrEnum):
    """Table formats on the terminal."""

    CSV = "csv"
    MARKDOWN = "md"
    LATEX = "latex"


class BoardForm(StrEnum):
    """File formats of a board."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"

    @property
    def ending(self) -> str:
        """Suffix of the file name."""
        return _BOARD_FILES[self][0]

    @property
    def media_type(self) -> str:
        """Media type of the file."""
        return _BOARD_FILES[self][1]


_BOARD_FILES = {
    BoardForm.CSV: (".csv", "text/csv"),
    BoardForm.JSON: (".json", "application/json"),
    BoardForm.PARQUET: (".parquet", "application/vnd.apache.parquet"),
}
