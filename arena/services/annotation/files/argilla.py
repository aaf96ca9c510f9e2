"""Argilla's records as JSON, as `dataset.records.to_json` writes and `from_json` reads them.

A list of records: `fields` are texts, `metadata` names the item, `responses` has a list of
`{"value", "user_id"}` for each question. The questions are `preference` (a, b, tie), `grade` (−2…2, as a
text) and `comment` (a text).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import Field

from arena.services.annotation.files.model import (
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
    side_of,
)
from data.winners import Side

DISCARDED, DRAFT = "discarded", "draft"


class _Response(Entry):
    """One person's answer to one question."""

    value: Any
    user_id: str
    status: str | None = None


class _Record(Entry):
    """One item."""

    responses: dict[str, list[_Response]] = Field(default_factory=dict)
    metadata: Named


class _Answers(Entry):
    """One person's answers."""

    preference: Side | None = None
    grade: Whole | None = None
    comment: str | None = None


def write_argilla(content: LabelledTask) -> bytes:
    """The document: every item, labelled or not. Skips are left out: Argilla keeps no reason for them."""
    return document(list(map(_record, content.items)))


def read_argilla(content: bytes, tolerance: Tolerance) -> Iterator[FiledLabel]:
    """The labels of a document; discarded responses are skips, drafts are not given yet.

    Raises:
        FileFormatError: It is none; the message names the record and what is wrong.
    """
    entries = entries_of(content, _Record, "record", tolerance, advice="Write it with records.to_json.")
    for place, record in entries:
        by_person: dict[str, dict[str, Any]] = defaultdict(dict)
        skipped: set[str] = set()
        for name, responses in record.responses.items():
            for response in responses:
                if response.status == DRAFT:
                    continue
                by_person[response.user_id][name] = response.value
                if response.status == DISCARDED:
                    skipped.add(response.user_id)
        for person, values in by_person.items():
            read = partial(_filed, place, record.metadata, person, values, skipped=person in skipped)
            filed = tolerance.take(read)
            if filed is not None:
                yield filed


def _record(entry: LabelledItem) -> Json:
    question = entry.shown.question
    fields: Json = {
        "question": question.question,
        "answer_a": entry.shown.first,
        "answer_b": entry.shown.second,
        "reference": question.reference or "",
        "passages": "\n\n".join(passage.text for passage in question.passages),
    }
    responses: dict[str, list[Json]] = defaultdict(list)
    for label in entry.labels:
        if label.value is not None:
            answers = {
                "preference": side_of(label.value),
                "grade": str(label.value),
                "comment": label.comment,
            }
            for name, value in answers.items():
                if value:
                    responses[name].append({"value": value, "user_id": label.person})
    return {
        "id": str(entry.item.id),
        "fields": {name: value for name, value in fields.items() if value},
        "metadata": {**names_of(entry.item), "domain": question.domain, "chance": entry.item.chance},
        "suggestions": {},
        "responses": dict(responses),
        "vectors": {},
    }


def _filed(place: str, named: Named, person: str, values: Mapping[str, Any], *, skipped: bool) -> FiledLabel:
    answers = _Answers() if skipped else checked(place, values, _Answers)
    return FiledLabel(
        place=place,
        question_id=named.question_id,
        system_a=named.model_a,
        system_b=named.model_b,
        person=person,
        side=answers.preference,
        grade=answers.grade,
        comment=answers.comment or "",
        skip_reason=str(values.get("comment") or "discarded in Argilla") if skipped else None,
    )
