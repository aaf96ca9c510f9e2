"""The columns of covariates of a battle file, as the terms of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from leaderboard.formats.rows import covariate_columns
from leaderboard.ratings import CovariateColumn, LeftOutCovariate, marked_column, relative_columns
from leaderboard.ratings.models.covariates import FIRST
from leaderboard.vocabulary import Covariate

Cells = Mapping[str, NDArray[np.float64]]


def chosen_cells(file: str, cells: Cells, asked: Sequence[Covariate] | None) -> Cells:
    """The (N,) columns of the covariates that were asked for, or of all that a file has.

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
                message = f"{file} has no column {name}, which control for {covariate.value} needs."
                raise InputError(message, advice="Add it, or choose other --covariates.")
    return {name: cells[name] for covariate in chosen for name in covariate_columns(covariate)}


def covariate_terms(cells: Cells) -> tuple[tuple[CovariateColumn, ...], tuple[LeftOutCovariate, ...]]:
    """The terms of a fit from columns without empty cells, and counts that differ in no battle."""
    counts = {}
    for covariate in Covariate:
        first, *second = covariate_columns(covariate)
        if second and first in cells:
            counts[covariate.value] = cells[first], cells[second[0]]
    columns, constant = relative_columns(counts, len(next(iter(cells.values()))))
    if Covariate.POSITION in cells:
        columns = (*columns, marked_column(Covariate.POSITION, cells[Covariate.POSITION], FIRST))
    return columns, constant
