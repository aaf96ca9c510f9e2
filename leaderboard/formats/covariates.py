"""The columns of covariates of a battle file, as the terms of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from leaderboard.formats.rows import covariate_columns
from leaderboard.ratings import CovariateColumn, LeftOutCovariate, marked_column, relative_columns
from leaderboard.ratings.models.covariates import FIRST, OWN_FAMILY
from leaderboard.vocabulary import COUNTS, Covariate

Cells = Mapping[str, NDArray[np.float64]]


def chosen_cells(file: str, cells: Cells, asked: Sequence[Covariate] | None) -> Cells:
    """The columns of the covariates that were asked for, or of all that a file has.

    Args:
        file: The file's name, for messages.
        cells: (N,) values by column, those that stand in the file.
        asked: The covariates; None for all of the file.

    Raises:
        InputError: A column is missing, or the file has none.
    """
    chosen = asked or [each for each in Covariate if any(name in cells for name in covariate_columns(each))]
    if not chosen:
        listed = ", ".join(name for each in Covariate for name in covariate_columns(each))
        raise InputError(f"{file} has no column that style control reads.", advice=f"Add some of {listed}.")
    for covariate in chosen:
        for name in covariate_columns(covariate):
            if name not in cells:
                raise InputError(
                    f"{file} has no column {name}, which control for {covariate.value} needs.",
                    advice="Add it, or choose other --covariates.",
                )
    return {name: cells[name] for covariate in chosen for name in covariate_columns(covariate)}


def covariate_terms(cells: Cells) -> tuple[tuple[CovariateColumn, ...], tuple[LeftOutCovariate, ...]]:
    """The terms of a fit from columns without empty cells, and counts that differ in no battle."""
    rows = len(next(iter(cells.values())))
    counts = {each.value: sides for each in COUNTS if (sides := _sides(cells, each)) is not None}
    columns, constant = relative_columns(counts, rows)
    marks = []
    if Covariate.POSITION in cells:
        marks.append(marked_column(Covariate.POSITION, cells[Covariate.POSITION], FIRST))
    family = _sides(cells, Covariate.SAME_FAMILY)
    if family is not None:
        marks.append(marked_column(Covariate.SAME_FAMILY, family[0] - family[1], OWN_FAMILY))
    return (*columns, *marks), constant


def _sides(cells: Cells, covariate: Covariate) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    first, second = covariate_columns(covariate)
    return (cells[first], cells[second]) if first in cells else None
