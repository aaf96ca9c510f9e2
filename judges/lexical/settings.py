"""The constants of the embedded judge, with the values that its specs start from."""

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
        topic, kin: The weights of a term of the question, and of a related word.
        words, sentences, pairs: Weights of the three overlaps with a reference; they sum to 1.
        passages: Weight of the share of the passages that an answer says, beside a reference.
        chance, full: The share of a sentence's weight that any text on the topic has, and the share from
            which it is said.
        recall, recall_of_passages: How much more recall counts than precision (β of the F-measure).
        neighbours, direction, doubt: The share of known terms in the texts' order from which a text is
            prose, the balance of pairs in and against that order, and pairs that every answer is credited.
        copied, copied_lengths, length_free, least_copied: What an answer may copy: a share of the passages
            where they are the ground truth, lengths of the reference, and terms at any rate.
        copies: How much of its score an answer loses for each share of it that is copied beyond that.
        length, least_length: The share of the passages that an answer may be as long as, and terms.
        yes_no: What it counts to begin with the reference's Yes or No, or with the other.
        contradiction, most_contradictions: The cost of one at full strength, and how many count.
        least_lead, more_facts: The least lead over an answer that contradicts a fact of the reference that
            the other covers, and the facts by which the first must be ahead to win nevertheless.
        name, most_names: The cost of a name in the place of another one, and how many count.
        tie_band, scale: Scores closer than this tie; the difference at which the margin is tanh(1).
        covered_from: The share of a sentence from which it counts as covered in the reasons.
        questions, answers: How many analyses of each are kept.
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
        message = f"Judge spec {name} has lexical settings that cannot be used: {problems}."
        raise SpecError(message, advice=f"Known: {', '.join(LexicalSettings.model_fields)}.") from error
