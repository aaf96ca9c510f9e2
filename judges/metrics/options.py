"""Options of metrics, checked by the model of their family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from data.errors import SpecError
from data.files.jsonl import in_words
from data.models import Json

Model = TypeVar("Model", bound=BaseModel)


def read_options(model: type[Model], name: str, options: Mapping[str, Json]) -> Model:
    """Check the options of a metric, filling in the defaults.

    Raises:
        SpecError: An option is unknown or out of bounds.
    """
    try:
        return model.model_validate(dict(options))
    except ValidationError as error:
        problems = "; ".join(in_words(error))
        message = f"The metric {name} cannot use its options: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(model.model_fields)}.") from error
