"""The constants of the embedded judge, with the values that its specs start from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.jsonl import in_words

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class LexicalSettings(BaseModel):
    """How the parts of an answer's score are weighed.

    Attributes:
        topic: What a term of the question weighs beside any other term.
        kin: What a related word counts beside the word itself.
        words: Weight of the terms' overlap with the reference; likewise of its sentences and its pairs of
            neighbouring terms. The three sum to 1.
        sentences: See `words`.
        pairs: See `words`.
        passages: Weight of the share of the passages that an answer says, beside a reference.
        chance: The share of a sentence's weight that any text on the topic has.
        full: The share from which a sentence is said, since who says it in other words shares no more.
        recall: How much more recall counts than precision (β of the F-measure) against a reference.
        recall_of_passages: The same against passages.
        neighbours: The share of known terms standing as in the question's texts from which a text is prose.
        direction: The balance of pairs in and against the texts' order, from which it is.
        doubt: Pairs in order that every answer is credited with, so that few pairs tell little.
        copied: The share of the passages that an answer may copy where they are the ground truth.
        copied_lengths: How many lengths of the reference it may copy where that is the ground truth.
        length_free: Terms that it may copy there at any rate.
        copies: How much of its score an answer loses for each share of it that is copied beyond that.
        least_copied: Terms that it may copy of passages at any rate.
        length: The share of the passages that an answer may be as long as.
        least_length: Terms that it may have at any rate.
        yes_no: What it counts to begin with the reference's Yes or No, or with the other.
        contradiction: What a contradiction of the question's texts costs at full strength.
        most_contradictions: Contradictions beyond this many (summed strengths) cost no more.
        name: What a name costs that stands in the place of another one.
        most_names: Names beyond this many cost no more.
        tie_band: Scores closer than this tie.
        scale: The score difference at which the margin is tanh(1) = 0.76.
        covered_from: The share of a sentence from which it counts as covered in the reasons.
        questions: How many questions' analyses are kept.
        answers: How many answers' analyses are kept.
    """

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
    name: Annotated[float, Field(ge=0, le=0.05)] = 0.04
    most_names: Annotated[int, Field(ge=0, le=100)] = 3
    tie_band: Share = 0.001
    scale: Annotated[float, Field(gt=0, le=1)] = 0.3
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
        problems = "; ".join(in_words(error))
        message = f"Judge spec {name} has lexical settings that cannot be used: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(LexicalSettings.model_fields)}.") from error
