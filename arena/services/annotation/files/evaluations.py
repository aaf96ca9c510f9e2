"""RAG-QA Arena's `human_evaluations.json`: by pair, the votes (`raw`) and what most of them say (`majority`).

Source: Han et al. (2024); the key is an id that ends in the names of the two systems, a tie is "Tie".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from arena.services.annotation.files.model import (
    Entry,
    FiledLabel,
    Json,
    LabelledItem,
    LabelledTask,
    Tolerance,
    checked,
    document,
    parsed,
    refuse,
    side_of,
)
from data.errors import FileFormatError
from data.records import TaskItem
from leaderboard.agreement import majority

TIE = "Tie"


class _Pair(Entry):
    """The votes of a pair."""

    raw: list[str]
    annotators: list[str] | None = None


def write_evaluations(content: LabelledTask) -> bytes:
    """The document: pairs in the task's order, votes in that of people."""
    evaluation: Json = {}
    for entry in content.items:
        values = [label.value for label in entry.labels if label.value is not None]
        if values:
            evaluation[_key(entry.item)] = {
                "majority": _name(entry, majority([float(value) for value in values]).value),
                "raw": [_name(entry, side_of(value)) for value in values],
                "annotators": [label.person for label in entry.labels if label.value is not None],
            }
    return document(evaluation)


def read_evaluations(
    content: bytes, items: tuple[TaskItem, ...], tolerance: Tolerance
) -> Iterator[FiledLabel]:
    """The votes of a document; the n-th of each pair is that of `annotator-n` where none are named.

    Raises:
        FileFormatError: It is no such document, or has a pair that the task does not have.
    """
    payload = parsed(content)
    if not isinstance(payload, dict):
        raise FileFormatError("The file is no object of pairs.", advice="Bring human_evaluations.json.")
    known = {_key(item): item for item in items}
    known |= {f"{item.question_id}_{item.system_b}_{item.system_a}": item for item in items}
    for key, entry in payload.items():
        yield from tolerance.take(partial(_votes, key, entry, known)) or ()


def _votes(key: str, entry: object, known: Mapping[str, TaskItem]) -> list[FiledLabel]:
    place = f"the pair {key!r}"
    item = known.get(key) or refuse(place, "is not in the task")
    pair = checked(place, entry, _Pair)
    people = pair.annotators or [f"annotator-{number}" for number in range(1, len(pair.raw) + 1)]
    if len(people) != len(pair.raw):
        refuse(place, f"has {len(pair.raw)} votes and {len(people)} annotators")
    sides = {item.system_a: "a", item.system_b: "b", TIE: "tie", TIE.lower(): "tie"}
    return [
        FiledLabel(
            place=place,
            question_id=item.question_id,
            system_a=item.system_a,
            system_b=item.system_b,
            person=person,
            side=sides.get(vote) or refuse(place, f"has the vote {vote!r}"),
        )
        for person, vote in zip(people, pair.raw, strict=True)
    ]


def _key(item: TaskItem) -> str:
    return f"{item.question_id}_{item.system_a}_{item.system_b}"


def _name(entry: LabelledItem, side: str) -> str:
    return {"a": entry.item.system_a, "b": entry.item.system_b}.get(side, TIE)
