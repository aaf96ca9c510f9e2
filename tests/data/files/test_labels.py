"""Labels of people in tables and in exports of Label Studio and Argilla."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import InvalidFileError
from data.files.labels import LabelFile, read_labels
from data.files.text_files import ReadLimits

GOLDEN = Path(__file__).parents[2] / "golden" / "labels"
SYSTEMS = ("full", "short", "wrong", "human")
VOTES = [
    ("q1", "full", "short", "Ben", -1),
    ("q1", "full", "short", "Cleo", -1),
    ("q2", "wrong", "short", "Ben", 0),
    ("q2", "wrong", "short", "Cleo", 1),
    ("q3", "short", "human", "Ben", 1),
]
USERS = {"5": "Ben", "6": "Cleo"}
"""User names of Label Studio's export."""
PAIR = {"question_id": "q1", "model_a": "full", "model_b": "short"}
Entries = list[dict[str, Any]]


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


def read(folder: Path, payload: object, name: str = "labels.json") -> LabelFile:
    path = folder / name
    path.write_text(payload if isinstance(payload, str) else json.dumps(payload), encoding="utf-8")
    return read_labels(path, ReadLimits(), systems=SYSTEMS)


def refusal(folder: Path, payload: object, name: str = "labels.json") -> str:
    with pytest.raises(InvalidFileError) as refused:
        read(folder, payload, name)
    return " ".join(problem.message for problem in refused.value.problems)


def task(*annotations: dict[str, Any]) -> Entries:
    return [{"id": 1, "data": dict(PAIR), "annotations": list(annotations)}]


def annotation(*controls: dict[str, Any], **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"completed_by": 5, "was_cancelled": False, "result": list(controls), **fields}


def control(kind: str, key: str, value: object, name: str = "") -> dict[str, Any]:
    return {"type": kind, "from_name": name or kind, "value": {key: value}}


def record(**columns: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a record of Argilla as `records.to_list(flatten=True)` writes it."""
    return {"id": "r1", "status": "completed", "_server_id": "x", **PAIR, **columns}


def flat(values: list[Any], users: list[str], status: list[str], name: str = "preference") -> Any:  # noqa: ANN401
    key = f"{name}.responses"
    return {key: values, f"{key}.users": users, f"{key}.status": status}


LEFT, RIGHT = (control("pairwise", "selected", side, "preference") for side in ("left", "right"))


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_golden_files_give_same_votes(name: str) -> None:
    labels = read_labels(GOLDEN / name, ReadLimits(), systems=SYSTEMS).labels
    votes = [
        (
            label.question_id,
            label.system_a,
            label.system_b,
            USERS.get(label.annotator, label.annotator),
            sign(label.label),
        )
        for label in labels
    ]
    assert votes == VOTES


@pytest.mark.parametrize("name", ["people-argilla.json", "people-label-studio.json", "people-labels.jsonl"])
def test_exports_with_texts_become_calibration_pairs(name: str) -> None:
    labels = read_labels(GOLDEN / name, ReadLimits()).labels
    assert len({label.id for label in labels}) == 3
    assert labels[0].question == "What do we know of item 1 then?"
    assert labels[0].answer_b == "Item 1 is beta."
    assert labels[0].reference == "Item 1 is beta. It weighs 11 grams."
    assert "Item 1 weighs 11 grams." in " ".join(labels[0].passages)
    assert [label.label for label in labels] == [-2, -1, 0, 2, 1]


def test_argilla_drafts_and_discarded_responses_are_skipped(tmp_path: Path) -> None:
    left_out = {"draft": 2, "discarded": 1}
    path = GOLDEN / "people-argilla.json"
    assert read_labels(path, ReadLimits(), systems=SYSTEMS).left_out == left_out
    responses = [{"value": side, "user_id": side, "status": s} for side, s in zip("ab", STATES, strict=True)]
    file = read(tmp_path, [{"id": "1", "metadata": PAIR, "responses": {"preference": responses}}])
    assert ([label.annotator for label in file.labels], file.left_out) == (["b"], {"draft": 1})


STATES = ("draft", "submitted")
OLD, NEW = ({"updated_at": f"2026-01-0{day}T00:00:00Z"} for day in (1, 2))
WHOLE = {"id": 5, "email": "ann@example.org"}
REPLACED = "replaced by a later label of the same person"


@pytest.mark.parametrize(
    ("first", "second", "label", "left_out"),
    [
        (annotation(was_cancelled=True), annotation(RIGHT), 1, "skipped"),
        (annotation(), annotation(RIGHT, completed_by=6), 1, "without a label"),
        (annotation(LEFT), annotation(LEFT, completed_by=WHOLE), -1, REPLACED),
        (annotation(LEFT, completed_by=WHOLE), annotation(RIGHT, completed_by=WHOLE["email"]), 1, REPLACED),
        (annotation(LEFT, ground_truth=True, completed_by=6), annotation(RIGHT), 1, "marked as ground truth"),
        (annotation(control("number", "number", 2, "confidence")), annotation(RIGHT), 1, "without a label"),
        (annotation(LEFT, **NEW), annotation(RIGHT, **OLD), -1, REPLACED),
    ],
)
def test_label_studio_counts_skipped_annotations(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], label: int, left_out: str
) -> None:
    file = read(tmp_path, task(first, second))
    assert [(item.annotator, item.label) for item in file.labels] in ([("5", label)], [("6", label)])
    assert file.left_out == {left_out: 1}


def test_control_is_found_by_its_name(tmp_path: Path) -> None:
    clarity = control("pairwise", "selected", "left", "clarity")
    tie = control("choices", "choices", ["both"], "choice")
    assert read(tmp_path, task(annotation(RIGHT, clarity))).labels[0].label == 1
    assert read(tmp_path, task(annotation(tie))).labels[0].label == 0


REFUSED = {
    "prefers a, but its grade is 2": task(annotation(LEFT, control("number", "number", 2, "grade"))),
    "prefers left and chooses tie": task(annotation(LEFT, control("choices", "choices", ["tie"]))),
    "several answers of the type pairwise": task(
        annotation(
            control("pairwise", "selected", "left", "one"), control("pairwise", "selected", "right", "two")
        )
    ),
    "no completed_by": task(annotation(LEFT, completed_by=None)),
    "not say which control": [{**PAIR, "annotator": 1, "annotation_id": 3, "preference": "left"}],
    "no user_id": [{"metadata": PAIR, "responses": {"preference": [{"value": "a"}]}}],
    "no status": [{"metadata": PAIR, "responses": {"preference": [{"value": "a", "user_id": "u"}]}}],
    "is a string, not a list": [record(**{"preference.responses": "['a' 'b']"})],
    "label is a list": [record(**flat([["a", "b"]], ["u"], ["submitted"]))],
    "2 values and 1 users": [record(**flat(["a", "b"], ["u"], ["submitted", "submitted"]))],
    "lacks question_id, model_a or model_b": [{"question_id": "q1", "winner": "a"}],
    "label is a number (7)": [{**PAIR, "label": 7}],
    "does not name a question and two systems": {"q9_x_y": {"raw": ["Tie"]}},
    "2 votes and 1 annotators": {"q1_full_short": {"raw": ["Tie", "full"], "annotators": ["Ben"]}},
}


@pytest.mark.parametrize("message", list(REFUSED))
def test_invalid_labels_are_refused(tmp_path: Path, message: str) -> None:
    assert message in refusal(tmp_path, REFUSED[message])


def test_votes_table_is_read(tmp_path: Path) -> None:
    table = (
        "question_id,model_a,model_b,winner,score,Prolific PID,shown_first\n"
        "q1,full,short,tie (bothbad),,ann,b\n"
        "q2,full,short,skip,,ann,\n"
        "q3,full,short,,1,ann,\n"
    )
    file = read(tmp_path, table, "labels.csv")
    assert [(label.label, label.both_bad, label.shown_first, label.annotator) for label in file.labels] == [
        (0, True, "b", "ann"),
        (-1, False, "", "ann"),
    ]
    assert file.left_out == {"skipped": 1}


def test_pairs_of_question_have_different_ids(tmp_path: Path) -> None:
    rows = [{**PAIR, "winner": "a"}, {**PAIR, "model_b": "wrong", "winner": "b"}]
    assert [label.id for label in read(tmp_path, rows).labels] == ["q1_full_short", "q1_full_wrong"]
