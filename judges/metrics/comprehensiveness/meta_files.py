"""Files that metrics of comprehensiveness are evaluated on: WikiContradict's and ConflictBank's formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from data.errors import FileFormatError
from data.files.jsonl import each_row, in_words
from data.records import MetricItem, Passage

T = TypeVar("T")

ONE_PASSAGE_ANSWERS = 3
"""WikiContradict's first three answers saw no passage or one; what is correct for one is partial for both."""


EVALUATED = "ModelAnswer_prompt_{}"
"""An answer in the file of WikiContradict's human evaluation."""
WIKI_EXPECTED = (
    "Rows of WikiContradict have question, context1_self_contained, context2_self_contained, and answer0, "
    "label0, answer1, label1, …; the file of its human evaluation is read too."
)
CONFLICT_EXPECTED = (
    "Rows of ConflictBank have question, default_claim, counterfactual_claim and the evidence for each side; "
    "rows of WikiContradict have question, context1_self_contained and context2_self_contained."
)


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
        validation_alias=AliasChoices(
            "misinformation_evidence",
            "misinformation_conflict_evidence",
            "misinformation_conflict_evidence_evidence",
        )
    )
    temporal: str = Field(validation_alias=AliasChoices("temporal_evidence", "temporal_conflict_evidence"))
    semantic: str = Field(validation_alias=AliasChoices("semantic_evidence", "semantic_conflict_evidence"))


def is_conflict_bank(line: Mapping[str, object]) -> bool:
    """Whether a parsed line is of ConflictBank's kind rather than WikiContradict's."""
    read = plain_wiki(line)
    return "context1_self_contained" not in read and "context1" not in read


def plain_wiki(row: Mapping[str, object]) -> Mapping[str, object]:
    """A row of WikiContradict by the names of its public files, also where it is of its human evaluation."""
    if EVALUATED.format(0) not in row:
        return row
    read = {"question": row.get("question1")}
    for side in (1, 2):
        read[f"context{side}_self_contained"] = row.get(f"question1_context{side}")
    number = 0
    while (name := EVALUATED.format(number)) in row:
        read[f"answer{number}"] = str(row[name]).strip().removeprefix("Answer:").strip()
        read[f"label{number}"] = row.get(f"{name}_humanEval")
        number += 1
    return read


def read_wikicontradict(lines: Iterable[Mapping[str, object]], *, where: str) -> tuple[LabelledItem, ...]:
    """Read WikiContradict's lines: five answers each (or fewer), with their labels adjusted.

    Raises:
        InvalidFileError: Lines have another shape or a label of another name; all of them are listed.
        FileFormatError: There is nothing to evaluate on.
    """
    rows = each_row(lines, _wiki_items, where=where, expected=WIKI_EXPECTED)
    return _require_any(tuple(chain.from_iterable(rows)), where)


def read_conflictbank(lines: Iterable[Mapping[str, object]], *, where: str) -> tuple[ConflictItem, ...]:
    """Read ConflictBank's lines: the default and the counterfactual statement of each.

    Raises:
        InvalidFileError: Lines have another shape; all of them are listed.
        FileFormatError: There is nothing to evaluate on.
    """
    rows = each_row(lines, _conflict_items, where=where, expected=CONFLICT_EXPECTED)
    return _require_any(tuple(chain.from_iterable(rows)), where)


def _conflict_items(number: int, line: Mapping[str, object]) -> Sequence[ConflictItem]:
    try:
        read = _ConflictLine.model_validate(line)
    except ValidationError as error:
        raise _wrong(error) from error
    contexts = (read.misinformation, read.temporal, read.semantic)
    sides = (("default", read.default_claim), ("counterfactual", read.counterfactual_claim))
    return [
        ConflictItem(f"{number}.{side}", read.question, claim, side == "default", read.default, contexts)
        for side, claim in sides
    ]


def _wiki_items(row_number: int, row: Mapping[str, object]) -> Sequence[LabelledItem]:
    line = plain_wiki(row)
    try:
        read = _WikiLine.model_validate(line)
    except ValidationError as error:
        raise _wrong(error) from error
    passages = (Passage("context1", read.first), Passage("context2", read.second))
    labelled = []
    number = 0
    while f"answer{number}" in line:
        item = MetricItem(
            id=f"{row_number}.{number}",
            question=read.question,
            answer=str(line[f"answer{number}"]),
            passages=passages,
        )
        labelled.append(LabelledItem(item, _label(line, number)))
        number += 1
    return labelled


def _label(line: Mapping[str, object], number: int) -> Label:
    value = line.get(f"label{number}")
    try:
        label = Label(str(value))
    except ValueError as error:
        raise FileFormatError(f"label{number} must be {', '.join(Label)} (it is {value!r}).") from error
    return Label.PARTIAL if number < ONE_PASSAGE_ANSWERS and label is Label.CORRECT else label


def _require_any(items: tuple[T, ...], where: str) -> tuple[T, ...]:
    if not items:
        message = f"{where} has nothing to evaluate on."
        raise FileFormatError(message, advice="Give WikiContradict's or ConflictBank's lines.")
    return items


def _wrong(error: ValidationError) -> FileFormatError:
    return FileFormatError("; ".join(in_words(error)) + ".")
