"""Argilla's records as JSON, as `dataset.records.to_json` writes and `from_json` reads them.

A list of records: `fields` are texts, `metadata` names the item, `responses` has a list of
`{"value", "user_id"}` for each question. The questions are `preference` (a, b, tie), `grade` (−2…2, as a
text), `answerable` (yes, no), `rating` (0–5), `spans` (`{"label", "start", "end"}`), `missing` and
`comment` (texts).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from arena.services.annotation.files.model import (
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

DISCARDED = "discarded"


class _Response(BaseModel):
    """One person's answer to one question."""

    model_config = ConfigDict(extra="ignore")

    value: Any
    user_id: str
    status: str | None = None


class _Record(BaseModel):
    """One item."""

    model_config = ConfigDict(extra="ignore")

    metadata: dict[str, Any] = Field(default_factory=dict)
    responses: dict[str, list[_Response]] = Field(default_factory=dict)


def write_argilla(content: LabelledTask) -> bytes:
    """The document: every item, labelled or not. Skips are left out: Argilla keeps no reason for them."""
    kind = content.task.terms.kind
    return document([_record(kind, entry) for entry in content.items])


def read_argilla(content: bytes, task: AnnotationTask) -> Iterator[FiledLabel]:
    """The labels of a document; discarded responses are skips.

    Raises:
        FileFormatError: It is none; the message names the record and what is wrong.
    """
    for place, record in entries_of(content, _Record, "record", advice="Write it with records.to_json."):
        by_person: dict[str, dict[str, Any]] = defaultdict(dict)
        skipped: set[str] = set()
        for name, responses in record.responses.items():
            for response in responses:
                by_person[response.user_id][name] = response.value
                if response.status == DISCARDED:
                    skipped.add(response.user_id)
        for person, values in by_person.items():
            yield _filed(place, task, record.metadata, person, values, skipped=person in skipped)


def _record(kind: TaskKind, entry: LabelledItem) -> Json:
    shown = entry.shown
    fields: Json = {
        "question": shown.question.question,
        "answer_a": shown.first,
        "answer_b": shown.second,
        "passage": "" if shown.passage is None else shown.passage.text,
        "sub_question": shown.sub_question,
        "reference": shown.question.reference or "",
        "passages": "\n\n".join(passage.text for passage in shown.question.passages),
    }
    responses: dict[str, list[Json]] = defaultdict(list)
    for label in entry.labels:
        if label.value is not None:
            for name, value in _answers(kind, label, label.value).items():
                responses[name].append({"value": value, "user_id": label.person})
    return {
        "id": str(entry.item.id),
        "fields": {name: value for name, value in fields.items() if value},
        "metadata": {**names_of(entry.item), "domain": shown.question.domain, "chance": entry.item.chance},
        "suggestions": {},
        "responses": dict(responses),
        "vectors": {},
    }


def _answers(kind: TaskKind, label: GivenLabel, value: int) -> Json:
    answers: Json = {}
    match kind:
        case TaskKind.PAIRS:
            answers = {"preference": side_of(value), "grade": str(value)}
        case TaskKind.ANSWERABILITY:
            answers = {"answerable": "yes" if value else "no"}
        case TaskKind.PASSAGES:
            answers = {"rating": value}
        case TaskKind.SPANS:
            marked = [span for span in label.spans if span.kind is not SpanKind.MISSING]
            answers["spans"] = [
                {"label": span.kind.value, "start": span.start, "end": span.end} for span in marked
            ]
            missing = [span.text for span in label.spans if span.kind is SpanKind.MISSING]
            if missing:
                answers["missing"] = "\n".join(missing)
    return {**answers, "comment": label.comment} if label.comment else answers


def _filed(
    place: str,
    task: AnnotationTask,
    named: Mapping[str, Any],
    person: str,
    values: Mapping[str, Any],
    *,
    skipped: bool,
) -> FiledLabel:
    spans = _spans(place, values) if task.terms.kind is TaskKind.SPANS and not skipped else ()
    value = None
    if not skipped:
        value = len(spans) if task.terms.kind is TaskKind.SPANS else _value(place, task, values)
    comment = str(values.get("comment") or "")
    return FiledLabel(
        place=place,
        question_id=str(named.get("question_id") or refuse(place, "has no question_id in its metadata")),
        system_a=str(named.get("model_a") or ""),
        system_b=str(named.get("model_b") or ""),
        passage=str(named.get("passage") or ""),
        sub_question=str(named.get("sub_question") or ""),
        person=person,
        value=value,
        spans=spans,
        comment="" if skipped else comment,
        skip_reason=(comment or "discarded in Argilla") if skipped else None,
    )


def _value(place: str, task: AnnotationTask, values: Mapping[str, Any]) -> int:
    match task.terms.kind:
        case TaskKind.ANSWERABILITY:
            if values.get("answerable") in {"yes", "no"}:
                return int(values["answerable"] == "yes")
        case TaskKind.PASSAGES:
            if isinstance(values.get("rating"), int):
                return int(values["rating"])
        case _:
            grade = str(values.get("grade") or "").strip()
            if grade.lstrip("-").isdecimal():
                return int(grade)
            if values.get("preference") in {"a", "b", "tie"}:
                return value_of_side(values["preference"], task.terms.scale)
    return refuse(place, f"has a response without a value for a task of {task.terms.kind}")


def _spans(place: str, values: Mapping[str, Any]) -> tuple[Span, ...]:
    spans = []
    for span in values.get("spans") or []:
        if not isinstance(span, dict) or str(span.get("label")) not in set(SpanKind):
            refuse(place, f"has a span that cannot be read: {span!r}")
        spans.append(Span(kind=SpanKind(span["label"]), start=span.get("start"), end=span.get("end")))
    missing = str(values.get("missing") or "").splitlines()
    spans.extend(Span(kind=SpanKind.MISSING, text=line) for line in missing if line.strip())
    return tuple(spans)
