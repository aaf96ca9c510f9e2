"""Files that metrics of comprehensiveness are evaluated on: WikiContradict's and ConflictBank's formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from data.errors import FileFormatError
from data.records import MetricItem, Passage

T = TypeVar("T")

ONE_PASSAGE_ANSWERS = 3
"""WikiContradict's first three answers saw no passage or one; what is correct for one is partial for both."""


class Label(StrEnum):
    """How much of both passages an answer has."""

    INCORRECT = "Incorrect"
    PARTIAL = "Partially correct"
    CORRECT = "Correct"


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """An answer with two conflicting passages and its label, adjusted for what the answer could see."""

    item: MetricItem
    label: Label


@dataclass(frozen=True, slots=True)
class ConflictItem:
    """A statement with the contexts of both sides of a conflict.

    Attributes:
        id: Names the statement.
        question: What the statement answers.
        answer: The statement: the default fact or the counterfactual one.
        is_default: Whether it is the default fact.
        default: The context that goes with the default fact.
        counterfactual: The contexts that go with the counterfactual statement.
    """

    id: str
    question: str
    answer: str
    is_default: bool
    default: str
    counterfactual: tuple[str, ...]


class _WikiLine(BaseModel):
    model_config = ConfigDict(extra="allow")

    question: str
    first: str = Field(validation_alias=AliasChoices("context1_self_contained", "context1"))
    second: str = Field(validation_alias=AliasChoices("context2_self_contained", "context2"))


class _ConflictLine(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: str
    default_claim: str = Field(validation_alias=AliasChoices("default_claim", "correct_claim", "fact"))
    counterfactual_claim: str = Field(
        validation_alias=AliasChoices(
            "counterfactual_claim", "misinformation_conflict_claim", "conflict_claim"
        )
    )
    default: str = Field(
        validation_alias=AliasChoices("default_evidence", "correct_evidence", "default_context")
    )
    misinformation: str = Field(
        validation_alias=AliasChoices("misinformation_evidence", "misinformation_conflict_evidence")
    )
    temporal: str = Field(validation_alias=AliasChoices("temporal_evidence", "temporal_conflict_evidence"))
    semantic: str = Field(validation_alias=AliasChoices("semantic_evidence", "semantic_conflict_evidence"))


def is_conflict_bank(line: Mapping[str, object]) -> bool:
    """Whether a parsed line is of ConflictBank's kind rather than WikiContradict's."""
    return "context1_self_contained" not in line and "context1" not in line


def read_wikicontradict(lines: Iterable[Mapping[str, object]], *, where: str) -> tuple[LabelledItem, ...]:
    """Read WikiContradict's lines: five answers each (or fewer), with their labels adjusted.

    Raises:
        FileFormatError: A line has another shape or a label of another name.
    """
    found = [
        item for number, line in enumerate(lines, 1) for item in _wiki_items(line, f"{where}, line {number}")
    ]
    return _some(found, where)


def read_conflictbank(lines: Iterable[Mapping[str, object]], *, where: str) -> tuple[ConflictItem, ...]:
    """Read ConflictBank's lines: the default and the counterfactual statement of each.

    Raises:
        FileFormatError: A line has another shape.
    """
    found = []
    for number, line in enumerate(lines, 1):
        try:
            read = _ConflictLine.model_validate(line)
        except ValidationError as error:
            raise _wrong(f"{where}, line {number}", error) from error
        contexts = (read.misinformation, read.temporal, read.semantic)
        for is_default, claim in ((True, read.default_claim), (False, read.counterfactual_claim)):
            name = f"{number}.{'default' if is_default else 'counterfactual'}"
            found.append(ConflictItem(name, read.question, claim, is_default, read.default, contexts))
    return _some(found, where)


def _wiki_items(line: Mapping[str, object], where: str) -> Iterable[LabelledItem]:
    try:
        read = _WikiLine.model_validate(line)
    except ValidationError as error:
        raise _wrong(where, error) from error
    passages = (Passage("context1", read.first), Passage("context2", read.second))
    number = 0
    while f"answer{number}" in line:
        try:
            label = Label(str(line.get(f"label{number}")))
        except ValueError as error:
            message = f"{where} has the label {line.get(f'label{number}')!r} for answer{number}."
            raise FileFormatError(message, advice=f"Use one of: {', '.join(Label)}.") from error
        if number < ONE_PASSAGE_ANSWERS and label is Label.CORRECT:
            label = Label.PARTIAL
        item = MetricItem(
            id=f"{where.rsplit(' ', 1)[-1]}.{number}",
            question=read.question,
            answer=str(line[f"answer{number}"]),
            passages=passages,
        )
        yield LabelledItem(item, label)
        number += 1


def _some(found: list[T], where: str) -> tuple[T, ...]:
    if not found:
        message = f"{where} has nothing to evaluate on."
        raise FileFormatError(message, advice="Give WikiContradict's or ConflictBank's lines.")
    return tuple(found)


def _wrong(where: str, error: ValidationError) -> FileFormatError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    message = f"{where} cannot be evaluated on: {place}: {first['msg']}."
    return FileFormatError(message, advice="Give WikiContradict's or ConflictBank's lines.")
