"""Constants of the embedded judge and their defaults."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import SpecError
from data.files.strict_json import in_words

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class LexicalSettings(BaseModel):
    """Constants of an answer's score.

    Attributes:
        topic, kin: Weights of a term of the question, and of a related word.
        words, sentences, pairs: Weights of the three overlaps with a reference; they sum to 1.
        passages: Weight of an answer's coverage of the passages next to a reference.
        chance, full: Share of a sentence's weight that any text on the topic covers, and the share from
            which the sentence counts as fully covered.
        recall, recall_of_passages: How much more recall counts than precision (β of the F-measure).
        neighbours, direction, doubt: Share of known terms in the texts' order from which a text is prose,
            required balance of pairs in and against that order, and pairs credited to every answer.
        copied, copied_lengths, length_free, least_copied: Limits of copying: a share of the passages where
            they are the ground truth, a multiple of the reference's length, and minimum numbers of terms.
        copies: Penalty per share of the answer that is copied beyond the limit.
        length, least_length: Maximum length as a share of the passages, and in terms.
        yes_no: Gain or loss for beginning with the same Yes or No as the reference, or with the opposite.
        contradiction, most_contradictions: Cost of a contradiction at full strength, and how many count.
        least_lead, more_facts: Minimum lead over an answer that contradicts a fact of the reference that
            the other answer covers, and the lead in facts that overrides it.
        name, most_names: Cost of a misplaced name, and how many count.
        tie_band, scale: Scores closer than this tie; the difference at which the margin is tanh(1).
        covered_from: Share of a sentence from which the reasons list it as covered.
        questions, answers: Sizes of the caches of analyses.
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
