"""Retests of rounds: asked anew, kept apart, resumed, paid for once, and what they change."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from arena.container import Arena
from arena.services.rounds.battle_table import table_of
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.retest_plan import RetestRequest
from arena.site.boards.snapshot_reader import read_board
from arena.site.trust.retest_part import _cause_cells
from data.errors import ConflictError, InputError, SpecError
from data.records import OrderPolicy, Round, RoundCounts, RoundState
from data.tables.judgments import judgments, replies
from data.tables.rounds import retest_calls, retests
from judges.llm.settings import CacheMode
from leaderboard.formats.reading import read_battles
from leaderboard.ratings import IntervalKind, rate
from leaderboard.trust.sections import Section
from tests.scripted_llm import Fault

CHANGED = 0.3


def judged(arena: Arena, name: str = "r", **fields: Any) -> Round:  # noqa: ANN401 - fields of a request
    """A finished round of 72 battles."""
    usual = {"judge": "reference-free", "pairs": "all", "canaries": 0}
    request = RoundRequest(set_name="tiny", name=name, **{**usual, **fields})
    arena.rounds.create(request)
    arena.rounds.run(name, concurrency=16, report=lambda _progress: None)
    return arena.rounds.status(name)[0]


def retest(arena: Arena, name: str = "r", battles: str | None = "72", **fields: Any) -> RoundCounts:  # noqa: ANN401
    """Ask a round again, and return the books of the retest."""
    begun, _ = arena.retests.begin(name, RetestRequest(battles=battles, **fields))
    return arena.retests.run(begun, concurrency=16, report=lambda _progress: None)


def row(arena: Arena, cause: str, name: str = "r") -> dict[str, Any]:
    """The row of a cause; the first of several."""
    found: dict[str, Any] = next(one for one in arena.retests.report(name)["causes"] if one["cause"] == cause)
    return found


def serve(scripted_llm: Callable[..., Any], share: float = CHANGED) -> Any:  # noqa: ANN401 - the scripted server
    """A server whose verdicts change in a share of repeats."""
    return scripted_llm(rule="hash", changes=share)


@pytest.mark.long
def test_known_share_of_changes_is_recovered(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """A judge that changes its mind in 30 % of repeats shows a share whose interval holds 30 %."""
    arena = filled(endpoint=serve(scripted_llm).url, database_url=database_url)
    judged(arena)
    counts = retest(arena, repeat=4, swap=False)
    assert (counts.planned, counts.judged) == (288, 288)
    same = row(arena, "same-request")
    assert same["comparisons"] == 288
    assert same["lower"] < CHANGED < same["upper"]
    assert same["upper"] - same["lower"] < 0.2
    assert 0 < same["reversed"] < same["changed"]


@pytest.mark.long
def test_round_stays_as_it_is(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """Verdicts, cost, ratings and export of a round are the same before and after it is asked again."""
    arena = filled(endpoint=serve(scripted_llm).url)
    judged(arena)
    before = arena.boards.export_round("r", tmp_path / "before")
    books = arena.rounds.status("r")[1]
    retest(arena, repeat=2)
    assert arena.boards.export_round("r", tmp_path / "after") == before
    assert arena.rounds.status("r")[1] == books
    assert arena.reparsing.reparse("r", apply=False).to_json()["verdicts_changed"] == 0


@pytest.mark.long
def test_every_repeat_is_really_asked(filled: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> None:
    """The reply cache answers no repeat, but all of them where a retest is replayed."""
    server = serve(scripted_llm)
    arena = filled(endpoint=server.url)
    judged(arena)
    before = server.log.calls
    retest(arena, "r", "10", repeat=3)
    assert server.log.calls - before == 10 * 3 * 2
    retest(arena, "r", "10", repeat=3)
    assert server.log.calls - before == 60, "the same plan was asked today"
    retest(arena, "r", "10", repeat=3, again=True)
    assert server.log.calls - before == 120
    keys = [one.repeat for one in arena.retests.verdicts("r") if not one.turned]
    assert sorted(set(keys)) == list(range(7))


@pytest.mark.long
def test_other_order_is_a_cause_of_its_own(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """A judge that prefers what is shown first says the same again, and the opposite in the other order."""
    arena = filled(endpoint=scripted_llm(rule="first").url)
    judged(arena)
    retest(arena)
    assert row(arena, "same-request")["changed"] == 0
    assert row(arena, "same-request")["upper"] > 0.05, "nothing changed is no proof that nothing can"
    order = row(arena, "other-order")
    assert (order["changed"], order["reversed"], order["share"]) == (72, 72, 1.0)
    assert order["beyond_lower"] > 0.5
    orders = {(one.turned, one.order) for one in arena.retests.verdicts("r")}
    assert orders == {(False, "ab"), (False, "ba"), (True, "ab"), (True, "ba")}


def test_judge_that_asks_both_orders_has_no_other_order(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """Turning a battle would send the same two requests."""
    arena = filled(endpoint=scripted_llm().url)
    judged(arena, order=OrderPolicy.BOTH)
    retest(arena, "r", "5")
    assert [one["cause"] for one in arena.retests.report("r")["causes"]] == ["same-request"]


PROMPT = """# Short

## system

Which answer is better?

## pair

{question}

<answer_1>{answer_1}</answer_1>
<answer_2>{answer_2}</answer_2>
"""


def test_wordings_are_asked_and_told_apart(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """Each other prompt has its row; the export reads as battles with repeat and wording."""
    server = scripted_llm(rule="hash")
    arena = filled(endpoint=server.url)
    judged(arena)
    path = tmp_path / "short.md"
    path.write_text(PROMPT)
    retest(arena, "r", "50%", wordings=(str(path),), swap=False)
    wording = row(arena, "other-wording")
    assert wording["wording"].startswith("short@")
    assert wording["comparisons"] == 36
    assert any("Which answer is better?" in str(body) for body in server.log.bodies)
    count = arena.retests.export("r", tmp_path / "asked.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert count == len(rows) == 36 * 3
    assert {(one["repeat"], one["wording"]) for one in rows} == {
        (0, "original"),
        (1, "original"),
        (1, wording["wording"]),
    }
    assert len(read_battles(tmp_path / "asked.jsonl").table) == 108
    with pytest.raises(InputError, match="was judged with"):
        retest(arena, wordings=("pairwise",))
    with pytest.raises(SpecError, match=r"shows \{reference\}"):
        retest(arena, wordings=("pairwise-reference",))


def test_ratings_shift_as_a_refit_says(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """With all battles asked again, the shift is near that of ratings fitted to the new verdicts."""
    arena = filled(endpoint=serve(scripted_llm, 0.15).url)
    judged(arena)
    retest(arena, swap=False)
    report = arena.retests.report("r")
    shifts = {one["system"]: one for one in report["shifts"]}
    assert sum(one["points"] for one in shifts.values()) == pytest.approx(0, abs=1e-6)
    assert all(one["lower"] < one["points"] < one["upper"] for one in shifts.values())
    own = list(arena.rounds.battles("r"))
    new = {one.battle: one for one in arena.retests.verdicts("r") if one.repeat}
    again = [replace(one, preference=new[one.id].preference) for one in own]
    before, after = (rate(table_of(one), interval=IntervalKind.SANDWICH) for one in (own, again))
    for system, shift in shifts.items():
        ratings = [table.of(system).rating for table in (before, after)]
        assert ratings[0] is not None
        assert ratings[1] is not None
        assert shift["points"] == pytest.approx(ratings[1] - ratings[0], abs=0.25 * abs(shift["points"]) + 10)


def _a_day_passes(arena: Arena) -> None:
    """Everything that was asked so far was asked yesterday."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with arena.store.database.begin() as connection:
        for table in (judgments, replies, retests):
            connection.execute(update(table).values(created_at=yesterday))
        connection.execute(update(retest_calls).values(asked_at=yesterday))


@pytest.mark.long
def test_other_day_is_a_cause_of_its_own(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """The first asking of a later day shows what a day changes, a second one what chance does."""
    arena = filled(endpoint=serve(scripted_llm).url, database_url=database_url)
    judged(arena)
    _a_day_passes(arena)
    retest(arena, "r", "30", repeat=2)
    rows = {one["cause"]: one["comparisons"] for one in arena.retests.report("r")["causes"]}
    assert rows == {"other-day": 30, "same-request": 30, "other-order": 60}
    assert row(arena, "other-order")["other_day"] == 0, "they are compared with what was said on their day"
    _a_day_passes(arena)
    retest(arena, "r", "30", repeat=2)
    assert [one.number for one in arena.retests.retests("r")] == [1, 2]
    assert len({one.battle for one in arena.retests.verdicts("r")}) == 30, "the same battles are drawn"
    assert {one.repeat for one in arena.retests.verdicts("r")} == {0, 1, 2, 3, 4}


def test_embedded_judge_has_no_retest(filled: Callable[..., Arena]) -> None:
    """The embedded judge gives the same verdict every time, and the command says so."""
    arena = filled()
    judged(arena, judge="lexical")
    with pytest.raises(InputError, match="gives the same verdict every time"):
        retest(arena)
    with pytest.raises(InputError, match="gives the same verdict every time"):
        arena.retests.report("r")


def test_only_finished_rounds_are_asked_again(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """A round that is not judged yet has nothing to ask again, and says how to go on."""
    arena = filled(endpoint=scripted_llm().url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r"))
    with pytest.raises(ConflictError, match="is planned"):
        retest(arena)


@pytest.mark.long
def test_books_of_a_retest_are_its_own(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """What askings cost is the retest's cost; the cap skips the rest, and a higher one asks only that."""
    server = serve(scripted_llm)
    arena = filled(endpoint=server.url, database_url=database_url)
    whole = arena.rounds.status(judged(arena).name)[1].cost_usd
    assert whole is not None
    capped = retest(arena, "r", "72", swap=False, budget_usd=whole / 2)
    assert min(capped.judged, capped.skipped) > 0
    assert capped.cost_usd is not None
    assert capped.cost_usd + capped.lost_usd <= whole / 2 + 1e-9
    assert capped.reserved_usd == pytest.approx(0.0, abs=1e-9)
    before = server.log.calls
    rest = retest(arena, "r", None, budget_usd=3 * whole)
    assert (rest.judged, rest.skipped) == (72, 0)
    assert server.log.calls - before == capped.skipped
    asked = [one for one in arena.retests.verdicts("r") if one.repeat]
    assert rest.cost_usd == pytest.approx(sum(one.cost_usd or 0.0 for one in asked))
    assert rest.input_tokens == sum(one.input_tokens for one in asked)
    assert arena.rounds.status("r")[1].cost_usd == pytest.approx(whole)


@pytest.mark.long
def test_unreadable_and_failed_askings_are_counted(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """What brought no verdict is in no share, and shown by how it ended."""
    server = serve(scripted_llm)
    arena = filled(endpoint=server.url)
    judged(arena)
    server.script.faults = {Fault.WRONG_FORMAT: 0.3, Fault.BAD_REQUEST: 0.2}
    counts = retest(arena, swap=False)
    same = row(arena, "same-request")
    assert counts.unreadable > 0
    assert counts.failed > 0
    assert same["unjudged"] == {"unreadable": counts.unreadable, "failed": counts.failed}
    assert same["comparisons"] == counts.judged == 72 - counts.unreadable - counts.failed
    server.script.faults = {}
    assert retest(arena, "r", None).failed == 0


@pytest.mark.slow
def test_interrupted_retest_goes_on_without_asking_twice(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
    database_url: str,
) -> None:
    """After kill −9 and Ctrl-C only what is missing is asked, and the round's retest has all of it."""
    server = scripted_llm(rule="hash")
    arena = filled(database_url=database_url, endpoint=server.url)
    judged(arena)
    server.script.latency = 0.2
    before = server.log.calls
    words = ("rounds", "retest", "r", "--battles", "60", "--no-swap", "--concurrency", "4", "--json")
    killed = start(arena, *words)
    until(lambda: server.log.replied.total() - before > 8)
    killed.kill()
    killed.wait()
    (begun,) = arena.retests.retests("r")
    assert arena.store.retests.counts(begun).pending > 0
    interrupted = start(arena, *words)
    reached = server.log.replied.total()
    until(lambda: server.log.replied.total() > reached + 8)
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(60) == 1, "what was not asked is said by the exit code"
    server.script.latency = 0.0
    assert retest(arena, "r", None).judged == 60
    assert len(arena.retests.retests("r")) == 1
    assert server.log.calls - before <= 60 + 4, "a kill loses no more than the calls in flight"


@pytest.mark.long
def test_two_processes_do_not_ask_one_retest(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
) -> None:
    """The second is told that another process asks it."""
    server = scripted_llm(rule="hash")
    arena = filled(endpoint=server.url)
    judged(arena)
    server.script.latency = 0.3
    before = server.log.calls
    first = start(arena, "rounds", "retest", "r", "--battles", "40", "--no-swap", "--concurrency", "2")
    until(lambda: server.log.calls > before + 2)
    with pytest.raises(ConflictError, match="asked by another process"):
        retest(arena, "r", None)
    with pytest.raises(ConflictError, match="is not finished"):
        retest(arena, "r", "7")
    first.kill()


def test_retest_is_replayed_from_the_store(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], make_arena: Callable[..., Arena]
) -> None:
    """Replies of a retest are kept under keys of their own: in replay mode none is asked for."""
    server = serve(scripted_llm)
    arena = filled(endpoint=server.url)
    judged(arena)
    retest(arena, "r", "20")
    said = [(one.battle, one.repeat, one.preference) for one in arena.retests.verdicts("r")]
    with arena.store.database.begin() as connection:
        connection.execute(update(retest_calls).values(outcome=None, preference=None))
    before = server.log.calls
    retest(make_arena(endpoint=server.url, cache_mode=CacheMode.REPLAY), "r", None)
    assert server.log.calls == before
    assert [(one.battle, one.repeat, one.preference) for one in arena.retests.verdicts("r")] == said


@pytest.mark.long
def test_retest_of_a_published_round_makes_another_snapshot(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """Publishing again joins what asking again said to the board; the former snapshot stays, by its hash."""
    arena = filled(endpoint=serve(scripted_llm).url)
    judged(arena)
    board, _ = arena.boards.publish("r", report=lambda _text: None, score=False)
    assert "retest" not in board.standings
    retest(arena)
    after, changed = arena.boards.publish("r", report=lambda _text: None, score=False)
    assert changed
    assert after.standings["retest"]["causes"][0]["cause"] == "same-request"
    assert {key: after.standings[key] for key in board.standings} == board.standings
    assert arena.boards.get(f"r@{board.content_hash[:12]}").standings == board.standings
    assert arena.boards.publish("r", report=lambda _text: None, score=False)[1] is False
    before, now = read_board(board), read_board(after)
    (why,) = [meaning for _, value, meaning in before.health if value == "not asked again yet"]
    assert why.startswith("Nobody has retested the round.")
    assert any(label == "asked again" and "of 72 changed" in value for label, value, _ in now.health)
    causes = ["changed by the same request", "changed by the other order"]
    assert [label for label, _ in now.details][-2:] == causes
    cells = [_cause_cells(one) for one in now.trust[Section.RETEST]["causes"]]
    assert [one[3] for one in cells] == ["72 on 12 questions"] * 2
    assert arena.rounds.status("r")[0].state is RoundState.PUBLISHED


@pytest.mark.long
def test_commands_say_what_changed(arena_of: Any, scripted_llm: Callable[..., Any]) -> None:  # noqa: ANN401 - of the conftest
    """`rounds retest` prints a row a cause, its books and shifts; `--show` asks nothing."""
    run, url = arena_of, serve(scripted_llm).url
    named = ("--set", "tiny", "--judge", "reference-free", "--name", "r", "--pairs", "all")
    assert run("rounds", "run", *named, "--no-cap", endpoint=url)[0] == 0
    fields = run.json("rounds", "retest", "r", "--battles", "12", "--repeat", 2, "--json", endpoint=url)
    assert [one["cause"] for one in fields["causes"]] == ["same-request", "other-order"]
    assert fields["runs"][0]["judged"] == 48
    assert run.json("rounds", "retest", "r", "--show", "--json", endpoint=url) == fields
    code, out, _ = run("rounds", "retest", "r", "--show", endpoint=url)
    assert code == 0
    assert "same-request" in out
    assert "48 judged" in out
    assert run("rounds", "retest", "r", "--battles", "many", endpoint=url)[0] == 1
    assert run("rounds", "run", "--set", "tiny", "--judge", "lexical", "--name", "l")[0] == 0
    code, _, err = run("rounds", "retest", "l", "--battles", "5")
    assert code == 1
    assert "gives the same verdict every time" in err
