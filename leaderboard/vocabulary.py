"""Words that commands and ratings share; importing them loads nothing else."""

from __future__ import annotations

from enum import StrEnum

OVERALL = "overall"
"""What rates and ratings of all domains together are called."""


class Method(StrEnum):
    """How ratings are estimated."""

    BRADLEY_TERRY = "bradley-terry"
    DAVIDSON = "davidson"
    RAO_KUPPER = "rao-kupper"
    ELO = "elo"
    STYLE = "style"


class IntervalKind(StrEnum):
    """Where standard errors and intervals come from."""

    BOOTSTRAP = "bootstrap"
    SANDWICH = "sandwich"


class Cluster(StrEnum):
    """What is resampled, or summed before squaring: whole questions, or single battles."""

    QUESTION = "question"
    NONE = "none"


class VoteRule(StrEnum):
    """What several votes on one battle come to.

    `MEAN`: the mean of their shares of the win. `MAJORITY`: the side that more than half
    of them name, else a tie.
    """

    MEAN = "mean"
    MAJORITY = "majority"


class Covariate(StrEnum):
    """What may bias a judge beside how good answers are.

    `LENGTH` in words, and how many `HEADINGS`, spans in `BOLD`, items of `LISTS` and `CITATIONS` an answer
    has. `POSITION`: which answer was shown first. `SAME_FAMILY`: which answer is of the judge's family of
    models.
    """

    LENGTH = "length"
    HEADINGS = "headings"
    BOLD = "bold"
    LISTS = "lists"
    CITATIONS = "citations"
    POSITION = "position"
    SAME_FAMILY = "same_family"


COVARIATES = "covariates"
"""The section of a board's JSON that holds what the fits with covariates gave."""
CENTRED = (
    "This board was published when differences in counts were centred, which shifts ratings under control "
    "where a system is always on the same side. Publish the round again for the present figures."
)
"""What readers of ratings under control in a board's JSON of shape 1 must know."""
COUNTS = (Covariate.LENGTH, Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS, Covariate.CITATIONS)
"""The covariates that are counts of an answer's text."""


class Control(StrEnum):
    """What ratings may be controlled for."""

    LENGTH = "length"
    STYLE = "style"
    POSITION = "position"
    FAMILY = "family"
    ALL = "all"

    @property
    def words(self) -> str:
        """What readers see for it, after "control for"."""
        return {Control.STYLE: "length and form", Control.ALL: "all of these"}.get(self, self.value)

    @property
    def covariates(self) -> tuple[Covariate, ...]:
        """The terms of the fit."""
        match self:
            case Control.LENGTH:
                return (Covariate.LENGTH,)
            case Control.STYLE:
                return COUNTS
            case Control.POSITION:
                return (Covariate.POSITION,)
            case Control.FAMILY:
                return (Covariate.SAME_FAMILY,)
        return tuple(Covariate)


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
        """What its file is called on the web."""
        return _BOARD_FILES[self][1]


_BOARD_FILES = {
    BoardForm.CSV: (".csv", "text/csv"),
    BoardForm.JSON: (".json", "application/json"),
    BoardForm.PARQUET: (".parquet", "application/vnd.apache.parquet"),
}
