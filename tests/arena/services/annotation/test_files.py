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
from data.records import LabelScale, Span, SpanKind, TaskKind
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
    count = arena.label_files.bring("again", form, content, caller=ada)
    assert arena.label_files.bring("again", form, content, caller=ada) == 0

    def told(name: str) -> set[tuple[object, ...]]:
        votes = arena.annotation.votes(name, caller=ada)
        rows = zip(votes.question_id, votes.model_a, votes.model_b, votes.share, votes.annotator, strict=True)
        who = form is not LabelFormat.EVALUATIONS
        return {
            (question, frozenset({(a, share), (b, 1 - share)}), person if who else "")
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


@pytest.mark.parametrize("form", [LabelFormat.LABEL_STUDIO, LabelFormat.ARGILLA])
@pytest.mark.parametrize("kind", [TaskKind.ANSWERABILITY, TaskKind.PASSAGES, TaskKind.SPANS])
def test_other_kinds_travel_too(
    people: Callable[..., Arena], ada: Caller, named: Named, form: LabelFormat, kind: TaskKind
) -> None:
    """Answerability, ratings of passages and spans come back from Label Studio and Argilla as they were."""
    arena = people()
    request = TaskRequest(
        name="one",
        set_name="tiny",
        kind=kind,
        systems=("full",) if kind is TaskKind.SPANS else (),
        overlap=1,
        annotators=("Ben",),
        count=2,
    )
    arena.annotation.open(request, caller=ada)
    arena.annotation.open(replace(request, name="two"), caller=ada)
    ben = named("Ben")
    arena.labels.consent("one", caller=ben)
    spans = (
        Span(kind=SpanKind.UNSUPPORTED, start=0, end=6),
        Span(kind=SpanKind.MISSING, text="Its colour."),
    )
    while (item := arena.labels.next("one", caller=ben)) is not None:
        given = spans if kind is TaskKind.SPANS else ()
        arena.labels.label("one", item.id, 1, spans=given, caller=ben)
    content = arena.label_files.export("one", form, caller=ada).content
    assert arena.label_files.bring("two", form, content, caller=ada) == 2
    tasks = [arena.annotation.task(name, caller=ada).id for name in ("one", "two")]
    first, second = ([(label.value, label.spans) for label in arena.store.labels.given(one)] for one in tasks)
    assert first == second
    with pytest.raises(FileFormatError, match="hold pairs"):
        arena.label_files.export("one", LabelFormat.VOTES, caller=ada)


BROKEN: dict[str, tuple[LabelFormat, bytes]] = {
    "no JSON": (LabelFormat.LABEL_STUDIO, b"{"),
    "no list of tasks": (LabelFormat.LABEL_STUDIO, b"{}"),
    "no list of records": (LabelFormat.ARGILLA, b"{}"),
    "cannot be read at": (LabelFormat.ARGILLA, b'[{"responses": {"preference": [{"value": "a"}]}}]'),
    "no question_id": (
        LabelFormat.ARGILLA,
        b'[{"responses": {"preference": [{"value": "a", "user_id": "x"}]}}]',
    ),
    "not in the task": (LabelFormat.EVALUATIONS, b'{"q9_x_y": {"raw": ["x"]}}'),
    "Line 1 has no annotator": (
        LabelFormat.VOTES,
        b'{"question_id": "q1", "model_a": "full", "model_b": "short", "winner": "tie"}',
    ),
    "Line 2 is no JSON": (LabelFormat.VOTES, b"\n{"),
    "has the winner 'c'": (LabelFormat.VOTES, b'{"winner": "c"}'),
    "does not have": (
        LabelFormat.VOTES,
        b'{"question_id": "q9", "model_a": "full", "model_b": "short", "winner": "tie", "annotator": "x"}',
    ),
    "has the label 7": (LabelFormat.LABELS, b'{"label": 7}'),
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
        b'{"question_id": "q1", "model_a": "x", "model_b": "y", "winner": "model_b"}\n'
        b'{"question_id": "q2", "passage": "p", "value": 4}\n'
    )
    assert read_items(content) == (
        ChosenItem(question_id="q1", system_a="x", system_b="y"),
        ChosenItem(question_id="q1", system_a="x", system_b="y", gold=2),
        ChosenItem(question_id="q2", passage="p", gold=4),
    )
    assert read_items(content, LabelScale.SIDES)[1].gold == 1
    with pytest.raises(FileFormatError, match="names no items"):
        read_items(b"\n")
    with pytest.raises(FileFormatError, match="whole number"):
        read_items(b'{"question_id": "q", "value": 1.5}')
