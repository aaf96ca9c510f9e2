"""Label Studio's JSON: a list of tasks with `data` and `annotations`, as it exports and imports them.

Pairs use the tag Pairwise (`left` is answer a) with Choices for a tie and Number for the grade. `meta` names
the systems, which no labelling interface shows. `completed_by` is a name, an address or the number of a user.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import Field

from arena.services.annotation.files.model import (
    TIE,
    Entry,
    FiledLabel,
    Json,
    LabelledItem,
    LabelledTask,
    Named,
    Tolerance,
    Whole,
    checked,
    document,
    entries_of,
    names_of,
    parsed,
    refuse,
    side_of,
)
from data.errors import FileFormatError
from data.records import GivenLabel

SELECTED = {"a": "left", "b": "right"}
SIDES = {"left": "a", "right": "b", "a": "a", "b": "b", TIE: TIE, "both": TIE, "equal": TIE}
PAIR_OF_TEXTS = "answer_a,answer_b"


class _Result(Entry):
    """One control's value."""

    type: str
    value: dict[str, Any]
    from_name: str = ""


class _User(Entry):
    """Who labelled, where the file has the whole user."""

    id: int | None = None
    email: str | None = None


class _Annotation(Entry):
    """One person's label."""

    result: list[_Result]
    completed_by: _User | str | int | None = None
    was_cancelled: bool = False
    lead_time: float | None = None


class _Task(Entry):
    """One item."""

    data: dict[str, Any]
    meta: dict[str, Any] = Field(default_factory=dict)
    annotations: list[_Annotation] = Field(default_factory=list)


class _Grade(Entry):
    """How much better an answer is."""

    grade: Whole | None


def write_label_studio(content: LabelledTask) -> bytes:
    """The document: every item, labelled or not."""
    return document(
        [
            {
                "id": entry.item.id,
                "data": _data(entry),
                "meta": {**names_of(entry.item), "chance": entry.item.chance},
                "annotations": list(map(_annotation, entry.labels)),
            }
            for entry in content.items
        ]
    )


def read_label_studio(content: bytes, tolerance: Tolerance) -> Iterator[FiledLabel]:
    """The labels of a document; of a control, what its name says, or its type where the name is another.

    Raises:
        FileFormatError: It is none; the message names the task and what is wrong.
    """
    payload = parsed(content)
    if isinstance(payload, list) and payload and all(map(_is_flat, payload)):
        raise FileFormatError(
            "The file is Label Studio's JSON-MIN, which does not say of which control a value is.",
            advice="Export the project again as JSON.",
        )
    entries = entries_of(content, _Task, "task", tolerance, advice="Export it from Label Studio as JSON.")
    for place, exported in entries:
        named = {**exported.data, **exported.meta}
        for annotation in exported.annotations:
            filed = tolerance.take(partial(_filed, place, named, annotation))
            if filed is not None:
                yield filed


def _is_flat(entry: object) -> bool:
    """Whether an entry is one of JSON-MIN: values beside the task's data, and no `data`."""
    return (
        isinstance(entry, dict)
        and "data" not in entry
        and bool({"annotator", "annotation_id"} & entry.keys())
    )


def _data(entry: LabelledItem) -> Json:
    question = entry.shown.question
    data: Json = {
        "question": question.question,
        "domain": question.domain,
        "passages": [
            {"id": passage.id, "title": passage.title, "text": passage.text} for passage in question.passages
        ],
        "reference": question.reference,
        "answer_a": entry.shown.first,
        "answer_b": entry.shown.second,
    }
    return {name: value for name, value in data.items() if value not in (None, "", [])}


def _annotation(label: GivenLabel) -> Json:
    results: list[Json] = []
    if label.value is not None:
        side = side_of(label.value)
        if side == TIE:
            results.append(_result("choice", PAIR_OF_TEXTS, "choices", {"choices": [TIE]}))
        else:
            results.append(_result("preference", PAIR_OF_TEXTS, "pairwise", {"selected": SELECTED[side]}))
        results.append(_result("grade", "answer_b", "number", {"number": label.value}))
    if text := label.skip_reason or label.comment:
        results.append(_result("comment", "question", "textarea", {"text": [text]}))
    return {
        "completed_by": label.person,
        "was_cancelled": label.skip_reason is not None,
        "lead_time": round(label.seconds, 3),
        "result": results,
    }


def _result(name: str, target: str, kind: str, value: Json) -> Json:
    return {"from_name": name, "to_name": target, "type": kind, "value": value}


def _filed(place: str, fields: Mapping[str, Any], annotation: _Annotation) -> FiledLabel:
    named = checked(place, fields, Named)
    skipped, lead_time = annotation.was_cancelled, annotation.lead_time or 0.0
    words = " ".join(_texts(annotation, "comment"))
    number = None if skipped else _given(place, annotation, "grade", "number", "number")
    return FiledLabel(
        place=place,
        question_id=named.question_id,
        system_a=named.model_a,
        system_b=named.model_b,
        person=_person(annotation.completed_by)
        or refuse(place, "has a label of nobody: completed_by is empty, as of a user who was deleted"),
        side=None if skipped else _side(place, annotation),
        grade=checked(place, {"grade": number}, _Grade).grade,
        comment="" if skipped else words,
        skip_reason=(words or "skipped in Label Studio") if skipped else None,
        seconds=lead_time if math.isfinite(lead_time) else 0.0,
    )


def _person(who: _User | str | int | None) -> str:
    """A name, an address, or the number of a user, of which 0 is one."""
    if isinstance(who, _User):
        return who.email or ("" if who.id is None else str(who.id))
    return "" if who is None else str(who)


def _texts(annotation: _Annotation, name: str) -> list[str]:
    """The texts of the text areas of a name, of all of them where none has it."""
    areas = [result for result in annotation.result if result.type == "textarea"]
    named = [result for result in areas if result.from_name == name] or areas
    return [text for result in named for text in _list(result.value.get("text"))]


def _list(value: object) -> list[str]:
    """Texts of a control: a list, or one text alone."""
    if isinstance(value, str):
        return [value]
    return [str(text) for text in value] if isinstance(value, list) else []


def _given(place: str, annotation: _Annotation, name: str, kind: str, key: str) -> object:
    """What a control says: that of a name, else the only one of a type; None where there is none.

    Raises:
        FileFormatError: Several controls of the type say different things, and none has the name.
    """
    controls = [result for result in annotation.result if result.type == kind]
    chosen = [result for result in controls if result.from_name == name] or controls
    values = [result.value.get(key) for result in chosen]
    if any(value != values[0] for value in values):
        names = ", ".join(sorted({result.from_name or "?" for result in chosen}))
        refuse(place, f"has several answers of the type {kind} ({names}); call the one that counts {name}")
    return values[0] if values else None


def _side(place: str, annotation: _Annotation) -> str | None:
    """The side that a pair's controls prefer: one picked, or a tie (or a side) chosen.

    Raises:
        FileFormatError: Both are there and say different things.
    """
    picked = SIDES.get(str(_given(place, annotation, "preference", "pairwise", "selected")))
    choices = _list(_given(place, annotation, "choice", "choices", "choices"))
    chosen = SIDES.get(choices[0].lower()) if choices else None
    if picked and chosen and picked != chosen:
        refuse(place, f"prefers {picked} and chooses {chosen}")
    return picked or chosen
