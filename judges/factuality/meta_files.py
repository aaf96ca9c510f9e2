"""Files of claims that people labelled: a format of its own, and WikiContradict's answers read as claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import FileFormatError
from data.records import MetricItem, Passage
from judges.comprehensiveness.meta_files import Label as WikiLabel

WORDS: Mapping[str, bool] = {
    "supported": True,
    "true": True,
    "contradicted": False,
    "not supported": False,
    "unsupported": False,
    "false": False,
}
BOTH: Mapping[int, slice] = {1: slice(0, 1), 2: slice(1, 2)}
"""What WikiContradict's answers saw: the second the first passage, the third the second, the others both."""


@dataclass(frozen=True, slots=True)
class LabelledClaims:
    """Claims on one question with what people say of them; `item` has the passages to hold them against."""

    item: MetricItem
    claims: tuple[str, ...]
    truths: tuple[bool, ...]


class _Passage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    text: str
    title: str = ""


class _Claim(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1)
    label: bool | Literal["supported", "true", "contradicted", "not supported", "unsupported", "false"]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    question: str
    answer: str = ""
    passages: list[_Passage] = Field(min_length=1)
    claims: list[_Claim] = Field(min_length=1)


def has_claims(line: Mapping[str, object]) -> bool:
    """Whether a parsed line holds labelled claims."""
    return "claims" in line


def read_labelled_claims(lines: Iterable[Mapping[str, Any]], *, where: str) -> tuple[LabelledClaims, ...]:
    """Read lines of labelled claims, or WikiContradict's.

    Of WikiContradict, each answer is a claim, held against the passages that it was written from:
    `Correct` is true and `Incorrect` false; `Partially correct` is neither, and left out.

    Raises:
        FileFormatError: A line has another shape, or nothing is left.
    """
    found = []
    for number, line in enumerate(lines, 1):
        place = f"{where}, line {number}"
        found += [_read(line, place)] if has_claims(line) else _wiki(line, place)
    if not found:
        message = f"{where} has no labelled claim."
        raise FileFormatError(message, advice="Give lines with claims and their labels.")
    return tuple(found)


def _read(line: Mapping[str, Any], where: str) -> LabelledClaims:
    try:
        read = _Line.model_validate(line)
    except ValidationError as error:
        first = error.errors()[0]
        message = f"{where} cannot be used: {'.'.join(map(str, first['loc']))}: {first['msg']}."
        advice = (
            f"A line is id, question, passages and claims; a claim is text and label ({', '.join(WORDS)})."
        )
        raise FileFormatError(message, advice=advice) from error
    passages = tuple(Passage(one.id, one.text, one.title) for one in read.passages)
    item = MetricItem(id=read.id, question=read.question, answer=read.answer, passages=passages)
    truths = tuple(one.label if isinstance(one.label, bool) else WORDS[one.label] for one in read.claims)
    return LabelledClaims(item, tuple(one.text for one in read.claims), truths)


def _wiki(line: Mapping[str, Any], where: str) -> list[LabelledClaims]:
    try:
        question = str(line["question"])
        texts = [str(line[f"context{side}_self_contained"]) for side in (1, 2)]
    except KeyError as error:
        message = f"{where} has no {error.args[0]}."
        advice = "Give lines with labelled claims, or WikiContradict's."
        raise FileFormatError(message, advice=advice) from error
    passages = tuple(Passage(f"context{side}", text) for side, text in enumerate(texts, 1))
    found = []
    number = 0
    while f"answer{number}" in line:
        answer, label = str(line[f"answer{number}"]), line.get(f"label{number}")
        if label in {WikiLabel.CORRECT, WikiLabel.INCORRECT} and answer.strip():
            seen = passages[BOTH.get(number, slice(0, 2))]
            name = f"{where.rsplit(' ', 1)[-1]}.{number}"
            item = MetricItem(id=name, question=question, answer=answer, passages=seen)
            found.append(LabelledClaims(item, (answer,), (label == WikiLabel.CORRECT,)))
        number += 1
    return found
