"""Constants of the embedded judge and their defaults."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.strict_json import in_words

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class LexicalSettings(BaseModel):
    """Constants of an answer's score; docs/method/lexical.md has the formulas and guards that use them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: Annotated[float, Field(gt=0, le=1)] = 0.1
    kin: Share = 0.5
    words: Share = 0.7
    sentences: Share = 0.2
    pairs: Share = 0.1
    passages: Share = 0.15
    chance: Share = 0.1
    full: Share = 0.6
    recall: Positive = 1.5
    recall_of_passages: Positive = 1.25
    neighbours: Share = 0.2
    direction: Annotated[float, Field(gt=0, le=1)] = 0.5
    doubt: Positive = 8.0
    copied: Share = 0.2
    copied_lengths: Positive = 1.5
    length_free: Annotated[int, Field(ge=0)] = 60
    copies: Positive = 1.5
    least_copied: Annotated[int, Field(ge=0)] = 30
    length: Share = 0.4
    least_length: Annotated[int, Field(ge=1)] = 50
    yes_no: Share = 0.15
    contradiction: Share = 0.15
    most_contradictions: Annotated[float, Field(ge=0, le=100)] = 3.0
    least_lead: Annotated[float, Field(gt=0, le=1)] = 0.05
    more_facts: Annotated[int, Field(ge=0)] = 1
    name: Annotated[float, Field(ge=0, le=0.05)] = 0.04
    most_names: Annotated[int, Field(ge=0, le=100)] = 3
    tie_band: Share = 0.001
    scale: Annotated[float, Field(gt=0, le=1)] = 0.3
    covered_from: Share = 0.5
    questions: Annotated[int, Field(ge=1)] = 256
    answers: Annotated[int, Field(ge=1)] = 4096


def read_settings(name: str, values: Mapping[str, bool | int | float | str]) -> LexicalSettings:
    """Check the settings of a judge spec."""
    try:
        return LexicalSettings.model_validate(dict(values))
    except ValidationError as error:
        problems = "; ".join(in_words(error))
        message = f"Judge spec {name} has invalid lexical settings: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(LexicalSettings.model_fields)}.") from error
