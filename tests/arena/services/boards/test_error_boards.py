"""Boards of retested rounds: intervals that count the judge's own error, from the store to the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from sqlalchemy import func, select, update
from streamlit.testing.v1 import AppTest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.retest_plan import RetestRequest
from arena.site.trust.basis import ADDRESS, Basis
from data.records import Board, Outcome
from data.tables.rounds import battles
from leaderboard.formats.reading import read_battles
from leaderboard.standings.full_error import NOT_RETESTED
from leaderboard.trust.judge_error.ratings import rate_readings
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import ErrorKind
from tests.opened_pages import page_of

PROMPT = """# Short

## system

Which answer is {word}?

## pair

{{question}}

<answer_1>{{answer_1}}</answer_1>
<answer_2>{{answer_2}}</answer_2>
"""
WORDS = ("better", "richer", "truer")


@pytest.fixture
def arena(filled: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> Arena:
    """A judged round of 72 battles, by a judge whose verdicts change in 30 % of repeats."""
    arena = filled(endpoint=scripted_llm(rule="hash", changes=0.3).url)
    request = RoundRequest(set_name="tiny", name="r", judge="reference-free", pairs="all", canaries=0)
    arena.rounds.create(request)
    arena.rounds.run("r", concurrency=16, report=lambda _progress: None)
    return arena


def ask_again(arena: Arena, folder: Path, **fields: Any) -> None:  # noqa: ANN401 - fields of a request
    """Ask all battles again, in three further wordings."""
    paths = []
    for word in WORDS:
        path = folder / f"{word}.md"
        path.write_text(PROMPT.format(word=word), encoding="utf-8")
        paths.append(str(path))
    usual = {"battles": "72", "repeat": 2, "wordings": tuple(paths), "swap": True}
    begun, _ = arena.retests.begin("r", RetestRequest(**{**usual, **fields}))
    arena.retests.run(begun, concurrency=16, report=lambda _progress: None)


def publish(arena: Arena) -> Board:
    """The round's board, without scoring."""
    return arena.boards.publish("r", report=lambda _text: None, score=False)[0]


@pytest.mark.long
def test_publishing_after_a_retest_tells_the_judges_own_error(arena: Arena, tmp_path: Path) -> None:
    """Boards gain `error` with a retest, and nothing else of them changes; the former snapshot stays."""
    before = publish(arena)
    assert "error" not in before.standings
    ask_again(arena, tmp_path)
    after = publish(arena)
    assert {key: after.standings[key] for key in before.standings} == before.standings
    section = after.standings["error"]
    assert (section["wordings"], section["reworded_battles"], section["repeated_battles"]) == (4, 72, 72)
    assert section["notes"][0] == "4 wordings of 72 battles were compared"
    judged = {line["system"]: line["rating"] for line in after.standings["lines"]["overall"]}
    for row in section["ratings"]:
        rating = judged[row["system"]]
        assert row["rating"] == rating["rating"]
        assert row["all"]["lower"] < rating["lower"] < rating["upper"] < row["all"]["upper"]
        assert all(row["components"][part] is not None for part in ("questions", "wordings", "repeats"))
    assert publish(arena).content_hash == after.content_hash


@pytest.mark.long
def test_the_section_is_what_the_exported_rows_say(arena: Arena, tmp_path: Path) -> None:
    """A retest without the other order, exported and rated in Python, has the same parts of the wordings."""
    ask_again(arena, tmp_path, swap=False)
    section = publish(arena).standings["error"]
    arena.retests.export("r", tmp_path / "asked.jsonl")
    file = read_battles(tmp_path / "asked.jsonl")
    own = [
        (wording, repeat) == ("original", "0")
        for wording, repeat in zip(file.wording or (), file.repeat or (), strict=True)
    ]
    readings = Readings.from_table(file.table, file.wording, file.repeat, own=np.array(own))
    rated = rate_readings(readings, ErrorKind.ALL)
    for row in section["ratings"]:
        parts = rated.parts[row["system"]].as_json()
        assert parts["wordings"] == pytest.approx(row["components"]["wordings"], rel=1e-9)
        assert parts["repeats"] == pytest.approx(row["components"]["repeats"], rel=1e-9)


def test_a_verdict_that_is_withdrawn_after_the_retest_costs_its_battle_alone(arena: Arena) -> None:
    """The board is published, and the judge's error is told from the other battles that were judged again."""
    begun, _ = arena.retests.begin("r", RetestRequest(battles="72", repeat=2))
    arena.retests.run(begun, concurrency=16, report=lambda _progress: None)
    with arena.store.database.begin() as connection:
        first = connection.execute(select(func.min(battles.c.id))).scalar_one()
        lost = {"outcome": Outcome.UNREADABLE, "preference": None, "score": None, "detail": "Withdrawn."}
        connection.execute(update(battles).where(battles.c.id == first).values(lost))
    assert publish(arena).standings["error"]["repeated_battles"] == 71


def test_repeats_alone_leave_wordings_unknown(arena: Arena) -> None:
    """A retest in the round's own words says that the share of wordings is not known."""
    begun, _ = arena.retests.begin("r", RetestRequest(battles="30", repeat=2, swap=False))
    arena.retests.run(begun, concurrency=16, report=lambda _progress: None)
    section = publish(arena).standings["error"]
    assert "wordings: 1, their share of the error is unknown" in section["notes"]
    assert all(row["components"]["wordings"] is None for row in section["ratings"])
    assert section["repeated_battles"] == 30


@pytest.mark.long
def test_readers_choose_what_intervals_count(arena: Arena, tmp_path: Path) -> None:
    """Before a retest the switch lacks full error and says why; after it the page names the causes."""
    before = publish(arena)
    ask_again(arena, tmp_path)
    publish(arena)

    def page(**query: str) -> AppTest:
        shown = page_of(arena.settings, "boards.leaderboard_page", **query).run()
        assert not shown.exception, shown.exception
        return shown

    def text(shown: AppTest) -> str:
        return unescape(" ".join(part.proto.body for part in shown.get("html")))

    def is_offered(shown: AppTest) -> bool:
        return f"{ADDRESS}={Basis.FULL_ERROR}" in text(shown)

    st.cache_resource.clear()
    former = page(board=f"r@{before.content_hash[:12]}", counts="all")
    assert not is_offered(former)
    assert NOT_RETESTED.rstrip(".") in text(former)
    assert "Where the error comes from" not in text(former)
    assert "Where the error comes from" not in text(page(board="r"))
    for kind, said in (("judge", "With the judge's own error"), ("all", "With full error")):
        shown = page(board="r", counts=kind)
        assert is_offered(shown)
        assert said in text(shown)
        assert "Where the error comes from" in text(shown)
        assert "4 wordings of 72 battles were compared" in text(shown)
    in_domain = page(board="r", counts="all", domain="d1")
    assert "Full error: it is known overall only" in text(in_domain)
    assert "Where the error comes from" not in text(in_domain)


@pytest.mark.long
def test_the_command_shows_what_the_board_keeps(arena_of: Any, scripted_llm: Callable[..., Any]) -> None:  # noqa: ANN401 - of the conftest
    """`leaderboard show --error` prints intervals and causes; without a retest it says what to do."""
    run, url = arena_of, scripted_llm(rule="hash", changes=0.3).url
    named = ("--set", "tiny", "--judge", "reference-free", "--name", "r", "--pairs", "all")
    assert run("rounds", "run", *named, "--no-cap", endpoint=url)[0] == 0
    assert run("rounds", "publish", "r", "--no-metrics")[0] == 0
    plain = run("leaderboard", "show", "r")[1]
    code, _, err = run("leaderboard", "show", "r", "--error", "all")
    assert code == 1
    assert "arena rounds retest" in " ".join(err.split())
    assert run("rounds", "retest", "r", "--battles", "20", "--repeat", 2, endpoint=url)[0] == 0
    assert run("rounds", "publish", "r", "--no-metrics")[0] == 0
    shown = run("leaderboard", "show", "r", "--error", "judge")[1]
    assert shown.split()[:2] == ["rank", "system"]
    assert "wordings: 1, their share of the error is unknown" in " ".join(shown.split())
    assert run("leaderboard", "show", "r", "--error", "questions")[1].startswith(plain[:40])
    fields = json.loads(run("leaderboard", "show", "r", "--error", "all", "--json")[1])
    assert fields["error"]["repeated_battles"] == 20
    assert run("leaderboard", "show", "r", "--error", "all", "--domain", "d1")[0] == 1
