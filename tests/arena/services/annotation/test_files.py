"""Files of labels: what is written is read back, calibrates judges and corrects boards; golden files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import Caller
from arena.services.annotation.files.lines import read_items
from arena.services.annotation.files.model import LabelFormat
from arena.services.annotation.requests import ChosenItem, TaskRequest
from arena.services.judging.labelled_pairs import labelled_pairs
from data.errors import ConflictError, FileFormatError
from data.records import LabelScale
from leaderboard.people import read_votes

GOLDEN = Path(__file__).parents[3] / "golden" / "labels"
Named = Callable[[str], Caller]
CHOSEN = (
    ChosenItem(question_id="q1", system_a="full", system_b="short"),
    ChosenItem(question_id="q2", system_a="wrong", system_b="short"),
    ChosenItem(question_id="q3", system_a="short", system_b="human"),
)
TASK = TaskRequest(
    name="people", set_name="tiny", chosen=CHOSEN, overlap=2, annotators=("Ada", "Ben", "Cleo")
)
# By person, what they say of the pairs of the questions, in the order a, b.
SAID = {"Ben": {"q1": -2, "q2": 0, "q3": 1}, "Cleo": {"q1": -1, "q2": 2}}
# Files of five grades hold what a, tie and b cannot.
TRAVELS = [
    *((form, LabelScale.GRADES) for form in LabelFormat if form is not LabelFormat.RESULTS),
    (LabelFormat.VOTES, LabelScale.SIDES),
    (LabelFormat.EVALUATIONS, LabelScale.SIDES),
]


def _labelled(arena: Arena, ada: Caller, named: Named, request: TaskRequest = TASK) -> None:
    arena.annotation.open(request, caller=ada)
    for name, said in SAID.items():
        caller = named(name)
        arena.labels.consent(request.name, caller=caller)
        while (item := arena.labels.next(request.name, caller=caller)) is not None:
            value = said.get(item.question.id)
            if value is None:
                arena.labels.skip(request.name, item.id, "I do not know.", caller=caller)
                continue
            first = {"q1": "weighs", "q2": "99", "q3": ""}[item.question.id]
            a_first = first in item.first if first else "weighs" not in item.first
            shown = value if a_first else -value
            comment = "Says more." if value == -2 else ""
            arena.labels.label(request.name, item.id, shown, comment=comment, caller=caller)


def _stable(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A document without what differs from run to run: numbers of rows and times."""
    if isinstance(value, dict):
        return {key: _stable(one) for key, one in value.items() if key != "lead_time"}
    return [_stable(one) for one in value] if isinstance(value, list) else value


def _parsed(content: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON
    text = content.decode()
    return [json.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else json.loads(text)


@pytest.mark.long
@pytest.mark.parametrize("form", list(LabelFormat))
def test_files_are_as_documented(
    people: Callable[..., Arena], ada: Caller, named: Named, form: LabelFormat
) -> None:
    """Every format writes the golden file, but for times."""
    arena = people()
    _labelled(arena, ada, named)
    found = arena.label_files.export("people", form, caller=ada)
    expected = (GOLDEN / found.name).read_bytes()
    assert _stable(_parsed(found.content, found.name)) == _stable(_parsed(expected, found.name))
    assert found.left_out == 0


@pytest.mark.long
@pytest.mark.parametrize(("form", "scale"), TRAVELS)
def test_what_is_exported_comes_back_as_the_same_votes(
    people: Callable[..., Arena], ada: Caller, named: Named, form: LabelFormat, scale: LabelScale
) -> None:
    """A file of any format, imported into a fresh task with pairs turned round, gives the same votes."""
    arena = people()
    _labelled(arena, ada, named)
    content = arena.label_files.export("people", form, caller=ada).content
    turned = tuple(replace(item, system_a=item.system_b, system_b=item.system_a) for item in CHOSEN)
    arena.annotation.open(replace(TASK, name="again", chosen=turned, scale=scale), caller=ada)
    count = arena.label_files.bring("again", form, content, caller=ada).new
    assert arena.label_files.bring("again", form, content, caller=ada).new == 0

    def told(name: str) -> set[tuple[object, ...]]:
        votes = arena.annotation.votes(name, caller=ada)
        rows = zip(votes.question_id, votes.model_a, votes.model_b, votes.share, votes.annotator, strict=True)
        return {
            (question, frozenset({(a, share), (b, 1 - share)}), person)
            for question, a, b, share, person in rows
        }

    assert told("people") == told("again")
    # Label Studio knows of skips too.
    assert count == (6 if form is LabelFormat.LABEL_STUDIO else 5)


def test_exports_are_read_by_the_commands_that_need_them(
    people: Callable[..., Arena], ada: Caller, named: Named, tmp_path: Path
) -> None:
    """Votes correct boards, human labels calibrate judges."""
    arena = people()
    _labelled(arena, ada, named)
    votes = tmp_path / "votes.jsonl"
    votes.write_bytes(arena.label_files.export("people", LabelFormat.VOTES, caller=ada).content)
    found = read_votes(votes)
    assert (len(found), set(found.annotator)) == (5, {"Ben", "Cleo"})
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(arena.label_files.export("people", LabelFormat.LABELS, caller=ada).content)
    assert sorted(len(pair.labels) for pair in labelled_pairs(labels)) == [1, 2, 2]


BROKEN: dict[str, tuple[LabelFormat, bytes]] = {
    "no JSON": (LabelFormat.LABEL_STUDIO, b"{"),
    "no list of tasks": (LabelFormat.LABEL_STUDIO, b"{}"),
    "no list of records": (LabelFormat.ARGILLA, b"{}"),
    "has no responses.preference.0.user_id": (
        LabelFormat.ARGILLA,
        b'[{"responses": {"preference": [{"value": "a"}]}}]',
    ),
    "has no metadata": (
        LabelFormat.ARGILLA,
        b'[{"responses": {"preference": [{"value": "a", "user_id": "x"}]}}]',
    ),
    "not in the task": (LabelFormat.EVALUATIONS, b'{"q9_x_y": {"raw": ["x"]}}'),
    "Line 1 has no annotator": (
        LabelFormat.VOTES,
        b'{"question_id": "q1", "model_a": "full", "model_b": "short", "winner": "tie"}',
    ),
    "Line 2 is no JSON": (LabelFormat.VOTES, b"\n{"),
    "has as winner \"c\"; 'model_a', 'model_b'": (LabelFormat.VOTES, b'{"winner": "c"}'),
    "does not have": (
        LabelFormat.VOTES,
        b'{"question_id": "q9", "model_a": "full", "model_b": "short", "winner": "tie", "annotator": "x"}',
    ),
    "has as label 7; a, b, tie or a whole number": (LabelFormat.LABELS, b'{"label": 7}'),
    "Results are what": (LabelFormat.RESULTS, b"{}"),
    "not UTF-8": (LabelFormat.VOTES, b"\xff\xfe"),
}


@pytest.mark.long
@pytest.mark.parametrize("said", list(BROKEN))
def test_broken_files_are_refused_with_their_place(
    people: Callable[..., Arena], ada: Caller, said: str
) -> None:
    """A file that cannot be read, or speaks of something else, changes nothing and says where it is wrong."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    form, content = BROKEN[said]
    with pytest.raises(FileFormatError, match=said):
        arena.label_files.bring("people", form, content, caller=ada)
    assert arena.annotation.task("people", caller=ada).done == 0


def test_closed_tasks_take_no_files(people: Callable[..., Arena], ada: Caller) -> None:
    """Closed is closed, for files too."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    arena.annotation.close("people", caller=ada)
    with pytest.raises(ConflictError, match="closed"):
        arena.label_files.bring("people", LabelFormat.VOTES, b"", caller=ada)


def test_hidden_references_leave_no_file(people: Callable[..., Arena], ada: Caller, named: Named) -> None:
    """The labels of a set that hides its references are written without them."""
    arena = people()
    arena.policies.hide_references("tiny", hidden=True, caller=ada)
    _labelled(arena, ada, named, replace(TASK, chosen=CHOSEN[:2]))
    for row in arena.label_files.export("people", caller=ada).content.splitlines():
        assert json.loads(row)["reference"] is None


def test_items_are_named_by_files() -> None:
    """A line an item; gold ones have a winner or a value."""
    content = (
        b'{"question_id": "q1", "model_a": "x", "model_b": "y"}\n'
        b'{"question_id": "q1", "model_a": "x", "model_b": "y", "winner": "y"}\n'
        b'{"question_id": "q2", "model_a": "x", "model_b": "y", "value": "-1"}\n'
    )
    assert read_items(content) == (
        ChosenItem(question_id="q1", system_a="x", system_b="y"),
        ChosenItem(question_id="q1", system_a="x", system_b="y", gold=2),
        ChosenItem(question_id="q2", system_a="x", system_b="y", gold=-1),
    )
    assert read_items(content, LabelScale.SIDES)[1].gold == 1
    with pytest.raises(FileFormatError, match="names no items"):
        read_items(b"\n")
    with pytest.raises(FileFormatError, match=r"has as value 1\.5"):
        read_items(b'{"question_id": "q", "value": 1.5}')


def _studio(results: list[dict[str, Any]] | None = None, **annotation: Any) -> bytes:  # noqa: ANN401 - JSON
    """A task of Label Studio about the first pair, with one annotation."""
    data = {"question_id": "q1", "model_a": "full", "model_b": "short"}
    entry = {"completed_by": 5, "result": results or [], **annotation}
    return json.dumps([{"data": data, "annotations": [entry]}]).encode()


def _control(kind: str, value: Any, name: str = "", key: str = "") -> dict[str, Any]:  # noqa: ANN401 - JSON
    keys = {"pairwise": "selected", "number": "number", "choices": "choices", "textarea": "text"}
    return {"type": kind, "from_name": name or kind, "value": {key or keys[kind]: value}}


def _argilla(**responses: Any) -> bytes:  # noqa: ANN401 - JSON
    """A record of Argilla about the first pair."""
    metadata = {"question_id": "q1", "model_a": "full", "model_b": "short"}
    given = {
        name: value
        if isinstance(value, list) and value and "user_id" in value[0]
        else [{"value": value, "user_id": "u"}]
        for name, value in responses.items()
    }
    return json.dumps([{"metadata": metadata, "responses": given}]).encode()


LEFT, RIGHT = _control("pairwise", "left", "preference"), _control("pairwise", "right", "preference")
VOTE = {"question_id": "q1", "model_a": "full", "model_b": "short", "annotator": "x"}
REFUSED: dict[str, tuple[LabelFormat, bytes, str]] = {
    "a number without end": (
        LabelFormat.LABEL_STUDIO,
        _studio([_control("number", 7, "grade")]).replace(b"7", b"1e400"),
        "Task 1 has as grade Infinity",
    ),
    "half a character": (
        LabelFormat.LABEL_STUDIO,
        _studio([LEFT, _control("textarea", ["\ud83d"], "comment")]),
        "Task 1 has half of a character",
    ),
    "half a character in Argilla": (
        LabelFormat.ARGILLA,
        _argilla(preference="a", comment="\ud83d"),
        "Record 1 has half of a character",
    ),
    "half a character in votes": (
        LabelFormat.VOTES,
        json.dumps({**VOTE, "winner": "tie", "note": "\ud83d"}).encode(),
        "Line 1 has half of a character",
    ),
    "a ranking": (
        LabelFormat.ARGILLA,
        _argilla(preference=["a", "b"]),
        r"Record 1 has as preference \[\"a\", \"b\"\]; 'a', 'b' or 'tie' is expected",
    ),
    "two controls": (
        LabelFormat.LABEL_STUDIO,
        _studio([_control("pairwise", "left", "p1"), _control("pairwise", "right", "p2")]),
        r"several answers of the type pairwise \(p1, p2\)",
    ),
    "side against grade": (
        LabelFormat.LABEL_STUDIO,
        _studio([LEFT, _control("number", 2, "grade")]),
        "prefers a and has the grade 2, which says b",
    ),
    "side against grade in Argilla": (
        LabelFormat.ARGILLA,
        _argilla(preference="a", grade="2"),
        "prefers a and has the grade 2, which says b",
    ),
    "side against tie": (
        LabelFormat.LABEL_STUDIO,
        _studio([LEFT, _control("choices", ["tie"], "choice")]),
        "prefers a and chooses tie",
    ),
    "winner against score": (
        LabelFormat.VOTES,
        json.dumps({**VOTE, "winner": "model_a", "score": 0}).encode(),
        "contradict each other",
    ),
    "one person twice": (
        LabelFormat.VOTES,
        b"\n".join(json.dumps({**VOTE, "winner": side}).encode() for side in ("model_a", "model_b")),
        "Line 2 contradicts an earlier label",
    ),
    "nobody": (
        LabelFormat.LABEL_STUDIO,
        _studio([LEFT], completed_by=None),
        "Task 1 has a label of nobody: completed_by is empty",
    ),
    "a list for a person": (
        LabelFormat.LABEL_STUDIO,
        _studio([LEFT], completed_by=[1]),
        r"Task 1 has as annotations.0.completed_by \[1\]",
    ),
    "JSON-MIN": (
        LabelFormat.LABEL_STUDIO,
        b'[{"question_id": "q1", "annotator": 1, "annotation_id": 3, "preference": "left"}]',
        "Label Studio's JSON-MIN",
    ),
    "a number without end in labels": (
        LabelFormat.LABELS,
        b'{"question_id": "q1", "system_a": "full", "system_b": "short", "annotator": "x", "label": 1e400}',
        "Line 1 has as label Infinity",
    ),
    "a list for a score": (
        LabelFormat.VOTES,
        json.dumps({**VOTE, "score": [1]}).encode(),
        r"Line 1 has as score \[1\]",
    ),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_labels_that_cannot_be_read_are_refused_in_plain_words(
    people: Callable[..., Arena], ada: Caller, case: str
) -> None:
    """Values of another type, half characters and contradictions are named, and nothing is stored."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    form, content, said = REFUSED[case]
    with pytest.raises(FileFormatError, match=said) as caught:
        arena.label_files.bring("people", form, content, caller=ada)
    assert not {"pydantic", "_User", "dictionary", "Field required"} & set(str(caught.value).split())
    assert arena.annotation.task("people", caller=ada).done == 0


def _votes(arena: Arena, ada: Caller) -> list[tuple[str, float]]:
    votes = arena.annotation.votes("people", caller=ada)
    return list(zip(votes.annotator, votes.share, strict=True))


def test_lenient_imports_count_what_they_leave_out(people: Callable[..., Arena], ada: Caller) -> None:
    """One empty annotation costs itself and not the file, and the count says so."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    tasks = json.loads(_studio([LEFT])) + json.loads(_studio([])) + [{"data": 3}]
    content = json.dumps(tasks).encode()
    with pytest.raises(FileFormatError, match="Task 2 has a label without a value"):
        arena.label_files.bring("people", LabelFormat.LABEL_STUDIO, content, caller=ada)
    found = arena.label_files.bring("people", LabelFormat.LABEL_STUDIO, content, lenient=True, caller=ada)
    assert found.new == 1
    assert [message[:6] for message in found.left_out] == ["Task 2", "Task 3"]


def test_controls_are_read_by_their_names(people: Callable[..., Arena], ada: Caller) -> None:
    """A second control of one type, for something else, does not replace the one that counts."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    results = [RIGHT, _control("pairwise", "left", "clarity"), _control("textarea", "plain words", "comment")]
    arena.label_files.bring(
        "people", LabelFormat.LABEL_STUDIO, _studio(results, completed_by={"id": 0}), caller=ada
    )
    content = arena.label_files.export("people", LabelFormat.LABELS, caller=ada).content
    row = json.loads(content)
    assert (row["annotator"], row["label"] > 0, row["comment"]) == ("0", True, "plain words")


def test_drafts_are_no_labels(people: Callable[..., Arena], ada: Caller) -> None:
    """What somebody has not submitted yet does not count, what another submitted of the same record does."""
    arena = people()
    arena.annotation.open(TASK, caller=ada)
    given = [
        {"value": "a", "user_id": "u", "status": "draft"},
        {"value": "b", "user_id": "v", "status": "submitted"},
    ]
    assert (
        arena.label_files.bring("people", LabelFormat.ARGILLA, _argilla(preference=given), caller=ada).new
        == 1
    )
    assert [person for person, _ in _votes(arena, ada)] == ["v"]
