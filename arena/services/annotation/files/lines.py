"""Files of JSON lines: votes, which correct boards, human labels, which calibrate judges, and items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from arena.services.annotation.files.model import (
    NOBODY,
    Entry,
    FiledLabel,
    LabelledTask,
    Name,
    Named,
    Tolerance,
    Whole,
    expected,
    lines,
    names_of,
    refuse,
    rows_of,
    side_of,
)
from arena.services.annotation.requests import ChosenItem
from arena.services.annotation.tasks import winner_of
from data.errors import FileFormatError
from data.records import LARGEST_GRADE, LabelScale
from data.winners import Side, winning_side

SIDES = {"model_a": "a", "model_b": "b", "tie": "tie", "tie (bothbad)": "tie"}
WORDS: Mapping[Side, str] = MappingProxyType({"a": "model_a", "b": "model_b", "tie": "tie"})
SCORES = {1.0: "a", 0.5: "tie", 0.0: "b"}
Winner = Literal["model_a", "model_b", "tie", "tie (bothbad)"]
Text = Annotated[str, Field(min_length=1)]


def _label(value: object) -> object:
    if value in ("a", "b", "tie"):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_GRADE:
        return value
    raise expected(f"a, b, tie or a whole number from -{LARGEST_GRADE} to {LARGEST_GRADE}")


class _Won(Entry):
    """A pair with its winner, by any of the words for a side or by name."""

    winner: Winner | None = None

    @model_validator(mode="before")
    @classmethod
    def _side(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        side = winning_side(row.get("winner"), row.get("model_a"), row.get("model_b"))
        return row if side is None else {**row, "winner": WORDS[side]}


class _Vote(_Won):
    """A vote; a `score` is one of 1, ½ and 0."""

    score: float | None = None
    question_id: Text
    model_a: Text
    model_b: Text
    annotator: Name = ""


class _Label(Entry):
    """A human label (docs/design.md)."""

    label: Annotated[Side | int, BeforeValidator(_label)]
    question_id: Text
    system_a: Text
    system_b: Text
    annotator: Name = ""
    comment: str | None = None


class _Item(_Won, Named):
    """An item of a new task; gold ones have a value or a winner."""

    value: Whole | None = None


def write_votes(content: LabelledTask) -> bytes:
    """A line a vote, as `arena battles rate --people` reads them."""
    rows = []
    for entry, label, value in content.given():
        row = {**names_of(entry.item), "winner": winner_of(value), "annotator": label.person}
        if entry.item.chance is not None:
            row["sampling_prob"] = entry.item.chance
        rows.append(row)
    return lines(rows)


def read_votes(content: bytes, tolerance: Tolerance) -> Iterator[FiledLabel]:
    """The votes of a file, each checked."""
    for place, row in rows_of(content, _Vote, tolerance):
        filed = tolerance.take(lambda: _vote(place, row))  # noqa: B023 - called at once
        if filed is not None:
            yield filed


def _vote(place: str, row: _Vote) -> FiledLabel:
    side = SIDES.get(row.winner or "")
    scored = SCORES.get(row.score) if row.score is not None else None
    if side and scored and side != scored:
        refuse(place, f"has the winner {row.winner} and the score {row.score}, which contradict each other")
    return FiledLabel(
        place=place,
        question_id=row.question_id,
        system_a=row.model_a,
        system_b=row.model_b,
        person=row.annotator or refuse(place, NOBODY),
        side=side or scored or refuse(place, "has no winner; model_a, model_b or tie is expected"),
    )


def write_labels(content: LabelledTask) -> bytes:
    """A line a label, as `arena judges calibrate` reads them."""
    sides = content.task.terms.scale is LabelScale.SIDES
    return lines(
        [
            {
                "id": f"{content.task.name}-{entry.item.position}",
                "question_id": entry.shown.question.id,
                "domain": entry.shown.question.domain,
                "question": entry.shown.question.question,
                "reference": entry.shown.question.reference,
                "passages": [passage.text for passage in entry.shown.question.passages],
                "answer_a": entry.shown.first,
                "answer_b": entry.shown.second,
                "label": side_of(value) if sides else value,
                "system_a": entry.item.system_a,
                "system_b": entry.item.system_b,
                "annotator": label.person,
                "comment": label.comment,
            }
            for entry, label, value in content.given()
        ]
    )


def read_labels(content: bytes, tolerance: Tolerance) -> Iterator[FiledLabel]:
    """Human labels that name `system_a`, `system_b`, `annotator` and the question's id as `question_id`."""
    for place, row in rows_of(content, _Label, tolerance):
        person = row.annotator or tolerance.take(lambda: refuse(place, NOBODY))  # noqa: B023 - called at once
        if person:
            yield FiledLabel(
                place=place,
                question_id=row.question_id,
                system_a=row.system_a,
                system_b=row.system_b,
                person=person,
                side=row.label if isinstance(row.label, str) else None,
                grade=None if isinstance(row.label, str) else row.label,
                comment=row.comment or "",
            )


def read_items(content: bytes, scale: LabelScale = LabelScale.GRADES) -> tuple[ChosenItem, ...]:
    """Pairs by name, a line each: `question_id`, `model_a`, `model_b`; of gold ones `value` or `winner`.

    Raises:
        FileFormatError: The file names no item, or a line cannot be read.
    """
    items = tuple(
        ChosenItem(
            question_id=row.question_id,
            system_a=row.model_a,
            system_b=row.model_b,
            gold=FiledLabel(place=place, question_id="", person="", side=SIDES[row.winner]).value(scale)
            if row.value is None and row.winner
            else row.value,
        )
        for place, row in rows_of(content, _Item, Tolerance())
    )
    if not items:
        raise FileFormatError("The file names no items.", advice="Write one object a line.")
    return items
