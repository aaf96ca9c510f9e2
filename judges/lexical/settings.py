"""The constants of the embedded judge, with the values that its specs start from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class LexicalSettings(BaseModel):
    """How the parts of an answer's score are weighed.

    Attributes:
        chance: The share of a statement's weight that any text on the topic has; the gist is not there yet.
        full: The share from which the gist of a statement is there, since who says it in other words
            shares no more.
        wording: How much of a statement counts by its share alone, up to its last word.
        balance: How much of the coverage is averaged over passages (by square roots, so that covering
            every passage beats covering one in full); the rest is averaged over statements.
        contradiction: What one contradiction costs at full strength.
        untrue_from: A sentence with a contradiction of this strength covers nothing.
        most_contradictions: Contradictions beyond this many (summed strengths) cost no more.
        padding: What an answer costs that is all unsupported or repeated.
        tie_band: Scores closer than this tie.
        scale: The score difference at which the margin is tanh(1) = 0.76.
        covered_from: The share of a statement's weight from which it counts as covered in the reasons.
        questions: How many questions' analyses are kept.
        answers: How many answers' analyses are kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    chance: Share = 0.1
    full: Share = 0.4
    wording: Share = 0.2
    balance: Share = 0.6
    contradiction: Share = 0.2
    untrue_from: Share = 0.5
    most_contradictions: Annotated[float, Field(ge=0, le=100)] = 3.0
    padding: Share = 0.05
    tie_band: Share = 0.005
    scale: Annotated[float, Field(gt=0, le=1)] = 0.25
    covered_from: Share = 0.5
    questions: Annotated[int, Field(ge=1)] = 256
    answers: Annotated[int, Field(ge=1)] = 4096


def read_settings(name: str, values: Mapping[str, bool | int | float | str]) -> LexicalSettings:
    """Check the settings of a judge spec.

    Raises:
        SpecError: A setting is unknown or out of bounds.
    """
    try:
        return LexicalSettings.model_validate(dict(values))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        message = f"Judge spec {name} has lexical settings that cannot be used: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(LexicalSettings.model_fields)}.") from error
