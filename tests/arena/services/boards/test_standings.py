"""Rounds with too few verdicts: reported before they cost money, published only as partial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.services.boards.sentences import headline
from arena.services.boards.snapshot import read_board
from arena.site.boards.standings_cells import system_cell
from arena.workers.worker import Worker
from data.errors import ConflictError
from data.models import JobState
from judges.pairwise.forecast import REFERENCE_PLAYS
from leaderboard.standings.sections import JudgedShare, JudgedShares, partial_sentence
from tests.arena.conftest import Commands, Fill, play, write_answers, write_lines, write_set

SENTENCE = "Partial: 4 of 36 battles (11.1 %) were judged."
LEAST = "Least judged: full (0.0 %), short (0.0 %), silent (33.3 %)."


@pytest.fixture
def hollow(run: Commands, tmp_path: Path) -> Commands:
    """Commands over a set without passages and three systems, one of them with few answers."""
    set_folder = write_set(tmp_path)
    questions = set_folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    write_lines(questions, ({**row, "passages": []} for row in rows))
    run.done("sets", "import", set_folder)
    declines = ("I couldn't find an answer.",) * 4
    for system, *templates in (
        ("full", "Item {n} is {word}."),
        ("short", "It is {word}."),
        ("silent", *declines, *("Item {n} is {word}, and so on.",) * 8),
    ):
        path = write_answers(tmp_path / f"{system}.jsonl", templates, 12)
        run.done("submissions", "add", path, "--set", "tiny", "--system", system)
    return run


ROUND = ("--set", "tiny", "--judge", "lexical", "--pairs", "reference", "--name", "r")


def test_plan_and_run_report_undecidable_battles(hollow: Any) -> None:  # noqa: ANN401 - commands
    planned = hollow.json("rounds", "plan", *ROUND, "--json")
    assert planned["planned"] == 36
    assert planned["undecidable"] == {REFERENCE_PLAYS: 32}
    said = f"cannot be decided: 32 of 36 battles, since {REFERENCE_PLAYS}"
    assert said in hollow("rounds", "plan", *ROUND)[1]
    code, out, err = hollow("rounds", "run", *ROUND, "--json")
    assert code == 0
    assert said in err
    assert json.loads(out)["judged"] == 4
    assert json.loads(out)["unreadable"] == 32


def test_round_with_few_verdicts_can_only_be_partial_board(hollow: Any) -> None:  # noqa: ANN401 - commands
    """Publishing is refused with the reason; with `--partial` every view of the board is marked."""
    hollow("rounds", "run", *ROUND)
    code, _, err = hollow("rounds", "publish", "r")
    assert code == 1
    assert SENTENCE in err
    assert "--partial" in err
    assert f"The judge cannot decide 32: {REFERENCE_PLAYS}." in err
    published = hollow.json("rounds", "publish", "r", "--partial", "--no-metrics", "--json")
    assert published["partial"] is True
    board = hollow.json("leaderboard", "show", "r", "--json")
    assert board["title"] == "A tiny set (partial)"
    assert board["partial"] is True
    assert board["judged_share"]["systems"]["full"] == {"judged": 0, "expected": 12, "share": 0}
    assert {key: board["judged_share"][key] for key in ("judged", "expected")} == {
        "judged": 4,
        "expected": 36,
    }
    assert {line["system"] for line in board["lines"]["overall"]} == {"human", "full", "short", "silent"}
    text = hollow("leaderboard", "show", "r")[1]
    assert f"A tiny set (partial). {SENTENCE} {LEAST}" in text
    assert "Without a judged battle: full, short." in text


def test_pages_mark_partial_board(hollow: Any, make_arena: Fill) -> None:  # noqa: ANN401 - commands
    """The headline has the share of verdicts, and the table marks systems without a battle."""
    hollow("rounds", "run", *ROUND)
    hollow("rounds", "publish", "r", "--partial", "--no-metrics")
    view = read_board(make_arena().boards.get("r"))
    assert headline(view, "overall").startswith(f"{SENTENCE} {LEAST}")
    marked = {line.system: "no judged battle" in system_cell(view, line) for line in view.lines["overall"]}
    assert marked == {"human": False, "silent": False, "full": True, "short": True}


def test_job_publishes_partial_board_on_request_only(
    hollow: Any,  # noqa: ANN401 - commands
    make_arena: Fill,
) -> None:
    """The queue refuses a partial board unless requested, and the worker gets the option."""
    hollow("rounds", "run", *ROUND)
    arena = make_arena()
    with pytest.raises(ConflictError, match="Partial: 4 of 36"):
        arena.boards.queue_publishing("r", metrics=False)
    job = arena.boards.queue_publishing("r", metrics=False, partial=True)
    assert job.payload["partial"] is True
    Worker(arena, arena.job_leases.worker).run(once=True)
    assert arena.jobs.status(job.id).job.state is JobState.DONE
    assert arena.boards.get("r").standings["partial"] is True


def test_judged_round_is_not_partial(filled: Fill) -> None:
    """With every battle judged there is no note, and missing answers are not expected."""
    arena = filled()
    play(arena, pairs="")
    board, _ = arena.boards.publish("r", report=lambda _text: None, score=False)
    assert board.standings["partial"] is False
    assert board.standings["title"] == "A tiny set"
    assert board.standings["judged_share"]["share"] == 1
    assert partial_sentence(board.standings) == ""


@pytest.mark.parametrize(
    ("judged", "expected", "system", "partial"),
    [
        (90, 100, (9, 10), False),
        (89, 100, (9, 10), True),
        (95, 100, (8, 10), True),
        (95, 100, (0, 0), False),
        (0, 0, (0, 0), True),
    ],
)
def test_nine_tenths_of_verdicts_are_enough(
    judged: int, expected: int, system: tuple[int, int], partial: bool
) -> None:
    """A board is partial below 90 %, overall or of one system, and without any verdict."""
    shares = JudgedShares(
        overall=JudgedShare(judged=judged, expected=expected),
        systems={"s": JudgedShare(judged=system[0], expected=system[1])},
    )
    assert shares.partial is partial
