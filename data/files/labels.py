"""Readers of people's labels of pairs: tables, exports of Label Studio and Argilla, RAG-QA Arena's file.

Label Studio exports a list of tasks with `data`, `meta` and `annotations`: the tag Pairwise (`left` is answer
a), Choices for a tie, Number for a grade. Argilla's records have `fields`, `metadata` and `responses`, or,
from `records.to_list(flatten=True)`, columns such as `preference.responses`; only the latter have the status
of responses.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from data.errors import FileFormatError
from data.files.labelled_pairs import read_evaluations
from data.files.tables.columns import NAMES, Column, folded, renamed
from data.files.tables.reader import each_record
from data.files.tables.rows import Fields
from data.files.tables.values import describe_value, has_value, id_text, number_of
from data.files.text_files import ReadLimits
from data.models import LARGEST_GRADE, HumanLabel, ProblemList
from data.models.words import ANNOTATOR, Side, is_person, winning_side

Row = Mapping[str, object]
GRADES: Mapping[Side, float] = MappingProxyType({"a": -1.0, "tie": 0.0, "b": 1.0})
BOTH_BAD = frozenset({"tie (bothbad)", "tie (both bad)", "bothbad", "both_bad", "both are bad"})
SKIP = "skip"
PREFERENCES = ("preference", "label", "winner")
"""Names that a project may use for its question about the better answer."""
UNCHANGED = ("passages", "id", "data", "meta", "annotations", "fields", "metadata", "responses")
SIDES: Mapping[str, str] = MappingProxyType(
    {
        "winner": "label",
        **{
            folded(f"{name}_{side}"): f"{ours}_{side}"
            for ours in (Column.ANSWER, Column.SYSTEM)
            for name in NAMES[ours]
            for side in "ab"
        },
    }
)
"""Our column names of a pair, by other names."""
FLATTEN = "Export with `dataset.records.to_list(flatten=True)`, and write that list as JSON."


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """Labels of a file, and counts of skipped entries by reason."""

    labels: tuple[HumanLabel, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def read_labels(path: Path, limits: ReadLimits, *, systems: Collection[str] | None = None) -> LabelFile:
    """Read the labels of a file in any of the formats.

    With known `systems`, question id and systems are required, else question and answers.
    """
    published = read_evaluations(path, limits, systems=systems)
    if published is not None:
        return LabelFile(labels=published)
    problems, left_out, numbers = ProblemList(), Counter[str](), dict[str, str]()
    make = partial(_labels, texts=systems is None, left_out=left_out, numbers=numbers)
    rows = each_record(path, limits, make, problems, ours=True, lists=("passages",), keep=UNCHANGED)
    stored = [label for _, labels in rows for label in labels]
    renumbered = (replace(label, annotator=numbers.get(label.annotator, label.annotator)) for label in stored)
    labels = _newest(list(renumbered), left_out)
    if not labels and not problems.errors:
        why = "".join(f"; {count:,} {reason}" for reason, count in left_out.items())
        advice = f"Add at least one, in a question or control called {PREFERENCES[0]}."
        problems.add(0, "empty-file", f"{path.name} contains no labels{why}.", advice=advice)
    problems.require_none(path.name)
    return LabelFile(labels=tuple(labels), left_out=dict(left_out))


def _newest(labels: Sequence[HumanLabel], left_out: Counter[str]) -> list[HumanLabel]:
    newest: dict[object, HumanLabel] = {}
    for at, label in enumerate(labels):
        key = (label.id, label.annotator) if label.annotator else at
        previous = newest.get(key)
        if previous is not None:
            left_out["replaced by a later label of the same person"] += 1
        if previous is None or label.labelled_at >= previous.labelled_at:
            newest[key] = label
    return list(newest.values())


def _labels(
    line: int,
    row: Row,
    problems: ProblemList,
    *,
    texts: bool,
    left_out: Counter[str],
    numbers: dict[str, str],
) -> list[HumanLabel]:
    """Read the labels of a row: one of a table, one per person of a task or record."""
    if {"annotator", "annotation_id"} <= row.keys() and not {"label", "winner"} & row.keys():
        message = "This export of Label Studio does not say which control a value belongs to."
        problems.add(line, "wrong-format", message, advice="Export the project as JSON.")
        return []
    rows: Iterator[dict[str, object]]
    if isinstance(row.get("annotations"), list):
        rows = _annotations(row, left_out, numbers)
    elif "responses" in row or any(name.endswith(".responses") for name in row):
        rows = _responses(row, left_out)
    else:
        rows = iter((dict(row),))
    labels = (_label(line, entry, problems, texts=texts, left_out=left_out) for entry in rows)
    return [label for label in labels if label is not None]


def _label(
    line: int, row: Row, problems: ProblemList, *, texts: bool, left_out: Counter[str]
) -> HumanLabel | None:
    own = "label" in row
    row = {SIDES[folded(name)]: value for name, value in row.items() if folded(name) in SIDES} | dict(row)
    row.setdefault(ANNOTATOR, next((row[name] for name in row if is_person(name)), None))
    word = str(row.get("label") or "").strip().casefold()
    if word == SKIP:
        left_out["skipped"] += 1
        return None
    fields = Fields(line, row, problems)
    passages = row.get("passages")
    single = {**row, "passages": [passages]} if isinstance(passages, str | Mapping) else row
    systems = [fields.optional(f"system_{side}") or "" for side in "ab"]
    question_id = fields.id("question_id", "id") if _named(row, "question_id", "id") else ""
    if not texts and not (question_id and all(systems)):
        fields.note("missing-field", "The pair lacks question_id, model_a or model_b.")
    question, answer_a, answer_b = (
        fields.text(name, blank=True) if texts else str(row.get(name) or "")
        for name in ("question", "answer_a", "answer_b")
    )
    label = HumanLabel(
        id=_id_of(fields, row, question_id, systems),
        question_id=question_id,
        domain=fields.optional("domain") or "",
        question=question,
        answer_a=answer_a,
        answer_b=answer_b,
        label=_grade(fields, own=own),
        both_bad=word in BOTH_BAD,
        reference=fields.optional("reference"),
        passages=tuple(passage.text for passage in Fields(line, single, problems).passages("passages", "p")),
        system_a=systems[0],
        system_b=systems[1],
        annotator=id_text(row.get("annotator")) or "",
        shown_first=str(row.get("shown_first") or ""),
        labelled_at=str(row.get("labelled_at") or ""),
    )
    return None if fields.wrong else label


def _named(row: Row, *names: str) -> bool:
    return any(has_value(row.get(name)) for name in names)


def _id_of(fields: Fields, row: Row, question_id: str, systems: Sequence[str]) -> str:
    if _named(row, "id"):
        return fields.id("id")
    if question_id:
        return "_".join([question_id, *filter(None, systems)])
    texts = json.dumps([str(row.get(name)) for name in ("question", "answer_a", "answer_b")])
    return f"pair {hashlib.sha256(texts.encode()).hexdigest()[:12]}"


def _grade(fields: Fields, *, own: bool) -> float:
    """Read the label; a word in a column `label` is a side, in others it may be a system's name."""
    value = fields.row.get("label")
    side = winning_side(value, fields.row.get("system_a"), fields.row.get("system_b"), by_name=not own)
    if side is not None:
        return GRADES[side]
    score, number = number_of(fields.row.get("score")), number_of(value)
    if value is None and score is not None and 0 <= score <= 1:
        return 1.0 - 2.0 * score
    if number is not None and abs(number) <= LARGEST_GRADE:
        return number
    advice = f'Use "a", "b", "tie", or a number from -{LARGEST_GRADE} to {LARGEST_GRADE}.'
    fields.note("wrong-value", f"The label is {describe_value(value)}.", advice)
    return 0.0


def _annotations(task: Row, left_out: Counter[str], numbers: dict[str, str]) -> Iterator[dict[str, object]]:
    data = {**_object(task.get("data"), "data"), **_object(task.get("meta"), "meta")}
    annotations = task["annotations"]
    for entry in annotations if isinstance(annotations, list) else ():
        annotation = _object(entry, "annotations")
        controls = [_object(control, "result") for control in _listed(annotation.get("result"))]
        if annotation.get("was_cancelled") or annotation.get("ground_truth"):
            left_out["skipped" if annotation.get("was_cancelled") else "marked as ground truth"] += 1
            continue
        side = _control(controls, PREFERENCES, "pairwise", "selected")
        choices = _listed(_control(controls, ("choice", *PREFERENCES), "choices", "choices"))
        tie = choices[0] if choices else None
        grade = _control(controls, ("grade",), "number", "number")
        if side is None and tie is None and grade is None:
            left_out["without a label"] += 1
            continue
        if None not in (side, tie) and winning_side(side, "", "") != winning_side(tie, "", ""):
            raise FileFormatError(f"An annotation prefers {side} and chooses {tie}.")
        yield {
            **_ours(data),
            "winner": _graded(side or tie, grade),
            "annotator": _person(annotation.get("completed_by"), numbers),
            "labelled_at": annotation.get("updated_at"),
        }


def _graded(label: object, grade: object) -> object:
    number, side = number_of(grade), winning_side(label, "", "")
    if number is None:
        return label if grade is None else grade
    if side is not None and (number > 0) - (number < 0) != GRADES[side]:
        raise FileFormatError(f"A label prefers {side}, but its grade is {number:g}.")
    return number


def _person(user: object, numbers: dict[str, str]) -> str:
    if isinstance(user, Mapping):
        number, user = id_text(user.get("id")), user.get("email")
        if number:
            numbers[str(user)] = number
            user = number
    name = id_text(user)
    if not name:
        message = "An annotation has no completed_by, for example because its user was deleted."
        raise FileFormatError(message, advice="Add the user, or delete the annotation.")
    return name


def _control(controls: Sequence[Row], names: Sequence[str], kind: str, key: str) -> object:
    """Return the value of the control with one of the names, else of the only control of the type.

    A number with another name may be something else, such as a confidence.
    """
    typed = [control for control in controls if control.get("type") == kind]
    chosen = [control for control in typed if control.get("from_name") in names]
    chosen = chosen or ([] if kind == "number" else typed)
    values = [_object(control.get("value"), "value").get(key) for control in chosen]
    if any(value != values[0] for value in values):
        names_text = ", ".join(sorted(str(control.get("from_name")) for control in chosen))
        raise FileFormatError(
            f"An annotation has several answers of the type {kind} ({names_text}).",
            advice=f"Rename the relevant control to {names[0]}.",
        )
    return values[0] if values else None


def _responses(record: Row, left_out: Counter[str]) -> Iterator[dict[str, object]]:
    people: dict[str, dict[str, object]] = {}
    status: dict[str, object] = {}
    for question, person, value, state in _answers(record):
        people.setdefault(person, {})[question] = value
        if state is None:
            message = "An Argilla response has no status, so it may be a draft or discarded."
            raise FileFormatError(message, advice=FLATTEN)
        status[person] = state if state != "submitted" else status.get(person, state)
    common = {
        **{name: record[name] for name in record if "." not in name and name not in UNCHANGED[1:]},
        **_ours(_object(record.get("fields"), "fields")),
        **_ours(_object(record.get("metadata"), "metadata")),
    }
    common.pop("status", None)
    if not _named(_object(record.get("metadata"), "metadata"), "question_id"):
        common.setdefault("id", record.get("id"))
    for person, values in people.items():
        label = next((values[name] for name in PREFERENCES if name in values), None)
        if status[person] != "submitted":
            left_out[str(status[person])] += 1
        elif label is None and "grade" not in values:
            left_out["without a label"] += 1
        else:
            yield {**common, "winner": _graded(label, values.get("grade")), "annotator": person}


def _answers(record: Row) -> Iterator[tuple[str, str, object, object]]:
    for question, responses in _object(record.get("responses"), "responses").items():
        for entry in _listed(responses):
            response = _object(entry, f"responses.{question}")
            yield question, _user(response.get("user_id")), response.get("value"), response.get("status")
    for name in record:
        if name.endswith(".responses"):
            if isinstance(record[name], str):
                raise FileFormatError(f"{name} is a string, not a list.", advice=FLATTEN)
            values, users = _listed(record[name]), _listed(record.get(f"{name}.users"))
            states = _listed(record.get(f"{name}.status")) or [None] * len(values)
            if not len(values) == len(users) == len(states):
                raise FileFormatError(f"{name} has {len(values)} values and {len(users)} users.")
            question = name.removesuffix(".responses")
            for value, user, state in zip(values, users, states, strict=True):
                yield question, _user(user), value, state


def _user(value: object) -> str:
    name = id_text(value)
    if not name:
        raise FileFormatError("A response has no user_id.", advice="Export the records from Argilla again.")
    return name


def _ours(row: Row) -> dict[str, object]:
    unchanged = {name: row[name] for name in UNCHANGED if name in row}
    return renamed({name: value for name, value in row.items() if name not in unchanged}) | unchanged


def _object(value: object, name: str) -> Mapping[str, object]:
    if value is not None and not isinstance(value, Mapping):
        raise FileFormatError(f"{name} is {describe_value(value)}, not an object.")
    return {} if value is None else value


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]
