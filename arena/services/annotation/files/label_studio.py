"""Label Studio's JSON: a list of tasks with `data` and `annotations`, as it exports and imports them.

Pairs use the tag Pairwise (`left` is answer a) with Choices for a tie and Number for the grade; answerability
Choices, passages Rating, spans Labels over the answer and TextArea for what is missing. `meta` names the
systems, which no labelling interface shows. `completed_by` is a name, an address or the number of a user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from arena.services.annotation.files.model import (
    TIE,
    FiledLabel,
    Json,
    LabelledItem,
    LabelledTask,
    document,
    entries_of,
    names_of,
    refuse,
    side_of,
    value_of_side,
)
from data.records import AnnotationTask, GivenLabel, Span, SpanKind, TaskKind

SELECTED = {"a": "left", "b": "right"}
SIDES = {"left": "a", "right": "b", "a": "a", "b": "b", TIE: TIE, "both": TIE, "equal": TIE}
YES_NO = {"yes": 1, "no": 0}
PAIR_OF_TEXTS = "answer_a,answer_b"


class _Result(BaseModel):
    """One control's value."""

    model_config = ConfigDict(extra="ignore")

    type: str
    value: dict[str, Any]


class _User(BaseModel):
    """Who labelled, where the file has the whole user."""

    model_config = ConfigDict(extra="ignore")

    id: int | None = None
    email: str = ""


class _Annotation(BaseModel):
    """One person's label."""

    model_config = ConfigDict(extra="ignore")

    result: list[_Result]
    completed_by: _User | str | int
    was_cancelled: bool = False
    lead_time: float | None = None


class _Task(BaseModel):
    """One item."""

    model_config = ConfigDict(extra="ignore")

    data: dict[str, Any]
    meta: dict[str, Any] = Field(default_factory=dict)
    annotations: list[_Annotation] = Field(default_factory=list)


def write_label_studio(content: LabelledTask) -> bytes:
    """The document: every item, labelled or not."""
    kind = content.task.terms.kind
    return document(
        [
            {
                "id": entry.item.id,
                "data": _data(entry),
                "meta": {**names_of(entry.item), "chance": entry.item.chance},
                "annotations": [_annotation(kind, label) for label in entry.labels],
            }
            for entry in content.items
        ]
    )


def read_label_studio(content: bytes, task: AnnotationTask) -> Iterator[FiledLabel]:
    """The labels of a document.

    Raises:
        FileFormatError: It is none; the message names the task and what is wrong.
    """
    for place, exported in entries_of(content, _Task, "task", advice="Export it from Label Studio as JSON."):
        named = {**exported.data, **exported.meta}
        for annotation in exported.annotations:
            yield _filed(place, task, named, annotation)


def _data(entry: LabelledItem) -> Json:
    shown = entry.shown
    data: Json = {
        "question": shown.question.question,
        "domain": shown.question.domain,
        "passages": [
            {"id": passage.id, "title": passage.title, "text": passage.text}
            for passage in shown.question.passages
        ],
        "reference": shown.question.reference,
        "answer_a": shown.first,
        "answer_b": shown.second,
        "passage": None if shown.passage is None else shown.passage.text,
        "sub_question": shown.sub_question,
    }
    return {name: value for name, value in data.items() if value not in (None, "", [])}


def _annotation(kind: TaskKind, label: GivenLabel) -> Json:
    return {
        "completed_by": label.person,
        "was_cancelled": label.skip_reason is not None,
        "lead_time": round(label.seconds, 3),
        "result": _results(kind, label),
    }


def _results(kind: TaskKind, label: GivenLabel) -> list[Json]:
    value = label.value
    results: list[Json] = []
    if value is not None:
        match kind:
            case TaskKind.PAIRS:
                side = side_of(value)
                if side == TIE:
                    results.append(_result("choice", PAIR_OF_TEXTS, "choices", {"choices": [TIE]}))
                else:
                    selected = {"selected": SELECTED[side]}
                    results.append(_result("preference", PAIR_OF_TEXTS, "pairwise", selected))
                results.append(_result("grade", "answer_b", "number", {"number": value}))
            case TaskKind.ANSWERABILITY:
                chosen = "yes" if value else "no"
                results.append(_result("answerable", "question", "choices", {"choices": [chosen]}))
            case TaskKind.PASSAGES:
                results.append(_result("rating", "passage", "rating", {"rating": value}))
            case TaskKind.SPANS:
                results.extend(map(_span, label.spans))
    text = label.skip_reason or label.comment
    if text:
        results.append(_result("comment", "question", "textarea", {"text": [text]}))
    return results


def _span(span: Span) -> Json:
    if span.kind is SpanKind.MISSING:
        return _result("missing", "answer_a", "textarea", {"text": [span.text]})
    value = {"start": span.start, "end": span.end, "labels": [span.kind.value], "text": span.text}
    return _result("spans", "answer_a", "labels", value)


def _result(name: str, target: str, kind: str, value: Mapping[str, Any]) -> Json:
    return {"from_name": name, "to_name": target, "type": kind, "value": dict(value)}


def _filed(place: str, task: AnnotationTask, named: Mapping[str, Any], annotation: _Annotation) -> FiledLabel:
    results = {result.type: result.value for result in annotation.result}
    texts = [result.value for result in annotation.result if result.type == "textarea"]
    who = annotation.completed_by
    person = who.email or str(who.id or "") if isinstance(who, _User) else str(who)
    words = " ".join(str(text) for value in texts for text in value.get("text", []))
    spans: tuple[Span, ...] = ()
    comment = words
    value = None
    if not annotation.was_cancelled:
        if task.terms.kind is TaskKind.SPANS:
            spans = _spans(place, annotation)
            value, comment = len(spans), ""
        else:
            value = _value(place, task, results)
    return FiledLabel(
        place=place,
        question_id=str(named.get("question_id") or refuse(place, "has no question_id in its meta or data")),
        system_a=str(named.get("model_a") or ""),
        system_b=str(named.get("model_b") or ""),
        passage=str(named.get("passage") or "") if task.terms.kind is TaskKind.PASSAGES else "",
        sub_question=str(named.get("sub_question") or ""),
        person=person or refuse(place, "has a label of nobody: completed_by is empty"),
        value=value,
        spans=spans,
        comment="" if annotation.was_cancelled else comment,
        skip_reason=(words or "skipped in Label Studio") if annotation.was_cancelled else None,
        seconds=annotation.lead_time or 0.0,
    )


def _value(place: str, task: AnnotationTask, results: Mapping[str, Mapping[str, Any]]) -> int:
    chosen = [str(word).lower() for word in results.get("choices", {}).get("choices", [])]
    match task.terms.kind:
        case TaskKind.ANSWERABILITY:
            if chosen and chosen[0] in YES_NO:
                return YES_NO[chosen[0]]
        case TaskKind.PASSAGES:
            rating = results.get("rating", {}).get("rating")
            if isinstance(rating, int):
                return rating
        case _:
            grade = results.get("number", {}).get("number")
            if isinstance(grade, int | float) and grade == int(grade):
                return int(grade)
            side = SIDES.get(str(results.get("pairwise", {}).get("selected", chosen[0] if chosen else "")))
            if side:
                return value_of_side(side, task.terms.scale)
    return refuse(place, f"has a label without a value for a task of {task.terms.kind}")


def _spans(place: str, annotation: _Annotation) -> tuple[Span, ...]:
    spans = []
    for result in annotation.result:
        value = result.value
        if result.type == "labels":
            kind = str((value.get("labels") or [""])[0]).lower()
            start, end = value.get("start"), value.get("end")
            if kind not in set(SpanKind) or not isinstance(start, int) or not isinstance(end, int):
                refuse(place, f"has a span of the kind {kind!r} from {start!r} to {end!r}")
            spans.append(Span(kind=SpanKind(kind), start=start, end=end, text=str(value.get("text") or "")))
        elif result.type == "textarea":
            spans.extend(Span(kind=SpanKind.MISSING, text=str(text)) for text in value.get("text", []))
    return tuple(spans)
