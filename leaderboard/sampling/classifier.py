"""The classifier among cheap judges: what it weighs, for people to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from data.errors import InputError, RecordError, StatisticsError
from data.records.plain import to_json
from leaderboard.sampling.cheap_judge import fitted

Floats = NDArray[np.float64]
EVEN = 0.5
LEAST_TRAINING = 20
"""Verdicts below which no classifier is trained, since its weights would be noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """A logistic regression without intercept on differences of side a's and side b's features.

    Attributes:
        features: Their names.
        scales: The standard deviation that each is divided by.
        coefficients: Log odds for side a of one standard deviation more.
        verdicts: How many it was trained on.
        trained_on: The round whose verdicts those are.
        set_name: The question set of that round.
    """

    features: tuple[str, ...]
    scales: tuple[float, ...]
    coefficients: tuple[float, ...]
    verdicts: int
    trained_on: str
    set_name: str

    def shares(self, features: Floats) -> Floats:
        """(N,) share of the win that side a is predicted to get, from (N, F) features."""
        odds = (features / np.array(self.scales)) @ np.array(self.coefficients)
        shares: Floats = 1 / (1 + np.exp(-odds))
        return shares

    def as_json(self) -> dict[str, object]:
        """The fields as a JSON object."""
        return to_json(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, object]) -> Classifier:
        """Read what `as_json` wrote.

        Raises:
            RecordError: A field is missing or of another kind.
        """
        try:
            read: Classifier = TypeAdapter(cls).validate_python(dict(fields))
        except ValidationError as error:
            message = f"This is no trained classifier: {error.errors()[0]['msg']}."
            raise RecordError(message, advice="Train it again.") from error
        return read


def train(
    features: Floats, names: tuple[str, ...], verdicts: Floats, *, trained_on: str, set_name: str
) -> Classifier:
    """Train a classifier on all verdicts there are.

    Args:
        features: (N, F) of side a less those of side b.
        names: What the columns are.
        verdicts: (N,) shares of side a; NaN where there is none.
        trained_on: The round whose verdicts they are.
        set_name: Its question set.

    Raises:
        InputError: Names, features and verdicts differ in number.
        StatisticsError: There are fewer than 20 verdicts.
    """
    if features.shape != (len(verdicts), len(names)):
        message = f"{features.shape} features, {len(names)} names and {len(verdicts)} verdicts differ."
        raise InputError(message, advice="Give a row for each battle and a column for each name.")
    known = np.isfinite(verdicts)
    if known.sum() < LEAST_TRAINING:
        message = f"{int(known.sum())} verdicts train no classifier."
        raise StatisticsError(message, advice=f"Judge at least {LEAST_TRAINING} battles.")
    scale = features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = fitted(features[known] / scale, verdicts[known])
    return Classifier(
        features=names,
        scales=tuple(scale.tolist()),
        coefficients=tuple(model.coef_[0].tolist()),
        verdicts=int(known.sum()),
        trained_on=trained_on,
        set_name=set_name,
    )
