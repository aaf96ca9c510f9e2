"""The organisers' inbox: what waits, what blocks it, and a round of it planned with one click."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.rounds.models import RoundRequest
from data.errors import AccessError, NotFoundError
from data.models import TokenScope
from tests.arena.conftest import Commands, write_answers
from tests.browsing import Visitor

CHOSEN = "return [...document.querySelectorAll('[data-tag]')].map(tag => tag.ariaLabel)"


def blocks(arena: Arena) -> dict[int, list[str]]:
    """Return the blocks of each submission, by its number."""
    return {
        row.submission: [block.why for block in row.blocks]
        for inbox in arena.inbox.waiting(caller=OPERATOR)
        for row in inbox.waiting
    }


def number(arena: Arena, system: str, version: int = 1) -> int:
    """The number of a submission."""
    rows = arena.store.submissions.find(set_name="tiny", system=system)
    return next(row.id for row in rows if row.version == version)


def plan(arena: Arena, name: str, systems: tuple[str, ...], **fields: Any) -> None:  # noqa: ANN401 - of a request
    """Store a round."""
    request = RoundRequest(set_name="tiny", judge="lexical", systems=systems, name=name)
    arena.rounds.create(replace(request, **fields))


def judge(arena: Arena, name: str) -> None:
    """Judge a round."""
    arena.rounds.run(name, concurrency=2, report=lambda _progress: None)


def test_each_submission_says_what_it_waits_for(
    filled: Callable[..., Arena], tmp_path: Path, database_url: str
) -> None:
    """From an unconfirmed file to a board, every state has its reason; what is published waits no more."""
    arena = filled(database_url=database_url)
    full, short, wrong = (number(arena, name) for name in ("full", "short", "wrong"))
    assert blocks(arena) == {key: ["no round"] for key in (full, short, wrong)}
    partly = write_answers(tmp_path / "partly.jsonl", ("{word}.",), 5)
    checked = arena.submissions.add(partly, "tiny", system="checked", confirm=False).submission.id
    lacking = arena.submissions.add(partly, "tiny", system="lacking").submission.id
    again = write_answers(tmp_path / "again.jsonl", ("It is {word}.",), 12)
    newer = arena.submissions.add(again, "tiny", system="full").submission.id
    arena.submissions.withdraw(wrong)
    assert blocks(arena) == {
        short: ["no round"],
        checked: ["not submitted"],
        lacking: ["no round", "domains"],
        newer: ["no round"],
    }
    (inbox,) = arena.inbox.waiting(caller=OPERATOR)
    assert inbox.plannable == ["short", "lacking", "full"]
    (gap,) = (row for row in inbox.waiting if row.submission == lacking)
    assert gap.blocks[1].text == "It lacks answers: 2 of 4 in Zero, 2 of 4 in One, 3 of 4 in Two."
    plan(arena, "r", ("full", "short"))
    plan(arena, "s", ("lacking",))
    assert blocks(arena)[newer] == blocks(arena)[short] == ["not started"]
    arena.rounds.pause("r")
    assert blocks(arena)[newer] == ["paused"]
    judge(arena, "r")
    assert blocks(arena)[short] == ["not published"]
    arena.boards.publish("r", report=lambda _line: None, score=False)
    assert set(blocks(arena)) == {checked, lacking}
    assert blocks(arena)[lacking] == ["not started", "domains"]
    arena.rounds.cancel("s")
    assert blocks(arena)[lacking] == ["no round", "domains"]


def test_inbox_is_for_organisers(filled: Callable[..., Arena]) -> None:
    """Nobody else sees it, and an unknown set is said to be unknown."""
    arena = filled()
    with pytest.raises(AccessError):
        arena.inbox.waiting(caller=PUBLIC)
    with pytest.raises(NotFoundError):
        arena.inbox.waiting(set_name="nothing", caller=OPERATOR)


def test_command_lists_what_waits_and_how_to_plan_it(
    run: Commands, set_folder: Path, answers_file: Callable[..., Path]
) -> None:
    """`arena submissions show --inbox` names each submission, its reason, and the command that plans it."""
    assert "Nothing waits." in run("submissions", "show", "--inbox")[2]
    run("sets", "import", set_folder)
    run("submissions", "add", answers_file("one", "{word}."), "--set", "tiny", "--system", "one")
    code, out, err = run("submissions", "show", "--inbox", "--set", "tiny")
    assert code == 0
    assert "no round" in out
    assert "arena rounds plan --set tiny --judge JUDGE --systems one" in err
    (inbox,) = run.json("submissions", "show", "--inbox", "--json")
    assert inbox["set"] == "tiny"
    assert inbox["plannable"] == ["one"]
    (row,) = inbox["waiting"]
    assert (row["system"], row["version"], row["plannable"]) == ("one", 1, True)
    assert [block["why"] for block in row["blocks"]] == ["no round"]
    assert run("submissions", "show", "--inbox", "--set", "nothing")[0] == 1


@pytest.mark.slow
@pytest.mark.browser
def test_a_round_is_planned_with_one_click(
    filled: Callable[..., Arena],
    served: Callable[..., AbstractContextManager[str]],
    open_browser: Callable[[], webdriver.Chrome],
    tmp_path: Path,
) -> None:
    """In a browser the inbox leads to the form of a round, filled in."""
    arena = filled()
    plan(arena, "r", ("wrong",))
    arena.teams.add_account("Ada", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(
        name="site", scopes=[TokenScope.ORGANISE, TokenScope.READ], account="Ada", caller=OPERATOR
    ).secret
    driver = open_browser()
    with served(arena.settings, tmp_path / "log") as site:
        try:
            visitor = Visitor(driver, site)
            visitor.sign_in(token)
            visitor.go("/admin-inbox")
            visitor.see("Round r is not started.")
            visitor.click("//a[contains(., 'Plan a round of 2 systems')]")
            visitor.see("New round")
            visitor.find("[data-tag]", "short")
            chosen = driver.execute_script(CHOSEN)
            assert chosen == ["full", "short"]
            visitor.click("//button[contains(., 'Plan')]")
            visitor.see("Systems: full, short.")
        finally:
            driver.quit()
