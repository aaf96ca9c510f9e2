from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.boards.snapshot import read_board
from arena.settings import Settings
from arena.site.boards.standings_cells import system_cell
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import content_hash, write_set
from tests.arena.conftest import answers_file, play
from tests.arena.conftest import write_set as write_tiny
from tests.opened_pages import page_of

DEMO = Path(__file__).parents[3] / "data" / "sets" / "demo"
NOTE = "Systems and passages are invented; nothing is advice."
MACHINE = "a program of ours"
OLD_HASH = "ba079d29a0f596afaec3c73c745a87702433eb9f4e4a3301754567123ddd2558"
"""Hash of the tiny set before `reference_by` and `note` existed."""


@pytest.fixture
def judged(make_arena: Callable[..., Arena], tmp_path: Path) -> Callable[[str], Arena]:
    """Publish a board `r` of the tiny set with the origin of its references, and open its arena."""
    set_folder = write_tiny(tmp_path)

    def publish(reference_by: str) -> Arena:
        _describe(set_folder, reference_by)
        arena = make_arena()
        arena.sets.import_from(set_folder)
        for system, template in (("full", "Item {n} is {word}, {weight} grams."), ("short", "It is {word}.")):
            arena.submissions.add(answers_file(tmp_path, system, template), "tiny", system=system)
        play(arena, publish=True)
        return arena

    return publish


def _describe(folder: Path, reference_by: str) -> None:
    head = folder / "set.toml"
    head.write_text(f'reference_by = "{reference_by}"\nnote = "{NOTE}"\n{head.read_text()}')


@pytest.mark.parametrize(("by", "human"), [("people", True), (MACHINE, False), ("", False)])
def test_reference_is_human_written_only_if_people_wrote_it(
    judged: Callable[[str], Arena], by: str, human: bool
) -> None:
    """Sentences, flags and the HTML board use the set's `reference_by`."""
    arena = judged(by)
    board = arena.boards.get("r")
    assert board.standings["reference_by"] == by
    view = read_board(board)
    assert view.the_reference == ("the human-written reference" if human else "the reference")
    flagged = system_cell(view, view.line("human") or view.lines["overall"][0])
    assert ("The human-written answers" in flagged) is human
    assert (MACHINE in flagged) is (by == MACHINE)
    assert NOTE in view.note


def _body(element: Any) -> str:  # noqa: ANN401 - an element of AppTest without a type of its own
    return str(element.proto.body).replace("\u00a0%", " %")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("boards.leaderboard_page", {}),
        ("questions.list_page", {}),
        ("questions.question_page", {"id": "q1"}),
        ("compare.compare_page", {"a": "full", "b": "short"}),
    ],
)
def test_pages_show_note_of_set(judged: Callable[[str], Arena], name: str, query: dict[str, str]) -> None:
    settings: Settings = judged(MACHINE).settings
    page = page_of(settings, name, board="r", **query)
    page.run()
    assert any(NOTE in body for body in (*(text.value for text in page.text), *map(_body, page.get("html"))))
    assert not any("human-written" in _body(element).lower() for element in page.get("html"))


def test_demo_is_marked_as_invented_and_not_human() -> None:
    """Its reference is not written by people, and its note says that it gives no advice."""
    demo = load_set(DEMO).questions
    assert demo.reference_by == "the makers of this demo"
    assert "nothing here is advice" in demo.note


def test_reference_by_survives_store_and_export(make_arena: Callable[..., Arena], tmp_path: Path) -> None:
    """A set survives the store unchanged; without the new fields it keeps its old hash."""
    set_folder = write_tiny(tmp_path)
    arena = make_arena()
    plain = load_set(set_folder).questions
    _describe(set_folder, "people")
    summary = arena.sets.import_from(set_folder).summary
    assert (summary.reference_by, summary.note) == ("people", NOTE)
    arena.sets.export("tiny", tmp_path / "out")
    again = load_set(tmp_path / "out").questions
    assert (again.reference_by, again.note) == ("people", NOTE)
    assert content_hash(again) == summary.content_hash != content_hash(plain)
    write_set(plain, tmp_path / "plain")
    assert "reference_by" not in (tmp_path / "plain" / "set.toml").read_text()
    assert content_hash(plain) == OLD_HASH
