"""RAG-QA Arena's `human_evaluations.json`: by pair, the votes (`raw`) and what most of them say (`majority`).

Source: Han et al. (2024); the key is an id that ends in the names of the two systems, a tie is "Tie".
"""

from __future__ import annotations

from collections.abc import Iterator

from arena.services.annotation.files.model import (
    FiledLabel,
    Json,
    LabelledItem,
    LabelledTask,
    document,
    parsed,
    refuse,
    side_of,
    value_of_side,
)
from data.errors import FileFormatError
from data.records import AnnotationTask, Preference, TaskItem
from leaderboard.agreement import majority

TIE = "Tie"


def write_evaluations(content: LabelledTask) -> bytes:
    """The document: pairs in the task's order, votes in that of people."""
    evaluation: Json = {}
    for entry in content.items:
        values = [label.value for label in entry.labels if label.value is not None]
        if values:
            evaluation[key_of(entry.item)] = {
                "majority": _name(entry, majority([float(value) for value in values]).value),
                "raw": [_name(entry, side_of(value)) for value in values],
            }
    return document(evaluation)


def read_evaluations(
    content: bytes, task: AnnotationTask, items: tuple[TaskItem, ...]
) -> Iterator[FiledLabel]:
    """The votes of a document; the n-th of each pair is that of `annotator-n`.

    Raises:
        FileFormatError: It is no such document, or has a pair that the task does not have.
    """
    payload = parsed(content)
    if not isinstance(payload, dict):
        raise FileFormatError("The file is no object of pairs.", advice="Bring human_evaluations.json.")
    known = {key_of(item): item for item in items}
    known |= {_key(item.question_id, item.system_b, item.system_a): item for item in items}
    for key, entry in payload.items():
        place = f"the pair {key!r}"
        item = known.get(key) or refuse(place, "is not in the task")
        votes = entry.get("raw") if isinstance(entry, dict) else None
        if not isinstance(votes, list):
            refuse(place, "has no list of votes as raw")
        sides = {item.system_a: "a", item.system_b: "b", TIE: "tie", TIE.lower(): "tie"}
        for number, vote in enumerate(votes, start=1):
            side = sides.get(str(vote)) or refuse(place, f"has the vote {vote!r}")
            yield FiledLabel(
                place=place,
                question_id=item.question_id,
                system_a=item.system_a,
                system_b=item.system_b,
                person=f"annotator-{number}",
                value=value_of_side(side, task.terms.scale),
            )


def key_of(item: TaskItem) -> str:
    """The key of a pair."""
    return _key(item.question_id, item.system_a, item.system_b)


def _key(question: str, first: str, second: str) -> str:
    return f"{question}_{first}_{second}"


def _name(entry: LabelledItem, side: str) -> str:
    names = {Preference.A.value: entry.item.system_a, Preference.B.value: entry.item.system_b}
    return names.get(side, TIE)
