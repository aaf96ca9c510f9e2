"""Files of JSON lines: votes, which correct boards, and human labels, which calibrate judges."""

from __future__ import annotations

from collections.abc import Iterator

from arena.services.annotation.files.model import (
    FiledLabel,
    Json,
    LabelledItem,
    LabelledTask,
    lines,
    names_of,
    refuse,
    rows_of,
    side_of,
    text_of,
    value_of_side,
)
from arena.services.annotation.requests import ChosenItem
from arena.services.annotation.tasks import winner_of
from data.errors import FileFormatError
from data.records import LARGEST_GRADE, AnnotationTask, GivenLabel, LabelScale

WINNERS = {"model_a": "a", "model_b": "b", "tie": "tie", "tie (bothbad)": "tie"}
NOBODY = "has no annotator: several people's labels cannot be told apart"
NAMES = {"system_a": "model_a", "system_b": "model_b", "passage": "passage", "sub_question": "sub_question"}


def write_votes(content: LabelledTask) -> bytes:
    """A line a vote, as `arena battles rate --people` reads them."""
    rows = []
    for entry, label, value in content.given():
        row = {**names_of(entry.item), "winner": winner_of(value), "annotator": label.person}
        if entry.item.chance is not None:
            row["chance"] = entry.item.chance
        rows.append(row)
    return lines(rows)


def read_votes(content: bytes, task: AnnotationTask) -> Iterator[FiledLabel]:
    """Votes; a `score` is one of 1, ½ and 0."""
    for place, row in rows_of(content):
        side = WINNERS.get(str(row.get("winner")), "")
        if row.get("winner") is None and row.get("score") in {0, 0.5, 1}:
            side = {0: "b", 0.5: "tie", 1: "a"}[row["score"]]
        if not side:
            refuse(place, f"has the winner {row.get('winner')!r}; model_a, model_b or tie is expected")
        yield FiledLabel(
            place=place,
            question_id=text_of(place, row, "question_id"),
            system_a=text_of(place, row, "model_a"),
            system_b=text_of(place, row, "model_b"),
            person=str(row.get("annotator") or "") or refuse(place, NOBODY),
            value=value_of_side(side, task.terms.scale),
        )


def write_labels(content: LabelledTask) -> bytes:
    """A line a label (docs/design.md, section 4), as `arena judges calibrate` reads them."""
    scale = content.task.terms.scale
    return lines([_line(content.task, entry, label, value, scale) for entry, label, value in content.given()])


def read_labels(content: bytes, task: AnnotationTask) -> Iterator[FiledLabel]:
    """Human labels that name `system_a`, `system_b`, `annotator` and the question's id as `question_id`."""
    for place, row in rows_of(content):
        label = row.get("label")
        if isinstance(label, str) and label in {"a", "b", "tie"}:
            value = value_of_side(label, task.terms.scale)
        elif isinstance(label, int | float) and label == int(label) and abs(label) <= LARGEST_GRADE:
            value = int(label)
        else:
            refuse(place, f"has the label {label!r}; a, b, tie or a whole number from -2 to 2 is expected")
        yield FiledLabel(
            place=place,
            question_id=text_of(place, row, "question_id"),
            system_a=text_of(place, row, "system_a"),
            system_b=text_of(place, row, "system_b"),
            person=str(row.get("annotator") or "") or refuse(place, NOBODY),
            value=value,
            comment=text_of(place, row, "comment", needed=False),
        )


def _line(
    task: AnnotationTask, entry: LabelledItem, label: GivenLabel, value: int, scale: LabelScale
) -> dict[str, object]:
    question = entry.shown.question
    return {
        "id": f"{task.name}-{entry.item.position}",
        "question_id": question.id,
        "domain": question.domain,
        "question": question.question,
        "reference": question.reference,
        "passages": [passage.text for passage in question.passages],
        "answer_a": entry.shown.first,
        "answer_b": entry.shown.second,
        "label": value if scale is LabelScale.GRADES else side_of(value),
        "system_a": entry.item.system_a,
        "system_b": entry.item.system_b,
        "annotator": label.person,
        "comment": label.comment,
    }


def read_items(content: bytes, scale: LabelScale = LabelScale.GRADES) -> tuple[ChosenItem, ...]:
    """Read items, one JSON object a line.

    Fields: `question_id`; for pairs `model_a`, `model_b`; for passages `passage`; optional `sub_question`.
    Gold items have a `value`, or of pairs a `winner`.

    Raises:
        FileFormatError: The file names no item, or a line cannot be read.
    """
    items = tuple(_item(place, row, scale) for place, row in rows_of(content))
    if not items:
        raise FileFormatError("The file names no items.", advice="Write one object a line.")
    return items


def _item(place: str, row: Json, scale: LabelScale) -> ChosenItem:
    gold = row.get("value")
    winner = row.get("winner")
    if gold is None and winner is not None:
        side = WINNERS.get(str(winner)) or refuse(place, f"has the winner {winner!r}")
        gold = value_of_side(side, scale)
    if gold is not None and (not isinstance(gold, int) or isinstance(gold, bool)):
        refuse(place, f"has the value {gold!r}; a whole number is expected")
    named = {field: text_of(place, row, name, needed=False) for field, name in NAMES.items()}
    return ChosenItem(question_id=text_of(place, row, "question_id"), gold=gold, **named)
